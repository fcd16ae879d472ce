#!/usr/bin/env bash
# Runs every fuzzer of build-fuzz for some seconds, two at a time, over a copy of its kept corpus.
#
#   scripts/lib/fuzz.sh SECONDS
#
# build-fuzz/fuzzers.txt, written by CMake, has one "program corpus-folder" a line. What a fuzzer
# finds stays under build-fuzz/fuzz/NAME/; the kept corpus in the tree is never written.
set -euo pipefail
# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=$1
list=build-fuzz/fuzzers.txt
[ -s "$list" ] || die "no fuzzers: $list is missing or empty"

# fuzz PROGRAM CORPUS
fuzz() {
    local name=${1##*/} status=0
    local home=build-fuzz/fuzz/$name
    rm -rf "$home"
    mkdir -p "$home/corpus" "$home/found"
    if [ -d "$2" ]; then
        cp -r "$2/." "$home/corpus/"
    fi
    ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1} "$1" -max_total_time="$seconds" \
        -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$home/found/" \
        "$home/corpus" >"$home/log" 2>&1 </dev/null || status=$?
    local runs
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$home/log")
    if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
        say "$name: $runs runs, nothing found"
        return 0
    fi
    tail -n 40 "$home/log"
    say "$name: FAILED (status $status, ${runs:-0} runs), inputs in $home/found"
    return 1
}

failed=0
running=0
while read -r program corpus; do
    if [ "$running" -ge 2 ]; then
        wait -n || failed=$((failed + 1))
        running=$((running - 1))
    fi
    fuzz "$program" "$corpus" &
    running=$((running + 1))
done <"$list"
while [ "$running" -gt 0 ]; do
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
done
[ "$failed" -eq 0 ]
