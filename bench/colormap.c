/* How fast each kernel maps f32 to RGBA8, against memcpy of the same bytes in the same run.
 *
 * One core. A pixel is 8 bytes moved: 4 read, 4 written; memcpy of n bytes moves 2n. Prints GB/s
 * (10^9 bytes) and the share of memcpy, the median of the rounds; memcpy and the kernels take turns
 * within a round, so that a busy neighbour slows all of them. bench/peers.py measures the peers on
 * the same inputs.
 *     bench_colormap [rounds]
 *     bench_colormap --input FILE    writes the largest input as raw f32, for peers.py */
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/kernels.h"

enum { SIDES = 3, ROUNDS_MAX = 101, VARIANTS_MAX = 8, BATCH_PIXELS = 1 << 22 };
static const size_t sides[SIDES] = {256, 1024, 4096};

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Noise from -0.05 to 1.05 for the range 0..1: every index, and a tenth outside. */
static void fill(float *pixels, size_t count)
{
    uint64_t state = 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        float noise = (float)(state >> 40) / 16777216.0f;
        pixels[i] = 1.1f * noise - 0.05f;
    }
}

typedef struct Work {
    const float *src;
    uint8_t *dst;
    size_t count;
} Work;

static double rate(const KernelVariant *variant, const Work *work, size_t repeat)
{
    double start = now_sec();
    for (size_t i = 0; i < repeat; i++) {
        if (variant == NULL)
            memcpy(work->dst, work->src, 4 * work->count);
        else
            variant->colormap(work->src, work->dst, work->count, colormap_table(0), 0.0f, 1.0f);
        __asm__ volatile("" : : "r"(work->dst) : "memory");
    }
    return 8.0 * (double)(work->count * repeat) / (now_sec() - start) / 1e9;
}

/* 0 on success. */
static int write_input(const char *path, const float *pixels, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return 1;
    size_t wrote = fwrite(pixels, 4, count, file);
    return fclose(file) != 0 || wrote != count;
}

/* Row 0 is memcpy, row v + 1 the kernel v; zero where it is not on this processor. */
typedef struct Result {
    double rate[VARIANTS_MAX + 1][SIDES];
    double share[VARIANTS_MAX + 1][SIDES]; /* of memcpy in the same round */
} Result;

static void measure(const Work *all, int rounds, Result *out)
{
    static double rates[VARIANTS_MAX + 1][ROUNDS_MAX];
    static double shares[VARIANTS_MAX + 1][ROUNDS_MAX];
    const KernelVariant *variants = kernel_variants();
    for (int side = 0; side < SIDES; side++) {
        Work work = *all;
        work.count = sides[side] * sides[side];
        size_t repeat = work.count < BATCH_PIXELS ? BATCH_PIXELS / work.count : 1;
        int rows = 1;
        for (int round = 0; round < rounds; round++) {
            rates[0][round] = rate(NULL, &work, repeat);
            for (rows = 1; variants[rows - 1].name != NULL && rows <= VARIANTS_MAX; rows++) {
                const KernelVariant *variant = &variants[rows - 1];
                rates[rows][round] = variant->available ? rate(variant, &work, repeat) : 0.0;
            }
            for (int row = 0; row < rows; row++)
                shares[row][round] = rates[row][round] / rates[0][round];
        }
        for (int row = 0; row < rows; row++) {
            out->rate[row][side] = median(rates[row], rounds);
            out->share[row][side] = median(shares[row], rounds);
        }
    }
}

static void print(const Result *result, int rounds)
{
    const KernelVariant *variants = kernel_variants();
    printf("f32 -> RGBA8, GB/s (share of memcpy), one core, median of %d\n", rounds);
    printf("%-12s %16s %16s %16s\n", "", "256^2", "1024^2", "4096^2");
    for (int row = 0; row == 0 || variants[row - 1].name != NULL; row++) {
        if (row > 0 && !variants[row - 1].available) {
            printf("%-12s not on this processor\n", variants[row - 1].name);
            continue;
        }
        printf("%-12s", row == 0 ? "memcpy" : variants[row - 1].name);
        for (int side = 0; side < SIDES; side++)
            printf(" %8.2f (%5.3f)", result->rate[row][side], result->share[row][side]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    const char *input = argc == 3 && strcmp(argv[1], "--input") == 0 ? argv[2] : NULL;
    long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 15;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench_colormap: rounds must be 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);

    size_t largest = sides[SIDES - 1] * sides[SIDES - 1];
    float *src = aligned_alloc(4096, 4 * largest);
    uint8_t *dst = aligned_alloc(4096, 4 * largest);
    int status = 1;
    if (src == NULL || dst == NULL)
        goto done;
    fill(src, largest);
    if (input != NULL) {
        status = write_input(input, src, largest);
        goto done;
    }
    memset(dst, 1, 4 * largest);
    Result result = {0};
    measure(&(Work){src, dst, largest}, (int)rounds, &result);
    print(&result, (int)rounds);
    status = 0;
done:
    free(src);
    free(dst);
    return status;
}
