/* tests/unit/tensorscope_stop.c: the frame thread never waits for work: what reads, counts or
 * writes a file of any order stops within one system call of being told to, however many are left,
 * and nothing large is closed or freed on the frame thread. The calling thread is the frame thread.
 * Nothing is timed: the system calls after the stop are counted. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "exact.h"
#include "formats/array_save.h"
#include "formats/array_write.h"
#include "formats/byte_source.h"
#include "formats/raw_layout.h"
#include "formats/write_file.h"
#include "loader.h"
#include "save.h"

enum { SIDE = 20000, MEMBERS = 3000, ENOUGH_CALLS = 20, AFTER_MAX = 2 };

static char folder[64];
static char fortran_path[128]; /* SIDE x SIDE f64 in Fortran order, sparse: a read a column */
static char plain_path[128];   /* the same in C order */
static char many_path[128];    /* .npz of MEMBERS members: two reads each to open it */
static char out_path[128];

static atomic_bool slow, quick, told_to_stop;
static atomic_int calls, calls_after, reads; /* reads: and looks for holes */

/* A slow disk: there is always a next call to be stopped before. */
static void count_call(void)
{
    const struct timespec disk = {0, 200000};
    atomic_fetch_add(&calls, 1);
    if (atomic_load(&told_to_stop)) {
        atomic_fetch_add(&calls_after, 1);
    }
    if (!atomic_load(&quick)) {
        nanosleep(&disk, NULL);
    }
}

static ssize_t slow_pread(int fd, void *out, size_t size, off_t offset)
{
    if (atomic_load(&slow)) {
        atomic_fetch_add(&reads, 1);
        count_call();
    }
    return pread(fd, out, size, offset);
}

/* Looking for a hole is a call too, and all there is in a sparse file. */
off_t __real_lseek(int fd, off_t offset, int whence);
off_t __wrap_lseek(int fd, off_t offset, int whence);
off_t __wrap_lseek(int fd, off_t offset, int whence)
{
    if (atomic_load(&slow)) {
        atomic_fetch_add(&reads, 1);
        count_call();
    }
    return __real_lseek(fd, offset, whence);
}

static ssize_t slow_write(int fd, const void *bytes, size_t size)
{
    if (atomic_load(&slow)) {
        count_call();
    }
    return write(fd, bytes, size);
}

static void begin_slow(void)
{
    atomic_store(&told_to_stop, false);
    atomic_store(&calls, 0);
    atomic_store(&reads, 0);
    atomic_store(&calls_after, 0);
    atomic_store(&slow, true);
}

static void wait_for_calls(void)
{
    const struct timespec step = {0, 100000};
    while (atomic_load(&calls) < ENOUGH_CALLS) {
        nanosleep(&step, NULL);
    }
}

/* After the work was stopped and joined. One call was on its way when it was told so. */
static void end_slow(const char *what)
{
    atomic_store(&slow, false);
    if (atomic_load(&calls_after) > AFTER_MAX) {
        fail_msg("%s: %d calls to the system after it was told to stop", what,
                 atomic_load(&calls_after));
    }
}

/* ---- What the frame thread must not do ---- */

static pthread_t frame_thread;
static atomic_bool frames_run; /* between the beginning and the end of an applet's life */
static atomic_int freed_in_frame, freed_elsewhere;

static void note_free(bool anything)
{
    if (anything && atomic_load(&frames_run)) {
        bool frame = pthread_equal(pthread_self(), frame_thread) != 0;
        atomic_fetch_add(frame ? &freed_in_frame : &freed_elsewhere, 1);
    }
}

void __real_array_file_close(ArrayFile **file);
void __wrap_array_file_close(ArrayFile **file);
void __wrap_array_file_close(ArrayFile **file)
{
    note_free(file != NULL && *file != NULL);
    __real_array_file_close(file);
}

void __real_source_destroy(Source **source);
void __wrap_source_destroy(Source **source);
void __wrap_source_destroy(Source **source)
{
    note_free(source != NULL && *source != NULL);
    __real_source_destroy(source);
}

void __real_slice_data_destroy(SliceData **data);
void __wrap_slice_data_destroy(SliceData **data);
void __wrap_slice_data_destroy(SliceData **data)
{
    note_free(data != NULL && *data != NULL);
    __real_slice_data_destroy(data);
}

/* ---- Files ---- */

static int make_sparse(char *path, const char *name, bool fortran)
{
    char header[128];
    memset(header, ' ', sizeof(header));
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    int used = snprintf(header + 10, sizeof(header) - 10,
                        "{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, %d), }",
                        fortran ? "True" : "False", SIDE, SIDE);
    header[10 + used] = ' ';
    header[127] = '\n';
    snprintf(path, 128, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return -1;
    }
    fwrite(header, 1, sizeof(header), file);
    fclose(file);
    return truncate(path, 128 + (off_t)SIDE * SIDE * 8);
}

static int make_many(void)
{
    static char names[MEMBERS][16];
    static ArraySaveItem items[MEMBERS];
    const float value = 1.0f;
    ArrayError error;
    for (int i = 0; i < MEMBERS; i++) {
        snprintf(names[i], sizeof(names[i]), "m%d", i);
        items[i] = (ArraySaveItem){.name = names[i], .dtype = ARRAY_DTYPE_F32};
    }
    snprintf(many_path, sizeof(many_path), "%s/many.npz", folder);
    ArraySave *save = array_save_begin(many_path, ARRAY_FORMAT_NPZ, items, MEMBERS, true, &error);
    bool good = save != NULL;
    for (int i = 0; good && i < MEMBERS; i++) {
        good = array_save_append(save, &value, 1, &error);
    }
    return good && array_save_commit(&save, &error) ? 0 : -1;
}

static int make_files(void **state)
{
    (void)state;
    frame_thread = pthread_self();
    byte_source_set_pread(slow_pread); /* before any thread that reads */
    write_file_set_write(slow_write);
    strcpy(folder, "/tmp/tensorscope_stop_XXXXXX");
    if (mkdtemp(folder) == NULL || make_sparse(fortran_path, "fortran.npy", true) != 0 ||
        make_sparse(plain_path, "plain.npy", false) != 0) {
        return -1;
    }
    snprintf(out_path, sizeof(out_path), "%s/out.npy", folder);
    return make_many();
}

static int remove_files(void **state)
{
    (void)state;
    unlink(fortran_path);
    unlink(plain_path);
    unlink(many_path);
    return rmdir(folder);
}

static const AxisChoice row_by_col = {.row = 0, .col = 1, .colour = ARRAY_AXIS_NONE};

static Loader *open_quickly(const char *path)
{
    LoaderResult result = {0};
    Loader *loader = loader_create();
    assert_non_null(loader);
    loader_open(loader, path);
    assert_true(loader_wait(loader, 60.0));
    assert_true(loader_take(loader, &result) && result.done);
    loader_discard(loader, &result.source, &result.data);
    return loader;
}

static void destroy_loader(Loader **loader)
{
    atomic_store(&told_to_stop, true);
    loader_destroy(loader);
}

/* ---- Tests ---- */

static void test_a_slice_being_read_stops(void **state)
{
    const char *const paths[] = {fortran_path, plain_path};
    (void)state;
    for (int i = 0; i < 2; i++) {
        Loader *loader = open_quickly(paths[i]);
        SliceRequest request = {.axes = row_by_col, .summarise = true};
        request.area = slice_area_overview(SIDE, SIDE, 4096, 1 << 24);
        begin_slow();
        loader_slice(loader, &request);
        wait_for_calls();
        destroy_loader(&loader);
        end_slow(paths[i]);
    }
}

/* What replaces it does not wait for more than that either: the next answer is to the new one. */
static void test_a_slice_that_is_replaced_stops(void **state)
{
    Loader *loader = open_quickly(fortran_path);
    SliceRequest request = {.axes = row_by_col};
    LoaderResult result = {0};
    (void)state;
    request.area = slice_area_overview(SIDE, SIDE, 4096, 1 << 24);
    begin_slow();
    loader_slice(loader, &request);
    wait_for_calls();
    request.area = (SliceArea){0, 1, 1, 0, 1, 1};
    atomic_store(&told_to_stop, true);
    uint64_t ticket = loader_slice(loader, &request);
    assert_true(loader_wait(loader, 60.0));
    assert_true(loader_take(loader, &result) && result.ticket == ticket && result.done);
    loader_discard(loader, &result.source, &result.data);
    loader_destroy(&loader);
    atomic_fetch_sub(&calls_after, 1); /* the one element of the new one */
    end_slow("a slice that was replaced");
}

static void test_a_file_being_opened_stops(void **state)
{
    (void)state;
    Loader *loader = loader_create();
    begin_slow();
    loader_open(loader, many_path);
    wait_for_calls();
    destroy_loader(&loader);
    end_slow("opening");
}

/* So does one that is opened because it was written again. */
static void test_a_file_being_opened_again_stops(void **state)
{
    (void)state;
    Loader *loader = open_quickly(many_path);
    begin_slow();
    const struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
    assert_int_equal(utimensat(AT_FDCWD, many_path, long_ago, 0), 0);
    wait_for_calls();
    destroy_loader(&loader);
    end_slow("opening again");
}

static void test_counting_stops(void **state)
{
    const char *const paths[] = {fortran_path, plain_path};
    (void)state;
    for (int i = 0; i < 2; i++) {
        Exact *exact = exact_create();
        const Stamp stamp = stamp_take(paths[i]);
        begin_slow();
        exact_ask(exact, paths[i], &stamp, 0, &row_by_col);
        wait_for_calls();
        atomic_store(&told_to_stop, true);
        exact_destroy(&exact);
        end_slow(paths[i]);
    }
}

static SliceData *sampled(const char *path)
{
    ArrayError error;
    ArrayFile *file = array_file_open(path, NULL, &error);
    SliceRequest request = {.axes = row_by_col, .area = {0, 2, 9000, 0, 2, 9000}};
    SliceData *data = slice_data_read(file, &request, NULL, &error);
    assert_non_null(data);
    array_file_close(&file);
    return data;
}

static void test_saving_stops(void **state)
{
    const char *const paths[] = {fortran_path, plain_path};
    (void)state;
    for (int i = 0; i < 2; i++) {
        Save *save = save_create();
        SliceData *data = sampled(paths[i]);
        const Stamp stamp = stamp_take(paths[i]);
        begin_slow();
        assert_true(save_npy(save, out_path, true, data, paths[i], &stamp));
        wait_for_calls();
        atomic_store(&told_to_stop, true);
        save_destroy(&save);
        end_slow(paths[i]);
        assert_int_not_equal(access(out_path, F_OK), 0); /* nothing is left behind */
        slice_data_destroy(&data);
    }
}

static int asks, stop_at, asks_computing; /* the last: once all is read */
static bool all_is_read;

static bool count_asks(void *user)
{
    (void)user;
    asks_computing += all_is_read;
    return ++asks >= stop_at;
}

static void note_progress(void *user, double done)
{
    (void)user;
    all_is_read = done >= 0.9 - 1e-9;
}

static SliceData *read_asking(ArrayFile *file, const SliceRequest *request, int at)
{
    const ArrayControl control = {count_asks, note_progress, NULL};
    ArrayError error = {0};
    asks = asks_computing = 0;
    all_is_read = false;
    stop_at = at;
    SliceData *data = slice_data_read(file, request, &control, &error);
    assert_true((data == NULL) == (error.fault == ARRAY_FAULT_CANCELLED));
    return data;
}

/* Converting, counting and drawing what was read are work too: each of their steps asks, once a
 * row of the picture and once in so many cells, and is stopped by the answer. */
static void test_computing_stops(void **state)
{
    enum { ROWS = 200, COLS = 4000, TILES = 3 };
    const ArrayRawLayout layout = {
        .dtype = ARRAY_DTYPE_U16, .rank = 3, .shape = {TILES, ROWS, COLS}};
    ArrayError error;
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        SliceRequest request = {.area = {0, ROWS, 1, 0, COLS, 1}, .summarise = kind < 2};
        request.axes = (AxisChoice){.row = 1, .col = 2, .colour = kind == 2 ? 0 : ARRAY_AXIS_NONE};
        if (kind == 1) {
            request.tile_count = TILES;
            request.axes.tiled = true;
            request.axes.tile = 0;
        }
        ArrayFile *file = array_file_open_raw(plain_path, &layout, NULL, &error);
        assert_non_null(file);
        SliceData *data = read_asking(file, &request, 1 << 30);
        assert_non_null(data);
        const int all = asks, cells = ROWS * COLS * (kind == 1 ? TILES : 1);
        const int rows = ROWS * (kind == 1 ? TILES : 1);
        const int gaps = kind == 1 ? (int)(data->width * data->height >> 16) : 0;
        const int counted = kind < 2 ? (cells >> 16) + 2 * (cells >> 18) : 0;
        if (asks_computing < rows + gaps + counted) {
            fail_msg("kind %d: %d questions for %d rows and %d cells", kind, asks_computing, rows,
                     cells);
        }
        slice_data_destroy(&data);
        for (int at = 1; at <= all; at += all / 25 + 1) {
            assert_null(read_asking(file, &request, at));
            assert_true(asks <= at + 1);
        }
        array_file_close(&file);
    }
}

/* What lies across the file is read along it all the same: each part of a column once, and not for
 * every band of rows anew. */
static void test_a_file_is_read_along_its_order(void **state)
{
    ArrayError error;
    const AxisChoice turned = {.row = 1, .col = 0, .colour = ARRAY_AXIS_NONE};
    char address[160];
    (void)state;
    atomic_store(&quick, true);
    ArrayFile *file = array_file_open(fortran_path, NULL, &error);
    SliceRequest request = {.axes = row_by_col, .area = {0, 1000, 20, 0, 1000, 20}};
    begin_slow();
    SliceData *data = slice_data_read(file, &request, NULL, &error);
    end_slow("a slice");
    assert_non_null(data);
    assert_in_range(atomic_load(&reads), 1000, 2500); /* a window for each of 1000 columns */
    slice_data_destroy(&data);
    array_file_close(&file);

    /* 32 MB, across: 31 reads of a MiB in each of two passes. */
    snprintf(address, sizeof(address), "raw:f64:2000x2000=%s", plain_path);
    Exact *exact = exact_create();
    const Stamp stamp = stamp_take(plain_path);
    begin_slow();
    exact_ask(exact, address, &stamp, 0, &turned);
    exact_wait(exact, 60.0);
    end_slow("counting");
    assert_true(exact_update(exact));
    assert_int_equal(exact_stats(exact)->element_count, 4000000);
    assert_in_range(atomic_load(&reads), 1, 200);
    exact_destroy(&exact);

    /* Written row by row: each of 2000 columns is read once, since the rows fit into one band. */
    file = array_file_open_address(address, NULL, &error);
    request = (SliceRequest){.axes = turned, .area = {0, 2, 900, 0, 2, 900}};
    data = slice_data_read(file, &request, NULL, &error);
    array_file_close(&file);
    Save *save = save_create();
    begin_slow();
    assert_true(save_npy(save, out_path, true, data, address, &stamp));
    save_wait(save, 60.0);
    end_slow("saving");
    assert_true(save_update(save));
    assert_int_equal(save_state(save), SAVE_STATE_DONE);
    assert_in_range(atomic_load(&reads), 1, 4500);
    save_destroy(&save);
    slice_data_destroy(&data);
    unlink(out_path);
    atomic_store(&quick, false);
}

/* Along or across, the numbers are the same. */
static void test_counts_do_not_depend_on_the_order(void **state)
{
    static float values[300][200];
    const uint64_t shape[2] = {300, 200};
    ArrayError error;
    (void)state;
    for (int i = 0; i < 60000; i++) {
        values[i / 200][i % 200] = (float)(i % 7919) * 0.25f - 100.0f;
    }
    values[17][3] = NAN;
    values[290][199] = INFINITY;
    assert_true(array_write_npy(out_path, ARRAY_DTYPE_F32, 2, shape, values, &error));
    const Stamp stamp = stamp_take(out_path);
    for (int i = 0; i < 2; i++) {
        const AxisChoice axes = {.row = i, .col = 1 - i, .colour = ARRAY_AXIS_NONE};
        Exact *exact = exact_create();
        exact_ask(exact, out_path, &stamp, 0, &axes);
        exact_wait(exact, 60.0);
        assert_true(exact_update(exact));
        const ArrayStats *stats = exact_stats(exact);
        const Summary *summary = exact_summary(exact);
        assert_true(stats->min.value.f64 == -100.0 && stats->max.value.f64 == 1879.5);
        assert_int_equal(stats->nan_count, 1);
        assert_int_equal(stats->infinite_count, 1);
        assert_int_equal(stats->element_count, 60000);
        assert_int_equal(summary->finite_count, 59998);
        exact_destroy(&exact);
    }
    unlink(out_path);
}

/* Files and pictures that others took the place of: opened one after another, sliced, refused,
 * opened and never taken. */
static void test_what_is_superseded_goes_on_the_worker(void **state)
{
    const char *const paths[] = {fortran_path, plain_path, many_path};
    LoaderResult result = {0};
    SliceRequest request = {.axes = row_by_col, .area = {0, 2, 9000, 0, 2, 9000}};
    (void)state;
    Loader *loader = open_quickly(plain_path);
    atomic_store(&freed_in_frame, 0);
    atomic_store(&freed_elsewhere, 0);
    atomic_store(&frames_run, true);
    for (int round = 0; round < 12; round++) {
        loader_open(loader, paths[round % 3]);
        if (round % 4 == 3) { /* answered, and replaced before it was taken */
            assert_true(loader_wait(loader, 60.0));
            loader_open(loader, paths[round % 2]);
        }
        assert_true(loader_wait(loader, 60.0));
        while (loader_take(loader, &result)) {
            loader_discard(loader, &result.source, &result.data);
        }
        if (round % 3 == 2) {
            continue;
        }
        loader_slice(loader, &request);
        assert_true(loader_wait(loader, 60.0));
        while (loader_take(loader, &result)) {
            loader_discard(loader, &result.source, &result.data);
        }
    }
    loader_destroy(&loader);
    atomic_store(&frames_run, false);
    assert_int_equal(atomic_load(&freed_in_frame), 0);
    /* 15 opened, 15 of their descriptions, and a picture in most rounds; the last file too. */
    assert_true(atomic_load(&freed_elsewhere) >= 15 + 15 + 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slice_being_read_stops),
        cmocka_unit_test(test_a_slice_that_is_replaced_stops),
        cmocka_unit_test(test_a_file_being_opened_stops),
        cmocka_unit_test(test_a_file_being_opened_again_stops),
        cmocka_unit_test(test_counting_stops),
        cmocka_unit_test(test_saving_stops),
        cmocka_unit_test(test_computing_stops),
        cmocka_unit_test(test_a_file_is_read_along_its_order),
        cmocka_unit_test(test_counts_do_not_depend_on_the_order),
        cmocka_unit_test(test_what_is_superseded_goes_on_the_worker),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
