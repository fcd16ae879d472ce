/* render/vulkan/vk_renderer.h: the whole state of the Vulkan renderer, and what its files offer
 * each other. Included by this folder and its white-box tests. Frame thread.
 *
 * Time is one timeline semaphore: every submission signals the next value. Commands are recorded
 * into one open batch; whatever is used by it may be changed or freed when its value is reached.
 *
 * Order between accesses to textures: all textures stay in layout GENERAL, and one full barrier
 * orders everything before it against everything after. `barrier_serial` counts barriers, each
 * image remembers the serial of its last write and read; an access that would conflict within the
 * serial asks for the next barrier. So a frame of many updates has two of them, not two an update.
 */
#ifndef CALIPER_RENDER_VULKAN_VK_RENDERER_H
#define CALIPER_RENDER_VULKAN_VK_RENDERER_H

#include "render/renderer_impl.h"
#include "render/vulkan/vk_context.h"
#include "render/vulkan/vk_interop.h"
#include "render/vulkan/vk_memory.h"

enum {
    VULKAN_BATCHES = 8,             /* command buffers, so submissions in flight */
    VULKAN_FRAMES_IN_FLIGHT = 3,    /* frames the CPU may be ahead */
    VULKAN_BATCH_UPDATES_MAX = 512, /* then the batch is submitted though no frame ended */
    VULKAN_RING_IMAGES = 5,         /* of a texture that another API writes */
    /* Buffers of a texture that another API copies into: one for each frame in flight, which reads
     * it, and one to copy into. */
    VULKAN_COPY_SLOTS = VULKAN_FRAMES_IN_FLIGHT + 1,
    VULKAN_SWAPCHAIN_IMAGES_MAX = 8,
    VULKAN_EXPAND_PIPELINES = 4
};
#define VULKAN_STAGING_BYTES (64ull << 20)
#define VULKAN_BAND_BYTES    (16ull << 20) /* of staging and read-back at a time */

/* ---- Images and textures --------------------------------------------------------------------- */

typedef struct VulkanImage {
    VkImage image;
    VkImageView view;
    VulkanRange range;
    VkDescriptorPool pool;      /* where its sets are from */
    VkDescriptorSet sampled[2]; /* by UiFilter */
    VkDescriptorSet storage;
    bool is_general; /* left UNDEFINED */
    uint64_t write_serial, read_serial;
    uint64_t used_value; /* timeline value of the last batch that touches it */
    bool is_external;    /* owned by the external queue family */
    void *mapped;        /* the other API's mapping; NULL: not exported */
} VulkanImage;

/* A buffer that compute passes read: imported or attached memory. `windows` are descriptor sets
 * over overlapping ranges no longer than the device's limit, so that a band of rows always lies in
 * one of them. */
typedef struct VulkanSourceBuffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t size_bytes;
    uint64_t window_step;
    uint32_t window_count;
    VkDescriptorPool pool;
    VkDescriptorSet *windows;
    bool is_external; /* memory of another device: hand-over barriers around each pass */
    uint64_t used_value;
} VulkanSourceBuffer;

typedef struct VulkanCopySlot {
    VulkanSourceBuffer source; /* exported; without a buffer: not made yet */
    void *mapped;              /* the other API's mapping */
} VulkanCopySlot;

typedef struct VulkanCopies { /* vk_interop_copy.c */
    VulkanCopySlot slots[VULKAN_COPY_SLOTS];
    VulkanCopySlot *last; /* read by the newest pass; NULL before the first */
    uint64_t last_serial; /* write_serial of the texture's image after that pass */
} VulkanCopies;

typedef struct VulkanTexture {
    RendererTexture base;
    VulkanImage plain;    /* written by uploads and compute passes; may be absent */
    VulkanImage *ring;    /* VULKAN_RING_IMAGES once another API wrote it; else NULL */
    VulkanImage *current; /* what is sampled and read */
    VulkanCopies *copies; /* once another API copied its tensors; else NULL */
    bool copies_only;     /* its image cannot be written by the other API */
    bool ring_is_short;   /* there was no memory for another image */
    bool keeps_plain;     /* updates alternate between the other API and ours */
    /* The imported bytes that the last update reads: theirs until the next update (the contract of
     * tensor_bridge.v1_2). 0: none. The allocation is only compared, never followed. */
    uint64_t reading_value;
    void *reading_mapped; /* or of the pass of the other API that reads them: what it writes */
    const RendererAlloc *reading_alloc;
    uint64_t reading_offset_bytes;
    char label[64];
} VulkanTexture;

typedef struct VulkanShared {
    RendererShared base;
    VulkanSourceBuffer source;
} VulkanShared;

typedef struct VulkanAlloc {
    RendererAlloc base;
    VulkanSourceBuffer source;
    bool is_host_pointer;
    VulkanInteropMemory there; /* as the other API sees what it exported itself; else no `mapped` */
} VulkanAlloc;

/* ---- Parts ------------------------------------------------------------------------------------
 */

typedef struct VulkanBatch {
    VkCommandPool pool;
    VkCommandBuffer commands;
    uint64_t value; /* of its last submission */
} VulkanBatch;

typedef enum VulkanGarbageKind {
    VULKAN_GARBAGE_IMAGE = 0,
    VULKAN_GARBAGE_SOURCE = 1,
    VULKAN_GARBAGE_TARGET = 2
} VulkanGarbageKind;

typedef struct VulkanTarget {
    VkImage image;
    VkImageView view;
    VkFramebuffer framebuffer;
    VulkanRange range;
    int32_t width_px, height_px;
} VulkanTarget;

typedef struct VulkanGarbage {
    uint64_t value;
    VulkanGarbageKind kind;
    union {
        VulkanImage image;
        VulkanSourceBuffer source;
        VulkanTarget target;
    } of;
} VulkanGarbage;

typedef struct VulkanFrames { /* vk_frame.c */
    VkSemaphore timeline;
    uint64_t submitted, completed; /* timeline values */
    VulkanBatch batches[VULKAN_BATCHES];
    uint32_t batch_index;
    bool recording;
    uint32_t batch_updates;
    uint64_t frame_values[VULKAN_FRAMES_IN_FLIGHT];
    uint64_t frame_count;
    VulkanGarbage *garbage;
    uint32_t garbage_count, garbage_capacity;
    uint64_t barrier_serial;
} VulkanFrames;

typedef struct VulkanStaging { /* vk_upload.c */
    VkBuffer buffer;
    VulkanRange range;
    uint64_t head, tail; /* bytes ever handed out and taken back */
    struct {
        uint64_t value, head;
    } marks[VULKAN_BATCHES + 1];
    uint32_t mark_count;
    uint64_t marked_head;
    VkBuffer readback_buffer; /* made by the first read */
    VulkanRange readback_range;
} VulkanStaging;

typedef struct VulkanPasses { /* vk_pass.c */
    VkDescriptorSetLayout storage_layout, source_layout, table_layout;
    VkPipelineLayout layout;
    VkPipeline colormap, expand[VULKAN_EXPAND_PIPELINES];
    uint32_t group_rows; /* of pixels that a group of threads makes */
    VkBuffer table_buffer;
    VulkanRange table_range;
    VkDescriptorPool table_pool;
    VkDescriptorSet table_set;
} VulkanPasses;

typedef struct VulkanTexturePool {
    VkDescriptorPool pool;
    uint32_t used; /* images that have their sets here */
} VulkanTexturePool;

typedef struct VulkanView { /* vk_view.c, and the descriptors that textures share with it */
    VkSampler samplers[2];  /* by UiFilter */
    VkDescriptorSetLayout sampled_layout;
    VkRenderPass clear_pass, load_pass;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VulkanTarget target;
    VkClearColorValue clear_colour;
    bool is_cleared; /* this frame's clear was recorded */
    bool in_pass;
} VulkanView;

typedef struct VulkanPresent { /* vk_present.c */
    VkSwapchainKHR swapchain;
    VkFormat format;
    VkColorSpaceKHR colour_space;
    VkPresentModeKHR mode;
    VkExtent2D extent;
    uint32_t image_count;
    VkImage images[VULKAN_SWAPCHAIN_IMAGES_MAX];
    VkSemaphore rendered[VULKAN_SWAPCHAIN_IMAGES_MAX];
    VkSemaphore acquired[VULKAN_FRAMES_IN_FLIGHT + 1];
    uint64_t acquired_values[VULKAN_FRAMES_IN_FLIGHT + 1];
    uint32_t acquired_index;
    bool is_stale;
} VulkanPresent;

typedef struct VulkanInteropState { /* vk_interop.c */
    const VulkanInterop *api;       /* NULL: none */
    void *state;
    VkSemaphore ready;    /* signalled by the other API; VK_NULL_HANDLE: hand-overs are waits */
    uint64_t ready_value; /* the last one that a submission waits for */
    bool is_dirty;        /* something waits to be handed over */
    bool can_copy;        /* the second rung is there */
    bool copies_only;     /* the first one is not */
    bool has_mapped;      /* an image of ours was mapped once: the first rung works here */
    bool has_told;        /* that copies are used */
} VulkanInteropState;

typedef struct VulkanPathFlags { /* kinds of updates */
    bool staged, in_place, interop, copied;
} VulkanPathFlags;

typedef struct VulkanRenderer {
    Renderer base;
    RendererWindow window;
    bool has_window, vsync_off;
    VulkanContext context;
    VulkanMemory memory;
    VulkanFrames frames;
    VulkanStaging staging;
    VulkanPasses passes;
    VulkanView view;
    VulkanPresent present;
    VulkanInteropState interop;
    VulkanTexturePool *texture_pools;
    uint32_t texture_pool_count;
    uint32_t descriptor_sets;     /* live, told to tests */
    VulkanPathFlags path_pending; /* since the last frame ended */
    const char *path;             /* of the last frame that had updates; NULL before */
} VulkanRenderer;

/* Downcasts. */
VulkanRenderer *vk_renderer(Renderer *renderer);
const VulkanRenderer *vk_renderer_const(const Renderer *renderer);

/* Logs what failed, once, and marks the renderer lost when the result says so. Always false. */
bool vk_failed(VulkanRenderer *renderer, const char *call, const char *what, VkResult result);

/* The path string of what is pending; NULL when nothing is. */
const char *vk_path_pending(const VulkanRenderer *renderer);

/* What must be the same before and after: for tests of leaks. */
typedef struct VulkanLive {
    uint32_t descriptor_sets, allocations, garbage;
} VulkanLive;
void vk_renderer_live(const Renderer *renderer, VulkanLive *out);

/* ---- vk_frame.c -------------------------------------------------------------------------------
 */

bool vk_frames_init(VulkanRenderer *renderer, char *error, size_t error_bytes);
void vk_frames_finish(VulkanRenderer *renderer);
/* The open batch, outside any render pass; opens one. VK_NULL_HANDLE when the device is lost. */
VkCommandBuffer vk_commands(VulkanRenderer *renderer);
/* Likewise, but leaves an open render pass open. */
VkCommandBuffer vk_batch(VulkanRenderer *renderer);
/* Counts an update in the open batch; submits a batch that has grown long. */
void vk_update_recorded(VulkanRenderer *renderer);
/* The value that the open batch, or without one the last submission, will have. */
uint64_t vk_value_now(const VulkanRenderer *renderer);
/* Submits the open batch, if any. The semaphores may be VK_NULL_HANDLE. */
bool vk_submit(VulkanRenderer *renderer, VkSemaphore wait, VkSemaphore signal);
/* Asks the driver, without waiting. */
bool vk_reached(VulkanRenderer *renderer, uint64_t value);
/* Submits if needed and waits. */
bool vk_wait(VulkanRenderer *renderer, uint64_t value);
/* Orders the coming access to the image after what came before; first use: into GENERAL. False
 * when lost. */
bool vk_access(VulkanRenderer *renderer, VulkanImage *image, bool is_write);
/* Whether that access needs anything recorded outside a render pass. */
bool vk_access_needs_barrier(const VulkanRenderer *renderer, const VulkanImage *image,
                             bool is_write);
/* Frees when the timeline has passed what is recorded now. Takes the handles over. */
void vk_defer(VulkanRenderer *renderer, const VulkanGarbage *garbage);
void vk_collect(VulkanRenderer *renderer);
bool vk_frame_begin(Renderer *base, int32_t width_px, int32_t height_px, uint32_t clear_rgba);
bool vk_frame_end(Renderer *base);
void vk_rest(Renderer *base);
bool vk_frame_read(Renderer *base, uint8_t *dst);

/* ---- vk_texture.c ------------------------------------------------------------------------------
 */

RendererTexture *vk_texture_create(Renderer *base, const RendererTextureParams *params);
void vk_texture_destroy(Renderer *base, RendererTexture *texture);
bool vk_texture_read(Renderer *base, RendererTexture *texture, uint8_t *dst);
bool vk_texture_update(Renderer *base, RendererTexture *texture, const RendererSource *source);
bool vk_texture_write(Renderer *base, RendererTexture *texture, const uint8_t *rgba);
/* Makes image, view, memory and descriptor sets; `exported` for another API. */
VkResult vk_image_create(VulkanRenderer *renderer, int32_t width_px, int32_t height_px,
                         bool exported, const char *label, VulkanImage *out);
/* At once. Accepts a partial one. */
void vk_image_destroy(VulkanRenderer *renderer, VulkanImage *image);
/* The image that uploads and passes of ours write, as the current one. NULL: refused, logged. */
VulkanImage *vk_texture_plain(VulkanRenderer *renderer, VulkanTexture *texture);
/* The update went into `plain`: it is what is shown from now on. */
bool vk_texture_plain_shown(VulkanRenderer *renderer, VulkanTexture *texture);
/* Largest side, from the device's limits for our format and use. */
int32_t vk_texture_max_px(const VulkanContext *context);
void vk_texture_pools_finish(VulkanRenderer *renderer);

/* ---- vk_upload.c -------------------------------------------------------------------------------
 */

VkResult vk_buffer_create(VulkanRenderer *renderer, uint64_t size, VkBufferUsageFlags usage,
                          VulkanMemoryUse use, VkBuffer *out, VulkanRange *out_range);
bool vk_staging_init(VulkanRenderer *renderer, char *error, size_t error_bytes);
void vk_staging_finish(VulkanRenderer *renderer);
/* Bytes of the ring for this batch; waits for the device only when the ring is full. NULL when lost
 * or larger than the ring. May submit what was recorded before. */
uint8_t *vk_staging_take(VulkanRenderer *renderer, uint64_t size, uint64_t *out_offset);
/* When nothing of the ring is in use it begins anew, in memory that is still in the caches. */
void vk_staging_rewind(VulkanRenderer *renderer);
/* Called by vk_submit: what was handed out belongs to this value. */
void vk_staging_mark(VulkanRenderer *renderer, uint64_t value);
/* Host bytes through the texture's pass, or RGBA8 as it is when `pass` is NULL. */
bool vk_upload(VulkanRenderer *renderer, VulkanTexture *texture, VulkanImage *image,
               const RendererPass *pass, const uint8_t *bytes);
/* Copies an image out, in bands. `layout` is the layout it is in. Waits. */
bool vk_read_image(VulkanRenderer *renderer, VkImage image, VkImageLayout layout, int32_t width_px,
                   int32_t height_px, uint8_t *dst);

/* ---- vk_pass.c ---------------------------------------------------------------------------------
 */

bool vk_passes_init(VulkanRenderer *renderer, char *error, size_t error_bytes);
void vk_passes_finish(VulkanRenderer *renderer);
bool vk_pass_record(VulkanRenderer *renderer, const RendererPass *pass, VulkanImage *image,
                    int32_t width_px, int32_t height_px, VulkanSourceBuffer *source,
                    uint64_t offset_bytes);

/* ---- vk_view.c ---------------------------------------------------------------------------------
 */

bool vk_view_init(VulkanRenderer *renderer, char *error, size_t error_bytes);
void vk_view_finish(VulkanRenderer *renderer);
bool vk_view_begin(VulkanRenderer *renderer, int32_t width_px, int32_t height_px,
                   uint32_t clear_rgba);
/* Opens the pass if it is not open; the frame's first one clears. */
bool vk_view_pass_open(VulkanRenderer *renderer);
void vk_view_pass_close(VulkanRenderer *renderer);
void vk_target_destroy(VulkanRenderer *renderer, VulkanTarget *target);
bool vk_draw_ui(Renderer *base, const UiDraw *draw);

/* ---- vk_present.c ------------------------------------------------------------------------------
 */

bool vk_present_init(VulkanRenderer *renderer, char *error, size_t error_bytes);
void vk_present_finish(VulkanRenderer *renderer);
/* The target onto the screen, after the frame's batch was submitted. False: it is not there. */
bool vk_present_frame(VulkanRenderer *renderer);

/* ---- vk_import.c -------------------------------------------------------------------------------
 */

RendererShared *vk_shared_attach(Renderer *base, void *memory, uint64_t size_bytes);
void vk_shared_detach(Renderer *base, RendererShared *shared);
RendererAlloc *vk_alloc_import(Renderer *base, void *os_handle, uint64_t size_bytes,
                               uint32_t handle_type);
void vk_alloc_release(Renderer *base, RendererAlloc *alloc);
void vk_source_destroy(VulkanRenderer *renderer, VulkanSourceBuffer *source);
/* Descriptor sets over a bound buffer of source->size_bytes. */
VkResult vk_source_windows(VulkanRenderer *renderer, VulkanSourceBuffer *source);

/* ---- vk_interop.c ------------------------------------------------------------------------------
 */

/* Never fails: without it device sources are refused. */
void vk_interop_init(VulkanRenderer *renderer, int32_t interop_index);
void vk_interop_finish(VulkanRenderer *renderer);
bool vk_interop_update(VulkanRenderer *renderer, VulkanTexture *texture,
                       const RendererSource *source);
/* By the first rung alone; source->device_ptr is the other API's address whatever the kind. */
bool vk_interop_update_in_place(VulkanRenderer *renderer, VulkanTexture *texture,
                                const RendererSource *source);
/* Before the current image is sampled or read: takes it back from the external queue family. */
bool vk_interop_acquire(VulkanRenderer *renderer, VulkanImage *image);
/* When another image becomes the current one: gives the old one out again. */
bool vk_interop_release(VulkanRenderer *renderer, VulkanImage *image);
/* Before a submission: the value of `ready` to wait for, 0 for none. */
bool vk_interop_hand_over(VulkanRenderer *renderer, uint64_t *out_value);
/* While a wait takes long; a failed one is signalled, so that the queue runs dry. */
VulkanInteropHealth vk_interop_health(VulkanRenderer *renderer);
/* Once a frame. */
void vk_interop_collect(VulkanRenderer *renderer);
void vk_interop_texture_destroy(VulkanRenderer *renderer, VulkanTexture *texture);
/* An OPAQUE_FD of exportable memory; -1 and one log line when it cannot be had. */
int vk_interop_export(VulkanRenderer *renderer, VkDeviceMemory memory);

/* ---- vk_interop_copy.c -------------------------------------------------------------------------
 */

/* Whether the interop and the device have the second rung. */
bool vk_copy_possible(const VulkanRenderer *renderer, const VulkanInterop *api);
/* Reads CALIPER_CUDA_RUNG. After the interop's state was made. */
void vk_copy_init(VulkanRenderer *renderer);
/* Whether this texture's device sources are copied. */
bool vk_copy_is_used(const VulkanRenderer *renderer, const VulkanTexture *texture);
/* An image of the texture could not be mapped: copies from now on, if they are possible. */
void vk_copy_fall_back(VulkanRenderer *renderer, VulkanTexture *texture);
bool vk_copy_update(VulkanRenderer *renderer, VulkanTexture *texture, const RendererSource *source);
void vk_copy_texture_destroy(VulkanRenderer *renderer, VulkanTexture *texture);

#endif
