# shellcheck shell=bash
# DuckDB's library for scripts/setup: fetched once into the user's cache, by pinned digests alone.
# Sourced after common.sh and fetch.sh. Without it everything builds and runs; what needs SQL then says
# so.

duckdb_version=1.4.4
duckdb_folder=${XDG_CACHE_HOME:-$HOME/.cache}/caliper/deps/duckdb-$duckdb_version

# The library as the npm package carries it. The official archive's library is taken only when it
# has this very digest: nothing else about that archive was ever compared.
duckdb_library_sha256=1ef33048e12235115ac0d277a0aaccbb560e33248144f488b5ac005cd9ba81b5
duckdb_header_sha256=cbe6a827284375c5a646b8f27dbd3a00808ce8738b5bbb49c190cb1e08540281
duckdb_library_package=@duckdb/node-bindings-linux-x64@1.4.4-r.1
duckdb_library_package_sha256=8ac460b152cd05a95065a414879bb09e40534b1fb7a80a7afe6969b6ce039029
duckdb_header_package=duckdb@1.4.4
duckdb_header_package_sha256=5bb967dcbcd517670ba5f169f238fb9d6787e53752c60ebe24386169d76941ed
duckdb_archive=https://github.com/duckdb/duckdb/releases/download/v$duckdb_version/libduckdb-linux-amd64.zip

# keep FILE NAME: into the cache under NAME, whole or not at all.
duckdb_keep() {
    local temporary=$duckdb_folder/.$2.$$
    cp "$1" "$temporary" && chmod 644 "$temporary" && mv -f "$temporary" "$duckdb_folder/$2"
}

# unzip_here ARCHIVE FOLDER
unzip_here() {
    if command -v unzip >/dev/null; then
        unzip -q -o "$1" -d "$2"
    else
        python3 -m zipfile -e "$1" "$2"
    fi
}

# The official release archive. False when it cannot be reached or holds another library.
duckdb_from_archive() {
    fetch_file "$duckdb_archive" "$1/duckdb.zip" || return 1
    unzip_here "$1/duckdb.zip" "$1/zip" >/dev/null 2>&1 || return 1
    if ! has_digest "$1/zip/libduckdb.so" "$duckdb_library_sha256"; then
        complain "the library in DuckDB's release archive has another digest: not used"
        return 1
    fi
    duckdb_keep "$1/zip/libduckdb.so" libduckdb.so
}

duckdb_library_from_npm() {
    command -v npm >/dev/null || return 1
    npm_package "$1" "$duckdb_library_package" "$duckdb_library_package_sha256" || return 1
    has_digest "$1/package/libduckdb.so" "$duckdb_library_sha256" || return 1
    duckdb_keep "$1/package/LICENSE" LICENSE && duckdb_keep "$1/package/libduckdb.so" libduckdb.so
}

# Only a test needs the header.
duckdb_header_from_npm() {
    local header=package/src/duckdb/src/include/duckdb.h
    command -v npm >/dev/null || return 1
    npm_package "$1" "$duckdb_header_package" "$duckdb_header_package_sha256" || return 1
    has_digest "$1/$header" "$duckdb_header_sha256" || return 1
    duckdb_keep "$1/$header" duckdb.h
}

# fetch_duckdb: true in every case; what could not be had is one line.
fetch_duckdb() {
    local work
    if [ "$(uname -s) $(uname -m)" != "Linux x86_64" ]; then
        complain "no pinned DuckDB library for $(uname -s) on $(uname -m): going without (SQL)"
        return 0
    fi
    if has_digest "$duckdb_folder/libduckdb.so" "$duckdb_library_sha256" &&
        has_digest "$duckdb_folder/duckdb.h" "$duckdb_header_sha256"; then
        return 0
    fi
    if ! command -v npm >/dev/null && ! command -v curl >/dev/null; then
        complain "DuckDB's library needs npm or curl to fetch it: going without (SQL, metrics)"
        return 0
    fi
    if ! mkdir -p "$duckdb_folder" || ! work=$(mktemp -d); then
        complain "no folder for DuckDB's library in $duckdb_folder: going without (SQL, metrics)"
        return 0
    fi
    if ! has_digest "$duckdb_folder/libduckdb.so" "$duckdb_library_sha256"; then
        if duckdb_from_archive "$work" || duckdb_library_from_npm "$work"; then
            say "setup: DuckDB $duckdb_version is in $duckdb_folder"
        else
            complain "DuckDB's library cannot be fetched: going without (SQL, metrics)"
        fi
    fi
    if ! has_digest "$duckdb_folder/duckdb.h" "$duckdb_header_sha256"; then
        duckdb_header_from_npm "$work" ||
            complain "duckdb.h cannot be fetched: the test against it is skipped"
    fi
    rm -rf "$work"
    return 0
}

# Another Arrow implementation, which reads our streams in a test: by the digests of its lock file.
arrow_js_folder=${XDG_CACHE_HOME:-$HOME/.cache}/caliper/deps/arrow-js-21.1.0

# fetch_arrow_js: true in every case.
fetch_arrow_js() {
    local fresh
    if [ -d "$arrow_js_folder/node_modules/arrow-js-ffi" ]; then
        return 0
    fi
    if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
        complain "no node and npm: the test that reads Arrow with another implementation is skipped"
        return 0
    fi
    fresh=$arrow_js_folder.$$
    if mkdir -p "$fresh" && cp tests/store/database/arrow_js/package*.json "$fresh" &&
        (cd "$fresh" && npm ci --silent --ignore-scripts </dev/null >/dev/null 2>&1) &&
        mv -T "$fresh" "$arrow_js_folder"; then
        return 0
    fi
    rm -rf "$fresh"
    complain "apache-arrow cannot be fetched: the test that reads Arrow with it is skipped"
}
