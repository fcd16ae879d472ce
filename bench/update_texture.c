/* bench_update_texture [--renderer NAME]: renderer_texture_update from host memory, end to end, per
 * renderer and size, against memcpy of the same bytes in the same run. A round is a burst of
 * updates and the wait for the last one (a read of one pixel's texture); the median of the rounds
 * counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "render/renderer.h"

enum { ROUNDS = 9, SIDES = 4 };
static const int32_t sides[SIDES] = {64, 256, 1024, 4096};

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

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

typedef struct Job {
    Renderer *renderer;
    RendererTexture *mapped, *direct, *fence;
    const float *values;
    uint8_t *copy;
    int32_t side;
    int repeats;
} Job;

static void wait_for(const Job *job)
{
    uint8_t pixel[4];
    renderer_texture_read(job->renderer, job->fence, pixel, sizeof pixel);
}

/* Seconds an update; 0 when it failed. */
static double update_once(const Job *job, RendererTexture *texture)
{
    uint64_t bytes = (uint64_t)job->side * (uint64_t)job->side * 4u;
    RendererSource source = {
        .kind = RENDERER_SOURCE_HOST, .host = job->values, .extent_bytes = bytes};
    double start = now_sec();
    for (int i = 0; i < job->repeats; i++) {
        if (!renderer_texture_update(job->renderer, texture, &source))
            return 0.0;
    }
    wait_for(job);
    return (now_sec() - start) / job->repeats;
}

static double copy_once(const Job *job)
{
    size_t bytes = (size_t)job->side * (size_t)job->side * 4u;
    double start = now_sec();
    for (int i = 0; i < job->repeats; i++) {
        memcpy(job->copy, job->values, bytes);
        __asm__ volatile("" : : "r"(job->copy) : "memory"); /* every copy is really made */
    }
    return (now_sec() - start) / job->repeats;
}

static void measure(Job *job, const char *name)
{
    double mapped[ROUNDS];
    double direct[ROUNDS];
    double copied[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        copied[i] = copy_once(job);
        mapped[i] = update_once(job, job->mapped);
        direct[i] = update_once(job, job->direct);
    }
    double floor_sec = median(copied);
    double mapped_sec = median(mapped);
    double direct_sec = median(direct);
    double moved = (double)job->side * job->side * 8.0 * 1e-9; /* read and written, GB */
    printf("%-8s %5d^2  %10.1f us %7.2f GB/s %6.2f   %10.1f us %7.2f GB/s %6.2f   %10.1f us\n",
           name, (int)job->side, mapped_sec * 1e6, moved / mapped_sec, floor_sec / mapped_sec,
           direct_sec * 1e6, moved / direct_sec, floor_sec / direct_sec, floor_sec * 1e6);
}

static RendererTexture *make(Renderer *renderer, int32_t side, RendererPass pass)
{
    return renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = side, .height_px = side, .pass = pass));
}

static void run(const RendererBackend *backend, const float *values, uint8_t *copy)
{
    char error[256] = "";
    Renderer *renderer = backend->create(RENDERER_PARAMS(.label = "bench"), error, sizeof error);
    if (renderer == NULL) {
        printf("%-8s does not start: %s\n", backend->name, error);
        return;
    }
    const RendererPass colormap = {.kind = RENDERER_PASS_COLORMAP, .vmin = -1.0f, .inv = 0.5f};
    const RendererPass expand = {.kind = RENDERER_PASS_EXPAND, .channels = 4};
    const uint8_t pixel[4] = {0};
    for (int i = 0; i < SIDES; i++) {
        Job job = {.renderer = renderer, .values = values, .copy = copy, .side = sides[i]};
        job.repeats = 1 + (4 << 20) / (sides[i] * sides[i]);
        job.mapped = make(renderer, sides[i], colormap);
        job.direct = make(renderer, sides[i], expand);
        job.fence = make(renderer, 1, expand);
        if (job.mapped != NULL && job.direct != NULL && job.fence != NULL &&
            renderer_texture_write(renderer, job.fence, pixel))
            measure(&job, backend->name);
        renderer_texture_destroy(renderer, &job.mapped);
        renderer_texture_destroy(renderer, &job.direct);
        renderer_texture_destroy(renderer, &job.fence);
    }
    printf("%-8s ran on %s, %s: %s\n", backend->name, renderer_info(renderer)->device_name,
           renderer_info(renderer)->api_version, renderer_path(renderer));
    renderer_destroy(&renderer);
}

int main(int argc, char **argv)
{
    const char *only = argc == 3 && strcmp(argv[1], "--renderer") == 0 ? argv[2] : NULL;
    size_t count = (size_t)sides[SIDES - 1] * (size_t)sides[SIDES - 1];
    float *values = malloc(count * sizeof *values);
    uint8_t *copy = malloc(count * 4);
    if (values == NULL || copy == NULL)
        return 1;
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (float)(int32_t)state * 0x1p-31f;
    }
    printf("Texture update from host memory; ratio: memcpy's time over the update's (1 is the "
           "floor).\n%-8s %7s  %31s   %31s   %13s\n",
           "renderer", "size", "f32 through a colormap, ratio", "u8 RGBA, ratio", "memcpy");
    for (const RendererBackend *b = renderer_backends; b->name != NULL; b++) {
        if (only == NULL || strcmp(only, b->name) == 0)
            run(b, values, copy);
    }
    free(copy);
    free(values);
    return 0;
}
