/* Producer kernels and set-up for the GPU tests and benchmarks. */
#include "gpu_support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "cuda/cuda_device.h"

static const char producer_ptx[] =
    ".version 6.4\n.target sm_52\n.address_size 64\n"
    /* spin(nanoseconds): one thread waits on the global timer. */
    ".visible .entry spin(.param .u64 p_ns)\n{\n"
    ".reg .b64 %start, %now, %ns, %end;\n.reg .pred %more;\n"
    "ld.param.u64 %ns, [p_ns];\nmov.u64 %start, %globaltimer;\nadd.u64 %end, %start, %ns;\n"
    "AGAIN:\nmov.u64 %now, %globaltimer;\nsetp.lt.u64 %more, %now, %end;\n@%more bra AGAIN;\n"
    "ret;\n}\n"
    /* fill_u32(pointer, words, value): a grid-stride loop. */
    ".visible .entry fill_u32(.param .u64 p_ptr, .param .u64 p_words, .param .u32 p_value)\n{\n"
    ".reg .b64 %ptr, %words, %i, %step, %a;\n.reg .b32 %v, %t, %n, %b, %g;\n.reg .pred %more;\n"
    "ld.param.u64 %ptr, [p_ptr];\nld.param.u64 %words, [p_words];\nld.param.u32 %v, [p_value];\n"
    "cvta.to.global.u64 %ptr, %ptr;\nmov.u32 %t, %tid.x;\nmov.u32 %n, %ntid.x;\n"
    "mov.u32 %b, %ctaid.x;\nmov.u32 %g, %nctaid.x;\nmul.wide.u32 %i, %b, %n;\n"
    "cvt.u64.u32 %a, %t;\nadd.u64 %i, %i, %a;\nmul.wide.u32 %step, %n, %g;\n"
    "LOOP:\nsetp.ge.u64 %more, %i, %words;\n@%more ret;\nshl.b64 %a, %i, 2;\n"
    "add.u64 %a, %ptr, %a;\nst.global.u32 [%a], %v;\nadd.u64 %i, %i, %step;\nbra LOOP;\n}\n"
    /* add_f32(pointer, words, amount): x = x * 0.999 + amount. */
    ".visible .entry add_f32(.param .u64 p_ptr, .param .u64 p_words, .param .f32 p_amount)\n{\n"
    ".reg .b64 %ptr, %words, %i, %step, %a;\n.reg .b32 %t, %n, %b, %g;\n.reg .f32 %x, %v;\n"
    ".reg .pred %more;\n"
    "ld.param.u64 %ptr, [p_ptr];\nld.param.u64 %words, [p_words];\nld.param.f32 %v, [p_amount];\n"
    "cvta.to.global.u64 %ptr, %ptr;\nmov.u32 %t, %tid.x;\nmov.u32 %n, %ntid.x;\n"
    "mov.u32 %b, %ctaid.x;\nmov.u32 %g, %nctaid.x;\nmul.wide.u32 %i, %b, %n;\n"
    "cvt.u64.u32 %a, %t;\nadd.u64 %i, %i, %a;\nmul.wide.u32 %step, %n, %g;\n"
    "LOOP:\nsetp.ge.u64 %more, %i, %words;\n@%more ret;\nshl.b64 %a, %i, 2;\n"
    "add.u64 %a, %ptr, %a;\nld.global.f32 %x, [%a];\nfma.rn.f32 %x, %x, 0f3F7FBE77, %v;\n"
    "st.global.f32 [%a], %x;\nadd.u64 %i, %i, %step;\nbra LOOP;\n}\n";

double gpu_now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int gpu_open_fds(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL)
        return -1;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

void gpu_must(const CudaDriver *driver, const char *call, CudaResult result)
{
    char text[256];
    if (result == 0)
        return;
    cuda_error_text(driver, call, result, text, sizeof text);
    fprintf(stderr, "gpu: %s\n", text);
    exit(1);
}

static void skip(const char *reason)
{
    printf("skipped: %s\n", reason);
    exit(77);
}

bool gpu_renderer_open(Gpu *gpu)
{
    CudaDeviceInfo info;
    if (!cuda_device_describe(0, &info))
        return false;
    RendererParams params = {.struct_size = sizeof params,
                             .label = "gpu tests",
                             .width_px = 64,
                             .height_px = 64,
                             .validate = getenv("CALIPER_VALIDATE") != NULL,
                             .has_interop_uuid = true,
                             .interop_index = 0};
    memcpy(params.interop_uuid, info.uuid, sizeof params.interop_uuid);
    gpu->renderer = renderer_choose(&params, "vulkan", NULL);
    if (gpu->renderer == NULL || strcmp(renderer_info(gpu->renderer)->name, "vulkan") != 0)
        return false;
    gpu->bridge = bridge_create(gpu->renderer);
    return gpu->bridge != NULL;
}

void gpu_renderer_close(Gpu *gpu)
{
    bridge_destroy(&gpu->bridge);
    renderer_destroy(&gpu->renderer);
}

void gpu_open(Gpu *gpu)
{
    const char *reason = "";
    CudaModule module;
    CudaDeviceHandle device;
    CudaDeviceInfo info;
    memset(gpu, 0, sizeof *gpu);
    gpu->driver = cuda_driver(&reason);
    if (gpu->driver == NULL || cuda_device_count(&reason) == 0)
        skip(reason);
    if (!cuda_device_describe(0, &info))
        skip("CUDA device 0 cannot be described");
    GPU_CALL(gpu, cuDeviceGet, &device, 0);
    GPU_CALL(gpu, cuDevicePrimaryCtxRetain, &gpu->context, device);
    GPU_CALL(gpu, cuCtxPushCurrent, gpu->context);
    GPU_CALL(gpu, cuModuleLoadData, &module, producer_ptx);
    GPU_CALL(gpu, cuModuleGetFunction, &gpu->spin, module, "spin");
    GPU_CALL(gpu, cuModuleGetFunction, &gpu->fill_u32, module, "fill_u32");
    GPU_CALL(gpu, cuModuleGetFunction, &gpu->add_f32, module, "add_f32");
    const char *rung = getenv("CALIPER_CUDA_RUNG");
    gpu->copies = rung != NULL && strcmp(rung, "copy") == 0;
    if (!gpu_renderer_open(gpu))
        skip("no Vulkan renderer starts here");
    if ((renderer_info(gpu->renderer)->caps & RENDERER_CAP_DEVICE_SOURCE) == 0) {
        fprintf(stderr, "gpu: the Vulkan renderer does not take CUDA tensors here\n");
        exit(1);
    }
}

void gpu_close(Gpu *gpu)
{
    CudaContext popped;
    gpu_renderer_close(gpu);
    GPU_CALL(gpu, cuCtxPopCurrent, &popped);
}

void gpu_spin(Gpu *gpu, double milliseconds, CudaStream stream)
{
    uint64_t nanoseconds = (uint64_t)(milliseconds * 1e6);
    void *params[] = {&nanoseconds};
    GPU_CALL(gpu, cuLaunchKernel, gpu->spin, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

void gpu_fill(Gpu *gpu, CudaPointer pointer, uint64_t words, uint32_t value, CudaStream stream)
{
    void *params[] = {&pointer, &words, &value};
    if (words == 0)
        return;
    unsigned int blocks = (unsigned int)((words + 255) / 256);
    GPU_CALL(gpu, cuLaunchKernel, gpu->fill_u32, blocks < 1024 ? blocks : 1024, 1, 1, 256, 1, 1, 0,
             stream, params, NULL);
}

CaliperTensor gpu_tensor_f32(CudaPointer pointer, int64_t height, int64_t width, void *stream)
{
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = (void *)(uintptr_t)pointer,
                            .dtype = CALIPER_DT_F32,
                            .ndim = 2,
                            .shape = {height, width},
                            .strides = {width, 1},
                            .device = CALIPER_DEV_CUDA,
                            .stream = stream};
    return tensor;
}

CaliperTensor gpu_tensor_u8(CudaPointer pointer, int64_t height, int64_t width, int64_t channels,
                            void *stream)
{
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = (void *)(uintptr_t)pointer,
                            .dtype = CALIPER_DT_U8,
                            .ndim = 3,
                            .shape = {height, width, channels},
                            .strides = {width * channels, channels, 1},
                            .device = CALIPER_DEV_CUDA,
                            .stream = stream};
    return tensor;
}

/* CUmemAllocationProp of the published driver API; only tests allocate with it. */
typedef struct AllocationProp {
    int type;         /* 1: pinned */
    int handle_types; /* 1: POSIX file descriptor */
    struct {
        int type; /* 1: device */
        int id;
    } location;
    void *win32_metadata;
    struct {
        unsigned char compression, gpu_direct_rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} AllocationProp;

typedef CudaResult (*MemCreate)(CudaMemoryHandle *, size_t, const AllocationProp *,
                                unsigned long long);
typedef CudaResult (*MemExport)(void *, CudaMemoryHandle, int, unsigned long long);
typedef CudaResult (*MemGranularity)(size_t *, const AllocationProp *, int);

static void *driver_symbol(const char *name)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *address = library != NULL ? dlsym(library, name) : NULL;
    if (address == NULL) {
        fprintf(stderr, "gpu: the driver has no %s\n", name);
        exit(1);
    }
    return address;
}

bool gpu_export_make(Gpu *gpu, uint64_t size_bytes, GpuExport *out)
{
    MemCreate create;
    MemExport export_fd;
    MemGranularity granularity;
    size_t step = 0;
    AllocationProp prop = {.type = 1, .handle_types = 1, .location = {1, 0}};
    CudaAccessDesc access = {{CUDA_LOCATION_DEVICE, 0}, CUDA_ACCESS_READ_WRITE};
    void *symbols[3] = {driver_symbol("cuMemCreate"), driver_symbol("cuMemExportToShareableHandle"),
                        driver_symbol("cuMemGetAllocationGranularity")};
    memcpy(&create, &symbols[0], sizeof create);
    memcpy(&export_fd, &symbols[1], sizeof export_fd);
    memcpy(&granularity, &symbols[2], sizeof granularity);
    gpu_must(gpu->driver, "cuMemGetAllocationGranularity", granularity(&step, &prop, 0));
    out->size_bytes = (size_bytes + step - 1) / step * step;
    if (create(&out->memory, out->size_bytes, &prop, 0) != 0)
        return false;
    GPU_CALL(gpu, cuMemAddressReserve, &out->pointer, out->size_bytes, 0, 0, 0);
    GPU_CALL(gpu, cuMemMap, out->pointer, out->size_bytes, 0, out->memory, 0);
    GPU_CALL(gpu, cuMemSetAccess, out->pointer, out->size_bytes, &access, 1);
    gpu_must(gpu->driver, "cuMemExportToShareableHandle",
             export_fd(&out->fd, out->memory, CUDA_MEMORY_HANDLE_FD, 0));
    return true;
}

void gpu_export_free(Gpu *gpu, GpuExport *block)
{
    close(block->fd);
    GPU_CALL(gpu, cuMemUnmap, block->pointer, block->size_bytes);
    GPU_CALL(gpu, cuMemAddressFree, block->pointer, block->size_bytes);
    GPU_CALL(gpu, cuMemRelease, block->memory);
    memset(block, 0, sizeof *block);
}

void gpu_frame(Gpu *gpu, const CaliperTextureId *ids, int count)
{
    enum { FRAME_QUADS_MAX = 1024 };
    static UiVertex vertices[FRAME_QUADS_MAX * 4];
    static uint16_t indices[FRAME_QUADS_MAX * 6];
    static UiCommand commands[FRAME_QUADS_MAX];
    uint32_t made = 0;
    if (!renderer_frame_begin(gpu->renderer, 64, 64, 0xff000000u))
        return;
    for (int i = 0; i < count && i < FRAME_QUADS_MAX; i++) {
        RendererTexture *texture = bridge_texture_for_draw(gpu->bridge, ids[i]);
        if (texture == NULL)
            continue;
        float x = (float)(i % 16) * 4.0f;
        float y = (float)(i / 16 % 16) * 4.0f;
        for (uint32_t k = 0; k < 4; k++) {
            float u = (k == 1 || k == 2) ? 1.0f : 0.0f;
            float v = k >= 2 ? 1.0f : 0.0f;
            vertices[made * 4 + k] = (UiVertex){x + 4 * u, y + 4 * v, u, v, 0xffffffffu};
        }
        static const uint16_t quad[6] = {0, 1, 2, 0, 2, 3};
        for (uint32_t k = 0; k < 6; k++)
            indices[made * 6 + k] = (uint16_t)(made * 4 + quad[k]);
        commands[made] = (UiCommand){.clip_x1 = 64,
                                     .clip_y1 = 64,
                                     .texture = texture,
                                     .filter = UI_FILTER_NEAREST,
                                     .index_first = made * 6,
                                     .index_count = 6};
        made++;
    }
    UiList list = {.vertices = vertices,
                   .vertex_count = made * 4,
                   .indices = indices,
                   .index_count = made * 6,
                   .commands = commands,
                   .command_count = made};
    UiDraw draw = {.lists = &list, .list_count = made > 0 ? 1 : 0, .scale = 1.0f};
    renderer_draw_ui(gpu->renderer, &draw);
    renderer_frame_end(gpu->renderer);
    bridge_frame_end(gpu->bridge);
}
