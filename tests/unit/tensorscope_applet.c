/* tests/unit/tensorscope_applet.c: the whole applet through its descriptor: what is said of the
 * cell under the pointer is the stored element; every kind of file with every key. The calling
 * thread is the frame thread. */
#include "tensorscope_host.h"

/* ---- What is said ---- */

/* 2^62 + i, all the same number in binary32: the texts tell them apart. */
static void test_the_value_is_the_stored_one(void **state)
{
    const uint64_t shape[3] = {2, 3, 4};
    int64_t values[24];
    char wanted[128];
    (void)state;
    for (int i = 0; i < 24; i++) {
        values[i] = (INT64_C(1) << 62) + i;
    }
    write_array(ARRAY_DTYPE_I64, 3, shape, values);
    void *self = start(path);
    wait_for(self, "minimum: 4611686018427387904");
    assert_non_null(strstr(host.text, "maximum: 4611686018427387915"));
    assert_non_null(strstr(host.text, "i64 \xe2\x86\x92 f32 (nearest), exact value under"));
    host.points = true;
    for (int64_t row = 0; row < 3; row++) {
        for (int64_t col = 0; col < 4; col++) {
            host.row = row;
            host.col = col;
            frame(self);
            snprintf(wanted, sizeof(wanted), "[0, %d, %d] = %lld\n", (int)row, (int)col,
                     (long long)values[row * 4 + col]);
            assert_non_null(strstr(host.text, wanted));
        }
    }
    host.key = CALIPER_KEY_RIGHT; /* steps the first slider */
    wait_for(self, "[1, 2, 3] = 4611686018427387927\n");
    stop(self);
}

/* A vector is drawn taller; the pointer still names its element. */
static void test_a_vector_is_stretched(void **state)
{
    const uint64_t shape[1] = {400};
    double values[400];
    (void)state;
    for (int i = 0; i < 400; i++) {
        values[i] = i / 7.0;
    }
    write_array(ARRAY_DTYPE_F64, 1, shape, values);
    void *self = start(path);
    wait_for(self, "drawn 50 times taller");
    assert_int_equal(host.img_w, 400);
    assert_int_equal(host.img_h, 50);
    host.points = true;
    host.row = 49;
    host.col = 300;
    wait_for(self, "[300] = 42.857142857142854\n"); /* repr(300 / 7) in Python */
    stop(self);
}

static void test_colour_channels_are_all_said(void **state)
{
    const uint64_t shape[3] = {2, 2, 3};
    const uint8_t values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
    (void)state;
    write_array(ARRAY_DTYPE_U8, 3, shape, values);
    void *self = start(path);
    host.points = true;
    host.row = host.col = 1;
    wait_for(self, "[1, 1, 0] = 10, 11, 255\n");
    assert_non_null(strstr(host.text, "3 channels"));
    stop(self);
}

static void test_what_is_not_finite_is_counted(void **state)
{
    const uint64_t shape[2] = {2, 3};
    const double values[6] = {1.0, 1e300, -1e300, 0.0 / 0.0 /* NaN */, 1.0 / 0.0, -1.0 / 0.0};
    (void)state;
    write_array(ARRAY_DTYPE_F64, 2, shape, values);
    void *self = start(path);
    wait_for(self, "not finite: 1 NaN, 2 infinite");
    assert_non_null(strstr(host.text, "2 finite values are beyond f32"));
    assert_non_null(strstr(host.text, "maximum: 1e+300"));
    stop(self);
}

static void test_nothing_to_show_is_said(void **state)
{
    const uint64_t shape[2] = {0, 3};
    (void)state;
    write_array(ARRAY_DTYPE_F32, 2, shape, "");
    void *self = start(path);
    wait_for(self, "holds no element to show");
    assert_int_equal(host.errors, 0);
    host.dropped = "/no such file.npy";
    wait_for(self, "This could not be shown");
    assert_non_null(strstr(host.text, "/no such file.npy"));
    assert_non_null(strstr(host.text, "Look at the path"));
    assert_int_equal(host.errors, 1);
    stop(self);
}

/* Every file of the readers' tests, wide and narrow, with the pointer on it and every key. */
static void test_every_file_every_key(void **state)
{
    static const char *const names[] = {"mixed.npz",     "model.safetensors",   "idx_u8",
                                        "png_rgb16.png", "scalar.npy",          "rank32.npy",
                                        "rank8.npy",     "refused_complex.npy", "pack.npz"};
    static const uint32_t keys[] = {CALIPER_KEY_RIGHT,
                                    CALIPER_KEY_LEFT,
                                    CALIPER_KEY_DOWN,
                                    CALIPER_KEY_UP,
                                    'G',
                                    'M',
                                    'F',
                                    '1',
                                    ' ',
                                    '-',
                                    '=',
                                    CALIPER_MOD_SHIFT | CALIPER_KEY_LEFT,
                                    CALIPER_MOD_SHIFT | CALIPER_KEY_DOWN,
                                    CALIPER_MOD_MAIN | 'S',
                                    CALIPER_MOD_MAIN | 'R'};
    char file[512];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(file, sizeof(file), "%s/%s", FORMATS_DATA_DIR, names[i]);
        void *self = start(file);
        host.points = true;
        for (size_t k = 0; k < 4 * sizeof(keys) / sizeof(keys[0]); k++) {
            host.key = keys[k % (sizeof(keys) / sizeof(keys[0]))];
            host.width = k % 3 == 0 ? 400.0f : 1200.0f;
            frame(self);
            usleep(300);
        }
        stop(self);
    }
}

static void test_a_host_without_a_bridge(void **state)
{
    const CaliperAppletAPI *api = &caliper_applet_descriptor()->api;
    (void)state;
    memset(&host, 0, sizeof(host));
    has_bridge = false;
    void *self = api->create();
    assert_false(api->initialize(self, &host_table));
    assert_int_equal(host.errors, 1);
    api->destroy(self);
    has_bridge = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_value_is_the_stored_one),
        cmocka_unit_test(test_a_vector_is_stretched),
        cmocka_unit_test(test_colour_channels_are_all_said),
        cmocka_unit_test(test_what_is_not_finite_is_counted),
        cmocka_unit_test(test_nothing_to_show_is_said),
        cmocka_unit_test(test_every_file_every_key),
        cmocka_unit_test(test_a_host_without_a_bridge),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
