#!/usr/bin/env bash
# Builds the kernels for aarch64 with the project's warnings and runs them in an emulator.
#
#   kernels_cross.sh SOURCE-ROOT LUT-TABLE
#
# Exit status 77, with the reason, where the compiler or the emulator is missing.
set -euo pipefail

root=$1
lut_table=$2
compiler=aarch64-linux-gnu-gcc
emulator=qemu-aarch64
for tool in $compiler $emulator; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not there (packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"
        exit 77
    fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$compiler -std=c17 -D_GNU_SOURCE -O2 -ffp-contract=off -static -Werror \
    -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wpointer-arith -Wcast-align \
    -Wstrict-prototypes -Wmissing-prototypes \
    -I"$root/src" -I"$root/include" -I"$root/tests/unit" \
    "$root"/src/kernels/{variants,cpu_features,kernel_scalar,kernel_neon}.c "$lut_table" \
    "$root/tests/unit/kernels_cross.c" -o "$work/kernels_cross"
$emulator "$work/kernels_cross" | tee "$work/out"
grep -q '^neon: right$' "$work/out"
