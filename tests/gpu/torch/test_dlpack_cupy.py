"""caliper/adapters/dlpack.h against CuPy on a CUDA device: its arrays come in with the right address,
device, shape and dtype, ours go out to it without a copy, and everything is released once.

Usage: test_dlpack_cupy.py LIBRARY       (exit status 77: no CuPy here)
"""
import ctypes
import gc
import os
import sys

try:
    import cupy
    cupy.zeros(1)
except Exception as error:  # no package, no device, no driver
    print(f"skipped: no CuPy that works here ({error})")
    sys.exit(77)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../adapters"))
from dlpack_python import DTYPES, Ours, Tensor, hold, library

for name, dtype in DTYPES.items():
    array = cupy.arange(12, dtype=name).reshape(3, 4)
    taken, tensor, why = hold(array, stream=1)
    assert taken is not None, f"{name}: {why}"
    assert tensor.data == array.data.ptr and (tensor.device, tensor.device_index) == (1, 0)
    assert (tensor.dtype, tensor.ndim, list(tensor.shape[:2])) == (dtype, 2, [3, 4])
    library.dlpack_release(taken)

for count, (name, dtype) in enumerate(DTYPES.items()):
    source = cupy.arange(12, dtype=name).reshape(3, 4)
    tensor = Tensor(ctypes.sizeof(Tensor), source.data.ptr, dtype, 2, (3, 4), (4, 1), 1, 0, None)
    array = cupy.from_dlpack(Ours(tensor, 2))
    assert array.data.ptr == source.data.ptr and array.dtype == source.dtype
    assert bool((array == source).all())
    assert library.dlpack_released() == count
    del array
    gc.collect()
    assert library.dlpack_released() == count + 1, f"{name} is released {library.dlpack_released()} times"

print(f"DLPack with CuPy {cupy.__version__}: in, out, released once")
