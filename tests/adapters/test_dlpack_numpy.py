"""caliper/adapters/dlpack.h against NumPy's DLPack: its arrays come in with the right address, shape
and values, ours go out to it, both ways without a copy, and everything is released once.

Usage: test_dlpack_numpy.py LIBRARY        (exit status 77: no NumPy with DLPack here)
"""
import ctypes
import gc
import sys
import weakref

try:
    import numpy
    numpy.from_dlpack
except (ImportError, AttributeError):
    print("skipped: no NumPy 1.23 or later")
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


def hold(array):
    """The consumer's side of the protocol: (hold or None, tensor, why)."""
    capsule = array.__dlpack__()
    managed = python.PyCapsule_GetPointer(capsule, b"dltensor")
    tensor, why = Tensor(), ctypes.c_char_p()
    taken = library.dlpack_hold(managed, tensor, why)
    if taken is not None:
        python.PyCapsule_SetName(capsule, USED)
    return taken, tensor, why.value


class Ours:
    """A producer for numpy.from_dlpack over a CaliperTensor."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, stream=None):
        return python.PyCapsule_New(library.dlpack_export(self.tensor), b"dltensor", None)


def comes_in():
    for name, dtype in DTYPES.items():
        for shape in ((), (5,), (3, 4), (2, 3, 4), (1, 1, 7), (2, 1, 2, 1, 2, 1, 2, 1)):
            array = numpy.arange(numpy.prod(shape, dtype=int), dtype=name).reshape(shape)
            taken, tensor, why = hold(array)
            assert taken is not None, f"{name} {shape}: {why}"
            assert tensor.data == array.ctypes.data, f"{name} {shape} was copied"
            assert (tensor.dtype, tensor.device, tensor.ndim) == (dtype, 0, len(shape))
            assert tuple(tensor.shape[:len(shape)]) == shape
            wanted = tuple(stride // array.itemsize for stride in array.strides)
            for extent, got, want in zip(shape, tensor.strides, wanted):
                assert extent == 1 or got == want, f"{name} {shape}: {list(tensor.strides)}"
            library.dlpack_release(taken)
    part = numpy.arange(24, dtype="float32").reshape(4, 6)[2:]
    taken, tensor, _ = hold(part)
    assert tensor.data == part.ctypes.data
    library.dlpack_release(taken)


def is_refused():
    base = numpy.arange(24, dtype="float32").reshape(4, 6)
    for array, word in ((base.T, b"row-major"), (base[:, 1:], b"row-major"), (base[::-1], b"row-major"),
                        (base.astype("float64"), b"float"), (base.astype("int16"), b"integer"),
                        (base.astype("complex64"), b"complex"), (base.astype("uint32"), b"unsigned")):
        taken, _, why = hold(array)
        assert taken is None and word in why, f"{array.dtype} {array.strides}: {why}"


def is_released():
    array = numpy.ones((64, 64), dtype="float32")
    seen = weakref.ref(array)
    taken, tensor, _ = hold(array)
    del array
    gc.collect()
    assert seen() is not None, "the producer's array is gone while it is held"
    assert ctypes.cast(tensor.data, ctypes.POINTER(ctypes.c_float))[4095] == 1.0
    library.dlpack_release(taken)
    gc.collect()
    assert seen() is None, "the producer's array is still held"
    taken, _, _ = hold(numpy.ones((4, 4), dtype="float64"))
    gc.collect()
    assert taken is None


def goes_out():
    for count, (name, dtype) in enumerate(DTYPES.items()):
        source = numpy.arange(12, dtype=name).reshape(3, 4)
        tensor = Tensor(ctypes.sizeof(Tensor), source.ctypes.data, dtype, 2, (3, 4), (4, 1), 0, 0, None)
        array = numpy.from_dlpack(Ours(tensor))
        assert array.dtype == source.dtype and array.shape == (3, 4)
        assert numpy.array_equal(array, source) and array.ctypes.data == source.ctypes.data
        assert library.dlpack_released() == count
        del array
        gc.collect()
        assert library.dlpack_released() == count + 1


assert ctypes.sizeof(Tensor) == 168
comes_in()
is_refused()
is_released()
goes_out()
print(f"DLPack with NumPy {numpy.__version__}: in, refused, released, out")
