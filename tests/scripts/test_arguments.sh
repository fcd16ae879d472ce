#!/usr/bin/env bash
# What a script of scripts/ does not know it refuses: status 2, one line that names what was given,
# and nothing is built or installed. --help, where it is there, says how it is called.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
count=0

# refused GIVEN SCRIPT ARGUMENTS...: the line must name GIVEN.
refused() {
    local given=$1 script=$2 status=0 output
    shift 2
    output=$(timeout 20 "scripts/$script" "$@" 2>&1 </dev/null) || status=$?
    count=$((count + 1))
    if [ "$status" -ne 2 ] || [ "$(wc -l <<<"$output")" -ne 1 ] || [[ $output != *"$given"* ]]; then
        printf 'scripts/%s %s: status %s, wanted 2 and one line with "%s"; got:\n%s\n' "$script" \
            "$*" "$status" "$given" "$output"
        exit 1
    fi
}

for script in check test format setup gpu-test docs screenshots run; do
    refused --nonsense "$script" --nonsense
done
for script in check test setup; do
    refused "''" "$script" ''
    refused nonsense "$script" nonsense
    output=$(timeout 20 "scripts/$script" --help </dev/null)
    grep -q -- "scripts/$script \[" <<<"$output"
    count=$((count + 1))
done
refused 'not 2' check --build --layout
refused 'not 2' check --layout nonsense
refused 'not 2' test --quick --long
echo "$count command lines"
