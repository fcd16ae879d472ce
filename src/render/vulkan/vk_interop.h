/* render/vulkan/vk_interop.h: the seam to a compute API that writes our textures itself, or, where
 * it cannot, copies its tensors into our buffers.
 *
 * A thin pair file (vk_cuda.c) fills one VulkanInterop table and includes this header; it needs no
 * Vulkan header and sees no renderer internals. The Vulkan side (vk_interop.c, vk_interop_copy.c)
 * makes and exports the images and buffers, keeps the rings, the layouts, the queue family
 * hand-overs and the counters; the other side imports, launches and signals. Frame thread only.
 *
 * The trip of one update: vk_interop.c takes a ring image that no frame still samples,
 * pass_run() launches the producer-stream kernel into it and records an event; when the frame is
 * submitted, hand_over() makes one stream wait for all events and signals the timeline semaphore
 * once; the submission waits for that value. On the second rung copy_run() takes the place of
 * pass_run(), into a buffer that no pass still reads, and a Vulkan pass in that submission reads
 * it. */
#ifndef CALIPER_RENDER_VULKAN_VK_INTEROP_H
#define CALIPER_RENDER_VULKAN_VK_INTEROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/renderer.h"

typedef struct VulkanInteropParams {
    uint8_t uuid[16]; /* of the Vulkan device; the same as the compute device's */
    int32_t index;    /* the compute device's ordinal */
    /* An OPAQUE_FD timeline semaphore, starting at 0, that hand_over() signals; -1 when the driver
     * cannot export one (then hand_over() must wait for the work and return 0). create() owns it
     * when it succeeds. */
    int ready_fd;
} VulkanInteropParams;

/* One exported image: 2-D, 1 mip, 1 layer, optimal tiling, RGBA8 UNORM, dedicated memory, in layout
 * GENERAL and released to the external queue family before its first pass. */
typedef struct VulkanInteropImage {
    int32_t width_px, height_px;
    uint64_t memory_bytes; /* the memory requirement's size: the size to import */
    bool dedicated;        /* the import has to say so */
    int fd;                /* OPAQUE_FD; image_map() owns it when it succeeds */
} VulkanInteropImage;

/* One exported buffer, bound at the start of its memory and released to the external queue family
 * whenever no pass of ours reads it. */
typedef struct VulkanInteropBuffer {
    uint64_t memory_bytes; /* of the allocation: the size to import */
    bool dedicated;        /* the import has to say so */
    int fd;                /* OPAQUE_FD; buffer_map() owns it when it succeeds */
} VulkanInteropBuffer;

typedef enum VulkanSizeProof {
    VULKAN_SIZE_PROOF_UNKNOWN = 0, /* not this API's fd: nothing can be said */
    VULKAN_SIZE_PROOF_GOOD = 1,    /* at least that many bytes are behind it */
    VULKAN_SIZE_PROOF_BAD = 2      /* smaller than claimed, or it could not be mapped: logged */
} VulkanSizeProof;

/* An allocation of the other API's own, seen by it: its passes read there. */
typedef struct VulkanInteropMemory {
    void *mapped;
    uint64_t address; /* of the first byte, for RendererSource.device_ptr */
} VulkanInteropMemory;

typedef enum VulkanInteropHealth {
    VULKAN_INTEROP_IDLE = 0,  /* every hand-over has been signalled */
    VULKAN_INTEROP_BUSY = 1,  /* producers are still at work */
    VULKAN_INTEROP_FAILED = 2 /* the device's work has failed: no signal will come; logged */
} VulkanInteropHealth;

typedef struct VulkanInterop {
    const char *name;      /* "CUDA" */
    const char *path;      /* the status line when every update of a frame went this way */
    const char *copy_path; /* and when some went by copy_run */

    /* The state, or NULL with the reason in `error`; nothing is logged. */
    void *(*create)(const VulkanInteropParams *params, char *error, size_t error_bytes);
    /* Waits for what it launched. Every image was unmapped before. */
    void (*destroy)(void *state);

    /* Import and surface mapping, once per image. NULL and one log line on failure. */
    void *(*image_map)(void *state, const VulkanInteropImage *image);
    /* Passes into it may still run: waits for them or defers. */
    void (*image_unmap)(void *state, void *mapped);

    /* Launches the pass over source->device_ptr on source->stream, whole image, and records an
     * event there (source->kind is DEVICE, or ALLOC for memory_map's). Not earlier than the passes
     * already launched into `mapped`. False and one log line when refused (memory not mapped that
     * far, a captured stream, ...): nothing was written.
     */
    bool (*pass_run)(void *state, void *mapped, const RendererPass *pass,
                     const RendererSource *source, int32_t width_px, int32_t height_px);
    /* Waits until the passes so far into it are done. (optional) */
    bool (*pass_wait)(void *state, void *mapped);
    /* The second rung, for drivers where image_map fails. All three or none. */
    void *(*buffer_map)(void *state, const VulkanInteropBuffer *buffer);
    /* Copies into it may still run: waits for them or defers. */
    void (*buffer_unmap)(void *state, void *mapped);
    /* Copies source->extent_bytes from source->device_ptr to the buffer's start, on source->stream,
     * and records an event there. Not earlier than the copies already launched into `mapped`.
     * False and one log line when refused, as for pass_run. */
    bool (*copy_run)(void *state, void *mapped, const RendererSource *source);

    /* Orders the next hand_over() after what `stream` holds now: for passes that Vulkan runs over
     * imported memory. False and one log line on failure. */
    bool (*order_after)(void *state, void *stream);
    /* Once a submission, only when pass_run, copy_run or order_after came since the last: signals
     * the ready semaphore behind all of them. Writes the value to wait for; 0 when everything is
     * done already, and whether it had to wait for that. False and one log line: the device is
     * gone. */
    bool (*hand_over)(void *state, uint64_t *out_value, bool *out_waited);

    /* Asked while a wait takes long. (optional) Then a long wait is a lost device. */
    VulkanInteropHealth (*health)(void *state);
    /* Frees what was unmapped and is done; asked once a frame. (optional) */
    void (*collect)(void *state);

    /* (optional, both or none) Maps what this API exported itself, for passes to read, which proves
     * the claimed size. GOOD fills *out; `fd` stays the caller's. */
    VulkanSizeProof (*memory_map)(void *state, int fd, uint64_t size_bytes,
                                  VulkanInteropMemory *out);
    /* Passes may still read it: defers. */
    void (*memory_unmap)(void *state, void *mapped);
} VulkanInterop;

/* The interop of this build; NULL would mean none. Defined by vk_cuda.c.
 * vk_interop_set() puts another in its place for tests; NULL goes back. */
const VulkanInterop *vk_cuda_interop(void);
void vk_interop_set(const VulkanInterop *interop);

#endif
