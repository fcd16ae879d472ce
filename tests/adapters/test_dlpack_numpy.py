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

from dlpack_python import DTYPES, Ours, Tensor, hold, library


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
        array = numpy.from_dlpack(Ours(tensor, 1))
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
