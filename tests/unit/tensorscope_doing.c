/* tests/unit/tensorscope_doing.c: the whole applet through its descriptor: values copied, slices
 * beside each other, slices and pictures saved, bytes without a header opened. The calling thread
 * is the frame thread. */
#include "tensorscope_host.h"

/* By key and by pointer; what is copied is the exact value. */
static void test_a_value_is_copied(void **state)
{
    const uint64_t shape[2] = {2, 2};
    const double values[4] = {0.1, 1.0 / 3.0, -2.5, 1e300};
    (void)state;
    write_array(ARRAY_DTYPE_F64, 2, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    host.key = 'C'; /* nothing is under the pointer */
    frame(self);
    assert_string_equal(host.clipboard, "");
    host.points = true;
    host.col = 1;
    host.key = 'C';
    frame(self);
    assert_string_equal(host.clipboard, "0.3333333333333333");
    assert_non_null(strstr(host.text, "copied [0, 1] = 0.3333333333333333"));
    host.row = 1;
    host.col = 0;
    host.pointer = CALIPER_POINTER_PRESSED << 1;
    frame(self);
    assert_string_equal(host.clipboard, "-2.5");
    host.row = host.col = 1;
    host.key = CALIPER_MOD_MAIN | 'C';
    frame(self);
    assert_string_equal(host.clipboard, "1e+300");
    stop(self);
}

/* The grid along the first axis: every element of every slice is named right, gaps name nothing. */
static void test_a_grid_of_slices(void **state)
{
    enum { N = 7, R = 3, C = 4 };
    const uint64_t shape[3] = {N, R, C};
    int32_t values[N * R * C];
    char wanted[64];
    (void)state;
    for (int i = 0; i < N * R * C; i++) {
        values[i] = 1000000 + i;
    }
    write_array(ARRAY_DTYPE_I32, 3, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    host.combo = "grid";
    host.choice = 1; /* axis 0 */
    frame(self);
    wait_for(self, "7 slices of 3 \xc3\x97 4 cells");
    int64_t width = host.img_w, height = host.img_h;
    int named = 0;
    host.points = true;
    for (host.row = 0; host.row < height; host.row++) {
        for (host.col = 0; host.col < width; host.col++) {
            frame(self);
            /* Tiles of 3 x 4 with gaps of 1, from left to right, then down. */
            int64_t across = (width + 1) / (C + 1);
            int64_t tile = host.row / (R + 1) * across + host.col / (C + 1);
            int64_t r = host.row % (R + 1), c = host.col % (C + 1);
            if (r < R && c < C && tile < N) {
                snprintf(wanted, sizeof(wanted), "[%d, %d, %d] = %d\n", (int)tile, (int)r, (int)c,
                         values[(tile * R + r) * C + c]);
                assert_non_null(strstr(host.text, wanted));
                named++;
            } else {
                assert_null(strstr(host.text, "] = "));
            }
        }
    }
    assert_int_equal(named, N * R * C);
    host.combo = "grid";
    host.choice = 0;
    frame(self);
    host.points = false;
    wait_for(self, "3 \xc3\x97 4 cells, every element");
    stop(self);
}

static bool file_holds(const char *file, const void *bytes, size_t size)
{
    uint8_t found[4096];
    FILE *stream = fopen(file, "rb");
    size_t got = stream != NULL ? fread(found, 1, sizeof(found), stream) : 0;
    if (stream != NULL) {
        fclose(stream);
    }
    return got >= size && memcmp(found + got - size, bytes, size) == 0;
}

/* The window is opened by its key and by its button; what is there is replaced only when that is
 * said; the written elements are the shown ones. */
static void test_a_slice_is_saved(void **state)
{
    const uint64_t shape[3] = {2, 2, 3};
    const uint16_t values[12] = {1, 2, 3, 40000, 5, 6, 7, 8, 9, 10, 11, 65535};
    char out[256];
    (void)state;
    snprintf(out, sizeof(out), "%s/saved.npy", folder);
    unlink(out);
    write_array(ARRAY_DTYPE_U16, 3, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    host.key = CALIPER_KEY_RIGHT;
    wait_for(self, "[1, :, :]");
    wait_for(self, "maximum: 65535");
    host.key = CALIPER_MOD_MAIN | 'S';
    frame(self);
    assert_true(host.popup);
    assert_non_null(strstr(host.text, "every element as u16, 2 \xc3\x97 3"));
    host.path = out;
    frame(self);
    host.button = "Save";
    wait_for(self, "saved ");
    assert_false(host.popup);
    assert_true(file_holds(out, values + 6, 12));
    assert_int_equal(host.errors, 0);

    host.button = "Save"; /* the one in the tools opens the window */
    frame(self);
    assert_true(host.popup);
    host.key = CALIPER_KEY_LEFT;
    frame(self);
    wait_for(self, "maximum: 40000");
    host.button = "Save";
    wait_for(self, "is there already");
    assert_true(file_holds(out, values + 6, 12)); /* untouched */
    host.button = "Replace";
    for (int i = 0; i < 20000 && !file_holds(out, values, 12); i++) {
        frame(self);
        usleep(500);
    }
    assert_true(file_holds(out, values, 12));
    host.button = "Cancel";
    frame(self);
    unlink(out);
    stop(self);
}

/* The picture as the host shows it, one pixel a cell; between tiles it is transparent. */
static void test_the_picture_is_saved(void **state)
{
    const uint64_t shape[3] = {6, 3, 3};
    int16_t values[54] = {0};
    uint8_t pixels[READ_H * READ_W * 4];
    char out[256];
    ArrayError error;
    (void)state;
    snprintf(out, sizeof(out), "%s/picture.png", folder);
    for (int tiled = 0; tiled < 2; tiled++) {
        unlink(out);
        write_array(ARRAY_DTYPE_I16, 3, shape, values);
        void *self = start(path);
        wait_for(self, "every element");
        if (tiled != 0) { /* 6 tiles of 3 x 3, 3 across with gaps of 1: 11 x 7, the host's has 9 */
            host.combo = "grid";
            host.choice = 1;
            frame(self);
            wait_for(self, "6 slices");
        }
        host.key = CALIPER_MOD_MAIN | 'S';
        frame(self);
        host.radio = 1;
        frame(self);
        assert_non_null(strstr(host.text, "pixels, one a cell"));
        host.path = out;
        frame(self);
        host.button = "Save";
        wait_for(self, "saved ");
        ArrayFile *file = array_file_open(out, NULL, &error);
        assert_non_null(file);
        assert_int_equal(array_file_info(file, 0)->shape[0], READ_H);
        assert_int_equal(array_file_info(file, 0)->shape[1], READ_W);
        assert_true(
            array_file_read_stored(file, 0, 0, sizeof(pixels), pixels, sizeof(pixels), &error));
        array_file_close(&file);
        for (int i = 0; i < READ_W * READ_H; i++) {
            bool gap = tiled != 0 && (i % READ_W % 4 == 3 || i / READ_W % 4 == 3);
            assert_int_equal(pixels[4 * i + 3], gap ? 0 : 255);
            assert_int_equal(pixels[4 * i], gap ? 0 : i % READ_W);
            assert_int_equal(pixels[4 * i + 1], gap ? 0 : i / READ_W);
        }
        stop(self);
    }
    unlink(out);
}

/* Colour slices in a grid: all channels of every cell. */
static void test_a_grid_of_colour(void **state)
{
    const uint64_t shape[4] = {4, 2, 2, 3};
    uint8_t values[48];
    char wanted[64];
    (void)state;
    for (int i = 0; i < 48; i++) {
        values[i] = (uint8_t)(5 * i);
    }
    write_array(ARRAY_DTYPE_U8, 4, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    host.combo = "grid";
    host.choice = 1;
    frame(self);
    wait_for(self, "4 slices");
    host.points = true;
    int64_t across = (host.img_w + 1) / 3;
    for (int tile = 0; tile < 4; tile++) {
        host.row = tile / across * 3 + 1;
        host.col = tile % across * 3;
        frame(self);
        int at = ((tile * 2 + 1) * 2 + 0) * 3;
        snprintf(wanted, sizeof(wanted), "[%d, 1, 0, 0] = %d, %d, %d\n", tile, 5 * at, 5 * at + 5,
                 5 * at + 10);
        assert_non_null(strstr(host.text, wanted));
    }
    stop(self);
}

/* What is of no known format can be said to be bytes. */
static void test_bytes_without_a_header(void **state)
{
    const float values[6] = {1.5f, 2.5f, 3.5f, 4.5f, 5.5f, -6.5f};
    char bytes_path[128];
    (void)state;
    snprintf(bytes_path, sizeof(bytes_path), "%s/bytes", folder);
    FILE *file = fopen(bytes_path, "wb");
    fwrite("junk", 1, 4, file);
    fwrite(values, sizeof(values), 1, file);
    fclose(file);
    void *self = start(bytes_path);
    wait_for(self, "can be said below");
    wait_for(self, "bytes without a header");
    assert_int_equal(host.errors, 1);
    host.shape = "2x3";
    host.offset = 4;
    frame(self);
    host.button = "Open as these bytes";
    wait_for(self, "maximum: 5.5");
    assert_non_null(strstr(host.text, "minimum: -6.5"));
    host.points = true;
    host.row = 1;
    host.col = 2;
    frame(self);
    assert_non_null(strstr(host.text, "[1, 2] = -6.5\n"));
    host.button = "Open as these bytes"; /* again, from the fields that the open file filled */
    frame(self);
    wait_for(self, "[1, 2] = -6.5\n");
    assert_int_equal(host.errors, 1);
    unlink(bytes_path);
    stop(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_is_copied), cmocka_unit_test(test_a_grid_of_slices),
        cmocka_unit_test(test_a_slice_is_saved),  cmocka_unit_test(test_the_picture_is_saved),
        cmocka_unit_test(test_a_grid_of_colour),  cmocka_unit_test(test_bytes_without_a_header),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
