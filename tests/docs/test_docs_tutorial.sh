#!/usr/bin/env bash
# The tutorial "your first applet", followed step by step with an installed Caliper: each printed block
# is in its file, each change builds, the tests pass, and the applet before and after draws two
# different pictures. Usage: test_docs_tutorial.sh PYTHON SOURCE BUILD
set -euo pipefail
python=$1 source=$2 build=$3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

quiet() { "$@" >"$place/log" 2>&1 || { cat "$place/log" && exit 1; }; }
quiet cmake --install "$build" --prefix "$place/prefix"
unset CALIPER_DATA_DIR CMAKE_PREFIX_PATH
export XDG_DATA_HOME=$place/data
"$python" "$source/tests/docs/tutorial_steps.py" "$source/docs/tutorial/first-applet.md" \
    "$place/prefix" "$place/steps"
for step in first last; do
    quiet "$place/prefix/bin/caliper" run "$place/steps/$step/build/ripples.so" --headless \
        --renderer cpu --frames 20 --screenshot "$place/$step.png"
done
if cmp -s "$place/first.png" "$place/last.png"; then
    echo "the last step's picture is the first one's"
    exit 1
fi
