/* What a long line costs: taking 10^7 points into the index, and panning them.
 *
 *   bench_plot [TRIES]
 *
 * Floors in the same run: for the index a memcpy of the same bytes; for a frame the same plot with
 * a line of 1000 points. Frames go through the toolkit layer as in the shell, without being drawn
 * to pixels. Medians; one thread. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "services/plot_cache.h"
#include "ui_bench.h"

enum { COUNT = 10000000, FEW = 1000, TRIES_MAX = 1001 };

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof samples[0], by_value);
    return samples[count / 2];
}

typedef struct Line {
    const float *y;
    int64_t count;
    uint32_t revision;
    double low, high; /* of x, moved from frame to frame */
} Line;

static void draw(UiBench *bench, void *user)
{
    const Line *line = user;
    CaliperPlotData data = {.struct_size = sizeof data,
                            .revision = line->revision,
                            .y = line->y,
                            .y_type = CALIPER_PLOT_TYPE_F32,
                            .count = line->count,
                            .dx = (double)COUNT / (double)line->count};
    if (bench->plot->plot("plot", 1200, 280, 0)) {
        bench->plot->axis_range(CALIPER_AXIS_X1, line->low, line->high, CALIPER_WHEN_ALWAYS);
        bench->plot->line("line", &data, 0);
    }
    bench->plot->end();
}

/* Seconds of a frame while the line is panned. */
static double frame_sec(UiBench *bench, Line *line, int tries)
{
    double samples[TRIES_MAX];
    for (int i = 0; i < tries + 8; i++) { /* the first ones index, fit and warm up */
        line->low = i * 1000.0;
        line->high = 0.9 * COUNT + i * 1000.0;
        double begin = now_sec();
        bench_frame(bench, draw, line);
        if (i >= 8)
            samples[i - 8] = now_sec() - begin;
    }
    return median(samples, tries);
}

static double index_sec(const float *y, int tries)
{
    double samples[TRIES_MAX];
    PlotData data;
    PlotDataWrong wrong;
    CaliperPlotData given = {
        .struct_size = sizeof given, .y = y, .y_type = CALIPER_PLOT_TYPE_F32, .count = COUNT};
    plot_data_check(&given, false, &data, &wrong);
    for (int i = 0; i < tries; i++) {
        int64_t budget = COUNT;
        double begin = now_sec();
        PlotIndex *index = plot_index_create(&(PlotIndexParams){PLOT_COLUMN_Y, false, true});
        if (index == NULL || !plot_index_extend(index, &data, &budget))
            exit(1);
        samples[i] = now_sec() - begin;
        plot_index_destroy(&index);
    }
    return median(samples, tries);
}

static double copy_sec(const float *y, int tries)
{
    double samples[TRIES_MAX];
    float *copy = malloc((size_t)COUNT * sizeof *copy);
    if (copy == NULL)
        exit(1);
    for (int i = 0; i < tries; i++) {
        double begin = now_sec();
        memcpy(copy, y, (size_t)COUNT * sizeof *copy);
        __asm__ volatile("" : : "r"(copy) : "memory");
        samples[i] = now_sec() - begin;
    }
    free(copy);
    return median(samples, tries);
}

int main(int argc, char **argv)
{
    int tries = argc > 1 ? atoi(argv[1]) : 201;
    UiBench bench;
    float *y = malloc((size_t)COUNT * sizeof *y);
    uint32_t noise = 1;
    if (tries < 1 || tries > TRIES_MAX || y == NULL || !bench_start_sized(&bench, 1.0f, 1280, 320))
        return 1;
    for (int i = 0; i < COUNT; i++) {
        noise = noise * 1664525u + 1013904223u;
        y[i] = sinf((float)i * 1e-5f) + (float)(noise >> 8) * 0x1p-26f;
    }
    bench.unseen = true;
    double copy = copy_sec(y, 15), index = index_sec(y, 15);
    printf("index of 10^7 f32    %8.2f ms, memcpy %.2f ms: %.2f of its rate\n", index * 1e3,
           copy * 1e3, copy / index);
    Line few = {.y = y, .count = FEW, .revision = 1};
    Line many = {.y = y, .count = COUNT, .revision = 2};
    Line unindexed = {.y = y, .count = COUNT};
    double floor_sec = frame_sec(&bench, &few, tries);
    uint64_t read = plot_counters.read;
    double many_sec = frame_sec(&bench, &many, tries);
    read = (plot_counters.read - read) / (uint64_t)(tries + 8);
    printf("frame, 1000 points   %8.3f ms\n", floor_sec * 1e3);
    printf("frame, 10^7 indexed  %8.3f ms: %.1f times; %llu elements read a frame\n",
           many_sec * 1e3, many_sec / floor_sec, (unsigned long long)read);
    printf("frame, 10^7 not      %8.3f ms\n", frame_sec(&bench, &unindexed, 15) * 1e3);
    bench_stop(&bench);
    free(y);
    return 0;
}
