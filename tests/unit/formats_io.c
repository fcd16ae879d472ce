/* tests/unit/formats_io.c: what the system does to files: short and interrupted reads, errors,
 * files that shrink, things that are no files, files larger than memory. One thread. */
#include "formats/byte_source.h"
#include "formats/write_file.h"
#include "formats_common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int calls, fail_at, fail_with;

/* One byte at a time at most three bytes, every other call interrupted. */
static ssize_t grudging_pread(int fd, void *out, size_t size, off_t offset)
{
    if (++calls % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return pread(fd, out, size < 3 ? size : 3, offset);
}

static ssize_t failing_pread(int fd, void *out, size_t size, off_t offset)
{
    if (++calls == fail_at) {
        errno = fail_with;
        return fail_with != 0 ? -1 : 0; /* 0: the end of a file that has shrunk */
    }
    return pread(fd, out, size, offset);
}

static const char *const FILES[] = {"be_fortran_f64.npy", "stored.npz", "deflated.npz",
                                    "model.safetensors",  "idx_i32",    "png_interlaced.png",
                                    "array.npy.gz"};
enum { FILE_COUNT = sizeof FILES / sizeof FILES[0] };

/* All bytes of all arrays of a file, one after another; NULL and the error if one cannot be read.
 */
static uint8_t *read_all(const char *path, size_t *size, ArrayError *error)
{
    ArrayFile *file = array_file_open(path, NULL, error);
    uint8_t *all = NULL;
    bool good = file != NULL;
    *size = 0;
    for (uint32_t i = 0; good && i < array_file_count(file); i++) {
        const ArrayInfo *info = array_file_info(file, i);
        ArraySlice slice;
        ArraySliceShape shape;
        array_slice_default(info, &slice);
        all = realloc(all, *size + info->size_bytes + 8);
        good = array_file_read_stored(file, i, 0, info->element_count, all + *size,
                                      info->size_bytes, error);
        *size += info->size_bytes;
        uint8_t *cut = malloc(info->size_bytes + 1);
        good = good && array_file_slice_shape(file, i, &slice, &shape, error) &&
               array_file_read_slice(file, i, &slice, cut, shape.size_bytes, error);
        free(cut);
    }
    array_file_close(&file);
    if (!good) {
        free(all);
        all = NULL;
    }
    return all;
}

static void test_short_and_interrupted_reads(void **state)
{
    (void)state;
    for (int f = 0; f < FILE_COUNT; f++) {
        size_t size, slow_size;
        uint8_t *all = read_all(data_path(FILES[f]), &size, NULL);
        byte_source_set_pread(grudging_pread);
        uint8_t *slow = read_all(data_path(FILES[f]), &slow_size, NULL);
        byte_source_set_pread(NULL);
        assert_non_null(all);
        assert_non_null(slow);
        assert_int_equal(size, slow_size);
        assert_memory_equal(all, slow, size);
        free(all);
        free(slow);
    }
}

/* Every single read fails once, with an error and as if the file had shrunk. */
static void test_every_read_fails_once(void **state)
{
    (void)state;
    const int errors[] = {EIO, 0};
    const ArrayFault faults[] = {ARRAY_FAULT_READ, ARRAY_FAULT_TRUNCATED};
    byte_source_set_pread(failing_pread);
    for (int kind = 0; kind < 2; kind++) {
        fail_with = errors[kind];
        for (int f = 0; f < FILE_COUNT; f++) {
            bool failed = true;
            for (fail_at = 1; failed; fail_at++) {
                size_t size;
                ArrayError error = {0};
                calls = 0;
                uint8_t *all = read_all(data_path(FILES[f]), &size, &error);
                failed = calls >= fail_at;
                /* A member of an archive whose header cannot be read is listed as such. */
                if (failed && (all != NULL || error.fault != faults[kind]))
                    fail_msg("%s, read %d: %s", FILES[f], fail_at, error.message);
                assert_true(failed || all != NULL);
                free(all);
            }
            assert_true(fail_at > 3);
        }
    }
    byte_source_set_pread(NULL);
}

static void test_a_file_that_shrinks(void **state)
{
    (void)state;
    uint8_t bytes[4096] = {0};
    const uint8_t header[8] = {0, 0, 8, 1, 0, 0, 0x0f, 0xf8};
    memcpy(bytes, header, 8);
    const char *path = write_temporary("shrinks", bytes, sizeof bytes);
    ArrayFile *file = open_good(path);
    assert_int_equal(truncate(path, 1000), 0);
    ArrayStats stats;
    ArrayError error = {0};
    assert_false(array_file_statistics(file, 0, NULL, &stats, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_TRUNCATED);
    assert_non_null(strstr(error.message, "ends at byte 1000 (it had 4096 when opened)"));
    array_file_close(&file);
}

static void expect_open_fault(const char *path, const char *part)
{
    ArrayError error = {0};
    assert_null(array_file_open(path, NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_OPEN);
    assert_non_null(strstr(error.message, part));
}

static void test_things_that_are_no_files(void **state)
{
    (void)state;
    const char *pipe_path = temporary_path("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    expect_open_fault(pipe_path, "is a pipe"); /* and does not wait for a writer */
    expect_open_fault("/tmp", "is a directory");
    expect_open_fault("/dev/zero", "is a device");
    expect_open_fault("/nonexistent/a.npy", "cannot be opened: No such file");
    ArrayError error = {0};
    assert_null(array_file_open(NULL, NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_ARGUMENT);
    assert_null(array_file_open_fd(-1, "fd", NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_OPEN);
    assert_null(array_file_open_memory(NULL, 5, "memory", NULL, NULL));
}

static void test_a_descriptor_stays_the_callers(void **state)
{
    (void)state;
    int fd = open(data_path("le_u8.npy"), O_RDONLY);
    ArrayFile *file = array_file_open_fd(fd, "fd", NULL, NULL);
    assert_non_null(file);
    assert_int_equal(array_file_info(file, 0)->dtype, ARRAY_DTYPE_U8);
    array_file_close(&file);
    assert_int_equal(close(fd), 0);
}

/* 20 GB that take no room on the disk: opens, is cut anywhere, and costs no memory. */
static void test_a_file_larger_than_memory(void **state)
{
    (void)state;
    const char *path = temporary_path("large.raw");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const uint64_t rows = 50000, cols = 100000, planes = 1; /* f32 */
    if (ftruncate(fd, (off_t)(rows * cols * 4)) != 0) {
        print_message("SKIPPED: no sparse file of 20 GB can be made here: %s\n", strerror(errno));
        close(fd);
        skip();
    }
    const float mark = 42.5f;
    assert_int_equal(pwrite(fd, &mark, 4, (off_t)((rows - 1) * cols + 77777) * 4), 4);
    close(fd);
    ArrayRawLayout layout = {.dtype = ARRAY_DTYPE_F32, .rank = 3, .shape = {planes, rows, cols}};
    ArrayError error = {0};
    ArrayFile *file = array_file_open_raw(path, &layout, NULL, &error);
    if (file == NULL)
        fail_msg("%s", error.message);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    float column[50000], piece[9];
    ArraySlice slice = {.row_axis = 1, .col_axis = 2, .channel_axis = -1};
    slice.row_begin = rows - 3;
    slice.col_begin = 77776;
    slice.col_count = 3;
    assert_true(array_file_read_slice(file, 0, &slice, piece, sizeof piece, &error));
    for (int i = 0; i < 9; i++)
        assert_true(piece[i] == (i == 7 ? mark : 0.0f));
    slice = (ArraySlice){.row_axis = 1, .col_axis = -1, .channel_axis = -1};
    slice.index[2] = 77777;
    assert_true(array_file_read_slice(file, 0, &slice, column, sizeof column, &error));
    assert_true(column[rows - 1] == mark && column[0] == 0.0f);
    const uint64_t index[3] = {0, rows - 1, 77777};
    assert_true(array_file_read_element(file, 0, index, piece, &error));
    assert_true(piece[0] == mark);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 64 * 1024); /* KiB */
    array_file_close(&file);
    layout.shape[1]++;
    assert_null(array_file_open_raw(path, &layout, NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_TRUNCATED);
    layout.rank = 33;
    assert_null(array_file_open_raw(path, &layout, NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_ARGUMENT);
}

/* The value of each element says where it is, so any mistake of the walk shows; sizes around the
 * reading window, row-major as stored, cut along every pair of axes. */
static void test_slices_wider_than_the_window(void **state)
{
    (void)state;
    const uint64_t shape[3] = {3, 1100, 130};
    uint32_t *all = malloc(3 * 1100 * 130 * sizeof *all);
    for (uint32_t i = 0; i < 3 * 1100 * 130; i++)
        all[i] = i * 2654435761u;
    const char *path = write_temporary("window.raw", all, 3 * 1100 * 130 * sizeof *all);
    ArrayRawLayout layout = {.dtype = ARRAY_DTYPE_U32, .rank = 3, .shape = {3, 1100, 130}};
    ArrayFile *file = array_file_open_raw(path, &layout, NULL, NULL);
    assert_non_null(file);
    uint32_t *cut = malloc(3 * 1100 * 130 * sizeof *cut);
    const uint64_t strides[3] = {1100 * 130, 130, 1};
    for (int pick = 0; pick < 27; pick++) {
        const int row = pick % 3, col = pick / 3 % 3, step = 1 + pick / 9 * 3;
        if (row == col)
            continue;
        const int other = 3 - row - col;
        for (int colour = 0; colour < 2; colour++) {
            ArraySlice slice = {.row_axis = row,
                                .col_axis = col,
                                .channel_axis = colour ? other : -1,
                                .row_step = (uint64_t)step,
                                .col_begin = 1};
            slice.index[other] = 2;
            ArraySliceShape out;
            assert_true(array_file_slice_shape(file, 0, &slice, &out, NULL));
            assert_int_equal(out.rows, (shape[row] - 1) / (uint64_t)step + 1);
            assert_true(array_file_read_slice(file, 0, &slice, cut, out.size_bytes, NULL));
            const uint32_t *at = cut;
            for (uint64_t r = 0; r < out.rows; r++)
                for (uint64_t c = 0; c < out.cols; c++)
                    for (uint64_t k = 0; k < out.channels; k++, at++)
                        assert_int_equal(
                            *at, all[r * (uint64_t)step * strides[row] + (c + 1) * strides[col] +
                                     (colour ? k : 2) * strides[other]]);
        }
    }
    free(cut);
    free(all);
    array_file_close(&file);
}

static size_t bytes_read;

static ssize_t counting_pread(int fd, void *out, size_t size, off_t offset)
{
    ssize_t got = pread(fd, out, size, offset);
    calls++;
    bytes_read += got > 0 ? (size_t)got : 0;
    return got;
}

/* 64 x 4096 x 4096 u8: what a slice costs in reads and bytes, whatever way it lies. */
static void test_a_slice_reads_what_it_needs(void **state)
{
    (void)state;
    const char *path = temporary_path("volume.raw");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(ftruncate(fd, (off_t)64 * 4096 * 4096), 0);
    close(fd);
    ArrayRawLayout layout = {.dtype = ARRAY_DTYPE_U8, .rank = 3, .shape = {64, 4096, 4096}};
    ArrayFile *file = array_file_open_raw(path, &layout, NULL, NULL);
    assert_non_null(file);
    uint8_t *out = malloc(4096 * 4096);
    const struct {
        ArraySlice slice;
        size_t bytes_max;
        int calls_max;
    } cases[] = {
        /* one plane: its own bytes, in one read */
        {{.row_axis = 1, .col_axis = 2, .channel_axis = -1}, 4096 * 4096, 1},
        /* the same turned over: still only its bytes, a window at a time */
        {{.row_axis = 2, .col_axis = 1, .channel_axis = -1}, 4096 * 4096, 4096 * 4096 / 262144},
        /* a tile of 100 x 100: gaps of a page at most are read over */
        {{.row_axis = 1, .col_axis = 2, .channel_axis = -1, .row_count = 100, .col_count = 100},
         100 * 4096,
         2},
        /* one row of each plane: rows lie 16 MB apart, nothing between them is read */
        {{.row_axis = 0, .col_axis = 2, .channel_axis = -1}, 64 * 4096, 64},
        /* every 64th row */
        {{.row_axis = 1, .col_axis = 2, .channel_axis = -1, .row_step = 64}, 64 * 4096, 64},
        /* a single line across the planes: an element each */
        {{.row_axis = -1, .col_axis = 0, .channel_axis = -1}, 64, 64},
    };
    byte_source_set_pread(counting_pread);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        calls = 0;
        bytes_read = 0;
        assert_true(array_file_read_slice(file, 0, &cases[i].slice, out, 4096 * 4096, NULL));
        if (bytes_read > cases[i].bytes_max || calls > cases[i].calls_max)
            fail_msg("case %zu: %zu bytes in %d reads, wanted at most %zu in %d", i, bytes_read,
                     calls, cases[i].bytes_max, cases[i].calls_max);
    }
    byte_source_set_pread(NULL);
    free(out);
    array_file_close(&file);
}

typedef struct Watch {
    int asked, stop_at;
    double done;
} Watch;

static bool watch_cancel(void *user)
{
    Watch *watch = user;
    return ++watch->asked == watch->stop_at;
}

static void watch_progress(void *user, double done)
{
    Watch *watch = user;
    assert_true(done >= watch->done && done <= 1.0);
    watch->done = done;
}

static void test_cancel_and_progress(void **state)
{
    (void)state;
    enum { COUNT = 3 << 20 };
    uint8_t *bytes = calloc(1, COUNT);
    const char *path = write_temporary("long.raw", bytes, COUNT);
    free(bytes);
    ArrayRawLayout layout = {.dtype = ARRAY_DTYPE_U8, .rank = 1, .shape = {COUNT}};
    ArrayFile *file = array_file_open_raw(path, &layout, NULL, NULL);
    Watch watch = {0};
    ArrayControl control = {watch_cancel, watch_progress, &watch};
    ArrayStats stats;
    ArrayError error = {0};
    assert_true(array_file_statistics(file, 0, &control, &stats, &error));
    assert_int_equal(watch.asked, 3);
    assert_true(watch.done == 1.0);
    watch = (Watch){.stop_at = 2};
    assert_false(array_file_statistics(file, 0, &control, &stats, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_CANCELLED);
    assert_int_equal(stats.element_count, 1 << 20);
    array_file_close(&file);
    static const char *const PACKED[] = {"array.npy.gz", "png_interlaced.png"};
    for (int i = 0; i < 2; i++) {
        file = open_good(data_path(PACKED[i]));
        watch = (Watch){.stop_at = 1};
        assert_false(array_file_prepare(file, 0, &control, &error));
        assert_int_equal(error.fault, ARRAY_FAULT_CANCELLED);
        watch = (Watch){0};
        assert_true(array_file_prepare(file, 0, &control, &error));
        array_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_and_interrupted_reads),
        cmocka_unit_test(test_every_read_fails_once),
        cmocka_unit_test(test_a_file_that_shrinks),
        cmocka_unit_test(test_things_that_are_no_files),
        cmocka_unit_test(test_a_descriptor_stays_the_callers),
        cmocka_unit_test(test_a_file_larger_than_memory),
        cmocka_unit_test(test_slices_wider_than_the_window),
        cmocka_unit_test(test_a_slice_reads_what_it_needs),
        cmocka_unit_test(test_cancel_and_progress),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temporaries);
}
