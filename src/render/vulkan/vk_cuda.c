/* render/vulkan/vk_cuda.c: the pair Vulkan and CUDA: fills the table of
 * vk_interop.h with src/cuda/.
 *
 * Needs no Vulkan header. A target's fence covers the newest pass or copy into
 * it; the fences of targets and streams since the last hand-over are listed in
 * `pending`. What is unmapped while CUDA may still write it is kept until its
 * fence is done: nothing here waits but destroy(). Frame thread. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/log.h"
#include "cuda/cuda_device.h"
#include "cuda/cuda_external.h"
#include "cuda/cuda_pass.h"
#include "render/vulkan/vk_interop.h"

/* Memory of Vulkan's that CUDA writes (an image or a buffer), or memory of CUDA's that passes read.
 * The fence of what is read is recorded only when it is unmapped, behind the hand-over that waits
 * for its last readers. */
typedef struct CudaTarget {
    CudaSurface *surface;
    CudaBuffer *buffer;
    CudaMemory *memory;
    CudaFence *fence;
    uint64_t listed_for;     /* the hand-over whose list names `fence`, or that `memory` awaits */
    bool is_marked;          /* `memory`: its fence is recorded */
    struct CudaTarget *next; /* in the list of unmapped ones */
} CudaTarget;

typedef struct VulkanCuda {
    CudaDevice *device;
    CudaSemaphore *ready; /* NULL: a hand-over is a wait */
    uint64_t value;       /* last signalled */
    uint64_t hand_over;   /* number of the coming one, from 1 */
    CudaFence **pending;  /* fences of the coming hand-over; owned by targets and by
                             `marks` */
    uint32_t pending_count, pending_capacity;
    CudaFence **marks; /* for order_after, used again after each hand-over */
    uint32_t mark_count, mark_used, mark_capacity;
    CudaTarget *unmapped;
} VulkanCuda;

static void target_free(VulkanCuda *cuda, CudaTarget *target)
{
    cuda_surface_destroy(cuda->device, &target->surface);
    cuda_buffer_destroy(cuda->device, &target->buffer);
    cuda_memory_unmap(cuda->device, &target->memory);
    cuda_fence_destroy(cuda->device, &target->fence);
    free(target);
}

/* With its fence; NULL and one line on failure. */
static CudaTarget *target_create(VulkanCuda *cuda, const char *what)
{
    CudaTarget *target = calloc(1, sizeof *target);
    if (target == NULL) {
        log_item(OUT_OF_MEMORY, what, (unsigned long long)sizeof *target);
        return NULL;
    }
    target->fence = cuda_fence_create(cuda->device);
    if (target->fence == NULL) {
        free(target);
        return NULL;
    }
    return target;
}

/* Never waits. Memory that cannot be marked is kept until destroy(). */
static bool target_is_done(VulkanCuda *cuda, CudaTarget *target)
{
    if (target->listed_for == cuda->hand_over)
        return false;
    if (target->memory != NULL && !target->is_marked)
        target->is_marked = cuda_fence_record_handed_over(cuda->device, target->fence);
    return (target->memory == NULL || target->is_marked) &&
           cuda_fence_done(cuda->device, target->fence);
}

/* Frees what was unmapped and is done. */
static void unmapped_collect(VulkanCuda *cuda)
{
    CudaTarget **link = &cuda->unmapped;
    while (*link != NULL) {
        CudaTarget *target = *link;
        if (target_is_done(cuda, target)) {
            *link = target->next;
            target_free(cuda, target);
        } else {
            link = &target->next;
        }
    }
}

/* Passes write targets, so when the fences of all of them are reached nothing is read any more. */
static void unmapped_finish(VulkanCuda *cuda)
{
    for (CudaTarget *target = cuda->unmapped; target != NULL; target = target->next)
        cuda_fence_wait(cuda->device, target->fence);
    while (cuda->unmapped != NULL) {
        CudaTarget *target = cuda->unmapped;
        cuda->unmapped = target->next;
        target_free(cuda, target);
    }
}

static bool grow(CudaFence ***array, uint32_t count, uint32_t *capacity)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    CudaFence **larger = realloc(*array, wanted * sizeof *larger);
    if (larger == NULL) {
        log_item(OUT_OF_MEMORY, "a hand-over to Vulkan",
                 (unsigned long long)(wanted * sizeof *larger));
        return false;
    }
    *array = larger;
    *capacity = wanted;
    return true;
}

static void interop_destroy(void *state)
{
    VulkanCuda *cuda = state;
    unmapped_finish(cuda);
    for (uint32_t i = 0; i < cuda->mark_count; i++)
        cuda_fence_destroy(cuda->device, &cuda->marks[i]);
    cuda_semaphore_destroy(cuda->device, &cuda->ready);
    cuda_device_close(&cuda->device);
    free(cuda->marks);
    free(cuda->pending);
    free(cuda);
}

static void *interop_create(const VulkanInteropParams *params, char *error, size_t error_bytes)
{
    VulkanCuda *cuda = calloc(1, sizeof *cuda);
    if (cuda == NULL) {
        snprintf(error, error_bytes, "no memory");
        return NULL;
    }
    cuda->hand_over = 1;
    cuda->device = cuda_device_open(params->index);
    if (cuda->device == NULL) {
        snprintf(error, error_bytes, "CUDA device %d does not open", (int)params->index);
        free(cuda);
        return NULL;
    }
    if (params->ready_fd >= 0) {
        cuda->ready = cuda_semaphore_import(cuda->device, params->ready_fd);
        if (cuda->ready == NULL)
            close(params->ready_fd);
    }
    if (cuda->ready == NULL)
        log_item(CUDA_HAND_OVERS_WAIT, "CUDA");
    return cuda;
}

static void *interop_image_map(void *state, const VulkanInteropImage *params)
{
    VulkanCuda *cuda = state;
    CudaTarget *image = target_create(cuda, "mapping a texture's image");
    if (image == NULL)
        return NULL;
    image->surface = cuda_surface_import(cuda->device, params->fd, params->memory_bytes,
                                         (uint32_t)params->width_px, (uint32_t)params->height_px,
                                         params->dedicated);
    if (image->surface == NULL) {
        target_free(cuda, image);
        return NULL;
    }
    return image;
}

static void *interop_buffer_map(void *state, const VulkanInteropBuffer *params)
{
    VulkanCuda *cuda = state;
    CudaTarget *buffer = target_create(cuda, "mapping a texture's buffer");
    if (buffer == NULL)
        return NULL;
    buffer->buffer =
        cuda_buffer_import(cuda->device, params->fd, params->memory_bytes, params->dedicated);
    if (buffer->buffer == NULL) {
        target_free(cuda, buffer);
        return NULL;
    }
    return buffer;
}

static void interop_unmap(void *state, void *mapped)
{
    VulkanCuda *cuda = state;
    CudaTarget *target = mapped;
    target->next = cuda->unmapped;
    cuda->unmapped = target;
    unmapped_collect(cuda);
}

/* The coming hand-over waits for the target's fence; `pending` has room. */
static void target_list(VulkanCuda *cuda, CudaTarget *target)
{
    if (target->listed_for != cuda->hand_over)
        cuda->pending[cuda->pending_count++] = target->fence;
    target->listed_for = cuda->hand_over;
}

/* The applet's own call. */
static const char *call_of(const RendererSource *source)
{
    return source->kind == RENDERER_SOURCE_ALLOC ? "update_texture_from_alloc" : "update_texture";
}

static CudaSource cuda_source(const RendererSource *source)
{
    return (CudaSource){.pointer = source->device_ptr,
                        .extent_bytes = source->extent_bytes,
                        .stream = source->stream};
}

static bool interop_pass_run(void *state, void *mapped, const RendererPass *pass,
                             const RendererSource *source, int32_t width_px, int32_t height_px)
{
    VulkanCuda *cuda = state;
    CudaTarget *image = mapped;
    CudaSource from = cuda_source(source);
    CudaPass run = {.colormap = pass->kind == RENDERER_PASS_COLORMAP,
                    .table = pass->colormap,
                    .vmin = pass->vmin,
                    .inv = pass->inv,
                    .channels = pass->channels,
                    .width_px = (uint32_t)width_px,
                    .height_px = (uint32_t)height_px};
    if (!cuda_source_check(cuda->device, &from, call_of(source)) ||
        !grow(&cuda->pending, cuda->pending_count, &cuda->pending_capacity) ||
        !cuda_pass_run(cuda->device, &run, &from, image->surface, image->fence, image->fence))
        return false;
    target_list(cuda, image);
    return true;
}

static bool interop_pass_wait(void *state, void *mapped)
{
    VulkanCuda *cuda = state;
    CudaTarget *image = mapped;
    return cuda_fence_done(cuda->device, image->fence) ||
           cuda_fence_wait(cuda->device, image->fence);
}

static bool interop_copy_run(void *state, void *mapped, const RendererSource *source)
{
    VulkanCuda *cuda = state;
    CudaTarget *buffer = mapped;
    CudaSource from = cuda_source(source);
    if (!cuda_source_check(cuda->device, &from, call_of(source)) ||
        !grow(&cuda->pending, cuda->pending_count, &cuda->pending_capacity) ||
        !cuda_copy_run(cuda->device, &from, buffer->buffer, 0, buffer->fence, buffer->fence))
        return false;
    target_list(cuda, buffer);
    return true;
}

static bool interop_order_after(void *state, void *stream)
{
    VulkanCuda *cuda = state;
    if (!grow(&cuda->marks, cuda->mark_count, &cuda->mark_capacity) ||
        !grow(&cuda->pending, cuda->pending_count, &cuda->pending_capacity))
        return false;
    if (cuda->mark_used == cuda->mark_count) {
        CudaFence *fence = cuda_fence_create(cuda->device);
        if (fence == NULL)
            return false;
        cuda->marks[cuda->mark_count++] = fence;
    }
    if (!cuda_stream_check(cuda->device, stream, "update_texture_from_alloc") ||
        !cuda_fence_record(cuda->device, stream, cuda->marks[cuda->mark_used]))
        return false;
    cuda->pending[cuda->pending_count++] = cuda->marks[cuda->mark_used++];
    return true;
}

static bool interop_hand_over(void *state, uint64_t *out_value, bool *out_waited)
{
    VulkanCuda *cuda = state;
    bool ok = true;
    *out_value = 0;
    if (cuda_fences_done(cuda->device, cuda->pending, cuda->pending_count)) {
        /* Nothing to wait for: the signal and the wait would cost more than the frame. */
    } else if (cuda->ready != NULL &&
               cuda_hand_over(cuda->device, cuda->pending, cuda->pending_count, cuda->ready,
                              cuda->value + 1)) {
        *out_value = ++cuda->value;
    } else { /* no semaphore, or the signal failed: order by waiting, this once */
        *out_waited = true;
        for (uint32_t i = 0; i < cuda->pending_count && ok; i++)
            ok = cuda_fence_wait(cuda->device, cuda->pending[i]);
    }
    cuda->pending_count = 0;
    cuda->mark_used = 0;
    cuda->hand_over++;
    unmapped_collect(cuda);
    return ok;
}

static VulkanInteropHealth interop_health(void *state)
{
    VulkanCuda *cuda = state;
    switch (cuda_hand_over_state(cuda->device)) {
    case CUDA_HAND_OVER_DONE:
        return VULKAN_INTEROP_IDLE;
    case CUDA_HAND_OVER_PENDING:
        return VULKAN_INTEROP_BUSY;
    default:
        return VULKAN_INTEROP_FAILED;
    }
}

static void interop_collect(void *state)
{
    unmapped_collect(state);
}

static VulkanSizeProof interop_memory_map(void *state, int fd, uint64_t size_bytes,
                                          VulkanInteropMemory *out)
{
    VulkanCuda *cuda = state;
    CudaTarget *target = target_create(cuda, "mapping an exported allocation");
    if (target == NULL)
        return VULKAN_SIZE_PROOF_BAD;
    CudaSizeProof proof = cuda_memory_map(cuda->device, fd, size_bytes, &target->memory);
    if (proof == CUDA_SIZE_PROOF_GOOD) {
        *out = (VulkanInteropMemory){target, cuda_memory_address(target->memory)};
        return VULKAN_SIZE_PROOF_GOOD;
    }
    target_free(cuda, target);
    return proof == CUDA_SIZE_PROOF_UNKNOWN ? VULKAN_SIZE_PROOF_UNKNOWN : VULKAN_SIZE_PROOF_BAD;
}

/* What was launched since the last hand-over may read it: then the coming one is awaited. */
static void interop_memory_unmap(void *state, void *mapped)
{
    VulkanCuda *cuda = state;
    CudaTarget *target = mapped;
    target->listed_for = cuda->pending_count > 0 ? cuda->hand_over : 0;
    interop_unmap(state, mapped);
}

const VulkanInterop *vk_cuda_interop(void)
{
    static const VulkanInterop interop = {
        .name = "CUDA",
        .path = "GPU-resident (Vulkan + CUDA, zero CPU staging)",
        .copy_path = "GPU-resident (Vulkan + CUDA, one device copy, zero CPU staging)",
        .create = interop_create,
        .destroy = interop_destroy,
        .image_map = interop_image_map,
        .image_unmap = interop_unmap,
        .pass_run = interop_pass_run,
        .pass_wait = interop_pass_wait,
        .buffer_map = interop_buffer_map,
        .buffer_unmap = interop_unmap,
        .copy_run = interop_copy_run,
        .order_after = interop_order_after,
        .hand_over = interop_hand_over,
        .health = interop_health,
        .collect = interop_collect,
        .memory_map = interop_memory_map,
        .memory_unmap = interop_memory_unmap,
    };
    return &interop;
}
