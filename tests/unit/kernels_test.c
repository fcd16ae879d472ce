/* The CPU kernels: every variant against indices computed in integers (exact_f32.h) and against the
 * published colormap tables, read here from their text files. One thread.
 *
 * CALIPER_TEST_LONG=1 makes the random floats 10^8 where sanitizers make 10^7 the default. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exact_f32.h"
#include "kernels/float_env.h"
#include "kernels/kernels.h"
#include "kernels/kernels_impl.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

typedef struct Range {
    float vmin, vmax;
} Range;

/* Plain, reversed, offset, with denormal ends, at both bounds of what the bridge accepts (2^-90 and
 * 2^126), and empty. */
static const Range ranges[] = {
    {0.0f, 1.0f},         {-1.0f, 1.0f},         {1.0f, 0.0f},          {0.0f, 255.0f},
    {1000.0f, 1000.125f}, {-3.7e-3f, 8.1e5f},    {0.1f, 0.3f},          {2.5f, -7.25f},
    {1e-44f, 1.0f},       {-1e-40f, 0x1p-90f},   {0.0f, 0x1p-90f},      {0x1p-90f, 0.0f},
    {0.0f, 0x1p126f},     {-0x1p125f, 0x1p125f}, {0x1p125f, -0x1p125f}, {1e30f, 3e30f},
    {3.0f, 3.0f},         {0.0f, -0.0f},
};
enum { RANGE_COUNT = sizeof ranges / sizeof ranges[0] };

static uint8_t published[COLORMAP_COUNT][COLORMAP_ENTRIES][4];

static int read_published(void **state)
{
    (void)state;
    static const char *const names[COLORMAP_COUNT] = {"viridis", "magma", "rdbu"};
    for (int map = 0; map < COLORMAP_COUNT; map++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.txt", CALIPER_LUT_DIR, names[map]);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            return -1;
        for (int entry = 0; entry < COLORMAP_ENTRIES; entry++) {
            unsigned r, g, b;
            if (fscanf(file, "%u %u %u", &r, &g, &b) != 3)
                return -1;
            uint8_t colour[4] = {(uint8_t)r, (uint8_t)g, (uint8_t)b, 255};
            memcpy(published[map][entry], colour, 4);
        }
        fclose(file);
    }
    return 0;
}

static uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

/* ---- The tables and the choice of a variant ---- */

static void tables_are_the_published_ones(void **state)
{
    (void)state;
    for (int map = 0; map < COLORMAP_COUNT; map++) {
        assert_non_null(colormap_table(map));
        assert_memory_equal(colormap_table(map), published[map], sizeof published[map]);
    }
    assert_null(colormap_table(-1));
    assert_null(colormap_table(COLORMAP_COUNT));
    /* The ends as the maps' authors publish them, times 255 and truncated as matplotlib does:
     * viridis (0.267004, 0.004874, 0.329415) to (0.993248, 0.906157, 0.143936), magma (0.001462,
     * 0.000466, 0.013866) to (0.987053, 0.991438, 0.749504), ColorBrewer's RdBu 67001f to 053061.
     */
    static const uint8_t ends[COLORMAP_COUNT][2][4] = {
        {{68, 1, 84, 255}, {253, 231, 36, 255}},
        {{0, 0, 3, 255}, {251, 252, 191, 255}},
        {{103, 0, 31, 255}, {5, 48, 97, 255}},
    };
    for (int map = 0; map < COLORMAP_COUNT; map++) {
        assert_memory_equal(colormap_table(map)[0], ends[map][0], 4);
        assert_memory_equal(colormap_table(map)[255], ends[map][1], 4);
    }
}

/* Asks in a child, since the choice is made once a process; the answer is the exit status: the
 * position in the list. */
static int best_with(const char *wanted)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(99);
        if (wanted != NULL)
            setenv("CALIPER_KERNEL", wanted, 1);
        else
            unsetenv("CALIPER_KERNEL");
        _exit((int)(kernel_best() - kernel_variants()));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Runs first: after kernel_variants() the children would inherit the answer. */
static void best_is_the_fastest_unless_asked(void **state)
{
    (void)state;
    int scalar = best_with("scalar");
    int fastest = best_with(NULL);
    int unknown = best_with("sse9");
    int empty = best_with("");
    assert_int_equal(scalar, 0);
    assert_int_equal(unknown, fastest);
    assert_int_equal(empty, fastest);
    const KernelVariant *variants = kernel_variants();
    int last_available = 0;
    for (int i = 0; variants[i].name != NULL; i++)
        last_available = variants[i].available ? i : last_available;
    assert_int_equal(fastest, last_available);
    assert_string_equal(variants[0].name, "scalar");
}

static void features_agree_with_the_compilers_own(void **state)
{
    (void)state;
#if defined(__x86_64__)
    CpuFeatures features = cpu_features();
    __builtin_cpu_init();
    assert_int_equal(features.avx2, __builtin_cpu_supports("avx2") != 0);
    assert_int_equal(features.avx512bw, __builtin_cpu_supports("avx512bw") != 0);
    assert_int_equal(features.avx512vbmi, __builtin_cpu_supports("avx512vbmi") != 0);
#else
    skip();
#endif
}

/* ---- The emulation itself, on values worked out by hand ---- */

static void emulation_rounds_as_ieee_says(void **state)
{
    (void)state;
    assert_int_equal(exact_add(exact_bits(1.0f), exact_bits(0x1p-24f)), exact_bits(1.0f)); /* tie */
    assert_int_equal(exact_add(exact_bits(0x1.000002p0f), exact_bits(0x1p-24f)),
                     exact_bits(0x1.000004p0f)); /* tie, to even upwards */
    assert_int_equal(exact_add(exact_bits(1.0f), exact_bits(0x1.000002p-24f)),
                     exact_bits(0x1.000002p0f)); /* just over the tie */
    assert_int_equal(exact_sub(exact_bits(1.0f), exact_bits(0x1p-149f)), exact_bits(1.0f));
    assert_int_equal(exact_sub(exact_bits(0x1p127f), exact_bits(0x1p-149f)), exact_bits(0x1p127f));
    assert_int_equal(exact_sub(exact_bits(1.0f), exact_bits(1.0f)), 0);
    assert_int_equal(exact_sub(exact_bits(0x1p-126f), exact_bits(0x1p-149f)), 0x007fffff);
    assert_int_equal(exact_mul(exact_bits(0x1p-100f), exact_bits(0x1p-49f)), 1);
    assert_int_equal(exact_mul(exact_bits(0x1p-100f), exact_bits(0x1p-50f)), 0); /* tie, to even */
    assert_int_equal(exact_mul(exact_bits(0x1p-100f), exact_bits(0x1.8p-50f)), 1);
    assert_int_equal(exact_mul(exact_bits(0x1p100f), exact_bits(-0x1p28f)), 0xff800000);
    assert_int_equal(exact_mul(exact_bits(0x1.fffffep0f), exact_bits(0x1.fffffep0f)),
                     exact_bits(0x1.fffffcp1f));
    assert_int_equal(exact_reciprocal(exact_bits(3.0f)), 0x3eaaaaab);
    assert_int_equal(exact_reciprocal(exact_bits(-0x1p126f)), exact_bits(-0x1p-126f));
    assert_int_equal(exact_reciprocal(exact_bits(10.0f)), 0x3dcccccd);
    /* The bin edges of 0..1: index k starts where t * 255 + 0.5 reaches k. */
    assert_int_equal(exact_index(exact_bits(0.0f), 0, exact_bits(1.0f)), 0);
    assert_int_equal(exact_index(exact_bits(0.5f), 0, exact_bits(1.0f)), 128); /* 127.5 + 0.5 */
    assert_int_equal(exact_index(exact_bits(0x1.fffffep-2f), 0, exact_bits(1.0f)), 127);
    assert_int_equal(exact_index(exact_bits(1.0f), 0, exact_bits(1.0f)), 255);
    assert_int_equal(exact_index(exact_bits(-5.0f), 0, exact_bits(1.0f)), 0);
    assert_int_equal(exact_index(exact_bits(-INFINITY), 0, exact_bits(-1.0f)), 255);
    assert_int_equal(exact_index(exact_bits(-NAN), 0, exact_bits(1.0f)), 0);
}

/* Edges stand for the index everywhere: compared with exact_index on random bits. */
static void edges_agree_with_the_index(void **state)
{
    (void)state;
    uint64_t random = 0x1234567u;
    for (int r = 0; r < RANGE_COUNT; r++) {
        uint32_t vmin = exact_bits(ranges[r].vmin);
        uint32_t inv = exact_inv(ranges[r].vmin, ranges[r].vmax);
        ExactEdges edges;
        exact_edges_make(&edges, vmin, inv);
        for (int i = 0; i < 20000; i++) {
            uint32_t v = (uint32_t)(random_next(&random) >> 32);
            if (i % 2 == 0) { /* inside the range */
                float share = (float)(random >> 40) / 16777216.0f;
                v = exact_bits(ranges[r].vmin + share * (ranges[r].vmax - ranges[r].vmin));
            }
            assert_int_equal(exact_edges_index(&edges, v), exact_index(v, vmin, inv));
        }
    }
}

/* ---- Every variant against them ---- */

enum { BLOCK = 1 << 16 };
static float block_src[BLOCK];
static uint8_t block_want[4 * BLOCK];
static uint8_t block_got[4 * BLOCK];

static void check_block(size_t count, int map, const ExactEdges *edges, float vmin, float inv)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t v;
        memcpy(&v, &block_src[i], sizeof v);
        memcpy(block_want + 4 * i, published[map][exact_edges_index(edges, v)], 4);
    }
    for (const KernelVariant *variant = kernel_variants(); variant->name != NULL; variant++) {
        if (!variant->available)
            continue;
        memset(block_got, 0x5a, 4 * count);
        variant->colormap(block_src, block_got, count, colormap_table(map), vmin, inv);
        if (memcmp(block_got, block_want, 4 * count) == 0)
            continue;
        for (size_t i = 0; i < count; i++) {
            if (memcmp(block_got + 4 * i, block_want + 4 * i, 4) != 0)
                fail_msg("%s: element %zu = %a (0x%08x), vmin %a, inv %a: wrong colour",
                         variant->name, i, (double)block_src[i], exact_bits(block_src[i]),
                         (double)vmin, (double)inv);
        }
    }
}

/* Every class in turn: raw bits (all exponents, NaNs with payloads), inside the range, a few ulp
 * from an edge, denormals, and the special values. */
static void fill_block(uint64_t *random, const Range *range, const ExactEdges *edges)
{
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                       0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff,
                                       0,          0x80000000, 1,          0x80000001,
                                       0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff};
    for (size_t i = 0; i < BLOCK; i++) {
        uint64_t r = random_next(random);
        uint32_t bits = (uint32_t)(r >> 32);
        switch (r & 7) {
        case 0:
        case 1:
        case 2: {
            float share = (float)(bits >> 8) / 16777216.0f * 1.2f - 0.1f;
            bits = exact_bits(range->vmin + share * (range->vmax - range->vmin));
            break;
        }
        case 3:
            if (!edges->constant) {
                int32_t key = edges->edge[(bits >> 8) % 255] + (int32_t)(bits & 7) - 4;
                bits = exact_from_key(key) ^ (edges->mirrored ? EXACT_SIGN : 0);
            }
            break;
        case 4:
            bits &= 0x807fffff;
            break;
        case 5:
            if ((r & 0xf0) == 0)
                bits = special[bits % (sizeof special / sizeof special[0])];
            break;
        default:
            break;
        }
        memcpy(&block_src[i], &bits, sizeof bits);
    }
}

static void random_floats_of_every_class(void **state)
{
    (void)state;
    bool all = !SANITIZED || getenv("CALIPER_TEST_LONG") != NULL;
    size_t total = all ? 100000000 : 10000000;
    size_t per_range = total / RANGE_COUNT / BLOCK + 1;
    uint64_t random = 0xfeedbeef12345u;
    for (int r = 0; r < RANGE_COUNT; r++) {
        ExactEdges edges;
        uint32_t inv = exact_inv(ranges[r].vmin, ranges[r].vmax);
        exact_edges_make(&edges, exact_bits(ranges[r].vmin), inv);
        for (size_t block = 0; block < per_range; block++) {
            fill_block(&random, &ranges[r], &edges);
            check_block(BLOCK, r % COLORMAP_COUNT, &edges, ranges[r].vmin, exact_float(inv));
        }
    }
    print_message("           %zu floats per variant\n", per_range * RANGE_COUNT * BLOCK);
}

/* For 400 random ranges too: each of the 255 edges, and the floats just beside it. */
static void every_bin_edge(void **state)
{
    (void)state;
    uint64_t random = 0xabcdef987u;
    for (int r = 0; r < RANGE_COUNT + 400; r++) {
        Range range = r < RANGE_COUNT ? ranges[r] : ranges[0];
        if (r >= RANGE_COUNT) {
            int exponent = (int)(random_next(&random) % 200) - 88;
            float scale = ldexpf(1.0f, exponent > 120 ? 120 : exponent);
            range.vmin = scale * ((float)(random_next(&random) >> 40) / 8388608.0f - 1.0f);
            range.vmax = scale * ((float)(random_next(&random) >> 40) / 8388608.0f - 1.0f);
        }
        uint32_t inv = exact_inv(range.vmin, range.vmax);
        ExactEdges edges;
        exact_edges_make(&edges, exact_bits(range.vmin), inv);
        size_t count = 0;
        for (int k = 0; k < 255 && !edges.constant; k++) {
            for (int32_t ulp = -1; ulp <= 1; ulp++) {
                uint32_t bits = exact_from_key(edges.edge[k] + ulp);
                block_src[count++] = exact_float(bits ^ (edges.mirrored ? EXACT_SIGN : 0));
            }
        }
        check_block(count, r % COLORMAP_COUNT, &edges, range.vmin, exact_float(inv));
    }
}

/* vmin == vmax, both infinite: inv is 0 and everything is entry 0. */
static void no_range_is_entry_0_everywhere(void **state)
{
    (void)state;
    ExactEdges constant = {.constant = true};
    uint64_t random = 99;
    fill_block(&random, &ranges[1], &constant);
    static const float ends[] = {0.0f, -0.0f, 5.0f, INFINITY, -INFINITY, 1e-45f, 3.4e38f};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        check_block(BLOCK, 1, &constant, ends[i], 0.0f);
}

/* An applet may call with flushing on, another rounding mode or unmasked exceptions: the bytes
 * stay, and so does its mode. */
static void modes_of_the_caller_change_nothing(void **state)
{
    (void)state;
#if defined(__x86_64__)
    static const uint64_t modes[] = {0x9fc0,                 /* flush to zero, denormals are zero */
                                     0x3f80, 0x5f80, 0x7f80, /* down, up, to zero */
                                     0x0000, 0xe040};        /* exceptions unmasked; all at once */
#elif defined(__aarch64__)
    static const uint64_t modes[] = {1u << 24, 1u << 22, 2u << 22, 3u << 22, 0};
#endif
    uint64_t random = 4711;
    for (int r = 0; r < RANGE_COUNT; r++) {
        ExactEdges edges;
        uint32_t inv = exact_inv(ranges[r].vmin, ranges[r].vmax);
        exact_edges_make(&edges, exact_bits(ranges[r].vmin), inv);
        fill_block(&random, &ranges[r], &edges);
        size_t count = BLOCK - 5; /* with a tail */
        for (size_t i = 0; i < count; i++) {
            memcpy(block_want + 4 * i,
                   published[0][exact_edges_index(&edges, exact_bits(block_src[i]))], 4);
        }
        for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
            for (const KernelVariant *v = kernel_variants(); v->name != NULL; v++) {
                if (!v->available)
                    continue;
                uint64_t before = float_env_enter();
                float_env_leave(modes[m]);
                v->colormap(block_src, block_got, count, colormap_table(0), ranges[r].vmin,
                            exact_float(inv));
                uint64_t after = float_env_enter();
                float_env_leave(before);
                assert_int_equal(after, modes[m]);
                assert_memory_equal(block_got, block_want, 4 * count);
            }
        }
    }
}

/* ---- Sizes, alignments, bounds ---- */

/* Two pages of memory that end at one which cannot be touched. */
static uint8_t *guarded_end(size_t *out_page)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + 2 * page, page, PROT_NONE), 0);
    *out_page = page;
    return memory + 2 * page;
}

static void any_length_and_alignment_stays_in_bounds(void **state)
{
    (void)state;
    size_t page;
    uint8_t *src_end = guarded_end(&page);
    uint8_t *dst_end = guarded_end(&page);
    uint64_t random = 77;
    for (uint8_t *byte = src_end - 2 * page; byte < src_end; byte++)
        *byte = (uint8_t)(random_next(&random) >> 33);
    ExactEdges edges;
    exact_edges_make(&edges, exact_bits(-1.0f), exact_bits(0.5f));
    for (const KernelVariant *v = kernel_variants(); v->name != NULL; v++) {
        for (size_t count = 0; v->available && count <= 210; count++) {
            for (size_t shift = 0; shift < 8; shift++) {
                uint8_t *src = src_end - 4 * count - shift;
                uint8_t *dst = dst_end - 4 * count - (shift * 5) % 8;
                memset(dst_end - 2 * page, 0xa5, 2 * page);
                v->colormap((const float *)(const void *)src, dst, count, colormap_table(2), -1.0f,
                            0.5f);
                for (size_t i = 0; i < count; i++) {
                    uint32_t bits;
                    memcpy(&bits, src + 4 * i, 4);
                    assert_memory_equal(dst + 4 * i, published[2][exact_edges_index(&edges, bits)],
                                        4);
                }
                assert_true(dst[-1] == 0xa5 && dst[-64] == 0xa5);
                for (uint8_t *after = dst + 4 * count; after < dst_end; after++)
                    assert_int_equal(*after, 0xa5);
            }
        }
    }
    munmap(src_end - 2 * page, 3 * page);
    munmap(dst_end - 2 * page, 3 * page);
}

static void expand_every_length_alignment_and_channel_count(void **state)
{
    (void)state;
    size_t page;
    uint8_t *src_end = guarded_end(&page);
    uint8_t *dst_end = guarded_end(&page);
    uint64_t random = 78;
    for (uint8_t *byte = src_end - 2 * page; byte < src_end; byte++)
        *byte = (uint8_t)(random_next(&random) >> 33);
    /* Source byte of R, G, B and A, -1 for 255, as the bridge's header says. */
    static const int wanted[5][4] = {{0}, {0, 0, 0, -1}, {0, 0, 0, 1}, {0, 1, 2, -1}, {0, 1, 2, 3}};
    for (const KernelVariant *v = kernel_variants(); v->name != NULL; v++) {
        for (uint32_t channels = 1; v->available && channels <= 4; channels++) {
            for (size_t count = 0; count <= 100; count++) {
                size_t shift = count % 7;
                uint8_t *src = src_end - channels * count - (count % 3);
                uint8_t *dst = dst_end - 4 * count - shift;
                memset(dst_end - page, 0xa5, page);
                v->expand(src, dst, count, channels);
                for (size_t i = 0; i < 4 * count; i++) {
                    int from = wanted[channels][i % 4];
                    assert_int_equal(dst[i], from < 0 ? 255 : src[i / 4 * channels + (size_t)from]);
                }
                assert_int_equal(dst[-1], 0xa5);
                for (uint8_t *after = dst + 4 * count; after < dst_end; after++)
                    assert_int_equal(*after, 0xa5);
            }
        }
    }
    munmap(src_end - 2 * page, 3 * page);
    munmap(dst_end - 2 * page, 3 * page);
}

/* Outputs large enough to be streamed past the caches, at each alignment that changes the path. */
static void large_outputs_are_the_same(void **state)
{
    (void)state;
    size_t count = KERNEL_STREAM_BYTES / 4 + 1237;
    float *src = malloc(4 * count);
    uint8_t *dst = malloc(4 * count + 256);
    assert_true(src != NULL && dst != NULL);
    uint64_t random = 79;
    for (size_t i = 0; i < count; i++)
        src[i] = (float)(random_next(&random) >> 40) / 16777216.0f;
    ExactEdges edges;
    exact_edges_make(&edges, 0, exact_bits(1.0f));
    static const size_t shifts[] = {0, 4, 60, 2};
    for (const KernelVariant *v = kernel_variants(); v->name != NULL; v++) {
        for (size_t s = 0; v->available && s < (SANITIZED ? 2 : 4); s++) {
            uint8_t *at = dst + 64 - (uintptr_t)dst % 64 + shifts[s];
            memset(dst, 0xa5, 4 * count + 256);
            v->colormap(src, at, count, colormap_table(0), 0.0f, 1.0f);
            size_t wrong = 0;
            for (size_t i = 0; i < count; i++) {
                uint32_t bits;
                memcpy(&bits, &src[i], sizeof bits);
                wrong += memcmp(at + 4 * i, published[0][exact_edges_index(&edges, bits)], 4) != 0;
            }
            assert_int_equal(wrong, 0);
            assert_true(at[-1] == 0xa5 && at[4 * count] == 0xa5);
        }
    }
    free(src);
    free(dst);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_is_the_fastest_unless_asked),
        cmocka_unit_test(features_agree_with_the_compilers_own),
        cmocka_unit_test(tables_are_the_published_ones),
        cmocka_unit_test(emulation_rounds_as_ieee_says),
        cmocka_unit_test(edges_agree_with_the_index),
        cmocka_unit_test(random_floats_of_every_class),
        cmocka_unit_test(every_bin_edge),
        cmocka_unit_test(no_range_is_entry_0_everywhere),
        cmocka_unit_test(modes_of_the_caller_change_nothing),
        cmocka_unit_test(any_length_and_alignment_stays_in_bounds),
        cmocka_unit_test(expand_every_length_alignment_and_channel_count),
        cmocka_unit_test(large_outputs_are_the_same),
    };
    return cmocka_run_group_tests(tests, read_published, NULL);
}
