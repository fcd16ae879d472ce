#!/usr/bin/env bash
# An applet outside the tree builds against an installed SDK by find_package and by pkg-config, and
# exports its one symbol. Usage: test_install.sh BUILD-FOLDER
set -euo pipefail
build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/prefix" >"$place/log" 2>&1 || {
    cat "$place/log"
    exit 1
}
mkdir "$place/applet"
cat >"$place/applet/applet.c" <<'C'
#include <caliper/caliper.h>
int not_exported(void);
int not_exported(void) { return 1; }
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const CaliperAppletDescriptor me = {.struct_size = sizeof me};
    return &me;
}
C
cat >"$place/applet/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(applet LANGUAGES C)
find_package(caliper 0.1 REQUIRED)
caliper_applet(mine SOURCES applet.c)
CMAKE
(cmake -S "$place/applet" -B "$place/applet/build" -DCMAKE_PREFIX_PATH="$place/prefix" &&
    cmake --build "$place/applet/build") >"$place/log" 2>&1 || {
    cat "$place/log"
    exit 1
}
flags=$(PKG_CONFIG_PATH=$place/prefix/share/pkgconfig pkg-config --cflags caliper)
# shellcheck disable=SC2086 # flags is a list
cc -shared -fPIC -fvisibility=hidden $flags "$place/applet/applet.c" -o "$place/by_pkg_config.so"
for library in "$place/applet/build/mine.so" "$place/by_pkg_config.so"; do
    symbols=$(nm -D --defined-only --format=just-symbols "$library")
    if [ "$symbols" != caliper_applet_descriptor ]; then
        echo "${library##*/} exports: $symbols"
        exit 1
    fi
done
# Nothing of the host's inside is installed.
if find "$place/prefix/include" -type f | grep -v "/include/caliper/"; then
    echo "headers outside include/caliper"
    exit 1
fi
echo "installed, found both ways"
