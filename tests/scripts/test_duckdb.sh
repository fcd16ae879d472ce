#!/usr/bin/env bash
# scripts/lib/duckdb.sh with fakes in place of npm and curl: what has another digest is not kept, what
# is there is not fetched again, and nothing to fetch with is one line and success. Fetches nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || {
    echo "skipped: no pinned library for this machine"
    exit 77
}
# shellcheck source=tests/scripts/fetching.sh
source "$root/tests/scripts/fetching.sh"

# fetch PATH [COMMANDS]: runs fetch_duckdb after the commands.
fetch() { fetch_with "$1" duckdb.sh "${2-}"$'\n'fetch_duckdb; }
kept() { kept_in cache; }

message=$(fetch "$work/bin") || fail "without npm and curl: status $?"
[ "$(wc -l <<<"$message")" -eq 1 ] || fail "without npm and curl: $message"
[ "$(kept)" -eq 0 ] || fail "without npm and curl something was kept"

# Both give something else than what is pinned.
cat >"$work/fakes/npm" <<'FAKE'
#!/usr/bin/env bash
mkdir -p package/src/duckdb/src/include
echo other >package/libduckdb.so
echo other >package/src/duckdb/src/include/duckdb.h
tar -czf other.tgz package
echo other.tgz
FAKE
cat >"$work/fakes/curl" <<'FAKE'
#!/usr/bin/env bash
while [ $# -gt 1 ]; do
    if [ "$1" = -o ]; then out=$2; fi
    shift
done
cd "$(dirname "$out")" && echo other >libduckdb.so
python3 -m zipfile -c "$out" libduckdb.so
FAKE
chmod +x "$work"/fakes/*
message=$(fetch "$work/fakes:$work/bin") || fail "with other digests: status $?"
grep -q "another digest: not used" <<<"$message" || fail "the archive's digest: $message"
grep -q "digest is not the pinned one: not used" <<<"$message" || fail "npm's digest: $message"
[ "$(kept)" -eq 0 ] || fail "something with another digest was kept"

# The pinned digests are those of the fakes: both are kept, and the second time nothing is asked.
digest=$(echo other | sha256sum | cut -d' ' -f1)
pins="duckdb_library_sha256=$digest duckdb_header_sha256=$digest"
# shellcheck disable=SC2016
anyhow='npm_package() { (cd "$1" && npm pack >/dev/null && tar -xzf other.tgz); }'
message=$(fetch "$work/fakes:$work/bin" "$pins; $anyhow") || fail "with pinned digests: status $?"
[ "$(kept)" -eq 2 ] || fail "kept $(kept) of 2: $message"
printf '#!/bin/sh\necho asked again\nexit 1\n' | tee "$work/fakes/npm" >"$work/fakes/curl"
message=$(fetch "$work/fakes:$work/bin" "$pins") || fail "the second time: status $?"
[ -z "$message" ] || fail "the second time: $message"

# A damaged library in the cache is fetched again, and failing to is success with a line.
echo damaged >"$work/cache/caliper/deps/duckdb-1.4.4/libduckdb.so"
message=$(fetch "$work/fakes:$work/bin" "$pins") || fail "a damaged cache: status $?"
grep -q "going without" <<<"$message" || fail "a damaged cache: $message"
echo "fetching DuckDB: 4 cases"
