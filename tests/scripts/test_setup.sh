#!/usr/bin/env bash
# scripts/setup: its table is whole, and it names what is wrong with its arguments. Installs nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

fail() {
    echo "$*"
    exit 1
}

rows=$(grep -vcE '^(#|$)' "$root/scripts/packages.txt")
good=$(grep -cE '^(build|run|test|docs|check|bench) \| [a-z0-9.+-]+(/[a-z0-9.+-]+)* \| (-|(cmd|pc|h|f):[^ ]+) \| .+$' \
    "$root/scripts/packages.txt")
[ "$rows" -eq "$good" ] || fail "$((rows - good)) of $rows lines of packages.txt cannot be read"

# From another folder, without standard input.
listed=$(cd / && "$root/scripts/setup" --list </dev/null | grep -c '^  ')
[ "$listed" -eq "$rows" ] || fail "--list shows $listed of $rows"
only=$("$root/scripts/setup" docs --list | grep -c '^  ')
[ "$only" -eq "$(grep -c '^docs ' "$root/scripts/packages.txt")" ] || fail "--list of one use"

status=0
message=$("$root/scripts/setup" nonsense 2>&1) || status=$?
[ "$status" -eq 2 ] || fail "an unknown use gave status $status"
[ "$(wc -l <<<"$message")" -eq 1 ] || fail "an unknown use gave: $message"
for script in test format run; do
    status=0
    "$root/scripts/$script" --nonsense >/dev/null 2>&1 </dev/null || status=$?
    [ "$status" -eq 2 ] || fail "$script --nonsense gave status $status"
done
echo "$rows packages"
