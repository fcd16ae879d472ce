/* Our declarations of the CUDA driver API against NVIDIA's own header, where that is installed. */
#include <cuda.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cuda.h defines some of the names as macros; ours are plain identifiers. */
#undef cuDeviceTotalMem
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuDevicePrimaryCtxRelease
#undef cuMemGetInfo
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemcpyHtoD
#undef cuMemcpyDtoDAsync
#undef cuMemGetAddressRange
#undef cuStreamDestroy
#undef cuEventDestroy
#include "cuda/cuda_driver.h"

#define SAME_SIZE(ours, theirs) assert_int_equal(sizeof(ours), sizeof(theirs))
#define SAME_PLACE(ours, member, theirs, other) \
    assert_int_equal(offsetof(ours, member), offsetof(theirs, other))

static void test_layouts(void **state)
{
    (void)state;
    SAME_SIZE(CudaExternalMemoryDesc, CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
    SAME_PLACE(CudaExternalMemoryDesc, handle, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle);
    SAME_PLACE(CudaExternalMemoryDesc, size, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size);
    SAME_PLACE(CudaExternalMemoryDesc, flags, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, flags);
    SAME_SIZE(CudaExternalBufferDesc, CUDA_EXTERNAL_MEMORY_BUFFER_DESC);
    SAME_PLACE(CudaExternalBufferDesc, size, CUDA_EXTERNAL_MEMORY_BUFFER_DESC, size);
    SAME_SIZE(CudaExternalArrayDesc, CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC);
    SAME_PLACE(CudaExternalArrayDesc, array, CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, arrayDesc);
    SAME_PLACE(CudaExternalArrayDesc, levels, CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC, numLevels);
    SAME_SIZE(CudaArray3dDesc, CUDA_ARRAY3D_DESCRIPTOR);
    SAME_PLACE(CudaArray3dDesc, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
    SAME_PLACE(CudaArray3dDesc, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
    SAME_SIZE(CudaExternalSemaphoreDesc, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC);
    SAME_PLACE(CudaExternalSemaphoreDesc, handle, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, handle);
    SAME_SIZE(CudaSemaphoreSignalParams, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS);
    SAME_PLACE(CudaSemaphoreSignalParams, params.fence_value, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
               params.fence.value);
    SAME_PLACE(CudaSemaphoreSignalParams, flags, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, flags);
    SAME_SIZE(CudaResourceDesc, CUDA_RESOURCE_DESC);
    SAME_PLACE(CudaResourceDesc, resource.array, CUDA_RESOURCE_DESC, res.array.hArray);
    SAME_PLACE(CudaResourceDesc, flags, CUDA_RESOURCE_DESC, flags);
    SAME_SIZE(CudaAccessDesc, CUmemAccessDesc);
    SAME_SIZE(CudaUuid, CUuuid);
}

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(CUDA_ERROR_OUT_OF_MEMORY_CODE, CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(CUDA_ERROR_INVALID_VALUE_CODE, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(CUDA_ERROR_INVALID_HANDLE_CODE, CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(CUDA_ERROR_NOT_READY_CODE, CUDA_ERROR_NOT_READY);
    assert_int_equal(CUDA_ERROR_NOT_SUPPORTED_CODE, CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(CUDA_HANDLE_TYPE_OPAQUE_FD, CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD);
    assert_int_equal(CUDA_SEMAPHORE_TYPE_TIMELINE_FD,
                     CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
    assert_int_equal(CUDA_EXTERNAL_DEDICATED, CUDA_EXTERNAL_MEMORY_DEDICATED);
    assert_int_equal(CUDA_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT8);
    assert_int_equal(CUDA_ARRAY_SURFACE_LOAD_STORE, CUDA_ARRAY3D_SURFACE_LDST);
    assert_int_equal(CUDA_RESOURCE_ARRAY, CU_RESOURCE_TYPE_ARRAY);
    assert_int_equal(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
    assert_int_equal(CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
    assert_int_equal(CUDA_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(CUDA_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_int_equal(CUDA_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    assert_int_equal(CUDA_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    assert_int_equal(CUDA_MEMORY_TYPE_HOST, CU_MEMORYTYPE_HOST);
    assert_int_equal(CUDA_MEMORY_TYPE_DEVICE, CU_MEMORYTYPE_DEVICE);
    assert_int_equal(CUDA_DEVICE_COMPUTE_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    assert_int_equal(CUDA_DEVICE_COMPUTE_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    assert_int_equal(CUDA_LOCATION_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
    assert_int_equal(CUDA_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_int_equal(CUDA_MEMORY_HANDLE_FD, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
