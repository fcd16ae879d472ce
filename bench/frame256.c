/* bench_frame256 [--renderer NAME]: the time of a whole offscreen frame, per renderer.
 *  live: 256 textures of 128^2, each updated through a colormap and drawn in each frame.
 *  ui:   1280 x 800 like a busy window: panels, 6000 glyphs on whole pixels, 400 lines, 16 images.
 * A frame ends with a read of the frame, so that the device's work counts; its share is shown by a
 * frame that only clears. Ratios are against memcpy of the bytes that the updates, or the frame,
 * move. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "render/renderer.h"

enum { LIVE = 256, LIVE_SIDE = 128, WIDTH = 1280, HEIGHT = 800, FRAMES = 25 };
enum { VERTICES_MAX = 48000, INDICES_MAX = 72000, COMMANDS_MAX = 300 };

typedef struct Scene {
    UiVertex *vertices;
    uint16_t *indices;
    UiCommand commands[COMMANDS_MAX];
    UiList list;
} Scene;

static double now_sec(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct Times {
    double median, best; /* milliseconds; negative when a call failed */
} Times;

static Times times_of(double *values)
{
    qsort(values, FRAMES, sizeof *values, compare);
    return (Times){values[FRAMES / 2], values[0]};
}

static bool scene_create(Scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->vertices = calloc(VERTICES_MAX, sizeof *scene->vertices);
    scene->indices = calloc(INDICES_MAX, sizeof *scene->indices);
    scene->list = (UiList){scene->vertices, 0, scene->indices, 0, scene->commands, 0};
    return scene->vertices != NULL && scene->indices != NULL;
}

static void scene_destroy(Scene *scene)
{
    free(scene->vertices);
    free(scene->indices);
}

static void command(Scene *scene, RendererTexture *texture, UiFilter filter)
{
    scene->commands[scene->list.command_count++] =
        (UiCommand){.clip_x1 = WIDTH,
                    .clip_y1 = HEIGHT,
                    .texture = texture,
                    .filter = filter,
                    .index_first = scene->list.index_count,
                    .vertex_first = scene->list.vertex_count};
}

static void quad(Scene *scene, const float x[4], const float y[4], const float u[4],
                 const float v[4], const uint32_t rgba[4])
{
    UiCommand *last = &scene->commands[scene->list.command_count - 1];
    uint32_t base = scene->list.vertex_count - last->vertex_first;
    static const uint16_t order[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 4; i++)
        scene->vertices[scene->list.vertex_count++] = (UiVertex){x[i], y[i], u[i], v[i], rgba[i]};
    for (int i = 0; i < 6; i++)
        scene->indices[scene->list.index_count++] = (uint16_t)(base + order[i]);
    last->index_count += 6;
}

static void rect(Scene *scene, float x, float y, float width, float height, float u0, float v0,
                 float u1, float v1, uint32_t rgba)
{
    quad(scene, (float[4]){x, x + width, x + width, x}, (float[4]){y, y, y + height, y + height},
         (float[4]){u0, u1, u1, u0}, (float[4]){v0, v0, v1, v1},
         (uint32_t[4]){rgba, rgba, rgba, rgba});
}

/* A line with soft sides, as user interfaces draw it: three strips, alpha falling to 0. */
static void line(Scene *scene, float x0, float y0, float x1, float y1, uint32_t rgba)
{
    float length = hypotf(x1 - x0, y1 - y0);
    float nx = (y0 - y1) / length;
    float ny = (x1 - x0) / length;
    const float at[4] = {-1.5f, -0.5f, 0.5f, 1.5f};
    for (int i = 0; i < 3; i++) {
        uint32_t low = i == 0 ? rgba & 0xffffffu : rgba;
        uint32_t high = i == 2 ? rgba & 0xffffffu : rgba;
        quad(scene,
             (float[4]){x0 + nx * at[i], x1 + nx * at[i], x1 + nx * at[i + 1], x0 + nx * at[i + 1]},
             (float[4]){y0 + ny * at[i], y1 + ny * at[i], y1 + ny * at[i + 1], y0 + ny * at[i + 1]},
             (float[4]){0}, (float[4]){0}, (uint32_t[4]){low, low, high, high});
    }
}

typedef struct Bench {
    Renderer *renderer;
    RendererTexture *live[LIVE];
    RendererTexture *font;
    float *values;
    uint8_t *frame;
} Bench;

static bool bench_fill(Bench *bench)
{
    static uint32_t texels[512 * 512];
    for (int i = 0; i < 512 * 512; i++)
        texels[i] = 0xffffffu | (uint32_t)((i * 37) & 0xff) << 24;
    texels[0] = 0xffffffffu;
    bench->font = renderer_texture_create(
        bench->renderer,
        RENDERER_TEXTURE_PARAMS(.width_px = 512, .height_px = 512,
                                .pass = {.kind = RENDERER_PASS_EXPAND, .channels = 4}));
    if (bench->font == NULL ||
        !renderer_texture_write(bench->renderer, bench->font, (const uint8_t *)texels))
        return false;
    for (int i = 0; i < LIVE; i++) {
        bench->live[i] = renderer_texture_create(
            bench->renderer, RENDERER_TEXTURE_PARAMS(.width_px = LIVE_SIDE, .height_px = LIVE_SIDE,
                                                     .pass = {.vmin = -1.0f, .inv = 0.5f}));
        if (bench->live[i] == NULL)
            return false;
    }
    bench->values = malloc((size_t)LIVE_SIDE * LIVE_SIDE * sizeof(float));
    bench->frame = malloc((size_t)WIDTH * HEIGHT * 4);
    if (bench->values == NULL || bench->frame == NULL)
        return false;
    for (int i = 0; i < LIVE_SIDE * LIVE_SIDE; i++)
        bench->values[i] = sinf((float)i * 0.01f);
    return true;
}

static bool update_all(const Bench *bench)
{
    RendererSource source = {.kind = RENDERER_SOURCE_HOST,
                             .host = bench->values,
                             .extent_bytes = (uint64_t)LIVE_SIDE * LIVE_SIDE * 4u};
    for (int i = 0; i < LIVE; i++) {
        if (!renderer_texture_update(bench->renderer, bench->live[i], &source))
            return false;
    }
    return true;
}

static Times frames(const Bench *bench, const Scene *scene, bool update)
{
    double times[FRAMES];
    UiDraw draw = {scene != NULL ? &scene->list : NULL, scene != NULL ? 1u : 0u, 0.0f, 0.0f, 1.0f};
    for (int i = 0; i < FRAMES; i++) {
        double start = now_sec();
        if (!renderer_frame_begin(bench->renderer, WIDTH, HEIGHT, 0xff201810u) ||
            (update && !update_all(bench)) || !renderer_draw_ui(bench->renderer, &draw) ||
            !renderer_frame_end(bench->renderer) ||
            !renderer_frame_read(bench->renderer, bench->frame, (uint64_t)WIDTH * HEIGHT * 4u))
            return (Times){-1.0, -1.0};
        times[i] = (now_sec() - start) * 1e3;
    }
    return times_of(times);
}

static Times copies(const Bench *bench)
{
    double times[FRAMES];
    size_t bytes = (size_t)LIVE_SIDE * LIVE_SIDE * 4;
    for (int i = 0; i < FRAMES; i++) {
        double start = now_sec();
        for (int k = 0; k < LIVE; k++) {
            memcpy(bench->frame + (size_t)(k % 32) * bytes, bench->values, bytes);
            __asm__ volatile("" : : "r"(bench->frame) : "memory");
        }
        times[i] = (now_sec() - start) * 1e3;
    }
    return times_of(times);
}

static void build_live(const Bench *bench, Scene *scene)
{
    for (int i = 0; i < LIVE; i++) {
        command(scene, bench->live[i], UI_FILTER_NEAREST);
        rect(scene, (float)(i % 16) * 80.0f, (float)(i / 16) * 50.0f, 78.0f, 48.0f, 0, 0, 1, 1,
             0xffffffffu);
    }
}

static void build_ui(const Bench *bench, Scene *scene)
{
    command(scene, bench->font, UI_FILTER_LINEAR);
    rect(scene, 0, 0, WIDTH, HEIGHT, 0, 0, 0, 0, 0xff201810u);
    for (int i = 0; i < 8; i++)
        rect(scene, (float)(i % 4) * 320.0f + 4, (float)(i / 4) * 400.0f + 4, 312, 392, 0, 0, 0, 0,
             i % 2 == 0 ? 0xf0302820u : 0xff302820u);
    for (int i = 0; i < 6000; i++) {
        float u = (float)(i % 50) * 10.0f / 512.0f;
        float v = (float)(i % 30) * 16.0f / 512.0f;
        rect(scene, (float)(i % 150) * 8.0f + 8, (float)(i / 150) * 19.0f + 8, 7, 13, u, v,
             u + 7.0f / 512.0f, v + 13.0f / 512.0f, 0xffe0e0e0u);
    }
    for (int i = 0; i < 400; i++)
        line(scene, (float)i * 3.0f + 20, 700.0f + 60.0f * sinf((float)i * 0.1f),
             (float)i * 3.0f + 23, 700.0f + 60.0f * sinf((float)(i + 1) * 0.1f), 0xff40c0ffu);
    for (int i = 0; i < 16; i++) {
        command(scene, bench->live[i], i % 2 == 0 ? UI_FILTER_NEAREST : UI_FILTER_LINEAR);
        rect(scene, (float)(i % 8) * 155.0f + 20, (float)(i / 8) * 160.0f + 60, 150, 150, 0, 0, 1,
             1, 0xffffffffu);
    }
}

static void run(const RendererBackend *backend)
{
    char error[256] = "";
    Scene live;
    Scene ui;
    Bench bench = {0};
    bench.renderer = backend->create(RENDERER_PARAMS(.label = "bench"), error, sizeof error);
    if (bench.renderer == NULL) {
        printf("%-8s does not start: %s\n", backend->name, error);
        return;
    }
    bool ok = scene_create(&live);
    ok = scene_create(&ui) && ok;
    if (ok && bench_fill(&bench)) {
        build_live(&bench, &live);
        build_ui(&bench, &ui);
        Times clear = frames(&bench, NULL, false);
        Times copy = copies(&bench);
        Times updated = frames(&bench, &live, true);
        Times drawn = frames(&bench, &live, false);
        Times busy = frames(&bench, &ui, false);
        printf("%-8s %6.2f %6.2f   %6.2f %6.2f   %6.2f %6.2f   %6.2f %6.2f   %6.2f %6.2f %9.1f\n",
               backend->name, clear.median, clear.best, updated.median, updated.best, drawn.median,
               drawn.best, busy.median, busy.best, copy.median, copy.best,
               (updated.best - drawn.best) / copy.best);
    } else {
        printf("%-8s has no memory for the scene\n", backend->name);
    }
    for (int i = 0; i < LIVE; i++)
        renderer_texture_destroy(bench.renderer, &bench.live[i]);
    renderer_texture_destroy(bench.renderer, &bench.font);
    renderer_destroy(&bench.renderer);
    scene_destroy(&live);
    scene_destroy(&ui);
    free(bench.values);
    free(bench.frame);
}

int main(int argc, char **argv)
{
    const char *only = argc == 3 && strcmp(argv[1], "--renderer") == 0 ? argv[2] : NULL;
    printf("Milliseconds a frame of 1280 x 800, read back: median and best of %d. The last column: "
           "what 256\nupdates add to a frame over memcpy of their bytes (best times).\n",
           FRAMES);
    printf("%-8s %13s   %13s   %13s   %13s   %13s %9s\n", "renderer", "clear", "256 updated",
           "256 drawn", "busy ui", "memcpy", "over it");
    for (const RendererBackend *b = renderer_backends; b->name != NULL; b++) {
        if (only == NULL || strcmp(only, b->name) == 0)
            run(b);
    }
    return 0;
}
