# shellcheck shell=bash
# What the tests of scripts/lib's fetching share: a place, a PATH without npm and curl, and fakes of
# them. Sourced with `root` set.
: "${root:?}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

# A PATH of the tools that the scripts need; $work/fakes before it has what the test puts there.
mkdir -p "$work/bin" "$work/fakes"
for tool in bash sha256sum cut tail tar gzip cp mv rm chmod mkdir mktemp uname cat dirname touch python3; do
    path=$(PATH=/usr/bin:/bin command -v "$tool") && ln -s "$path" "$work/bin/$tool"
done

# fetch_with PATH LIBRARY COMMANDS: runs the commands after scripts/lib/LIBRARY, with the cache in
# $work/cache and the data root in $work/data.
fetch_with() {
    # shellcheck disable=SC2016 # the inner shell expands it
    env -i PATH="$1" HOME="$work" XDG_CACHE_HOME="$work/cache" CALIPER_DATA_DIR="$work/data" \
        ROOT="$root" LIBRARY="$2" bash -c 'set -euo pipefail
            source "$ROOT/scripts/lib/common.sh" && source "$ROOT/scripts/lib/fetch.sh"
            source "$ROOT/scripts/lib/$LIBRARY"
            '"$3" 2>&1
}

# kept_in FOLDER: how many files there are in $work/FOLDER.
kept_in() { find "$work/$1" -type f 2>/dev/null | wc -l; }
