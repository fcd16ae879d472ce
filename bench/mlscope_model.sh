#!/usr/bin/env bash
# Compiles MLScope's network against the torch of this machine's python3, for bench_mlscope:
#   bench/mlscope_model.sh OUT.so        then: bench_mlscope --model OUT.so [--cuda]
# Needs g++, python3 with torch, and for a torch with CUDA the CUDA headers (/usr/local/cuda or
# CUDA_HOME); no network and no CMake.
set -eu -o pipefail
includes=() libraries=() names=() abi=1
out=${1:?usage: mlscope_model.sh OUT.so}
here=$(cd "$(dirname "$0")/.." && pwd)
found=$(python3 - <<'PYTHON'
import shlex
import torch
from torch.utils.cpp_extension import include_paths, library_paths
libraries = ["-lc10", "-ltorch_cpu", "-ltorch"]
if torch.version.cuda:
    libraries += ["-lc10_cuda", "-ltorch_cuda"]
print("includes=(%s)" % " ".join(shlex.quote(p) for p in include_paths()))
print("libraries=(%s)" % " ".join(
    shlex.quote(w) for p in library_paths() for w in ("-L" + p, "-Wl,-rpath," + p)))
print("names=(%s)" % " ".join(libraries))
print("abi=%d" % int(torch.compiled_with_cxx11_abi()))
PYTHON
)
eval "$found" # includes, libraries, names, abi
cuda=${CUDA_HOME:-/usr/local/cuda}
[ -d "$cuda/include" ] && includes+=("$cuda/include")
# --no-as-needed: torch_cuda registers itself when it is loaded, and nothing names it.
"${CXX:-g++}" -std=c++17 -O2 -shared -fPIC -D_GLIBCXX_USE_CXX11_ABI="$abi" \
    "${includes[@]/#/-isystem}" -I "$here/include" -I "$here/applets/mlscope" \
    "$here/applets/mlscope/model.cpp" -o "$out" \
    "${libraries[@]}" -Wl,--no-as-needed "${names[@]}"
echo "mlscope_model: $out"
