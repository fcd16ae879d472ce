"""caliper/adapters/dlpack.h against CuPy on a CUDA device: its arrays come in with the right address,
device, shape and dtype, ours go out to it without a copy, and everything is released once.

Usage: test_dlpack_cupy.py LIBRARY       (exit status 77: no CuPy here)
"""
import ctypes
import gc
import sys

try:
    import cupy
    cupy.zeros(1)
except Exception as error:  # no package, no device, no driver
    print(f"skipped: no CuPy that works here ({error})")
    sys.exit(77)

DTYPES = {"float32": 0, "float16": 1, "int64": 3, "int32": 4, "uint8": 5}


class Tensor(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("data", ctypes.c_void_p),
                ("dtype", ctypes.c_int), ("ndim", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8),
                ("device", ctypes.c_int), ("device_index", ctypes.c_int32),
                ("stream", ctypes.c_void_p)]


library = ctypes.CDLL(sys.argv[1])
library.dlpack_hold.restype = ctypes.c_void_p
library.dlpack_hold.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tensor),
                                ctypes.POINTER(ctypes.c_char_p)]
library.dlpack_release.argtypes = [ctypes.c_void_p]
library.dlpack_export.restype = ctypes.c_void_p
library.dlpack_export.argtypes = [ctypes.POINTER(Tensor)]
python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
USED = ctypes.c_char_p(b"used_dltensor")


class Ours:
    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, stream=None, **_):
        return python.PyCapsule_New(library.dlpack_export(self.tensor), b"dltensor", None)


for name, dtype in DTYPES.items():
    array = cupy.arange(12, dtype=name).reshape(3, 4)
    capsule = array.__dlpack__(stream=1)
    tensor, why = Tensor(), ctypes.c_char_p()
    taken = library.dlpack_hold(python.PyCapsule_GetPointer(capsule, b"dltensor"), tensor, why)
    assert taken is not None, f"{name}: {why.value}"
    python.PyCapsule_SetName(capsule, USED)
    assert tensor.data == array.data.ptr and (tensor.device, tensor.device_index) == (1, 0)
    assert (tensor.dtype, tensor.ndim, list(tensor.shape[:2])) == (dtype, 2, [3, 4])
    library.dlpack_release(taken)

for count, (name, dtype) in enumerate(DTYPES.items()):
    source = cupy.arange(12, dtype=name).reshape(3, 4)
    tensor = Tensor(ctypes.sizeof(Tensor), source.data.ptr, dtype, 2, (3, 4), (4, 1), 1, 0, None)
    array = cupy.from_dlpack(Ours(tensor))
    assert array.data.ptr == source.data.ptr and array.dtype == source.dtype
    assert bool((array == source).all())
    assert library.dlpack_released() == count
    del array
    gc.collect()
    assert library.dlpack_released() == count + 1, f"{name} is released {library.dlpack_released()} times"

print(f"DLPack with CuPy {cupy.__version__}: in, out, released once")
