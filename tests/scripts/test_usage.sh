#!/usr/bin/env bash
# Usage errors of the command: status 2 and exactly one line, which names what was given. Nothing is
# opened. Usage: test_usage.sh CALIPER
set -euo pipefail
caliper=$1
count=0

# refused GIVEN ARGUMENTS...: the line must name GIVEN.
refused() {
    local given=$1 status=0 output
    shift
    output=$("$caliper" "$@" 2>&1 </dev/null) || status=$?
    count=$((count + 1))
    if [ "$status" -ne 2 ] || [ "$(wc -l <<<"$output")" -ne 1 ] || [[ $output != *"$given"* ]]; then
        printf 'caliper %s: status %s, wanted 2 and one line with "%s"; got:\n%s\n' "$*" "$status" \
            "$given" "$output"
        exit 1
    fi
}

refused nonsense nonsense
refused --nonsense --nonsense
for size in 0x480 640x0 -5x5 640 640x 640x480x 16385x1 1x16385 640x480.5 ax b \
    4294967297x10 10x4294967297 99999999999999999999x1; do
    refused "\"$size\"" home --size "$size"
done
for scale in 0.4 8.1 0 -1 nan inf 1.5x ''; do
    refused "\"$scale\"" home --scale "$scale"
done
for frames in 0 -1 1.5 x 18446744073709551617 ''; do
    refused "\"$frames\"" home --frames "$frames"
done
refused '"voodoo"' home --renderer voodoo
refused '"loud"' home --log-level loud
refused --screenshot home --screenshot
refused '--data-dir' home --data-dir ''
refused run: run
refused view: view
echo "$count command lines"
