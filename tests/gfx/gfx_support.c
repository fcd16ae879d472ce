/* What the groups share: renderers, textures, scenes, comparisons, the captured log. */
#include "gfx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const RendererBackend *backend_under_test;
static unsigned captured_lines;
static LogItem captured_item;

const RendererBackend *gfx_backend(void)
{
    return backend_under_test;
}

void gfx_set_backend(const RendererBackend *backend)
{
    backend_under_test = backend;
}

Renderer *gfx_start(void)
{
    char error[256] = "";
    Renderer *renderer = backend_under_test->create(
        RENDERER_PARAMS(.label = "gfx", .validate = true), error, sizeof error);
    if (renderer == NULL)
        fail_msg("%s does not start: %s", backend_under_test->name, error);
    return renderer;
}

void gfx_stop(Renderer **renderer)
{
    RendererCounters counters;
    renderer_counters(*renderer, &counters);
    assert_int_equal(counters.textures, 0);
    assert_int_equal(counters.texture_bytes, 0);
    renderer_destroy(renderer);
    assert_null(*renderer);
}

static void on_entry(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->level < LOG_LEVEL_WARN)
        return;
    captured_lines++;
    captured_item = entry->item;
    if (getenv("GFX_SHOW_LOG") != NULL)
        fprintf(stderr, "log: %s\n", entry->text);
}

void gfx_log_capture(void)
{
    log_stderr_enable(false);
    log_sink_add(on_entry, NULL);
}

void gfx_lines_reset(void)
{
    captured_lines = 0;
    captured_item = LOG_TEXT;
}

unsigned gfx_lines(void)
{
    return captured_lines;
}

LogItem gfx_last_item(void)
{
    return captured_item;
}

void gfx_assert_one_line(LogItem item)
{
    assert_int_equal(captured_lines, 1);
    assert_string_equal(log_item_name(captured_item), log_item_name(item));
    gfx_lines_reset();
}

uint32_t gfx_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

RendererTexture *gfx_texture(Renderer *renderer, int32_t width_px, int32_t height_px,
                             RendererPass pass)
{
    RendererTexture *texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.label = "gfx", .width_px = width_px,
                                          .height_px = height_px, .pass = pass));
    assert_non_null(texture);
    return texture;
}

RendererTexture *gfx_pixels(Renderer *renderer, int32_t width_px, int32_t height_px,
                            const uint32_t *rgba)
{
    RendererTexture *texture = gfx_texture(
        renderer, width_px, height_px, (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = 4});
    assert_true(renderer_texture_write(renderer, texture, (const uint8_t *)rgba));
    return texture;
}

bool gfx_update(Renderer *renderer, RendererTexture *texture, const void *host, uint64_t bytes)
{
    RendererSource source = {.kind = RENDERER_SOURCE_HOST, .host = host, .extent_bytes = bytes};
    return renderer_texture_update(renderer, texture, &source);
}

int gfx_pixel_distance(uint32_t a, uint32_t b)
{
    int largest = 0;
    for (int c = 0; c < 32; c += 8) {
        int distance = abs((int)((a >> c) & 0xffu) - (int)((b >> c) & 0xffu));
        largest = distance > largest ? distance : largest;
    }
    return largest;
}

void gfx_assert_pixels(const uint32_t *got, const uint32_t *wanted, int32_t width_px,
                       int32_t height_px, int tolerance, const char *what)
{
    for (int32_t y = 0; y < height_px; y++) {
        for (int32_t x = 0; x < width_px; x++) {
            size_t at = (size_t)y * (size_t)width_px + (size_t)x;
            if (gfx_pixel_distance(got[at], wanted[at]) > tolerance)
                fail_msg("%s on %s: pixel %d,%d of %dx%d is %08x, wanted %08x (ABGR)", what,
                         backend_under_test->name, (int)x, (int)y, (int)width_px, (int)height_px,
                         (unsigned)got[at], (unsigned)wanted[at]);
        }
    }
}

void gfx_scene_init(GfxScene *scene, int32_t width_px, int32_t height_px, uint32_t clear_rgba)
{
    memset(&scene->list, 0, sizeof scene->list);
    scene->list.vertices = scene->vertices;
    scene->list.indices = scene->indices;
    scene->list.commands = scene->commands;
    scene->width_px = width_px;
    scene->height_px = height_px;
    scene->scale = 1.0f;
    scene->origin_x = 0.0f;
    scene->origin_y = 0.0f;
    scene->clear_rgba = clear_rgba;
}

UiCommand *gfx_command(GfxScene *scene, RendererTexture *texture, UiFilter filter)
{
    assert_true(scene->list.command_count < GFX_COMMANDS);
    UiCommand *command = &scene->commands[scene->list.command_count++];
    *command = (UiCommand){.clip_x1 = scene->width_px,
                           .clip_y1 = scene->height_px,
                           .texture = texture,
                           .filter = filter,
                           .index_first = scene->list.index_count};
    return command;
}

static uint16_t scene_vertex(GfxScene *scene, UiVertex vertex)
{
    assert_true(scene->list.vertex_count < GFX_VERTICES);
    scene->vertices[scene->list.vertex_count] = vertex;
    return (uint16_t)scene->list.vertex_count++;
}

static void scene_indices(GfxScene *scene, const uint16_t *indices, uint32_t count)
{
    assert_true(scene->list.index_count + count <= GFX_INDICES);
    memcpy(scene->indices + scene->list.index_count, indices, count * sizeof *indices);
    scene->list.index_count += count;
    scene->commands[scene->list.command_count - 1].index_count += count;
}

void gfx_rect(GfxScene *scene, GfxRect p, GfxRect t, uint32_t rgba)
{
    uint16_t a = scene_vertex(scene, (UiVertex){p.x0, p.y0, t.x0, t.y0, rgba});
    uint16_t b = scene_vertex(scene, (UiVertex){p.x1, p.y0, t.x1, t.y0, rgba});
    uint16_t c = scene_vertex(scene, (UiVertex){p.x1, p.y1, t.x1, t.y1, rgba});
    uint16_t d = scene_vertex(scene, (UiVertex){p.x0, p.y1, t.x0, t.y1, rgba});
    scene_indices(scene, (uint16_t[6]){a, b, c, a, c, d}, 6);
}

void gfx_triangle(GfxScene *scene, const UiVertex vertices[3])
{
    uint16_t indices[3];
    for (int i = 0; i < 3; i++)
        indices[i] = scene_vertex(scene, vertices[i]);
    scene_indices(scene, indices, 3);
}

void gfx_draw(Renderer *renderer, const GfxScene *scene, uint32_t *out_rgba)
{
    UiDraw draw = {&scene->list, 1, scene->origin_x, scene->origin_y, scene->scale};
    assert_true(
        renderer_frame_begin(renderer, scene->width_px, scene->height_px, scene->clear_rgba));
    assert_true(renderer_draw_ui(renderer, &draw));
    assert_true(renderer_frame_end(renderer));
    assert_true(renderer_frame_read(renderer, (uint8_t *)out_rgba,
                                    (uint64_t)scene->width_px * (uint64_t)scene->height_px * 4u));
}
