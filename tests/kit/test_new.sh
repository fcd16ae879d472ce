#!/usr/bin/env bash
# `caliper new`: which names and ids it takes, what it leaves alone, and that it leaves nothing when it
# fails half-way. Usage: test_new.sh COMMAND
set -euo pipefail
caliper=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

die() {
    echo "$*"
    cat "$place/err"
    exit 1
}
# new STATUS WORDS...: runs it and wants this exit status; what it says is in out and err.
new() {
    local wanted=$1 status=0
    shift
    "$caliper" new "$@" >out 2>err || status=$?
    [ "$status" -eq "$wanted" ] || die "new $*: exit status $status, wanted $wanted"
}
one_line() { [ "$(wc -l <err)" -eq 1 ] || die "wanted one line, for: $*"; }

new 0 first
files=$(cd first && find . -type f | sort | tr '\n' ' ')
[ "$files" = "./.gitignore ./CMakeLists.txt ./README.md ./first.c ./first.caliper.toml ./first.h ./first_test.c " ] ||
    die "files: $files"
grep -q '"org.example.first"' first/first.c && grep -q '"org.example.first"' first/first.caliper.toml
if grep -rn '@' first; then die "a place was not filled"; fi
[ "$(stat -c %a first)" = "$(printf %o $((0777 & ~$(umask))))" ] || die "the folder's mode"
grep -q 'cd first' out

# Not over what is there: a folder, an empty one, a file, a link that leads nowhere.
find first -type f -exec sha256sum {} + | sort >before
mkdir empty
: >file
ln -s nowhere link
for name in first empty file link; do
    new 1 "$name"
    one_line "$name"
done
find first -type f -exec sha256sum {} + | sort | cmp - before
[ -z "$(ls -A empty)" ] && [ ! -s file ] && [ ! -e nowhere ]

# Names and ids.
for name in a 9lives 'a b' ../up ./here wave/tank wäve end- end_ test all install -- '' \
    aaaaaaaaaabbbbbbbbbbccccccccccddddddddddx; do
    new 2 "$name"
    one_line "$name"
done
new 2
new 2 two names
for id in viewer .a.b 'a b.c' a..b a/b.c; do
    new 2 given --id "$id"
    one_line "$id"
done
mkdir -p deep/er
new 0 wave-tank_2 --dir deep/er --id=net.example.Tank
grep -q '"net.example.Tank"' deep/er/wave-tank_2/wave-tank_2.c
grep -q '#ifndef WAVE_TANK_2_H' deep/er/wave-tank_2/wave-tank_2.h
grep -q 'name = "Wave tank 2"' deep/er/wave-tank_2/wave-tank_2.caliper.toml
grep -q 'cd deep/er/wave-tank_2' out
new 1 lost --dir no/such/folder
one_line lost

# Each step that can fail fails in turn: one line, status 1, nothing left.
failed=0
for site in new.folder:1 new.open:1 new.open:4 new.open:7 new.write:1 new.write:7 new.rename:1; do
    CALIPER_FAIL_AT=$site new 1 broken
    one_line "$site"
    grep -q 'Input/output error' err || die "$site: no reason"
    [ ! -e broken ] || die "$site left the folder"
    failed=$((failed + 1))
done
[ -z "$(find . -name '.caliper-new*')" ] || die "half a folder is left"
CALIPER_FAIL_AT=new.open:8 new 0 whole # there are seven files
echo "names, ids and $failed failures"
