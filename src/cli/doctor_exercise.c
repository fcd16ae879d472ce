/* cli/doctor_exercise.c: the exercise of `caliper doctor --json`: one texture from host memory, one
 * from shared memory, one from CUDA memory, each created, updated, drawn and read back. Where
 * Caliper says "zero bytes through the CPU", this is where a person sees the zero. First thread of
 * the process. */
#include "cli/doctor_exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/cuda_external.h"

enum { WIDTH_PX = 64, HEIGHT_PX = 32, TENSOR_BYTES = WIDTH_PX * HEIGHT_PX * 4, UPDATES = 2 };

cJSON *doctor_counters(const RendererCounters *counters)
{
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {{"updates", counters->updates},
               {"staged_bytes", counters->staged_bytes},
               {"device_copied_bytes", counters->device_copied_bytes},
               {"passes", counters->passes},
               {"waits", counters->waits},
               {"coalesced", counters->coalesced},
               {"hand_overs", counters->hand_overs}};
    cJSON *json = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        cJSON_AddNumberToObject(json, all[i].name, (double)all[i].value);
    return json;
}

static void add_uuid(cJSON *json, const RendererInfo *info)
{
    char text[37] = ""; /* 8-4-4-4-12, as the log has it */
    size_t used = 0;
    for (int i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                 (unsigned)info->uuid[i]);
    if (info->has_uuid)
        cJSON_AddStringToObject(json, "uuid", text);
    else
        cJSON_AddNullToObject(json, "uuid");
}

cJSON *doctor_info(const Renderer *renderer)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } caps[] = {{RENDERER_CAP_DEVICE_SOURCE, "device_source"},
                {RENDERER_CAP_STREAM_ORDERED, "stream_ordered"},
                {RENDERER_CAP_IMPORT_FD, "import_fd"},
                {RENDERER_CAP_IMPORT_HOST_POINTER, "import_host_pointer"},
                {RENDERER_CAP_SHARED_IN_PLACE, "shared_in_place"},
                {RENDERER_CAP_RECOVERS, "recovers"}};
    const RendererInfo *info = renderer_info(renderer);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", info->name);
    cJSON_AddStringToObject(json, "device", info->device_name);
    cJSON_AddStringToObject(json, "api", info->api_version);
    add_uuid(json, info);
    cJSON_AddBoolToObject(json, "software", info->software);
    cJSON *names = cJSON_AddArrayToObject(json, "caps");
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        if ((info->caps & caps[i].bit) != 0)
            cJSON_AddItemToArray(names, cJSON_CreateString(caps[i].name));
    }
    cJSON_AddNumberToObject(json, "max_texture_px", info->max_texture_px);
    cJSON_AddNumberToObject(json, "max_source_bytes", (double)info->max_source_bytes);
    return json;
}

/* One frame that shows the texture pixel by pixel. */
static bool draw(Renderer *renderer, RendererTexture *texture)
{
    const float w = WIDTH_PX, h = HEIGHT_PX;
    const UiVertex vertices[4] = {
        {0, 0, 0, 0, ~0u}, {w, 0, 1, 0, ~0u}, {w, h, 1, 1, ~0u}, {0, h, 0, 1, ~0u}};
    static const uint16_t indices[6] = {0, 1, 2, 0, 2, 3};
    UiCommand command = {.clip_x1 = WIDTH_PX,
                         .clip_y1 = HEIGHT_PX,
                         .texture = texture,
                         .filter = UI_FILTER_NEAREST,
                         .index_count = 6};
    UiList list = {.vertices = vertices,
                   .vertex_count = 4,
                   .indices = indices,
                   .index_count = 6,
                   .commands = &command,
                   .command_count = 1};
    return renderer_frame_begin(renderer, WIDTH_PX, HEIGHT_PX, 0xff000000u) &&
           renderer_draw_ui(renderer, &(UiDraw){.lists = &list, .list_count = 1, .scale = 1.0f}) &&
           renderer_frame_end(renderer);
}

/* RGBA in is RGBA out, so the tensor itself is what has to come back. */
static bool comes_back(Renderer *renderer, RendererTexture *texture, const uint8_t *tensor)
{
    static uint8_t pixels[TENSOR_BYTES];
    return renderer_texture_read(renderer, texture, pixels, sizeof pixels) &&
           memcmp(pixels, tensor, sizeof pixels) == 0;
}

typedef struct DeviceTensor { /* NULL: the source reads the host's bytes themselves */
    CudaDevice *device;
    CudaScratch *memory;
} DeviceTensor;

static cJSON *exercise_one(Renderer *renderer, const RendererSource *source, uint8_t *tensor,
                           const DeviceTensor *there)
{
    RendererCounters counters;
    bool good = true;
    cJSON *json = cJSON_CreateObject();
    RendererTexture *texture = renderer_texture_create(
        renderer,
        RENDERER_TEXTURE_PARAMS(.label = "doctor", .width_px = WIDTH_PX, .height_px = HEIGHT_PX,
                                .pass = {.kind = RENDERER_PASS_EXPAND, .channels = 4}));
    for (int update = 0; update < UPDATES && good; update++) {
        for (int i = 0; i < TENSOR_BYTES; i++)
            tensor[i] = (uint8_t)(i * 7 + update + (i >> 8));
        good = texture != NULL &&
               (there == NULL || cuda_scratch_write(there->device, there->memory, tensor)) &&
               renderer_texture_update(renderer, texture, source);
    }
    good = good && draw(renderer, texture);
    renderer_texture_counters(texture, &counters);
    cJSON_AddBoolToObject(json, "exact", good && comes_back(renderer, texture, tensor));
    cJSON_AddNumberToObject(json, "width_px", WIDTH_PX);
    cJSON_AddNumberToObject(json, "height_px", HEIGHT_PX);
    cJSON_AddNumberToObject(json, "tensor_bytes", TENSOR_BYTES);
    cJSON_AddStringToObject(json, "path", renderer_path(renderer));
    cJSON_AddItemToObject(json, "counters", doctor_counters(&counters));
    renderer_texture_destroy(renderer, &texture);
    return json;
}

static cJSON *exercise_shared(Renderer *renderer)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (TENSOR_BYTES + page_bytes - 1) / page_bytes * page_bytes;
    uint8_t *memory = aligned_alloc(page_bytes, bytes);
    if (memory == NULL)
        return cJSON_CreateNull();
    memset(memory, 0, bytes);
    RendererShared *shared = renderer_shared_attach(renderer, memory, bytes);
    RendererSource source = {.kind = shared != NULL ? RENDERER_SOURCE_SHARED : RENDERER_SOURCE_HOST,
                             .host = memory,
                             .shared = shared,
                             .extent_bytes = TENSOR_BYTES};
    cJSON *json = exercise_one(renderer, &source, memory, NULL);
    cJSON_AddBoolToObject(json, "in_place", shared != NULL);
    renderer_shared_detach(renderer, &shared);
    free(memory);
    return json;
}

/* NULL in JSON where the renderer takes no CUDA tensors. */
static cJSON *exercise_cuda(Renderer *renderer, uint8_t *tensor)
{
    const RendererInfo *info = renderer_info(renderer);
    if ((info->caps & RENDERER_CAP_DEVICE_SOURCE) == 0)
        return cJSON_CreateNull();
    cJSON *json = cJSON_CreateNull();
    DeviceTensor there = {.device = cuda_device_open(info->interop_index)};
    if (there.device != NULL)
        there.memory = cuda_scratch_create(there.device, TENSOR_BYTES);
    if (there.memory != NULL) {
        RendererSource source = {.kind = RENDERER_SOURCE_DEVICE,
                                 .device_ptr = cuda_scratch_address(there.memory),
                                 .extent_bytes = TENSOR_BYTES};
        cJSON_Delete(json);
        json = exercise_one(renderer, &source, tensor, &there);
    }
    cuda_scratch_destroy(there.device, &there.memory);
    cuda_device_close(&there.device);
    return json;
}

cJSON *doctor_exercise(Renderer *renderer)
{
    static uint8_t tensor[TENSOR_BYTES];
    RendererSource host = {
        .kind = RENDERER_SOURCE_HOST, .host = tensor, .extent_bytes = sizeof tensor};
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToObject(json, "host", exercise_one(renderer, &host, tensor, NULL));
    cJSON_AddItemToObject(json, "shared", exercise_shared(renderer));
    cJSON_AddItemToObject(json, "cuda", exercise_cuda(renderer, tensor));
    return json;
}
