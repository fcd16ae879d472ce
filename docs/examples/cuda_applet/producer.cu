/* producer.cu: tensors made by a CUDA kernel in memory that can be exported.
 *
 * The device's primary context, as the CUDA runtime and the frameworks use it: pointers and streams
 * of any other context are refused. The driver's functions are asked from the runtime (CUDA 12.5 or
 * later), so that nothing but the driver itself has to be there when this runs. */
#include "producer.h"

#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <unistd.h>

struct Producer {
    int32_t height, width;
    uint64_t slot_bytes, bytes;
    CUdeviceptr address;
    cudaStream_t stream;
    int fd;
};

namespace
{

/* The versions that CUDA 11.2 introduced or had: the lowest that Caliper's hosts need. */
template <typename Function> bool find(const char *name, Function *out)
{
    cudaDriverEntryPointQueryResult found;
    void *address = nullptr;
    if (cudaGetDriverEntryPointByVersion(name, &address, 11020, cudaEnableDefault, &found) !=
            cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
        return false;
    *out = reinterpret_cast<Function>(address);
    return true;
}

struct Driver {
    decltype(&cuMemGetAllocationGranularity) granularity;
    decltype(&cuMemCreate) create;
    decltype(&cuMemRelease) release;
    decltype(&cuMemExportToShareableHandle) export_handle;
    decltype(&cuMemAddressReserve) reserve;
    decltype(&cuMemAddressFree) free_address;
    decltype(&cuMemMap) map;
    decltype(&cuMemUnmap) unmap;
    decltype(&cuMemSetAccess) set_access;
};

bool driver_load(Driver *driver)
{
    return find("cuMemGetAllocationGranularity", &driver->granularity) &&
           find("cuMemCreate", &driver->create) && find("cuMemRelease", &driver->release) &&
           find("cuMemExportToShareableHandle", &driver->export_handle) &&
           find("cuMemAddressReserve", &driver->reserve) &&
           find("cuMemAddressFree", &driver->free_address) && find("cuMemMap", &driver->map) &&
           find("cuMemUnmap", &driver->unmap) && find("cuMemSetAccess", &driver->set_access);
}

/* Memory that can be exported comes from cuMemCreate; cudaMalloc's cannot. Only a handle made with
 * requestedHandleTypes can become a file descriptor. */
bool memory_open(const Driver *driver, Producer *producer, int32_t ordinal)
{
    CUmemAllocationProp properties = {};
    CUmemAccessDesc access = {};
    CUmemGenericAllocationHandle memory;
    size_t granularity = 0;
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = ordinal;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (driver->granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) !=
        CUDA_SUCCESS)
        return false;
    uint64_t wanted = producer->slot_bytes * PRODUCER_SLOTS;
    producer->bytes = (wanted + granularity - 1) / granularity * granularity;
    if (driver->create(&memory, producer->bytes, &properties, 0) != CUDA_SUCCESS)
        return false;
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    bool mapped =
        driver->reserve(&producer->address, producer->bytes, 0, 0, 0) == CUDA_SUCCESS &&
        driver->map(producer->address, producer->bytes, 0, memory, 0) == CUDA_SUCCESS &&
        driver->set_access(producer->address, producer->bytes, &access, 1) == CUDA_SUCCESS;
    if (!mapped ||
        driver->export_handle(&producer->fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) !=
            CUDA_SUCCESS)
        producer->fd = -1;   /* still good for update_texture */
    driver->release(memory); /* the mapping and the fd keep it */
    return mapped;
}

void memory_close(const Driver *driver, Producer *producer)
{
    if (producer->fd >= 0)
        close(producer->fd);
    if (producer->address == 0)
        return;
    driver->unmap(producer->address, producer->bytes);
    driver->free_address(producer->address, producer->bytes);
}

__global__ void rings(float *out, int32_t height, int32_t width, float time_sec)
{
    int32_t x = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    int32_t y = (int32_t)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height)
        return;
    float dx = (float)(x - width / 2), dy = (float)(y - height / 2);
    out[(size_t)y * width + x] = 0.5f + 0.5f * sinf(0.1f * sqrtf(dx * dx + dy * dy) - time_sec);
}

Driver driver;

} // namespace

Producer *producer_open(int32_t ordinal, int32_t height, int32_t width)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || ordinal < 0 || ordinal >= count ||
        cudaSetDevice(ordinal) != cudaSuccess || cudaFree(nullptr) != cudaSuccess ||
        !driver_load(&driver))
        return nullptr;
    Producer *producer = static_cast<Producer *>(calloc(1, sizeof(Producer)));
    if (producer == nullptr)
        return nullptr;
    producer->height = height;
    producer->width = width;
    producer->slot_bytes = (uint64_t)height * (uint64_t)width * sizeof(float);
    producer->fd = -1;
    if (!memory_open(&driver, producer, ordinal) ||
        cudaStreamCreateWithFlags(&producer->stream, cudaStreamNonBlocking) != cudaSuccess)
        producer_close(&producer);
    return producer;
}

void producer_close(Producer **producer)
{
    if (producer == nullptr || *producer == nullptr)
        return;
    if ((*producer)->stream != nullptr) {
        cudaStreamSynchronize((*producer)->stream);
        cudaStreamDestroy((*producer)->stream);
    }
    memory_close(&driver, *producer);
    free(*producer);
    *producer = nullptr;
}

int producer_fd(const Producer *producer)
{
    return producer->fd;
}

uint64_t producer_bytes(const Producer *producer)
{
    return producer->bytes;
}

void *producer_stream(const Producer *producer)
{
    return producer->stream;
}

uint64_t producer_slot_offset(const Producer *producer, uint32_t slot)
{
    return producer->slot_bytes * slot;
}

void *producer_slot(const Producer *producer, uint32_t slot)
{
    return reinterpret_cast<void *>(producer->address + producer->slot_bytes * slot);
}

bool producer_enqueue(Producer *producer, uint32_t slot, float time_sec)
{
    dim3 block(32, 8);
    dim3 grid((producer->width + 31) / 32, (producer->height + 7) / 8);
    rings<<<grid, block, 0, producer->stream>>>(static_cast<float *>(producer_slot(producer, slot)),
                                                producer->height, producer->width, time_sec);
    return cudaGetLastError() == cudaSuccess;
}

bool producer_drain(Producer *producer)
{
    return cudaStreamSynchronize(producer->stream) == cudaSuccess;
}

bool producer_download(Producer *producer, uint32_t slot, float *out)
{
    return cudaMemcpyAsync(out, producer_slot(producer, slot), producer->slot_bytes,
                           cudaMemcpyDeviceToHost, producer->stream) == cudaSuccess &&
           producer_drain(producer);
}
