#!/usr/bin/env bash
# The torch adapters on a real GPU: builds the applet against the torch of this machine's python3 and
# runs it in a host.   run.sh CALIPER [BUILD_DIR]
# Exit status: 0 all passed, 1 something failed, 77 no torch with CUDA here.
set -eu -o pipefail
caliper=$1
here=$(cd "$(dirname "$0")" && pwd)
build=${2:-$(mktemp -d)}
prefix=$(python3 -c 'import torch; assert torch.cuda.is_available(); print(torch.utils.cmake_prefix_path)' \
    2>/dev/null) || { echo "skipped: no torch with a CUDA device here"; exit 77; }
if ! { cmake -S "$here" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$build"; } \
    >"$build.log" 2>&1; then
    tail -30 "$build.log"
    exit 1
fi
log=$(CALIPER_DATA_DIR="$build/data" "$caliper" run "$build/torch_gpu_applet.so" --headless --frames 2 \
    --renderer vulkan 2>&1) || { printf '%s\n' "$log" | tail -20; exit 1; }
printf '%s\n' "$log" | grep -E "PASS|FAIL|torch |applets"
# CuPy, where it is, through the same header.
cc -std=c17 -shared -fPIC -fvisibility=hidden -I "$here/../../../include" \
    "$here/../../adapters/dlpack_library.c" -o "$build/dlpack_library.so"
cupy=0
python3 "$here/test_dlpack_cupy.py" "$build/dlpack_library.so" || cupy=$?
[ "$cupy" -eq 0 ] || [ "$cupy" -eq 77 ] || exit 1
passed=$(printf '%s\n' "$log" | grep -c "PASS " || true)
failed=$(printf '%s\n' "$log" | grep -c "FAIL " || true)
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && printf '%s\n' "$log" | grep -q "adapters: done"
