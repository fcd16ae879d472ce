#!/usr/bin/env bash
# The tutorial "your first applet", followed step by step with an installed Caliper: each printed block
# is in its file, each change builds, the tests pass, and the applet before and after draws two
# different pictures; `caliper dev` goes from one to the other. Usage: test_docs_tutorial.sh PYTHON SOURCE BUILD
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

# Under `caliper dev` the library of the last step takes the place of the first one's.
"$place/prefix/bin/caliper" dev "$place/steps/first/build/ripples.so" --headless --renderer cpu \
    --frames 100000000 >"$place/dev" 2>&1 &
dev=$!
trap 'kill "$dev" 2>/dev/null; rm -rf "$place"' EXIT
# wait_for COUNT WORDS: until the log has so many lines with the words; two minutes at most.
wait_for() {
    local tries
    for ((tries = 0; tries < 1200; tries++)); do
        if [ "$(grep -c "$2" "$place/dev")" -ge "$1" ]; then
            return
        fi
        kill -0 "$dev" || break
        sleep 0.1
    done
    cat "$place/dev"
    exit 1
}
wait_for 1 'org.example.ripples 0.1.0 started'
cp "$place/steps/last/build/ripples.so" "$place/new.so"
mv "$place/new.so" "$place/steps/first/build/ripples.so"
wait_for 2 'org.example.ripples 0.1.0 started'
