#!/usr/bin/env bash
# What is installed serves an author of applets from wherever it was moved: a C and a C++ applet by
# find_package, one by pkg-config, each exporting its one symbol; bundles; unit tests with the fixture
# host; a manifest or a source that is wrong is refused. Usage: test_install.sh BUILD-FOLDER
set -euo pipefail
build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

die() {
    echo "$*"
    exit 1
}
# quiet COMMAND...: its output only when it fails.
quiet() { "$@" >"$place/log" 2>&1 || { cat "$place/log" && exit 1; }; }

quiet cmake --install "$build" --prefix "$place/first"
mv "$place/first" "$place/prefix"
prefix=$place/prefix
if [ -e "$prefix/lib/caliper/libduckdb.so" ]; then
    export WANTS_DATA=1
fi
# Nothing of the host's inside is installed, and nothing names the first place.
if find "$prefix/include" -type f | grep -v -e /include/caliper/ -e '/include/caliper_fixture\.h$'; then
    die "headers outside include/caliper"
fi
if grep -rlF "$place/first" "$prefix"; then
    die "these name the place of installation"
fi
for page in man/man1/caliper.1 bash-completion/completions/caliper zsh/site-functions/_caliper \
    fish/vendor_completions.d/caliper.fish; do
    if [ -x "$prefix/bin/caliper" ] && ! grep -q convert "$prefix/share/$page"; then
        die "share/$page is not installed whole"
    fi
done

mkdir "$place/applet"
cat >"$place/applet/mine.c" <<'C'
#include <caliper/caliper.h>
#include <stdlib.h>
int not_exported(void);
int not_exported(void) { return 1; }
static void *create(void) { return malloc(1); }
static bool initialize(void *self, const CaliperHost *host)
{
    (void)self;
    caliper_log(host, CALIPER_LOG_INFO, "here I am");
    return true;
}
static void frame(void *self, const CaliperFrameInfo *info) { (void)self, (void)info; }
static void cleanup(void *self) { (void)self; }
#ifndef WITHOUT_SYMBOL
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const CaliperAppletDescriptor me = {
        .struct_size = sizeof me, .abi_epoch = CALIPER_ABI_EPOCH, .id = "org.example.mine",
        .version = "1.0.0", .name = "Mine", .summary = "", .tag = "",
        .api = {sizeof me.api, create, free, initialize, frame, cleanup}};
    return &me;
}
#endif
C
cat >"$place/applet/plus.cpp" <<'CXX'
#include <caliper/caliper.hpp>
#include <string>
inline const std::string &text()
{
    static const std::string once(100, 'x'); // a symbol that the compiler wants unique in a process
    return once;
}
class Plus final : public caliper::Applet
{
    void frame(const CaliperFrameInfo &) override { text(); }
};
CALIPER_APPLET(Plus, "org.example.plus", "1.0.0", "plus", "", "");
CXX
cat >"$place/applet/mine_test.c" <<'C'
#include <caliper/caliper.h>
#include <caliper_fixture.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    int good = argc == 2 && fixture != NULL && caliper_fixture_load(fixture, argv[1]) &&
               caliper_fixture_open(fixture) && caliper_fixture_frames(fixture, 3) &&
               caliper_fixture_said(fixture, CALIPER_LOG_INFO, "here I am") == 1;
    if (!good && fixture != NULL)
        puts(caliper_fixture_reason(fixture));
    if (getenv("WANTS_DATA") != NULL && caliper_fixture_service(fixture, CALIPER_DATA_V1) == NULL)
        good = puts("no data.v1 with DuckDB in the prefix") < 0;
    caliper_fixture_destroy(&fixture);
    return good ? 0 : 1;
}
C
manifest() {
    printf '[applet]\nid = "org.example.%s"\nname = "%s"\nversion = "1.0.0"\n[compat]\nabi_epoch = 2\n' "$1" "$1"
}
manifest mine >"$place/applet/mine.caliper.toml"
manifest plus >"$place/applet/plus.caliper.toml"
cat >"$place/applet/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(applet LANGUAGES C CXX)
find_package(caliper 0.1 REQUIRED)
caliper_add_applet(mine SOURCES mine.c MANIFEST mine.caliper.toml BUNDLE)
caliper_add_applet(plus SOURCES plus.cpp MANIFEST plus.caliper.toml)
if(TARGET caliper::fixture)
  enable_testing()
  add_executable(mine_test mine_test.c)
  target_link_libraries(mine_test PRIVATE caliper::fixture)
  add_test(NAME mine COMMAND mine_test $<TARGET_FILE:mine>)
endif()
CMAKE
quiet cmake -S "$place/applet" -B "$place/build" -DCMAKE_PREFIX_PATH="$prefix"
quiet cmake --build "$place/build" --target all plus_bundle
quiet ctest --test-dir "$place/build" --output-on-failure

# pkg-config, without and with the fixture.
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
flags=$(pkg-config --cflags caliper)
# shellcheck disable=SC2086 # flags is a list
cc -shared -fPIC -fvisibility=hidden $flags "$place/applet/mine.c" -o "$place/by_pkg_config.so"
if [ -e "$prefix/lib/libcaliper_fixture.so" ]; then
    # shellcheck disable=SC2046
    cc "$place/applet/mine_test.c" $(pkg-config --cflags --libs caliper-fixture) -o "$place/mine_test"
    LD_LIBRARY_PATH=$prefix/lib quiet "$place/mine_test" "$place/by_pkg_config.so"
fi
for library in "$place/build/mine.so" "$place/build/plus.so" "$place/by_pkg_config.so"; do
    symbols=$(nm -D --defined-only --format=just-symbols "$library")
    [ "$symbols" = caliper_applet_descriptor ] || die "${library##*/} exports: $symbols"
done
for name in mine plus; do
    cmp "$place/applet/$name.caliper.toml" "$place/build/$name.caliper.toml"
    cmp "$place/applet/$name.caliper.toml" "$place/build/$name.caliperapp/caliper.toml"
    cmp "$place/build/$name.so" \
        "$place/build/$name.caliperapp/bin/linux-$(uname -m)/$name.so"
done

# The installed command has nothing against either.
if [ -x "$prefix/bin/caliper" ]; then
    quiet "$prefix/bin/caliper" check "$place/build/mine.so"
    quiet "$prefix/bin/caliper" check "$place/build/plus.caliperapp"
fi

# A manifest that changes is checked again, and the project is not built with a bad one.
sed -i 's/^version.*/version = 1.0/' "$place/applet/mine.caliper.toml"
if cmake --build "$place/build" >"$place/log" 2>&1; then
    die "a manifest with a wrong type was taken"
fi
tr '\n' ' ' <"$place/log" | tr -s ' ' |
    grep -q 'mine.caliper.toml:4: applet.version is a number with a fraction, wanted text' ||
    { cat "$place/log" && exit 1; }
manifest mine >"$place/applet/mine.caliper.toml"
# A library without the symbol does not link.
quiet cmake -S "$place/applet" -B "$place/build" -DCMAKE_C_FLAGS=-DWITHOUT_SYMBOL
if cmake --build "$place/build" --target mine >"$place/log" 2>&1; then
    die "a library without the descriptor was taken"
fi
grep -q caliper_applet_descriptor "$place/log" || { cat "$place/log" && exit 1; }

# Another machine's compiler: headers and manifest are all it needs.
if command -v aarch64-linux-gnu-gcc >/dev/null; then
    sed -i -e 's/ CXX)/)/' -e '/plus/d' "$place/applet/CMakeLists.txt"
    sed -i -e '/^if(TARGET/,$d' "$place/applet/CMakeLists.txt"
    quiet cmake -S "$place/applet" -B "$place/cross" -Dcaliper_DIR="$prefix/lib/cmake/caliper" \
        -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc
    quiet cmake --build "$place/cross"
    [ -e "$place/cross/mine.caliperapp/bin/linux-aarch64/mine.so" ] || die "no bundle for aarch64"
fi
echo "installed, moved, found both ways"
