/* A CUDA driver made of host memory, for machines without one: loaded through CALIPER_CUDA_LIBRARY
 * by tests of src/cuda. It keeps count of everything alive (fake_cuda_live), so that a test can
 * show that a failed call left nothing behind, and refuses what the real driver refuses. Its memory
 * map is a short list of blocks that a test may change (fake_cuda_map). Kernels do not run; copies
 * do where they go into a buffer whose imported memory is a file, as lavapipe's is, and their bytes
 * are counted everywhere (fake_cuda_copied). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/cuda_driver.h"

#define FAKE __attribute__((visibility("default")))

enum {
    BLOCKS_MAX = 64,
    ERROR_INVALID_VALUE = 1,
    ERROR_INVALID_HANDLE = 400,
    GRANULARITY_BYTES = 2 << 20
};

/* Where the data of lavapipe's exported memory begins in its file. */
enum { FILE_HEADER_BYTES = 4096, MAPPINGS_MAX = 256 };

typedef struct FakeMapping {
    uint8_t *file; /* NULL: free */
    size_t file_bytes;
} FakeMapping;

typedef struct FakeBlock {
    CudaPointer base;
    size_t bytes;
    int ordinal;
    unsigned int type;
} FakeBlock;

typedef struct FakeStream {
    int context;
    int capturing;
} FakeStream;

FAKE long fake_cuda_live(void);
FAKE long fake_cuda_launches(void);
FAKE void fake_cuda_map(CudaPointer base, size_t bytes, int ordinal, unsigned int type);
FAKE void *fake_cuda_stream(int context, int capturing);
FAKE void fake_cuda_busy(int busy);
FAKE void fake_cuda_allocation_bytes(size_t bytes);
FAKE void fake_cuda_copied(unsigned long long *out_from_host, unsigned long long *out_inside);

static FakeMapping mappings[MAPPINGS_MAX];
static unsigned long long copied_from_host, copied_inside;
static FakeBlock blocks[BLOCKS_MAX];
static int block_count;
static _Atomic long live;
static long launches;
static _Atomic int is_busy; /* events are never seen to be done */
static _Atomic long contexts_pushed;
static size_t exported_bytes = 1 << 20;
static FakeStream test_streams[16];
static int test_stream_count;

long fake_cuda_live(void)
{
    return live + contexts_pushed;
}

long fake_cuda_launches(void)
{
    return launches;
}

void fake_cuda_map(CudaPointer base, size_t bytes, int ordinal, unsigned int type)
{
    blocks[block_count++ % BLOCKS_MAX] = (FakeBlock){base, bytes, ordinal, type};
}

void *fake_cuda_stream(int context, int capturing)
{
    FakeStream *stream = &test_streams[test_stream_count++ % 16];
    *stream = (FakeStream){context, capturing};
    return stream;
}

/* Events are never seen to be done; waiting for them goes on working. */
void fake_cuda_busy(int busy)
{
    is_busy = busy != 0;
}

void fake_cuda_allocation_bytes(size_t bytes)
{
    exported_bytes = bytes;
}

/* Bytes given to cuMemcpyHtoD and to cuMemcpyDtoDAsync since the library was loaded. */
void fake_cuda_copied(unsigned long long *out_from_host, unsigned long long *out_inside)
{
    *out_from_host = copied_from_host;
    *out_inside = copied_inside;
}

/* The mapping that begins at the pointer; NULL: none, or no file is behind it. */
static FakeMapping *mapping_of(CudaPointer pointer)
{
    for (int i = 0; i < MAPPINGS_MAX; i++) {
        if (mappings[i].file != NULL &&
            pointer == (CudaPointer)(uintptr_t)(mappings[i].file + FILE_HEADER_BYTES))
            return &mappings[i];
    }
    return NULL;
}

/* 0 when the fd is no file of that size. */
static CudaPointer file_map(int fd, size_t bytes)
{
    struct stat status;
    FakeMapping *free_one = NULL;
    for (int i = 0; i < MAPPINGS_MAX && free_one == NULL; i++)
        free_one = mappings[i].file == NULL ? &mappings[i] : NULL;
    if (free_one == NULL || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        (size_t)status.st_size < FILE_HEADER_BYTES + bytes)
        return 0;
    void *file = mmap(NULL, FILE_HEADER_BYTES + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED)
        return 0;
    *free_one = (FakeMapping){file, FILE_HEADER_BYTES + bytes};
    return (CudaPointer)(uintptr_t)(free_one->file + FILE_HEADER_BYTES);
}

static void *object_make(void)
{
    live++;
    return malloc(16);
}

static CudaResult object_free(void *object)
{
    live--;
    free(object);
    return 0;
}

static const FakeBlock *block_of(CudaPointer pointer)
{
    for (int i = 0; i < block_count && i < BLOCKS_MAX; i++) {
        if (pointer >= blocks[i].base && pointer - blocks[i].base < blocks[i].bytes)
            return &blocks[i];
    }
    return NULL;
}

#define ENTRY(symbol, ...)               \
    FAKE CudaResult symbol(__VA_ARGS__); \
    CudaResult symbol(__VA_ARGS__)

ENTRY(cuInit, unsigned int flags)
{
    return flags == 0 ? 0 : ERROR_INVALID_VALUE;
}
ENTRY(cuDriverGetVersion, int *version)
{
    *version = 12040;
    return 0;
}
ENTRY(cuGetErrorName, CudaResult error, const char **name)
{
    *name = error == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_INVALID_VALUE";
    return 0;
}
ENTRY(cuGetErrorString, CudaResult error, const char **text)
{
    *text = error == 2 ? "out of memory" : "invalid argument";
    return 0;
}
ENTRY(cuDeviceGetCount, int *count)
{
    *count = 2;
    return 0;
}
ENTRY(cuDeviceGet, CudaDeviceHandle *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < 2 ? 0 : 101;
}
ENTRY(cuDeviceGetName, char *name, int bytes, CudaDeviceHandle device)
{
    (void)device;
    strncpy(name, "Fake GPU", (size_t)bytes - 1);
    name[bytes - 1] = '\0';
    return 0;
}
ENTRY(cuDeviceGetUuid, CudaUuid *uuid, CudaDeviceHandle device)
{
    memset(uuid, 0x40 + device, sizeof *uuid);
    return 0;
}
ENTRY(cuDeviceTotalMem_v2, size_t *bytes, CudaDeviceHandle device)
{
    (void)device;
    *bytes = (size_t)1 << 30;
    return 0;
}
ENTRY(cuDeviceGetAttribute, int *value, int attribute, CudaDeviceHandle device)
{
    (void)device;
    *value = attribute == CUDA_DEVICE_COMPUTE_MAJOR ? 9 : 0;
    return 0;
}
ENTRY(cuDevicePrimaryCtxRetain, CudaContext *context, CudaDeviceHandle device)
{
    live++;
    *context = (CudaContext)(uintptr_t)(0x1000 + device);
    return 0;
}
ENTRY(cuDevicePrimaryCtxRelease_v2, CudaDeviceHandle device)
{
    (void)device;
    live--;
    return 0;
}
ENTRY(cuDevicePrimaryCtxGetState, CudaDeviceHandle device, unsigned int *flags, int *active)
{
    *flags = 0;
    *active = device == 0;
    return 0;
}
ENTRY(cuCtxPushCurrent_v2, CudaContext context)
{
    contexts_pushed++;
    return context != NULL ? 0 : 201;
}
ENTRY(cuCtxPopCurrent_v2, CudaContext *context)
{
    contexts_pushed--;
    *context = NULL;
    return 0;
}
ENTRY(cuThreadExchangeStreamCaptureMode, int *mode)
{
    static int current;
    int before = current;
    current = *mode;
    *mode = before;
    return 0;
}
ENTRY(cuMemGetInfo_v2, size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = (size_t)1 << 29;
    *total_bytes = (size_t)1 << 30;
    return 0;
}
ENTRY(cuMemAlloc_v2, CudaPointer *pointer, size_t bytes)
{
    live++;
    *pointer = (CudaPointer)(uintptr_t)malloc(bytes);
    return 0;
}
ENTRY(cuMemFree_v2, CudaPointer pointer)
{
    FakeMapping *mapping = mapping_of(pointer);
    if (mapping != NULL) {
        live--;
        munmap(mapping->file, mapping->file_bytes);
        mapping->file = NULL;
        return 0;
    }
    return object_free((void *)(uintptr_t)pointer);
}
ENTRY(cuMemcpyHtoD_v2, CudaPointer dst, const void *src, size_t bytes)
{
    memcpy((void *)(uintptr_t)dst, src, bytes);
    copied_from_host += bytes;
    return 0;
}
ENTRY(cuMemcpyDtoDAsync_v2, CudaPointer dst, CudaPointer src, size_t bytes, CudaStream stream)
{
    FakeMapping *mapping = mapping_of(dst);
    (void)stream;
    launches++;
    copied_inside += bytes;
    if (mapping != NULL) {
        if (bytes > mapping->file_bytes - FILE_HEADER_BYTES)
            return ERROR_INVALID_VALUE;
        memcpy((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes);
    }
    return 0;
}
ENTRY(cuMemGetAddressRange_v2, CudaPointer *base, size_t *bytes, CudaPointer pointer)
{
    const FakeBlock *block = block_of(pointer);
    if (block == NULL)
        return ERROR_INVALID_VALUE;
    *base = block->base;
    *bytes = block->bytes;
    return 0;
}
ENTRY(cuPointerGetAttribute, void *value, int attribute, CudaPointer pointer)
{
    const FakeBlock *block = block_of(pointer);
    if (block == NULL)
        return ERROR_INVALID_VALUE;
    if (attribute == CUDA_ATTRIBUTE_MEMORY_TYPE)
        *(unsigned int *)value = block->type;
    else if (attribute == CUDA_ATTRIBUTE_DEVICE_ORDINAL)
        *(int *)value = block->ordinal;
    else
        return ERROR_INVALID_VALUE;
    return 0;
}
ENTRY(cuStreamCreate, CudaStream *stream, unsigned int flags)
{
    (void)flags;
    *stream = object_make();
    return 0;
}
ENTRY(cuStreamDestroy_v2, CudaStream stream)
{
    return object_free(stream);
}
ENTRY(cuStreamGetCtx, CudaStream stream, CudaContext *context)
{
    *context = (CudaContext)(uintptr_t)(0x1000 + ((FakeStream *)(void *)stream)->context);
    return 0;
}
ENTRY(cuStreamIsCapturing, CudaStream stream, int *status)
{
    FakeStream *known = (FakeStream *)(void *)stream;
    bool ours = known >= test_streams && known < test_streams + 16;
    *status = ours ? known->capturing : 0;
    return 0;
}
ENTRY(cuStreamQuery, CudaStream stream)
{
    return stream != NULL ? 0 : ERROR_INVALID_HANDLE;
}
ENTRY(cuStreamWaitEvent, CudaStream stream, CudaEvent event, unsigned int flags)
{
    (void)stream;
    (void)flags;
    return event != NULL ? 0 : ERROR_INVALID_HANDLE;
}
ENTRY(cuStreamSynchronize, CudaStream stream)
{
    (void)stream;
    return 0;
}
ENTRY(cuEventCreate, CudaEvent *event, unsigned int flags)
{
    (void)flags;
    *event = object_make();
    return 0;
}
ENTRY(cuEventDestroy_v2, CudaEvent event)
{
    return object_free(event);
}
ENTRY(cuEventRecord, CudaEvent event, CudaStream stream)
{
    (void)stream;
    return event != NULL ? 0 : ERROR_INVALID_HANDLE;
}
ENTRY(cuEventQuery, CudaEvent event)
{
    if (event == NULL)
        return ERROR_INVALID_HANDLE;
    return is_busy ? CUDA_ERROR_NOT_READY_CODE : 0;
}
ENTRY(cuEventSynchronize, CudaEvent event)
{
    return event != NULL ? 0 : ERROR_INVALID_HANDLE;
}
ENTRY(cuModuleLoadData, CudaModule *module, const void *image)
{
    if (strstr(image, ".entry colormap_f32") == NULL)
        return ERROR_INVALID_VALUE;
    *module = object_make();
    return 0;
}
ENTRY(cuModuleUnload, CudaModule module)
{
    return object_free(module);
}
ENTRY(cuModuleGetFunction, CudaFunction *function, CudaModule module, const char *name)
{
    *function = (CudaFunction)(void *)module;
    return strcmp(name, "colormap_f32") == 0 || strcmp(name, "expand_u8") == 0 ? 0 : 500;
}
ENTRY(cuLaunchKernel, CudaFunction function, unsigned int grid_x, unsigned int grid_y,
      unsigned int grid_z, unsigned int block_x, unsigned int block_y, unsigned int block_z,
      unsigned int shared_bytes, CudaStream stream, void **params, void **extra)
{
    (void)function;
    (void)shared_bytes;
    (void)stream;
    (void)extra;
    bool sane = grid_x > 0 && grid_y > 0 && grid_y <= 65535 && grid_z == 1 && block_x == 8 &&
                block_y == 16 && block_z == 1 && params != NULL;
    launches += sane;
    return sane ? 0 : ERROR_INVALID_VALUE;
}

/* Imports take the fd over when they succeed, as the real driver does. */
typedef struct FakeImport {
    int fd;
} FakeImport;

static CudaResult import(int fd, void **out)
{
    if (fcntl(fd, F_GETFD) < 0)
        return ERROR_INVALID_VALUE;
    FakeImport *made = object_make();
    made->fd = fd;
    *out = made;
    return 0;
}

static CudaResult import_free(void *object)
{
    close(((FakeImport *)object)->fd);
    return object_free(object);
}

ENTRY(cuImportExternalMemory, CudaExternalMemory *memory, const CudaExternalMemoryDesc *desc)
{
    return desc->type == 1 ? import(desc->handle.fd, (void **)memory) : ERROR_INVALID_VALUE;
}
ENTRY(cuDestroyExternalMemory, CudaExternalMemory memory)
{
    return import_free(memory);
}
ENTRY(cuExternalMemoryGetMappedBuffer, CudaPointer *pointer, CudaExternalMemory memory,
      const CudaExternalBufferDesc *desc)
{
    *pointer = file_map(((FakeImport *)(void *)memory)->fd, desc->size);
    if (*pointer != 0)
        live++;
    else
        *pointer = (CudaPointer)(uintptr_t)object_make();
    return 0;
}
ENTRY(cuExternalMemoryGetMappedMipmappedArray, CudaMipmappedArray *array, CudaExternalMemory memory,
      const CudaExternalArrayDesc *desc)
{
    (void)memory;
    if (desc->levels != 1 || desc->array.depth != 0 || desc->array.channels != 4 ||
        desc->array.format != 1 || desc->array.flags != 2)
        return ERROR_INVALID_VALUE;
    *array = object_make();
    return 0;
}
ENTRY(cuMipmappedArrayGetLevel, CudaArray *level_array, CudaMipmappedArray array,
      unsigned int level)
{
    *level_array = (CudaArray)(void *)array;
    return level == 0 ? 0 : ERROR_INVALID_VALUE;
}
ENTRY(cuMipmappedArrayDestroy, CudaMipmappedArray array)
{
    return object_free(array);
}
ENTRY(cuSurfObjectCreate, CudaSurfaceObject *surface, const CudaResourceDesc *desc)
{
    (void)desc;
    *surface = (CudaSurfaceObject)(uintptr_t)object_make();
    return 0;
}
ENTRY(cuSurfObjectDestroy, CudaSurfaceObject surface)
{
    return object_free((void *)(uintptr_t)surface);
}
ENTRY(cuImportExternalSemaphore, CudaExternalSemaphore *semaphore,
      const CudaExternalSemaphoreDesc *desc)
{
    return desc->type == 9 ? import(desc->handle.fd, (void **)semaphore) : ERROR_INVALID_VALUE;
}
ENTRY(cuDestroyExternalSemaphore, CudaExternalSemaphore semaphore)
{
    return import_free(semaphore);
}
ENTRY(cuSignalExternalSemaphoresAsync, const CudaExternalSemaphore *semaphores,
      const CudaSemaphoreSignalParams *params, unsigned int count, CudaStream stream)
{
    (void)stream;
    return semaphores[0] != NULL && params->params.fence_value > 0 && count == 1
               ? 0
               : ERROR_INVALID_VALUE;
}
ENTRY(cuMemImportFromShareableHandle, CudaMemoryHandle *memory, void *os_handle, int handle_type)
{
    if (handle_type != 1 || fcntl((int)(intptr_t)os_handle, F_GETFD) < 0)
        return ERROR_INVALID_VALUE;
    *memory = (CudaMemoryHandle)(uintptr_t)object_make();
    return 0;
}
ENTRY(cuMemRelease, CudaMemoryHandle memory)
{
    return object_free((void *)(uintptr_t)memory);
}
ENTRY(cuMemAddressReserve, CudaPointer *pointer, size_t bytes, size_t alignment,
      CudaPointer address, unsigned long long flags)
{
    (void)alignment;
    (void)address;
    (void)flags;
    if (bytes == 0)
        return ERROR_INVALID_VALUE;
    void *reserved =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED)
        return ERROR_INVALID_VALUE;
    live++;
    *pointer = (CudaPointer)(uintptr_t)reserved;
    return 0;
}
ENTRY(cuMemAddressFree, CudaPointer pointer, size_t bytes)
{
    live--;
    return munmap((void *)(uintptr_t)pointer, bytes) == 0 ? 0 : ERROR_INVALID_VALUE;
}
ENTRY(cuMemGetAllocationGranularity, size_t *granularity, const void *prop, int option)
{
    (void)prop;
    (void)option;
    *granularity = GRANULARITY_BYTES;
    return 0;
}
ENTRY(cuMemCreate, CudaMemoryHandle *handle, size_t bytes, const void *prop,
      unsigned long long flags)
{
    (void)prop;
    if (bytes == 0 || bytes % GRANULARITY_BYTES != 0 || bytes > exported_bytes || flags != 0)
        return ERROR_INVALID_VALUE;
    *handle = (CudaMemoryHandle)(uintptr_t)object_make();
    return 0;
}
ENTRY(cuMemExportToShareableHandle, void *out, CudaMemoryHandle handle, int type,
      unsigned long long flags)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (handle == 0 || type != 1 || flags != 0 || fd < 0)
        return ERROR_INVALID_VALUE;
    memcpy(out, &fd, sizeof fd);
    return 0;
}
ENTRY(cuCtxSynchronize, void)
{
    return 0;
}
ENTRY(cuMemMap, CudaPointer pointer, size_t bytes, size_t offset, CudaMemoryHandle memory,
      unsigned long long flags)
{
    (void)pointer;
    (void)memory;
    (void)flags;
    if (offset != 0 || bytes > exported_bytes)
        return ERROR_INVALID_VALUE;
    fake_cuda_map(pointer, bytes, 0, CUDA_MEMORY_TYPE_DEVICE);
    live++;
    return 0;
}
ENTRY(cuMemUnmap, CudaPointer pointer, size_t bytes)
{
    (void)pointer;
    (void)bytes;
    live--;
    return 0;
}
ENTRY(cuMemSetAccess, CudaPointer pointer, size_t bytes, const CudaAccessDesc *desc, size_t count)
{
    (void)pointer;
    (void)bytes;
    (void)desc;
    (void)count;
    return 0;
}
