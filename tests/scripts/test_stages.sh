#!/usr/bin/env bash
# scripts/lib/stages.sh and ctest_summary.py: counts, reasons and exit statuses, on a small project
# of each kind made here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/scripts/lib"
cp "$here"/scripts/lib/* "$place/scripts/lib/"

# project NAME TEST...: a ctest folder whose tests are "name:shell command" with skip status 77.
project() {
    local folder=$place/$1 test
    mkdir -p "$folder"
    shift
    : >"$folder/CTestTestfile.cmake"
    for test in "$@"; do
        printf 'add_test(%s bash -c [==[%s]==])\nset_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77)\n' \
            "${test%%:*}" "${test#*:}" "${test%%:*}" >>"$folder/CTestTestfile.cmake"
    done
}

# expect NAME STATUS LAST-LINE [PATTERN]: runs the project's tests and finish, in a process of its own.
expect() {
    local output status=0
    output=$(bash -c "set -euo pipefail; source '$place/scripts/lib/common.sh'
        source scripts/lib/stages.sh; tests '$1' '$1' || true; finish" 2>&1) || status=$?
    if [ "$status" -ne "$2" ] || [ "$(tail -n 1 <<<"$output")" != "$3" ] ||
        ! grep -q -- "${4:-.}" <<<"$output"; then
        printf '%s: wanted status %s, "%s", %s; got status %s and:\n%s\n' "$1" "$2" "$3" \
            "${4:-}" "$status" "$output"
        exit 1
    fi
}

project good 'a:true' 'b:echo "skipped: no display here"; exit 77' 'c:true'
expect good 0 '2 passed, 0 failed, 1 skipped' 'skipped: good: b: skipped: no display here'
project bad 'a:true' 'b:echo words; exit 3'
expect bad 1 '1 passed, 1 failed, 0 skipped' 'failed: bad: b'
# Once is enough: what fails now and then is a fault.
project flaky "a:[ -e $place/tried ] || { touch $place/tried; exit 1; }"
expect flaky 1 '0 passed, 1 failed, 0 skipped' 'failed: flaky: a'
project crash 'a:kill -SEGV $$'
expect crash 1 '0 passed, 1 failed, 0 skipped'
project empty
expect empty 1 '0 passed, 1 failed, 0 skipped' 'no test was executed'
project only_skipped 'a:echo skipped: nothing to run; exit 77'
expect only_skipped 1 '0 passed, 1 failed, 1 skipped' 'no test was executed'
project mute 'a:exit 77' 'b:true'
expect mute 0 '1 passed, 0 failed, 1 skipped' 'the program gave no reason'
expect missing 1 '0 passed, 1 failed, 0 skipped'
mkdir "$place/missing_program"
echo 'add_test(a /nowhere/program)' >"$place/missing_program/CTestTestfile.cmake"
expect missing_program 1 '0 passed, 1 failed, 0 skipped'

# A stage: passed, failed, skipped with its last line.
output=$(bash -c "set -euo pipefail; source '$place/scripts/lib/common.sh'
    source scripts/lib/stages.sh
    stage one log/one true; stage two log/two bash -c 'echo why not; exit 77' || true
    stage three log/three false || true; finish" 2>&1) && exit 1
[ "$(tail -n 1 <<<"$output")" = '1 passed, 1 failed, 1 skipped' ]
grep -q 'skipped: two: why not' <<<"$output"
echo "11 cases"
