/* Through the bridge and the cpu renderer, byte for byte: sizes with awkward edges, values of every
 * class, created, updated and shared, against indices computed in integers. One thread. */
#include <math.h>
#include <stdlib.h>

#include "bridge_fixture.h"
#include "exact_f32.h"

static const int64_t sizes[][2] = {{1, 1},    {4, 4},   {5, 3},   {17, 9},   {255, 257}, {1024, 1},
                                   {1, 1024}, {63, 65}, {64, 64}, {129, 31}, {2, 16384}}; /* W, H */
enum { SIZES = sizeof sizes / sizeof sizes[0], PIXELS_MAX = 255 * 257 };

static float values[PIXELS_MAX];
static uint8_t bytes[4 * PIXELS_MAX];
static uint8_t got[4 * PIXELS_MAX];

static int set_up_cpu(void **state)
{
    static Fixture f;
    char error[256] = "";
    f.fake = NULL;
    f.renderer =
        cpu_renderer_create(&(RendererParams){.struct_size = sizeof(RendererParams)}, error, 256);
    f.bridge = f.renderer != NULL ? bridge_create(f.renderer) : NULL;
    log_capture_reset();
    *state = &f;
    return f.bridge == NULL;
}

static int tear_down_cpu(void **state)
{
    Fixture *f = *state;
    bridge_destroy(&f->bridge);
    RendererCounters counters;
    renderer_counters(f->renderer, &counters);
    renderer_destroy(&f->renderer);
    return (int)(counters.textures + counters.allocations);
}

static uint64_t random_state = 88172645463325252ull;
static uint32_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

/* Raw bits, inside the range, the special ones. */
static void fill_values(size_t count, float vmin, float vmax)
{
    static const float special[] = {0.0f, -0.0f,     INFINITY, -INFINITY, NAN,
                                    -NAN, 0x1p-149f, -1e-40f,  3.4e38f,   0.5f};
    for (size_t i = 0; i < count; i++) {
        uint32_t r = random_bits();
        float share = (float)(r >> 8) / 16777216.0f * 1.2f - 0.1f;
        values[i] = i % 3 == 0   ? exact_float(r)
                    : i % 3 == 1 ? vmin + share * (vmax - vmin)
                                 : special[r % 10];
    }
}

static void assert_mapped(Bridge *bridge, CaliperTextureId id, size_t count, int32_t map,
                          float vmin, float vmax)
{
    assert_true(bridge_texture_read_rgba8(bridge, id, got, 4 * count));
    uint32_t inv = exact_inv(vmin, vmax);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(
            got + 4 * i,
            colormap_table(map)[exact_index(exact_bits(values[i]), exact_bits(vmin), inv)], 4);
}

static void mapped_textures_are_exact(void **state)
{
    Fixture *f = *state;
    static const float ranges[][2] = {{0, 1}, {1, -1}, {-3e5f, 2e-3f}, {0, 0x1p-90f}, {7, 7}};
    for (int s = 0; s < SIZES; s++) {
        size_t count = (size_t)(sizes[s][0] * sizes[s][1]);
        for (int r = 0; r < 5; r++) {
            float vmin = ranges[r][0];
            float vmax = ranges[r][1];
            CaliperTensor t = tensor_of(values, CALIPER_DT_F32, sizes[s][1], sizes[s][0], 0);
            fill_values(count, vmin, vmax);
            CaliperTextureId id =
                bridge_texture_from_tensor_mapped(f->bridge, &t, r % 3, vmin, vmax, 0);
            assert_mapped(f->bridge, id, count, r % 3, vmin, vmax);
            fill_values(count, vmin, vmax);
            assert_true(bridge_update_texture(f->bridge, id, &t));
            assert_mapped(f->bridge, id, count, r % 3, vmin, vmax);
            bridge_release_texture(f->bridge, id);
            bridge_frame_end(f->bridge);
        }
    }
    assert_silent();
}

static void direct_textures_are_exact(void **state)
{
    Fixture *f = *state;
    /* source byte of R, G, B and A; -1 for 255 */
    static const int from[5][4] = {{0}, {0, 0, 0, -1}, {0, 0, 0, 1}, {0, 1, 2, -1}, {0, 1, 2, 3}};
    for (int s = 0; s < SIZES; s++) {
        size_t count = (size_t)(sizes[s][0] * sizes[s][1]);
        for (int64_t c = 1; c <= 4; c++) {
            CaliperTensor t = tensor_of(bytes, CALIPER_DT_U8, sizes[s][1], sizes[s][0], c);
            CaliperTextureId id = bridge_texture_from_tensor(f->bridge, &t, 0);
            for (size_t i = 0; i < count * (size_t)c; i++)
                bytes[i] = (uint8_t)random_bits();
            assert_true(bridge_update_texture(f->bridge, id, &t));
            assert_true(bridge_texture_read_rgba8(f->bridge, id, got, 4 * count));
            for (size_t i = 0; i < 4 * count; i++) {
                int at = from[c][i % 4];
                assert_int_equal(got[i], at < 0 ? 255 : bytes[i / 4 * (size_t)c + (size_t)at]);
            }
            bridge_release_texture(f->bridge, id);
            bridge_frame_end(f->bridge);
        }
    }
    assert_silent();
}

static void shared_textures_are_exact(void **state)
{
    Fixture *f = *state;
    for (int s = 0; s < SIZES; s++) {
        size_t count = (size_t)(sizes[s][0] * sizes[s][1]);
        int64_t shape[2] = {sizes[s][1], sizes[s][0]};
        CaliperTensor block;
        CaliperTextureId id;
        assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &block, &id));
        for (int round = 0; round < 2; round++) {
            fill_values(count, 0.0f, 1.0f);
            memcpy(block.data, values, 4 * count);
            assert_mapped(f->bridge, id, count, 0, 0.0f, 1.0f);
        }
        assert_non_null(bridge_texture_for_draw(f->bridge, id));
        bridge_free_shared(f->bridge, id);
        bridge_frame_end(f->bridge);
    }
    assert_silent();
}

#define EXACT_CASE(test) cmocka_unit_test_setup_teardown(test, set_up_cpu, tear_down_cpu)

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {
        EXACT_CASE(mapped_textures_are_exact),
        EXACT_CASE(direct_textures_are_exact),
        EXACT_CASE(shared_textures_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
