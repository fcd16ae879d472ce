/* tests/unit/formats_cancel.c: a reader can be stopped at any moment: its cancel is asked before
 * every system call that reads and once in a MiB, whatever is read, and the answer is obeyed. Files
 * of every format and order, whole and by slices. One thread; nothing is timed. */
#include "formats/byte_source.h"
#include "formats_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { BETWEEN_BYTES_MAX = 1 << 20, ASKS_TRIED = 60 };

static struct {
    uint64_t asks, stop_at; /* stop_at 0: never */
    bool asked;             /* since the last system call */
    bool stopped;           /* answered so */
    uint64_t reads, unasked_reads, late_reads, largest_bytes;
} seen;

static bool ask(void *user)
{
    assert_ptr_equal(user, &seen);
    seen.asked = true;
    seen.stopped = ++seen.asks == seen.stop_at || seen.stopped;
    return seen.stopped;
}

static ssize_t watched_pread(int fd, void *out, size_t size, off_t offset)
{
    seen.reads++;
    seen.unasked_reads += !seen.asked;
    seen.late_reads += seen.stopped;
    seen.asked = false;
    seen.largest_bytes = size > seen.largest_bytes ? size : seen.largest_bytes;
    return pread(fd, out, size, offset);
}

static const ArrayOpenOptions options = {.cancel = ask, .cancel_user = &seen};

/* One way to read an array; false with the error. */
typedef bool (*ReadWay)(ArrayFile *file, uint32_t array, void *out, size_t size, ArrayError *error);

static bool read_stored(ArrayFile *file, uint32_t array, void *out, size_t size, ArrayError *error)
{
    return array_file_read_stored(file, array, 0, array_file_info(file, array)->element_count, out,
                                  size, error);
}

static bool read_slice(ArrayFile *file, uint32_t array, void *out, size_t size, ArrayError *error)
{
    ArraySlice slice;
    array_slice_default(array_file_info(file, array), &slice);
    return array_file_read_slice(file, array, &slice, out, size, error);
}

/* Every other row and column, columns down: against the order of the file, or along it. */
static bool read_turned(ArrayFile *file, uint32_t array, void *out, size_t size, ArrayError *error)
{
    ArraySlice slice;
    array_slice_default(array_file_info(file, array), &slice);
    int row_axis = slice.row_axis;
    slice.row_axis = slice.col_axis;
    slice.col_axis = row_axis;
    slice.row_step = slice.col_step = 2;
    return array_file_read_slice(file, array, &slice, out, size, error);
}

static bool read_element(ArrayFile *file, uint32_t array, void *out, size_t size, ArrayError *error)
{
    const uint64_t index[ARRAY_RANK_MAX] = {0};
    (void)size;
    return array_file_info(file, array)->element_count == 0 ||
           array_file_read_element(file, array, index, out, error);
}

static bool read_statistics(ArrayFile *file, uint32_t array, void *out, size_t size,
                            ArrayError *error)
{
    ArrayStats stats;
    (void)out;
    (void)size;
    return array_file_statistics(file, array, NULL, &stats, error);
}

static const ReadWay WAYS[] = {read_stored, read_slice, read_turned, read_element, read_statistics};
enum { WAY_COUNT = sizeof WAYS / sizeof WAYS[0] };

/* Opens a file and reads every array that can be read in one way. */
static bool open_and_read(const char *path, ReadWay way, ArrayError *error)
{
    ArrayFile *file = array_file_open(path, &options, error);
    bool good = file != NULL;
    for (uint32_t i = 0; good && i < array_file_count(file); i++) {
        const ArrayInfo *info = array_file_info(file, i);
        if (info->problem != NULL)
            continue;
        size_t size = info->size_bytes + 8;
        uint8_t *out = malloc(size);
        good = way(file, i, out, size, error);
        free(out);
    }
    array_file_close(&file);
    return good;
}

/* Read once to the end, then stopped at its first question, its last, and some between. */
static void stop_everywhere(const char *path, ReadWay way)
{
    ArrayError error = {0};
    memset(&seen, 0, sizeof seen);
    if (!open_and_read(path, way, &error))
        fail_msg("%s", error.message);
    assert_true(seen.reads > 0);
    if (seen.unasked_reads > 0 || seen.largest_bytes > BETWEEN_BYTES_MAX)
        fail_msg("%s: %d of %d reads were not asked about, the largest has %d bytes", path,
                 (int)seen.unasked_reads, (int)seen.reads, (int)seen.largest_bytes);
    const uint64_t asks = seen.asks, step = asks / ASKS_TRIED + 1;
    for (uint64_t at = 1; at <= asks; at += at + step > asks && at < asks ? asks - at : step) {
        memset(&seen, 0, sizeof seen);
        memset(&error, 0, sizeof error);
        seen.stop_at = at;
        bool good = open_and_read(path, way, &error);
        if (good || error.fault != ARRAY_FAULT_CANCELLED || seen.late_reads > 0)
            fail_msg("%s, stopped at question %d of %d: %s, %d reads after it", path, (int)at,
                     (int)asks, good ? "was read" : error.message, (int)seen.late_reads);
    }
}

static void test_every_format_stops_at_every_question(void **state)
{
    static const char *const FILES[] = {
        "le_f64.npy",   "be_fortran_f64.npy", "rank8.npy",         "stored.npz", "deflated.npz",
        "mixed.npz",    "zip64.npz",          "model.safetensors", "idx_i32",    "idx_i16.gz",
        "array.npy.gz", "png_rgb.png",        "png_interlaced.png"};
    (void)state;
    byte_source_set_pread(watched_pread);
    for (size_t f = 0; f < sizeof FILES / sizeof FILES[0]; f++) {
        for (int way = 0; way < WAY_COUNT; way++)
            stop_everywhere(data_path(FILES[f]), WAYS[way]);
    }
    byte_source_set_pread(NULL);
}

/* A .npy of f32 zeros, sparse. */
static const char *sparse_npy(const char *name, bool fortran, unsigned rows, unsigned cols)
{
    char header[128];
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used = snprintf(header + 10, sizeof header - 10,
                        "{'descr': '>f4', 'fortran_order': %s, 'shape': (%u, %u), }",
                        fortran ? "True" : "False", rows, cols);
    header[10 + used] = ' ';
    header[127] = '\n';
    const char *path = write_temporary(name, header, sizeof header);
    assert_int_equal(truncate(path, 128 + (off_t)rows * cols * 4), 0);
    return path;
}

/* Larger than every block: a row, a column or a slice of several MiB is read in small steps. */
static void test_large_reads_are_asked_about_in_small_steps(void **state)
{
    (void)state;
    const char *const paths[] = {sparse_npy("large_c.npy", false, 1500, 1500),
                                 sparse_npy("large_f.npy", true, 1500, 1500),
                                 sparse_npy("long_row.npy", false, 1, 2000000)};
    byte_source_set_pread(watched_pread);
    for (size_t f = 0; f < sizeof paths / sizeof paths[0]; f++) {
        for (int way = 0; way < WAY_COUNT; way++)
            stop_everywhere(paths[f], WAYS[way]);
    }
    byte_source_set_pread(NULL);
}

/* Holes are not read and memory is no file, but both are work: asked about once a MiB. */
static void test_holes_and_memory_are_asked_about(void **state)
{
    (void)state;
    const unsigned side = 2048; /* 16 MiB */
    const size_t size = (size_t)side * side * 4;
    uint8_t *out = malloc(size);
    ArrayError error;
    memset(&seen, 0, sizeof seen);
    ArrayFile *file = array_file_open(sparse_npy("hole.npy", false, side, side), &options, &error);
    assert_non_null(file);
    for (int way = 0; way < 3; way++) {
        memset(&seen, 0, sizeof seen);
        assert_true(WAYS[way](file, 0, out, size, &error));
        assert_true(seen.asks >= size / BETWEEN_BYTES_MAX / (way == 2 ? 4 : 1));
    }
    /* The file is as it was: what is asked after a stop is read. */
    seen.stop_at = 1;
    seen.asks = 0;
    assert_false(read_slice(file, 0, out, size, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_CANCELLED);
    memset(&seen, 0, sizeof seen);
    assert_true(read_slice(file, 0, out, size, &error));
    array_file_close(&file);

    size_t file_bytes;
    uint8_t *bytes = load_file(sparse_npy("memory.npy", true, side, side), &file_bytes);
    file = array_file_open_memory(bytes, file_bytes, "memory", &options, &error);
    assert_non_null(file);
    for (int way = 0; way < 3; way++) {
        memset(&seen, 0, sizeof seen);
        assert_true(WAYS[way](file, 0, out, size, &error));
        assert_true(seen.asks >= size / BETWEEN_BYTES_MAX / (way == 2 ? 4 : 1));
    }
    array_file_close(&file);
    free(bytes);
    free(out);
}

/* A slice tells how far it is, and stops at a control of its own too. */
static double told;

static void tell(void *user, double done)
{
    assert_ptr_equal(user, &seen);
    assert_true(done >= told && done <= 1.0);
    told = done;
}

static void test_a_slice_tells_how_far_it_is(void **state)
{
    (void)state;
    const ArrayControl control = {ask, tell, &seen};
    ArrayError error;
    uint8_t *out = malloc(1500 * 1500 * 4);
    for (int fortran = 0; fortran < 2; fortran++) {
        ArrayFile *file = open_good(sparse_npy("told.npy", fortran != 0, 1500, 1500));
        ArraySlice slice;
        array_slice_default(array_file_info(file, 0), &slice);
        for (uint64_t step = 1; step < 3; step++) {
            slice.row_step = slice.col_step = step;
            memset(&seen, 0, sizeof seen);
            told = 0.0;
            assert_true(array_file_read_slice_told(file, 0, &slice, out, 1500 * 1500 * 4, &control,
                                                   &error));
            assert_true(told > 0.99 && seen.asks > 8);
            seen.stop_at = seen.asks / 4;
            seen.asks = 0;
            told = 0.0;
            assert_false(array_file_read_slice_told(file, 0, &slice, out, 1500 * 1500 * 4, &control,
                                                    &error));
            assert_int_equal(error.fault, ARRAY_FAULT_CANCELLED);
            assert_true(told < 0.9);
        }
        array_file_close(&file);
    }
    free(out);
}

/* A header of many tensors is parsed, sorted by name and sorted by place: each of it can be
 * stopped, and the order is still proven (a name twice at the far ends of the list is found). */
static char *many_tensors(unsigned count, const char *last_name, size_t *size)
{
    char *text = malloc(count * 96 + 64);
    size_t used = 8;
    for (unsigned i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "t%07u", i * 7919 % count);
        used += (size_t)sprintf(text + used,
                                "%c\"%s\":{\"dtype\":\"U8\",\"shape\":[1],"
                                "\"data_offsets\":[%u,%u]}",
                                i == 0 ? '{' : ',',
                                i + 1 == count && last_name != NULL ? last_name : name, i, i + 1);
    }
    text[used++] = '}';
    uint64_t header = used - 8;
    memcpy(text, &header, 8);
    memset(text + used, 0, count);
    *size = used + count;
    return text;
}

static void test_a_long_header_can_be_stopped(void **state)
{
    enum { TENSORS = 20000 };
    size_t size;
    ArrayError error = {0};
    (void)state;
    char *bytes = many_tensors(TENSORS, NULL, &size);
    memset(&seen, 0, sizeof seen);
    ArrayFile *file = array_file_open_memory(bytes, size, "many", &options, &error);
    assert_non_null(file);
    assert_int_equal(array_file_count(file), TENSORS);
    array_file_close(&file);
    free(bytes);
    /* One a tensor, and in each of the passes of two sorts. */
    const uint64_t asks = seen.asks;
    assert_true(asks > TENSORS + 2 * 14 * (TENSORS / 4096));
    for (uint64_t at = 1; at <= asks; at += at < TENSORS ? 977 : 13) {
        bytes = many_tensors(TENSORS, NULL, &size); /* the reader decodes its own copy, not this */
        memset(&seen, 0, sizeof seen);
        seen.stop_at = at;
        assert_null(array_file_open_memory(bytes, size, "many", &options, &error));
        assert_int_equal(error.fault, ARRAY_FAULT_CANCELLED);
        assert_int_equal(seen.asks, at);
        free(bytes);
    }
    bytes = many_tensors(TENSORS, "t0000000", &size);
    memset(&seen, 0, sizeof seen);
    assert_null(array_file_open_memory(bytes, size, "many", &options, &error));
    assert_non_null(strstr(error.message, "has two tensors named 't0000000'"));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_stops_at_every_question),
        cmocka_unit_test(test_large_reads_are_asked_about_in_small_steps),
        cmocka_unit_test(test_holes_and_memory_are_asked_about),
        cmocka_unit_test(test_a_slice_tells_how_far_it_is),
        cmocka_unit_test(test_a_long_header_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temporaries);
}
