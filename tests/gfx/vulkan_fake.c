#include "vulkan_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "render/vulkan/vk_renderer.h"
#include "vulkan_support.h"

/* Where lavapipe's data begins in the file, and what the rows of images are padded to. */
enum { FILE_HEADER_BYTES = 4096, ROW_ALIGNMENT = 64, LATE_MAX = 4096 };

typedef struct FakeMemory {
    uint8_t *file;
    size_t file_bytes;
    int32_t width, height; /* of an image */
} FakeMemory;

typedef struct LateCopy { /* the bytes as they were when the copy was launched */
    FakeMemory *to;
    uint8_t *bytes;
    uint64_t size;
} LateCopy;

Fake fake;
static LateCopy late[LATE_MAX];
static int late_count;
static uint8_t device_uuid[16];

static bool refuse(const char *what)
{
    log_item(RENDERER_FAILED, "fake", what, "refused");
    return false;
}

static void *fake_create(const VulkanInteropParams *params, char *error, size_t error_bytes)
{
    if (fake.refuses_create) {
        snprintf(error, error_bytes, "not today");
        return NULL;
    }
    if (params->ready_fd >= 0)
        close(params->ready_fd);
    fake.states++;
    return &fake;
}

static void late_run(void)
{
    for (int i = 0; i < late_count; i++) {
        memcpy(late[i].to->file + FILE_HEADER_BYTES, late[i].bytes, late[i].size);
        free(late[i].bytes);
    }
    late_count = 0;
}

static void fake_destroy(void *state)
{
    assert_ptr_equal(state, &fake);
    assert_int_equal(fake.images, 0);
    assert_int_equal(fake.buffers, 0);
    assert_int_equal(fake.memories, 0);
    fake.states--;
}

static FakeMemory *memory_map(int fd, uint64_t memory_bytes)
{
    FakeMemory *memory = calloc(1, sizeof *memory);
    assert_non_null(memory);
    memory->file_bytes = FILE_HEADER_BYTES + memory_bytes;
    memory->file = mmap(NULL, memory->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(memory->file != MAP_FAILED);
    close(fd);
    return memory;
}

static void memory_unmap(FakeMemory *memory)
{
    for (int i = 0; i < late_count; i++)
        if (late[i].to == memory)
            late_run(); /* as a driver waits or defers */
    munmap(memory->file, memory->file_bytes);
    free(memory);
}

static void *fake_image_map(void *state, const VulkanInteropImage *image)
{
    (void)state;
    if (fake.refuses_map) {
        refuse("map");
        return NULL;
    }
    assert_true(image->dedicated);
    FakeMemory *mapped = memory_map(image->fd, image->memory_bytes);
    mapped->width = image->width_px;
    mapped->height = image->height_px;
    fake.images++;
    return mapped;
}

static void fake_image_unmap(void *state, void *mapped)
{
    (void)state;
    memory_unmap(mapped);
    fake.images--;
}

static bool fake_pass(void *state, void *mapped, const RendererPass *pass,
                      const RendererSource *source, int32_t width_px, int32_t height_px)
{
    (void)state;
    FakeMemory *image = mapped;
    if (fake.on_write != NULL)
        fake.on_write(mapped);
    if (fake.refuses_pass)
        return refuse("pass");
    assert_int_equal(width_px, image->width);
    assert_int_equal(height_px, image->height);
    size_t row_bytes = ((size_t)width_px * 4 + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)source->device_ptr;
    for (int32_t y = 0; y < height_px; y++)
        reference_pixels(pass, bytes + source_bytes(pass, (uint64_t)(y * width_px)),
                         (uint64_t)width_px,
                         image->file + FILE_HEADER_BYTES + (size_t)y * row_bytes);
    fake.passes++;
    fake.is_dirty = true;
    return true;
}

static void *fake_buffer_map(void *state, const VulkanInteropBuffer *buffer)
{
    (void)state;
    if (fake.refuses_buffer) {
        refuse("buffer_map");
        return NULL;
    }
    fake.buffers++;
    return memory_map(buffer->fd, buffer->memory_bytes);
}

static void fake_buffer_unmap(void *state, void *mapped)
{
    (void)state;
    memory_unmap(mapped);
    fake.buffers--;
}

static bool fake_copy(void *state, void *mapped, const RendererSource *source)
{
    (void)state;
    FakeMemory *buffer = mapped;
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)source->device_ptr;
    if (fake.on_write != NULL)
        fake.on_write(mapped);
    if (fake.refuses_copy)
        return refuse("copy_run");
    assert_true(source->extent_bytes <= buffer->file_bytes - FILE_HEADER_BYTES);
    if (fake.is_late) {
        assert_true(late_count < LATE_MAX);
        late[late_count] = (LateCopy){buffer, malloc(source->extent_bytes), source->extent_bytes};
        memcpy(late[late_count++].bytes, bytes, source->extent_bytes);
    } else {
        memcpy(buffer->file + FILE_HEADER_BYTES, bytes, source->extent_bytes);
    }
    fake.copies++;
    fake.copied_bytes += source->extent_bytes;
    fake.is_dirty = true;
    return true;
}

static bool fake_pass_wait(void *state, void *mapped)
{
    (void)state;
    fake.waits++;
    fake.waited_for = mapped;
    return true;
}

static VulkanSizeProof fake_memory_map(void *state, int fd, uint64_t size_bytes,
                                       VulkanInteropMemory *out)
{
    (void)state;
    if (!fake.maps_memory)
        return VULKAN_SIZE_PROOF_UNKNOWN;
    if (fake.refuses_memory) {
        refuse("memory_map");
        return VULKAN_SIZE_PROOF_BAD;
    }
    FakeMemory *memory = memory_map(dup(fd), size_bytes);
    *out = (VulkanInteropMemory){memory, (uintptr_t)(memory->file + FILE_HEADER_BYTES)};
    fake.memories++;
    return VULKAN_SIZE_PROOF_GOOD;
}

static void fake_memory_unmap(void *state, void *mapped)
{
    (void)state;
    memory_unmap(mapped);
    fake.memories--;
}

static bool fake_order(void *state, void *stream)
{
    (void)state;
    (void)stream;
    fake.orders++;
    fake.is_dirty = true;
    return true;
}

static bool fake_hand_over(void *state, uint64_t *out_value, bool *out_waited)
{
    (void)state;
    assert_true(fake.is_dirty); /* only when there is something to hand over */
    fake.is_dirty = false;
    fake.hand_overs++;
    late_run();
    *out_value = 0; /* all of it is done */
    *out_waited = true;
    return fake.refuses_hand_over ? refuse("hand-over") : true;
}

static void fake_collect(void *state)
{
    (void)state;
    fake.collects++;
}

const VulkanInterop *fake_interop(FakeRungs rungs)
{
    static VulkanInterop interop = {.name = "Fake",
                                    .path = "GPU-resident (Vulkan + Fake)",
                                    .copy_path = "GPU-resident (Vulkan + Fake, one copy)",
                                    .create = fake_create,
                                    .destroy = fake_destroy,
                                    .image_map = fake_image_map,
                                    .image_unmap = fake_image_unmap,
                                    .pass_run = fake_pass,
                                    .pass_wait = fake_pass_wait,
                                    .memory_map = fake_memory_map,
                                    .memory_unmap = fake_memory_unmap,
                                    .order_after = fake_order,
                                    .hand_over = fake_hand_over,
                                    .collect = fake_collect};
    bool copies = (rungs & FAKE_BUFFERS) != 0;
    interop.buffer_map = copies ? fake_buffer_map : NULL;
    interop.buffer_unmap = copies ? fake_buffer_unmap : NULL;
    interop.copy_run = copies ? fake_copy : NULL;
    return &interop;
}

/* ---- Starting and stopping ----------------------------------------------------------------------
 */

bool fake_begin(void)
{
    vulkan_test_begin();
    log_stderr_enable(false);
    log_capture_start();
    Renderer *renderer = vulkan_test_renderer();
    const VulkanRenderer *vulkan = vk_renderer(renderer);
    bool fits = strncmp(renderer_info(renderer)->device_name, "llvmpipe", 8) == 0 &&
                vulkan->context.has_image_export && vulkan->context.has_buffer_export;
    memcpy(device_uuid, renderer_info(renderer)->uuid, 16);
    renderer_destroy(&renderer);
    if (!fits)
        printf("skipped: the fake needs lavapipe, whose exported memory is files\n");
    return fits;
}

RendererParams fake_params(void)
{
    RendererParams params = {
        .struct_size = sizeof params, .validate = true, .has_interop_uuid = true};
    memcpy(params.interop_uuid, device_uuid, 16);
    return params;
}

Renderer *fake_start(FakeRungs rungs)
{
    memset(&fake, 0, sizeof fake);
    fake.refuses_map = rungs == FAKE_BUFFERS;
    vk_interop_set(fake_interop(rungs));
    RendererParams params = fake_params();
    log_capture_reset();
    return vulkan_test_renderer_with(&params);
}

void fake_stop(Renderer **renderer)
{
    renderer_destroy(renderer);
    assert_int_equal(fake.images, 0);
    assert_int_equal(fake.buffers, 0);
    assert_int_equal(fake.states, 0);
    assert_int_equal(vk_validation_messages(), 0);
}

RendererTexture *fake_texture(Renderer *renderer, int32_t width, int32_t height, RendererPass pass)
{
    RendererTexture *texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = width, .height_px = height, .pass = pass));
    assert_non_null(texture);
    return texture;
}

RendererSource fake_source(const uint8_t *bytes, uint64_t extent)
{
    return (RendererSource){.kind = RENDERER_SOURCE_DEVICE,
                            .device_ptr = (uint64_t)(uintptr_t)bytes,
                            .extent_bytes = extent};
}

void fake_draw(Renderer *renderer, RendererTexture *texture, int32_t width, int32_t height)
{
    fake_draw_at(renderer, texture, 0, width, height);
}

void fake_draw_at(Renderer *renderer, RendererTexture *texture, int32_t x, int32_t width,
                  int32_t height)
{
    float left = (float)x, right = (float)(x + width), bottom = (float)height;
    UiVertex vertices[4] = {{left, 0, 0, 0, 0xffffffffu},
                            {right, 0, 1, 0, 0xffffffffu},
                            {right, bottom, 1, 1, 0xffffffffu},
                            {left, bottom, 0, 1, 0xffffffffu}};
    uint16_t indices[6] = {0, 1, 2, 0, 2, 3};
    UiCommand command = {.clip_x0 = x,
                         .clip_x1 = x + width,
                         .clip_y1 = height,
                         .texture = texture,
                         .filter = UI_FILTER_NEAREST,
                         .index_count = 6};
    UiList list = {vertices, 4, indices, 6, &command, 1};
    UiDraw draw = {.lists = &list, .list_count = 1, .scale = 1.0f};
    assert_true(renderer_draw_ui(renderer, &draw));
}

void fake_frame(Renderer *renderer, RendererTexture *texture, int32_t width, int32_t height)
{
    assert_true(renderer_frame_begin(renderer, width, height, 0));
    fake_draw(renderer, texture, width, height);
    assert_true(renderer_frame_end(renderer));
}
