#!/usr/bin/env bash
# A scaffold as its author has it: Caliper is installed and the prefix moved; `caliper new` by the
# installed command; built without a warning, tested, run headless, bundled, and found as a bundle.
# Usage: test_scaffold.sh BUILD-FOLDER
set -euo pipefail
build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

die() {
    echo "$*"
    exit 1
}
quiet() { "$@" >"$place/log" 2>&1 || { cat "$place/log" && exit 1; }; }

quiet cmake --install "$build" --prefix "$place/first"
mv "$place/first" "$place/prefix"
# Nothing of this machine's own Caliper, if it has one.
unset CALIPER_DATA_DIR CMAKE_PREFIX_PATH PKG_CONFIG_PATH
export PATH=$place/prefix/bin:$PATH XDG_DATA_HOME=$place/data
cd "$place"
quiet caliper new wave-tank
cd wave-tank
quiet cmake -B build -DCMAKE_C_FLAGS='-Wall -Wextra -Wpedantic -Wshadow -Werror'
grep -q "$place/prefix" build/CMakeCache.txt || die "another Caliper was found"
quiet cmake --build build
quiet ctest --test-dir build --output-on-failure
grep -q '100% tests passed, 0 tests failed out of 2' "$place/log" || { cat "$place/log" && exit 1; }
[ "$(nm -D --defined-only --format=just-symbols build/wave-tank.so)" = caliper_applet_descriptor ]

# It can fail: a mutation of the computation is seen by the test.
sed -i.bak 's/0.5 \* sin(step \* right/0.4 * sin(step * right/' wave-tank.c
quiet cmake --build build
if ctest --test-dir build -R test >"$place/log" 2>&1; then
    die "the scaffold's test passes whatever the applet computes"
fi
mv wave-tank.c.bak wave-tank.c
touch wave-tank.c
quiet cmake --build build

# Its picture: many colours, the same each time.
for number in 1 2; do
    quiet caliper run build/wave-tank.so --headless --renderer cpu --size 800x500 --frames 30 \
        --screenshot "$place/$number.png"
done
cmp "$place/1.png" "$place/2.png"
if command -v identify >/dev/null; then
    [ "$(identify -format '%wx%h' "$place/1.png")" = 800x500 ]
    [ "$(identify -format %k "$place/1.png")" -gt 150 ] || die "hardly a colour in the picture"
fi

# The bundle goes into the data root and is found there.
quiet cmake --build build --target wave-tank_bundle
mkdir -p "$place/data/caliper/applets"
cp -r build/wave-tank.caliperapp "$place/data/caliper/applets/"
caliper list >"$place/log"
grep -q 'org.example.wave-tank' "$place/log" || { cat "$place/log" && exit 1; }
quiet caliper check "$place/data/caliper/applets/wave-tank.caliperapp"
quiet caliper run wave-tank --headless --renderer cpu --frames 2
echo "a scaffold builds, passes its test, runs and is found as a bundle"
