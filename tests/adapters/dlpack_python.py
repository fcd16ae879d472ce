"""What Python tests of caliper/adapters/dlpack.h share: the library named on the command line, a
CaliperTensor as ctypes has it, both sides of the DLPack protocol.
"""
import ctypes
import sys

DTYPES = {"float32": 0, "float16": 1, "int64": 3, "int32": 4, "uint8": 5}


class Tensor(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("data", ctypes.c_void_p),
                ("dtype", ctypes.c_int), ("ndim", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8),
                ("device", ctypes.c_int), ("device_index", ctypes.c_int32),
                ("stream", ctypes.c_void_p)]


library = ctypes.CDLL(sys.argv[1])  # of dlpack_library.c
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


def hold(array, **words):
    """The consumer's side: (hold or None, tensor, why)."""
    capsule = array.__dlpack__(**words)
    managed = python.PyCapsule_GetPointer(capsule, b"dltensor")
    tensor, why = Tensor(), ctypes.c_char_p()
    taken = library.dlpack_hold(managed, tensor, why)
    if taken is not None:
        python.PyCapsule_SetName(capsule, USED)
    return taken, tensor, why.value


class Ours:
    """A producer for from_dlpack over a CaliperTensor; `kind` is DLPack's device kind."""

    def __init__(self, tensor, kind):
        self.tensor, self.kind = tensor, kind

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, stream=None, **_):
        return python.PyCapsule_New(library.dlpack_export(self.tensor), b"dltensor", None)
