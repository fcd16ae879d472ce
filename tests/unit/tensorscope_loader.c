/* tests/unit/tensorscope_loader.c: the loader's mailbox and the rectangles it reads. The files are
 * the test's own, with values by formula, and damaged ones. The calling thread is the frame thread;
 * waits are bounded by loader_wait and none decides a test by its length. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/array_write.h"
#include "loader.h"

static const double long_sec = 60.0;
static char folder[64];
static char cube_path[128]; /* (5, 40, 30) i32: 100000 a + 100 r + c */
static char huge_path[128]; /* (60000, 60000) u8, sparse */

static int32_t cube_value(uint64_t a, uint64_t r, uint64_t c)
{
    return (int32_t)(100000 * a + 100 * r + c);
}

static int make_files(void **state)
{
    const uint64_t shape[3] = {5, 40, 30};
    int32_t *values = malloc(5 * 40 * 30 * sizeof(*values));
    ArrayError error;
    (void)state;
    strcpy(folder, "/tmp/tensorscope_XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    for (uint64_t i = 0; i < 6000; i++) {
        values[i] = cube_value(i / 1200, i / 30 % 40, i % 30);
    }
    snprintf(cube_path, sizeof(cube_path), "%s/cube.npy", folder);
    bool written = array_write_npy(cube_path, ARRAY_DTYPE_I32, 3, shape, values, &error);
    free(values);
    snprintf(huge_path, sizeof(huge_path), "%s/huge.npy", folder);
    FILE *file = fopen(huge_path, "wb");
    if (!written || file == NULL) {
        return -1;
    }
    char header[128];
    memset(header, ' ', sizeof(header));
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(header + 10, "{'descr': '|u1', 'fortran_order': False, 'shape': (60000, 60000), }", 67);
    header[127] = '\n';
    fwrite(header, 1, sizeof(header), file);
    fclose(file);
    return truncate(huge_path, 128 + 3600000000ll);
}

static int remove_files(void **state)
{
    (void)state;
    unlink(cube_path);
    unlink(huge_path);
    return rmdir(folder);
}

static void clear_result(LoaderResult *result)
{
    loader_discard(NULL, &result->source, &result->data);
}

/* Waits for the answer with that ticket; others are freed. */
static LoaderResult answer(Loader *loader, uint64_t ticket)
{
    LoaderResult result = {0};
    assert_true(loader_wait(loader, long_sec));
    while (loader_take(loader, &result)) {
        if (result.ticket == ticket) {
            return result;
        }
        clear_result(&result);
    }
    fail_msg("no answer to ticket %llu", (unsigned long long)ticket);
    return result;
}

static Loader *open_file(const char *path)
{
    Loader *loader = loader_create();
    assert_non_null(loader);
    LoaderResult result = answer(loader, loader_open(loader, path));
    assert_true(result.done);
    assert_non_null(result.source);
    assert_string_equal(result.source->path, path);
    clear_result(&result);
    return loader;
}

static SliceRequest cube_request(uint64_t index)
{
    SliceRequest request = {.axes = {.row = 1, .col = 2, .colour = -1}, .summarise = true};
    request.axes.index[0] = index;
    request.area = slice_area_overview(40, 30, 8192, 1 << 24);
    return request;
}

static void test_a_slice_is_what_the_file_holds(void **state)
{
    Loader *loader = open_file(cube_path);
    SliceRequest request = cube_request(3);
    (void)state;
    LoaderResult result = answer(loader, loader_slice(loader, &request));
    assert_true(result.done);
    const SliceData *data = result.data;
    assert_int_equal(data->rows, 40);
    assert_int_equal(data->cols, 30);
    for (uint64_t r = 0; r < 40; r++) {
        for (uint64_t c = 0; c < 30; c++) {
            int32_t stored;
            memcpy(&stored, slice_data_element(data, r, c, 0), 4);
            assert_int_equal(stored, cube_value(3, r, c));
            assert_true(data->values[r * 30 + c] == (float)cube_value(3, r, c));
        }
    }
    assert_null(slice_data_element(data, 40, 0, 0));
    assert_null(slice_data_element(data, 0, 30, 0));
    assert_null(slice_data_element(data, 0, 0, 1));
    assert_true(data->stats.min.value.i64 == 300000 && data->stats.max.value.i64 == 303929);
    assert_int_equal(data->summary.finite_count, 1200);
    clear_result(&result);
    loader_destroy(&loader);
    assert_null(loader);
}

static void test_a_stepped_part_of_a_transposed_slice(void **state)
{
    Loader *loader = open_file(cube_path);
    SliceRequest request = {.axes = {.row = 2, .col = 0, .colour = -1}};
    (void)state;
    request.axes.index[1] = 7;
    request.area = (SliceArea){3, 9, 3, 1, 2, 2};
    LoaderResult result = answer(loader, loader_detail(loader, &request));
    assert_true(result.done);
    for (uint64_t r = 0; r < 30; r++) {
        for (uint64_t c = 0; c < 5; c++) {
            const void *element = slice_data_element(result.data, r, c, 0);
            bool there = r >= 3 && r % 3 == 0 && (r - 3) / 3 < 9 && (c == 1 || c == 3);
            assert_int_equal(element != NULL, there);
            int32_t stored = 0;
            if (there) {
                memcpy(&stored, element, 4);
                assert_int_equal(stored, cube_value(c, 7, r));
            }
        }
    }
    clear_result(&result);
    loader_destroy(&loader);
}

/* Larger than one band of a read, and stepped. */
static void test_a_slice_in_bands(void **state)
{
    enum { ROWS = 3001, COLS = 1000 };
    const uint64_t shape[2] = {ROWS, COLS};
    int32_t *values = malloc(sizeof(*values) * ROWS * COLS);
    char path[128];
    ArrayError error;
    (void)state;
    for (int32_t i = 0; i < ROWS * COLS; i++) {
        values[i] = i;
    }
    snprintf(path, sizeof(path), "%s/bands.npy", folder);
    assert_true(array_write_npy(path, ARRAY_DTYPE_I32, 2, shape, values, &error));
    free(values);
    Loader *loader = open_file(path);
    SliceRequest request = {.axes = {.row = 0, .col = 1, .colour = -1},
                            .area = {1, 1500, 2, 0, COLS, 1}};
    LoaderResult result = answer(loader, loader_slice(loader, &request));
    assert_true(result.done);
    for (int32_t r = 0; r < 1500; r++) {
        for (int32_t c = 0; c < COLS; c++) {
            int32_t stored;
            memcpy(&stored, result.data->stored + 4 * (r * COLS + c), 4);
            assert_true(stored == (2 * r + 1) * COLS + c);
        }
    }
    clear_result(&result);
    loader_destroy(&loader);
    unlink(path);
}

static void test_one_element(void **state)
{
    Loader *loader = open_file(cube_path);
    const AxisChoice axes = {.row = 1, .col = 2, .colour = -1, .index = {4}};
    (void)state;
    LoaderResult result = answer(loader, loader_element(loader, 0, &axes, 39, 29));
    assert_true(result.done);
    assert_int_equal(result.element_count, 1);
    int32_t stored;
    memcpy(&stored, &result.elements[0], 4);
    assert_int_equal(stored, cube_value(4, 39, 29));
    result = answer(loader, loader_element(loader, 0, &axes, 40, 0));
    assert_false(result.done);
    assert_int_equal(result.error.fault, ARRAY_FAULT_ARGUMENT);
    result = answer(loader, loader_element(loader, 9, &axes, 0, 0));
    assert_false(result.done);
    loader_destroy(&loader);
}

static void test_the_newest_request_wins(void **state)
{
    Loader *loader = open_file(cube_path);
    uint64_t ticket = 0, answers = 0;
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        SliceRequest request = cube_request(i % 5);
        ticket = loader_slice(loader, &request);
    }
    assert_true(loader_wait(loader, long_sec));
    LoaderResult result;
    while (loader_take(loader, &result)) {
        answers++;
        assert_int_equal(result.ticket, ticket);
        assert_int_equal(result.data->request.axes.index[0], 199 % 5);
        clear_result(&result);
    }
    assert_int_equal(answers, 1);
    assert_false(loader_is_busy(loader, LOADER_KIND_SLICE));
    loader_destroy(&loader);
}

/* A long read is given up for another file, and its answer never comes. */
static void test_opening_drops_what_is_being_read(void **state)
{
    Loader *loader = open_file(huge_path);
    SliceRequest request = {.axes = {.row = 0, .col = 1, .colour = -1}, .summarise = true};
    (void)state;
    request.area = slice_area_overview(60000, 60000, 8192, 1 << 24);
    uint64_t slice = loader_slice(loader, &request);
    assert_true(loader_is_busy(loader, LOADER_KIND_SLICE));
    while (!(loader_progress(loader) > 0.0)) { /* until it is in the middle of the read */
        usleep(100);
    }
    uint64_t opened = loader_open(loader, cube_path);
    assert_false(loader_is_busy(loader, LOADER_KIND_SLICE));
    assert_true(loader_wait(loader, long_sec));
    LoaderResult result;
    uint64_t answers = 0;
    while (loader_take(loader, &result)) {
        answers++;
        assert_int_not_equal(result.ticket, slice);
        assert_int_equal(result.ticket, opened);
        clear_result(&result);
    }
    assert_int_equal(answers, 1);
    loader_destroy(&loader);
}

static void test_destroying_in_the_middle_of_a_read(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        Loader *loader = open_file(huge_path);
        SliceRequest request = {.axes = {.row = 0, .col = 1, .colour = -1}, .summarise = true};
        request.area = slice_area_overview(60000, 60000, 8192, 1 << 24);
        loader_slice(loader, &request);
        loader_detail(loader, &request);
        loader_destroy(&loader);
    }
    Loader *none = NULL;
    loader_destroy(&none);
    loader_destroy(NULL);
}

static void test_failures_say_why_and_the_file_before_stays(void **state)
{
    static const struct {
        const char *name;
        ArrayFault fault;
    } bad[] = {
        {FORMATS_DATA_DIR "/formats.json", ARRAY_FAULT_FORMAT},
        {FORMATS_DATA_DIR "/no such file", ARRAY_FAULT_OPEN},
        {FORMATS_DATA_DIR, ARRAY_FAULT_OPEN},
        {"", ARRAY_FAULT_OPEN},
    };
    Loader *loader = open_file(cube_path);
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        LoaderResult result = answer(loader, loader_open(loader, bad[i].name));
        assert_false(result.done);
        assert_null(result.source);
        assert_int_equal(result.error.fault, bad[i].fault);
        assert_true(result.error.message[0] != '\0');
        SliceRequest request = cube_request(1);
        result = answer(loader, loader_slice(loader, &request));
        assert_true(result.done);
        clear_result(&result);
    }
    loader_destroy(&loader);
}

/* A file that was opened counts from the moment its answer is taken: one whose answer was replaced
 * by a later open, taken or refused, is never read for what is asked of the one before. */
static void test_only_a_taken_file_is_read(void **state)
{
    static const char *const later[] = {FORMATS_DATA_DIR "/formats.json", "/no such file"};
    (void)state;
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        Loader *loader = open_file(cube_path);
        loader_open(loader, FORMATS_DATA_DIR "/rank8.npy");
        assert_true(loader_wait(loader, long_sec)); /* it is open, and nobody took it */
        SliceRequest request = cube_request(2);
        loader_slice(loader, &request); /* for the cube, whose source the caller has */
        assert_true(loader_wait(loader, long_sec));
        LoaderResult refused = answer(loader, loader_open(loader, later[i]));
        assert_false(refused.done);
        LoaderResult result = answer(loader, loader_slice(loader, &request));
        assert_true(result.done);
        int32_t stored;
        memcpy(&stored, slice_data_element(result.data, 39, 29, 0), 4);
        assert_int_equal(stored, cube_value(2, 39, 29));
        clear_result(&result);
        loader_destroy(&loader);
    }
}

/* Each taken open replaces the one before, also when nothing was read in between. */
static void test_the_last_taken_file_is_read(void **state)
{
    Loader *loader = open_file(FORMATS_DATA_DIR "/rank8.npy");
    const char *const paths[] = {huge_path, FORMATS_DATA_DIR "/vector.npy", cube_path};
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        LoaderResult opened = answer(loader, loader_open(loader, paths[i]));
        assert_true(opened.done);
        clear_result(&opened);
    }
    SliceRequest request = cube_request(1);
    LoaderResult result = answer(loader, loader_slice(loader, &request));
    assert_true(result.done);
    int32_t stored;
    memcpy(&stored, slice_data_element(result.data, 0, 7, 0), 4);
    assert_int_equal(stored, cube_value(1, 0, 7));
    clear_result(&result);
    loader_destroy(&loader);
}

static void test_a_slice_without_a_file(void **state)
{
    Loader *loader = loader_create();
    SliceRequest request = cube_request(0);
    (void)state;
    LoaderResult result = answer(loader, loader_slice(loader, &request));
    assert_false(result.done);
    assert_int_equal(result.error.fault, ARRAY_FAULT_OPEN);
    loader_destroy(&loader);
}

/* Each kind of file once: it opens, and its first readable array gives a slice. */
static void test_every_kind_of_file(void **state)
{
    static const char *const names[] = {
        "le_f64.npy",        "array.npy.gz", "be_fortran_i64.npy", "mixed.npz",    "deflated.npz",
        "model.safetensors", "idx_u8",       "idx_i16.gz",         "png_rgba.png", "png_grey16.png",
        "scalar.npy",        "vector.npy",   "rank8.npy",          "rank32.npy",   "png_1bit.png"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", FORMATS_DATA_DIR, names[i]);
        Loader *loader = loader_create();
        LoaderResult opened = answer(loader, loader_open(loader, path));
        if (!opened.done) {
            fail_msg("%s", opened.error.message);
        }
        SliceRequest request = {.array = source_first_readable(opened.source), .summarise = true};
        const SourceArray *array = &opened.source->arrays[request.array];
        axes_default(array, &request.axes);
        request.area = slice_area_overview(axes_rows(array, &request.axes),
                                           axes_cols(array, &request.axes), 8192, 1 << 24);
        LoaderResult result = answer(loader, loader_slice(loader, &request));
        if (!result.done) {
            fail_msg("%s: %s", names[i], result.error.message);
        }
        assert_int_equal(result.data->rows, axes_rows(array, &request.axes));
        assert_int_equal(result.data->colour != NULL, request.axes.colour >= 0);
        assert_int_equal(result.data->values != NULL, request.axes.colour < 0);
        clear_result(&result);
        clear_result(&opened);
        loader_destroy(&loader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slice_is_what_the_file_holds),
        cmocka_unit_test(test_a_stepped_part_of_a_transposed_slice),
        cmocka_unit_test(test_a_slice_in_bands),
        cmocka_unit_test(test_one_element),
        cmocka_unit_test(test_the_newest_request_wins),
        cmocka_unit_test(test_opening_drops_what_is_being_read),
        cmocka_unit_test(test_destroying_in_the_middle_of_a_read),
        cmocka_unit_test(test_failures_say_why_and_the_file_before_stays),
        cmocka_unit_test(test_only_a_taken_file_is_read),
        cmocka_unit_test(test_the_last_taken_file_is_read),
        cmocka_unit_test(test_a_slice_without_a_file),
        cmocka_unit_test(test_every_kind_of_file),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
