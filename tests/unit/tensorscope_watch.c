/* tests/unit/tensorscope_watch.c: a file that is written again while it is shown: renamed over,
 * truncated and written in place, written slowly, taken away and back, with another shape, by a
 * program that never stops. The picture is always one whole content, and the view stays. The bridge
 * is the test's own and keeps nothing but the last values; the calling thread is the frame thread.
 * Waits are bounded and none decides a test by its length. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "formats/array_write.h"
#include "session.h"

enum { ROWS = 6, COLS = 5, DEPTH = 3, CELLS = DEPTH * ROWS * COLS, PATIENCE = 40000 };

static char folder[64], path[128], beside[160];
static int errors, warnings;

static CaliperTextureId b_direct(const CaliperTensor *t, uint32_t flags)
{
    (void)t, (void)flags;
    return 1;
}
static CaliperTextureId b_mapped(const CaliperTensor *t, int32_t map, float low, float high,
                                 uint32_t flags)
{
    (void)t, (void)map, (void)low, (void)high, (void)flags;
    return 1;
}
static bool b_update(CaliperTextureId id, const CaliperTensor *t)
{
    (void)id, (void)t;
    return true;
}
static void b_release(CaliperTextureId id)
{
    (void)id;
}
static const CaliperTensorBridgeV1 bridge = {
    sizeof(CaliperTensorBridgeV1), b_direct, b_update, b_release, b_mapped, NULL, NULL};

static void l_log(CaliperLogLevel level, const char *message)
{
    (void)message;
    errors += level == CALIPER_LOG_ERROR;
    warnings += level == CALIPER_LOG_WARN;
}
static const CaliperLogV1 logger = {sizeof(CaliperLogV1), l_log};

/* ---- Files ---- */

/* Value i of content `base` is base + i. */
static size_t make_bytes(float base, uint8_t bytes[4096])
{
    char header[128];
    float values[CELLS];
    memset(header, ' ', sizeof(header));
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(header + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 6, 5), }", 62);
    header[127] = '\n';
    for (int i = 0; i < CELLS; i++) {
        values[i] = base + (float)i;
    }
    memcpy(bytes, header, sizeof(header));
    memcpy(bytes + sizeof(header), values, sizeof(values));
    return sizeof(header) + sizeof(values);
}

static void write_bytes(const char *to, const uint8_t *bytes, size_t size, int flags)
{
    int fd = open(to, O_WRONLY | O_CREAT | flags, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static void write_in_place(float base)
{
    uint8_t bytes[4096];
    size_t size = make_bytes(base, bytes);
    write_bytes(path, bytes, size, O_TRUNC);
}

static void rename_over(float base)
{
    uint8_t bytes[4096];
    size_t size = make_bytes(base, bytes);
    write_bytes(beside, bytes, size, O_TRUNC);
    assert_int_equal(rename(beside, path), 0);
}

/* ---- The session ---- */

static Session *start(void)
{
    Session *session = calloc(1, sizeof(*session));
    errors = warnings = 0;
    assert_true(session_start(session, &bridge, &logger));
    session->shows_demo = true;
    session->demo_failed = true; /* no field is wanted here */
    return session;
}

static void stop(Session *session)
{
    session_stop(session);
    free(session);
}

/* The value at a cell of the picture; NaN where there is none. */
static float value_at(Session *session, uint64_t row, uint64_t col)
{
    float value = 0.0f / 0.0f;
    const SliceData *data = session->view.whole.data;
    if (data != NULL && row < data->rows && col < data->cols) {
        Hover hover = session_hover(session, row, col);
        if (hover.known) {
            memcpy(&value, &hover.elements[0], sizeof(value));
        }
    }
    return value;
}

/* What is shown is whole: all cells are of one content. Answers its base, NaN for nothing. */
static float shown_base(Session *session)
{
    const SliceData *data = session->view.whole.data;
    if (data == NULL) {
        return 0.0f / 0.0f;
    }
    float first = (float)data->request.axes.index[0] * (float)(ROWS * COLS);
    float base = data->values[0] - first;
    for (uint64_t i = 0; i < data->rows * data->cols; i++) {
        assert_true(data->values[i] == base + first + (float)i);
    }
    return base;
}

static void wait_for_base(Session *session, float base)
{
    for (int i = 0; i < PATIENCE; i++) {
        session_update(session, 0.0, 0.016);
        if (shown_base(session) == base) {
            return;
        }
        usleep(1000);
    }
    fail_msg("content %g never came", (double)base);
}

static void wait_for_stale(Session *session)
{
    for (int i = 0; i < PATIENCE && session->stale.fault == ARRAY_FAULT_NONE; i++) {
        session_update(session, 0.0, 0.016);
        usleep(1000);
    }
    assert_int_not_equal(session->stale.fault, ARRAY_FAULT_NONE);
}

static Session *open_first(void)
{
    rename_over(0.0f);
    Session *session = start();
    session_open(session, path);
    wait_for_base(session, 0.0f);
    return session;
}

/* ---- Tests ---- */

static void test_renamed_over_and_in_place(void **state)
{
    Session *session = open_first();
    (void)state;
    assert_true(session_step(session, 0, 2));
    session_set_mode(session, RANGE_MODE_SYMMETRIC);
    session_set_colormap(session, CALIPER_CMAP_RDBU);
    session->view3[0] = 2.5;
    session->view3[1] = 1.5;
    session->view3[2] = 40.0;
    for (int i = 1; i <= 6; i++) {
        (i % 2 != 0 ? rename_over : write_in_place)(1000.0f * (float)i);
        wait_for_base(session, 1000.0f * (float)i);
        assert_true(value_at(session, 4, 3) == 1000.0f * (float)i + 2 * 30 + 23);
        assert_int_equal(session->axes.index[0], 2);
        assert_int_equal(session->mode, RANGE_MODE_SYMMETRIC);
        assert_int_equal(session->view.whole.colormap, CALIPER_CMAP_RDBU);
        assert_true(session->view.whole.range.high == 1000.0f * (float)i + 89.0f);
        assert_true(session->view3[0] == 2.5 && session->view3[1] == 1.5);
        assert_true(session->view3[2] == 40.0);
    }
    assert_true(session->refresh_count >= 6);
    assert_int_equal(errors, 0);
    stop(session);
}

/* Byte by byte: whatever is seen of it, the picture is the old one until it is the new one. */
static void test_written_slowly(void **state)
{
    Session *session = open_first();
    uint8_t bytes[4096];
    size_t size = make_bytes(500.0f, bytes);
    (void)state;
    write_bytes(path, bytes, 0, O_TRUNC);
    wait_for_stale(session);
    for (size_t done = 0; done < size; done += 61) {
        size_t step = size - done < 61 ? size - done : 61;
        write_bytes(path, bytes + done, step, O_APPEND);
        usleep(20000);
        session_update(session, 0.0, 0.016);
        float base = shown_base(session);
        assert_true(base == 0.0f || (base == 500.0f && done + step == size));
    }
    wait_for_base(session, 500.0f);
    assert_int_equal(session->stale.fault, ARRAY_FAULT_NONE);
    assert_int_equal(errors, 0);
    assert_int_equal(warnings, 1); /* once, however often it was tried */
    stop(session);
}

static void test_gone_and_back(void **state)
{
    Session *session = open_first();
    (void)state;
    assert_int_equal(unlink(path), 0);
    wait_for_stale(session);
    assert_int_equal(session->stale.fault, ARRAY_FAULT_OPEN);
    assert_true(shown_base(session) == 0.0f);
    assert_true(session_step(session, 0, 1)); /* the open descriptor still has it */
    for (int i = 0; i < PATIENCE && value_at(session, 0, 0) != 30.0f; i++) {
        session_update(session, 0.0, 0.016);
        usleep(1000);
    }
    assert_true(value_at(session, 0, 0) == 30.0f);
    rename_over(700.0f);
    wait_for_base(session, 700.0f);
    assert_int_equal(session->stale.fault, ARRAY_FAULT_NONE);
    assert_int_equal(session->axes.index[0], 1);
    assert_int_equal(errors, 0);
    stop(session);
}

static void test_another_shape(void **state)
{
    const uint64_t smaller[3] = {2, 4, 4}, flat[2] = {9, 7}, same[3] = {DEPTH, ROWS, COLS};
    Session *session = open_first();
    float values[CELLS];
    ArrayError error;
    (void)state;
    for (int i = 0; i < CELLS; i++) {
        values[i] = (float)i;
    }
    assert_true(session_step(session, 0, 2));
    assert_true(array_write_npy(path, ARRAY_DTYPE_F32, 3, smaller, values, &error));
    for (int i = 0; i < PATIENCE && value_at(session, 3, 3) != 31.0f; i++) {
        session_update(session, 0.0, 0.016);
        usleep(1000);
    }
    assert_int_equal(session->axes.index[0], 1); /* the last there is */
    assert_int_equal(session->view.whole.data->rows, 4);
    assert_true(array_write_npy(path, ARRAY_DTYPE_F32, 2, flat, values, &error));
    for (int i = 0; i < PATIENCE && value_at(session, 8, 6) != 62.0f; i++) {
        session_update(session, 0.0, 0.016);
        usleep(1000);
    }
    assert_int_equal(session->axes.row, 0);
    assert_int_equal(session->axes.col, 1);
    assert_true(array_write_npy(path, ARRAY_DTYPE_I16, 3, same, values, &error));
    for (int i = 0; i < PATIENCE && (session->view.whole.data == NULL ||
                                     session->view.whole.data->dtype != ARRAY_DTYPE_I16);
         i++) {
        session_update(session, 0.0, 0.016);
        usleep(1000);
    }
    assert_int_equal(session->view.whole.data->dtype, ARRAY_DTYPE_I16);
    assert_int_equal(errors, 0);
    stop(session);
}

/* A writer that does not stop: what is shown is always whole, and new ones come. */
static void test_a_writer_without_pause(void **state)
{
    Session *session = open_first();
    uint64_t seen = 0;
    float last = 0.0f;
    (void)state;
    for (int i = 1; i < PATIENCE && seen < 5; i++) {
        rename_over(10.0f * (float)i);
        session_update(session, 0.0, 0.016);
        float base = shown_base(session);
        assert_true(base >= last);
        seen += base > last;
        last = base;
        usleep(5000);
    }
    assert_int_equal(seen, 5);
    assert_int_equal(errors + warnings, 0);
    stop(session);
}

static void test_not_followed(void **state)
{
    Session *session = open_first();
    (void)state;
    session_follow(session, false);
    rename_over(50.0f);
    for (int i = 0; i < 300; i++) {
        session_update(session, 0.0, 0.016);
        usleep(1000);
    }
    assert_true(shown_base(session) == 0.0f);
    session_follow(session, true);
    wait_for_base(session, 50.0f);
    session_follow(session, false);
    rename_over(60.0f);
    session_open(session, path); /* by hand, and the view stays too */
    wait_for_base(session, 60.0f);
    stop(session);
}

/* A gzip file whose beginning is there has a good header: only reading its elements tells. */
static void test_half_of_a_compressed_file(void **state)
{
    uint8_t plain[4096], packed[2][8192];
    uLongf sizes[2];
    char gz_path[160];
    (void)state;
    snprintf(gz_path, sizeof(gz_path), "%s/array.npy.gz", folder);
    for (int i = 0; i < 2; i++) {
        size_t size = make_bytes(i == 0 ? 0.0f : 300.0f, plain);
        gzFile file = gzopen(gz_path, "wb");
        assert_int_equal(gzwrite(file, plain, (unsigned)size), (int)size);
        gzclose(file);
        FILE *made = fopen(gz_path, "rb");
        sizes[i] = (uLongf)fread(packed[i], 1, sizeof(packed[i]), made);
        fclose(made);
    }
    write_bytes(gz_path, packed[0], sizes[0], O_TRUNC);
    Session *session = start();
    session_open(session, gz_path);
    wait_for_base(session, 0.0f);
    write_bytes(gz_path, packed[1], sizes[1] - 40, O_TRUNC);
    wait_for_stale(session);
    for (int i = 0; i < 200; i++) {
        session_update(session, 0.0, 0.016);
        assert_true(shown_base(session) == 0.0f);
        usleep(1000);
    }
    write_bytes(gz_path, packed[1] + sizes[1] - 40, 40, O_APPEND);
    wait_for_base(session, 300.0f);
    assert_int_equal(session->stale.fault, ARRAY_FAULT_NONE);
    assert_int_equal(errors, 0);
    assert_int_equal(warnings, 1);
    stop(session);
    unlink(gz_path);
}

/* Opened before it is there, and while it is half there. */
static void test_not_there_yet(void **state)
{
    uint8_t bytes[4096];
    size_t size = make_bytes(80.0f, bytes);
    (void)state;
    unlink(path);
    for (int half = 0; half < 2; half++) {
        Session *session = start();
        if (half != 0) {
            write_bytes(path, bytes, size / 2, O_TRUNC);
        }
        session_open(session, path);
        for (int i = 0; i < PATIENCE && session->error.fault == ARRAY_FAULT_NONE; i++) {
            session_update(session, 0.0, 0.016);
            usleep(1000);
        }
        assert_int_not_equal(session->error.fault, ARRAY_FAULT_NONE);
        assert_null(session->source);
        rename_over(80.0f);
        wait_for_base(session, 80.0f);
        assert_int_equal(session->error.fault, ARRAY_FAULT_NONE);
        assert_int_equal(errors, 1);
        assert_false(session->shows_demo);
        stop(session);
        unlink(path);
    }
}

/* A file that ends under a reader is a named error and no signal: in the middle of everything. */
static void test_cut_while_it_is_read(void **state)
{
    const uint64_t shape[2] = {3000, 3000};
    float *values = calloc(9000000, sizeof(*values));
    ArrayError error;
    (void)state;
    assert_true(array_write_npy(path, ARRAY_DTYPE_F32, 2, shape, values, &error));
    for (int i = 0; i < 8; i++) {
        Session *session = start();
        session_open(session, path);
        for (int frame = 0; frame < 3 + i; frame++) {
            session_update(session, 0.0, 0.016);
            usleep(1000);
        }
        assert_int_equal(truncate(path, 128 + 36000000 / 8 * i), 0);
        for (int frame = 0; frame < 50; frame++) {
            session_update(session, 0.0, 0.016);
            usleep(1000);
        }
        stop(session);
        assert_int_equal(truncate(path, 128 + 36000000), 0);
    }
    free(values);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tensorscope_XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    snprintf(path, sizeof(path), "%s/array.npy", folder);
    snprintf(beside, sizeof(beside), "%s/array.npy.new", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(beside);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renamed_over_and_in_place),
        cmocka_unit_test(test_written_slowly),
        cmocka_unit_test(test_gone_and_back),
        cmocka_unit_test(test_another_shape),
        cmocka_unit_test(test_a_writer_without_pause),
        cmocka_unit_test(test_not_followed),
        cmocka_unit_test(test_half_of_a_compressed_file),
        cmocka_unit_test(test_not_there_yet),
        cmocka_unit_test(test_cut_while_it_is_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
