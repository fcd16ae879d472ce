/* Textures byte for byte: every pass, awkward sizes, every class of float, repeated updates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gfx.h"
#include "gfx_expected.h"
#include "render/renderer_front.h"

typedef struct Size {
    int32_t width, height;
} Size;

static const Size sizes[] = {{1, 1},    {4, 4},  {5, 3},  {17, 9},  {255, 257}, {1024, 1},
                             {1, 1024}, {63, 3}, {64, 3}, {65, 3},  {255, 2},   {256, 2},
                             {257, 2},  {3, 63}, {3, 65}, {15, 15}, {16, 16},   {33, 31}};
enum { SIZE_COUNT = sizeof sizes / sizeof sizes[0] };

typedef struct Range {
    float vmin, vmax;
} Range;

static const Range ranges[] = {
    {0.0f, 1.0f},
    {1.0f, 0.0f},
    {-1.0f, 1.0f},
    {-3.5f, 12.25f},
    {5.0f, 5.0f},
    {0.0f, 0x1p-90f},
    {0x1p-90f, 0.0f},
    {0.0f, 0x1p126f},
    {0x1p125f, -0x1p125f},
    {1.0f, 1.0f + 0x1p-23f},
    {1.0e30f, 1.0000002e30f},
    {-0x1p-89f, 0x1p-89f},
};
enum { RANGE_COUNT = sizeof ranges / sizeof ranges[0] };

static const uint32_t special_bits[] = {
    0x00000000u, 0x80000000u, 0x00000001u, 0x80000001u, 0x007fffffu, 0x807fffffu, 0x00800000u,
    0x7f7fffffu, 0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u,
    0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7fa5a5a5u, 0x3f800000u, 0x3f7fffffu, 0x3f000000u};
enum { SPECIAL_COUNT = sizeof special_bits / sizeof special_bits[0] };

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A bin's edge and its neighbours: where a wrong rounding shows first. */
static float bin_edge(Range range, uint32_t random)
{
    double bin = (double)(random % 257u) - 0.5;
    double width = (double)range.vmax - (double)range.vmin;
    float edge = (float)((double)range.vmin + bin / 255.0 * width);
    uint32_t bits;
    memcpy(&bits, &edge, sizeof bits);
    if (!isfinite(edge) || (bits & 0x7fffffffu) == 0)
        return edge;
    return from_bits(bits + (random >> 16) % 3u - 1u);
}

static void fill_floats(float *out, size_t count, Range range, uint32_t seed)
{
    uint32_t state = seed | 1u;
    for (size_t i = 0; i < count; i++) {
        uint32_t random = gfx_random(&state);
        switch ((random >> 8) % 4u) {
        case 0:
            out[i] = from_bits(special_bits[random % SPECIAL_COUNT]);
            break;
        case 1:
            out[i] = from_bits(gfx_random(&state));
            break;
        case 2:
            out[i] = bin_edge(range, gfx_random(&state));
            break;
        default:
            out[i] =
                (float)((double)range.vmin + ((double)range.vmax - (double)range.vmin) *
                                                 (gfx_random(&state) / 4294967295.0 * 1.2 - 0.1));
            break;
        }
    }
}

static void check_read(Renderer *renderer, RendererTexture *texture, const RendererPass *pass,
                       const void *src, Size size, const char *what)
{
    size_t count = (size_t)size.width * (size_t)size.height;
    uint32_t *wanted = malloc(count * 4);
    uint32_t *got = malloc(count * 4);
    assert_non_null(wanted);
    assert_non_null(got);
    expected_pixels(pass, src, count, wanted);
    assert_true(renderer_texture_read(renderer, texture, (uint8_t *)got, count * 4));
    gfx_assert_pixels(got, wanted, size.width, size.height, 0, what);
    free(got);
    free(wanted);
}

static void colormap_one(Renderer *renderer, Size size, int32_t map, Range range, uint32_t seed)
{
    size_t count = (size_t)size.width * (size_t)size.height;
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    fill_floats(values, count, range, seed);
    RendererPass pass = expected_colormap_pass(map, range.vmin, range.vmax);
    RendererTexture *texture = gfx_texture(renderer, size.width, size.height, pass);
    assert_true(gfx_update(renderer, texture, values, count * sizeof *values));
    check_read(renderer, texture, &pass, values, size, "colormap");
    renderer_texture_destroy(renderer, &texture);
    assert_null(texture);
    free(values);
}

static void test_colormap_sizes(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    for (uint32_t s = 0; s < SIZE_COUNT; s++) {
        for (int32_t map = 0; map < 3; map++)
            colormap_one(renderer, sizes[s], map, ranges[s % 4], s * 7u + (uint32_t)map + 1u);
    }
    gfx_stop(&renderer);
}

static void test_colormap_ranges(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    for (uint32_t r = 0; r < RANGE_COUNT; r++) {
        for (int32_t map = 0; map < 3; map++)
            colormap_one(renderer, (Size){67, 61}, map, ranges[r], 1000u + r * 3u);
    }
    gfx_stop(&renderer);
}

/* Each of the 256 entries, and both ends beyond it, worked by hand: v = i on [0, 255]. */
static void test_colormap_every_entry(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    for (int32_t map = 0; map < 3; map++) {
        float values[258];
        for (int i = 0; i < 258; i++)
            values[i] = (float)(i - 1);
        RendererPass pass = expected_colormap_pass(map, 0.0f, 255.0f);
        for (int i = 0; i < 258; i++) {
            int wanted = i - 1 < 0 ? 0 : i - 1 > 255 ? 255 : i - 1;
            assert_int_equal(expected_index(values[i], pass.vmin, pass.inv), wanted);
        }
        RendererTexture *texture = gfx_texture(renderer, 258, 1, pass);
        assert_true(gfx_update(renderer, texture, values, sizeof values));
        check_read(renderer, texture, &pass, values, (Size){258, 1}, "every entry");
        renderer_texture_destroy(renderer, &texture);
    }
    gfx_stop(&renderer);
}

static void test_expand(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint32_t random = 77;
    for (uint32_t channels = 1; channels <= 4; channels++) {
        RendererPass pass = {.kind = RENDERER_PASS_EXPAND, .channels = channels};
        for (uint32_t s = 0; s < SIZE_COUNT; s++) {
            size_t bytes = (size_t)sizes[s].width * (size_t)sizes[s].height * channels;
            uint8_t *values = malloc(bytes); /* exact, so that a reader past the end is seen */
            assert_non_null(values);
            for (size_t i = 0; i < bytes; i++)
                values[i] = (uint8_t)gfx_random(&random);
            RendererTexture *texture = gfx_texture(renderer, sizes[s].width, sizes[s].height, pass);
            assert_true(gfx_update(renderer, texture, values, bytes));
            check_read(renderer, texture, &pass, values, sizes[s], "expand");
            renderer_texture_destroy(renderer, &texture);
            free(values);
        }
    }
    gfx_stop(&renderer);
}

/* Source addresses that are not multiples of anything. */
static void test_unaligned_source(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint8_t block[3 * 65 * 7 + 8];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)(i * 37u);
    RendererPass pass = {.kind = RENDERER_PASS_EXPAND, .channels = 3};
    RendererTexture *texture = gfx_texture(renderer, 65, 7, pass);
    for (size_t shift = 0; shift < 8; shift++) {
        assert_true(gfx_update(renderer, texture, block + shift, 3 * 65 * 7));
        check_read(renderer, texture, &pass, block + shift, (Size){65, 7}, "unaligned");
    }
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
}

/* Larger than any staging piece: bands, one of them with a remainder. */
static void test_large(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    colormap_one(renderer, (Size){2049, 1103}, 0, ranges[2], 5);
    colormap_one(renderer, (Size){renderer_info(renderer)->max_texture_px, 3}, 1, ranges[0], 6);
    colormap_one(renderer, (Size){3, renderer_info(renderer)->max_texture_px}, 2, ranges[1], 7);
    gfx_stop(&renderer);
}

/* A thousand updates of textures of different sizes: the ring goes round many times. */
static void test_repeated_updates(void **state)
{
    (void)state;
    enum { TEXTURES = 5, UPDATES = 1000 };
    static const Size own[TEXTURES] = {{1, 1}, {129, 65}, {333, 77}, {256, 256}, {701, 13}};
    Renderer *renderer = gfx_start();
    RendererPass pass = expected_colormap_pass(0, -1.0f, 1.0f);
    RendererTexture *textures[TEXTURES];
    float *values[TEXTURES];
    uint32_t random = 99;
    for (int i = 0; i < TEXTURES; i++) {
        textures[i] = gfx_texture(renderer, own[i].width, own[i].height, pass);
        values[i] = calloc((size_t)own[i].width * (size_t)own[i].height, sizeof(float));
        assert_non_null(values[i]);
    }
    for (int n = 0; n < UPDATES; n++) {
        int i = n % TEXTURES;
        size_t count = (size_t)own[i].width * (size_t)own[i].height;
        for (size_t k = 0; k < count; k += 1 + count / 64)
            values[i][k] = (float)(int32_t)gfx_random(&random) * 0x1p-30f;
        assert_true(gfx_update(renderer, textures[i], values[i], count * sizeof(float)));
        if (n % 50 >= 45)
            check_read(renderer, textures[i], &pass, values[i], own[i], "repeated");
    }
    RendererCounters counters;
    renderer_counters(renderer, &counters);
    assert_int_equal(counters.updates, UPDATES);
    assert_int_equal(counters.textures, TEXTURES);
    renderer_texture_counters(textures[0], &counters);
    assert_int_equal(counters.updates, UPDATES / TEXTURES);
    for (int i = 0; i < TEXTURES; i++) {
        check_read(renderer, textures[i], &pass, values[i], own[i], "repeated");
        renderer_texture_destroy(renderer, &textures[i]);
        free(values[i]);
    }
    gfx_stop(&renderer);
}

/* Frames count for themselves; a frame without updates counts nothing. */
static void test_frame_counters(void **state)
{
    (void)state;
    enum { SIDE = 16, BYTES = SIDE * SIDE };
    static uint8_t grey[BYTES];
    static GfxScene scene;
    static uint32_t shown[SIDE * SIDE];
    RendererCounters frame, all;
    Renderer *renderer = gfx_start();
    RendererTexture *texture = gfx_texture(
        renderer, SIDE, SIDE, (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = 1});
    gfx_scene_init(&scene, SIDE, SIDE, 0xff000000u);
    renderer_frame_counters(renderer, &frame);
    assert_int_equal(frame.updates, 0);
    for (uint64_t updates = 0; updates < 4; updates++) {
        uint64_t wanted = (updates * 3) % 4; /* 0, 3, 2, 1 */
        for (uint64_t i = 0; i < wanted; i++)
            assert_true(gfx_update(renderer, texture, grey, BYTES));
        gfx_draw(renderer, &scene, shown);
        renderer_frame_counters(renderer, &frame);
        assert_int_equal(frame.updates, wanted);
        assert_int_equal(frame.staged_bytes, wanted * BYTES * 4);
        assert_int_equal(frame.device_copied_bytes, 0);
        assert_int_equal(frame.textures, 1);
        assert_int_equal(frame.texture_bytes, BYTES * 4);
    }
    renderer_counters(renderer, &all);
    assert_int_equal(all.updates, 6);
    assert_int_equal(all.staged_bytes, 6 * BYTES * 4);
    renderer_frame_counters(NULL, &frame);
    assert_int_equal(frame.updates, 0);
    renderer_texture_destroy(renderer, &texture);
    gfx_stop(&renderer);
}

/* With CALIPER_LEAKS=1 a renderer names what is still there, and only that. */
static void test_leaks_are_named(void **state)
{
    (void)state;
    RendererTexture *textures[3];
    Renderer *renderer = gfx_start();
    setenv("CALIPER_LEAKS", "1", 1);
    for (int i = 0; i < 3; i++)
        textures[i] = gfx_texture(renderer, 4 + i, 4,
                                  (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = 1});
    gfx_lines_reset();
    renderer_live_report(renderer);
    assert_int_equal(gfx_lines(), 3);
    assert_int_equal(gfx_last_item(), LOG_RENDERER_LEAK);
    static const int order[] = {1, 0, 2}; /* the middle, the oldest, the last one */
    for (unsigned i = 0; i < 3; i++) {
        renderer_texture_destroy(renderer, &textures[order[i]]);
        gfx_lines_reset();
        renderer_live_report(renderer);
        assert_int_equal(gfx_lines(), 2 - i);
    }
    unsetenv("CALIPER_LEAKS");
    gfx_stop(&renderer);
}

static void test_write(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint32_t random = 3;
    for (uint32_t s = 0; s < SIZE_COUNT; s++) {
        size_t count = (size_t)sizes[s].width * (size_t)sizes[s].height;
        uint32_t *pixels = malloc(count * 4);
        uint32_t *got = malloc(count * 4);
        assert_non_null(pixels);
        assert_non_null(got);
        for (size_t i = 0; i < count; i++)
            pixels[i] = gfx_random(&random);
        RendererTexture *texture =
            gfx_texture(renderer, sizes[s].width, sizes[s].height,
                        expected_colormap_pass(0, 0.0f, 1.0f)); /* its pass must not matter */
        assert_true(renderer_texture_write(renderer, texture, (const uint8_t *)pixels));
        assert_true(renderer_texture_read(renderer, texture, (uint8_t *)got, count * 4));
        gfx_assert_pixels(got, pixels, sizes[s].width, sizes[s].height, 0, "write");
        renderer_texture_destroy(renderer, &texture);
        free(got);
        free(pixels);
    }
    gfx_stop(&renderer);
}

static void check_shared(Renderer *renderer, uint8_t *memory, uint64_t size_bytes)
{
    RendererShared *shared = renderer_shared_attach(renderer, memory, size_bytes);
    bool in_place = (renderer_info(renderer)->caps & RENDERER_CAP_SHARED_IN_PLACE) != 0;
    if (shared == NULL) {
        assert_false(in_place);
        return;
    }
    static const Size size = {51, 37};
    const uint32_t channel_counts[] = {0, 1, 2, 3, 4};
    for (int i = 0; i < 5; i++) {
        RendererPass pass = expected_colormap_pass(2, -1.0f, 1.0f);
        uint64_t offset = 128;
        uint64_t extent = 51u * 37u * 4u;
        if (channel_counts[i] > 0) {
            pass = (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = channel_counts[i]};
            extent = 51u * 37u * channel_counts[i];
        }
        RendererTexture *texture = gfx_texture(renderer, size.width, size.height, pass);
        RendererSource source = {.kind = RENDERER_SOURCE_SHARED,
                                 .shared = shared,
                                 .offset_bytes = offset,
                                 .extent_bytes = extent};
        assert_true(renderer_texture_update(renderer, texture, &source));
        check_read(renderer, texture, &pass, memory + offset, size, "shared");
        memory[offset + 5] ^= 0x3fu; /* the next refresh sees what was written since */
        assert_true(renderer_texture_update(renderer, texture, &source));
        check_read(renderer, texture, &pass, memory + offset, size, "shared again");
        source.offset_bytes = size_bytes - extent + 1;
        gfx_lines_reset();
        assert_false(renderer_texture_update(renderer, texture, &source));
        gfx_assert_one_line(LOG_RENDERER_REFUSED);
        source.offset_bytes = UINT64_MAX - 3;
        assert_false(renderer_texture_update(renderer, texture, &source));
        gfx_assert_one_line(LOG_RENDERER_REFUSED);
        renderer_texture_destroy(renderer, &texture);
    }
    renderer_shared_detach(renderer, &shared);
    assert_null(shared);
}

static void test_shared(void **state)
{
    (void)state;
    Renderer *renderer = gfx_start();
    uint64_t size_bytes = 16u * (uint64_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    uint32_t random = 17;
    for (uint64_t i = 0; i < size_bytes; i++)
        memory[i] = (uint8_t)gfx_random(&random);
    check_shared(renderer, memory, size_bytes);
    gfx_stop(&renderer);
    munmap(memory, size_bytes);
}

int gfx_run_textures(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colormap_every_entry),
        cmocka_unit_test(test_colormap_sizes),
        cmocka_unit_test(test_colormap_ranges),
        cmocka_unit_test(test_expand),
        cmocka_unit_test(test_unaligned_source),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_repeated_updates),
        cmocka_unit_test(test_frame_counters),
        cmocka_unit_test(test_leaks_are_named),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests_name("textures", tests, NULL, NULL);
}
