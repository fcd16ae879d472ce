/* Rows of an answer kept by shell/runs/result.c, from a stream made here: one that fails half-way,
 * is stopped, finds no memory, or has more than is kept. Whatever happens, stream, schema and each
 * batch are given back once, and the words say which it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/fault.h"
#include "shell/runs/result.h"

enum { BATCH_ROWS = 1000 };

static int64_t values[BATCH_ROWS];
static int schemas, batches, streams; /* that are out */
static int served, serve, fail_at;    /* batches; fail_at 0: never */
static bool schema_fails;
static int64_t last_rows;
static atomic_bool stop;
static int64_t cell_bytes; /* of each row's text; 0: whole numbers */
static int stop_at;        /* the stream asks to stop after that many; 0: never */

static void schema_goes(struct ArrowSchema *schema)
{
    schemas--;
    schema->release = NULL;
}

static void child_goes(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static struct ArrowSchema child;
    static struct ArrowSchema *children[1] = {&child};
    (void)stream;
    if (schema_fails)
        return 5;
    child = (struct ArrowSchema){
        .format = cell_bytes > 0 ? "U" : "l", .name = "v", .release = child_goes};
    *out = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = 1, .children = children, .release = schema_goes};
    schemas++;
    return 0;
}

static void batch_goes(struct ArrowArray *batch)
{
    batches--;
    batch->release = NULL;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static struct ArrowArray column;
    static struct ArrowArray *columns[1] = {&column};
    static const void *buffers[2] = {NULL, values}, *none[1] = {NULL};
    (void)stream;
    if (fail_at != 0 && served + 1 == fail_at)
        return 5;
    if (served == serve) {
        out->release = NULL;
        return 0;
    }
    served++;
    if (served == stop_at)
        atomic_store(&stop, true);
    int64_t rows = served == serve ? last_rows : BATCH_ROWS;
    column = (struct ArrowArray){.length = rows, .n_buffers = 2, .buffers = buffers};
    if (cell_bytes > 0) { /* where the texts would lie is not looked at */
        static int64_t ends[BATCH_ROWS + 1];
        static const void *texts[3] = {NULL, ends, ""};
        for (int64_t i = 0; i <= BATCH_ROWS; i++)
            ends[i] = i * cell_bytes;
        column = (struct ArrowArray){.length = rows, .n_buffers = 3, .buffers = texts};
    }
    *out = (struct ArrowArray){.length = rows,
                               .n_buffers = 1,
                               .n_children = 1,
                               .buffers = none,
                               .children = columns,
                               .release = batch_goes};
    batches++;
    return 0;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return fail_at != 0 || schema_fails ? "the disk is gone" : "";
}

static void stream_goes(struct ArrowArrayStream *stream)
{
    streams--;
    stream->release = NULL;
}

/* Reads `count` batches; the words of a failure in `why`. */
static Result *read(int count, char why[64])
{
    struct ArrowArrayStream stream = {.get_schema = get_schema,
                                      .get_next = get_next,
                                      .get_last_error = last_error,
                                      .release = stream_goes};
    for (int64_t i = 0; i < BATCH_ROWS; i++)
        values[i] = (i * 7919) % 1009;
    served = 0;
    serve = count;
    streams++;
    atomic_store(&stop, false);
    Result *result = result_read(&stream, &stop, why, 64);
    assert_int_equal(streams, 0);
    return result;
}

static int begin(void **state)
{
    (void)state;
    schemas = batches = streams = fail_at = stop_at = 0;
    schema_fails = false;
    last_rows = BATCH_ROWS;
    cell_bytes = 0;
    fault_set_plan(NULL);
    return 0;
}

static void nothing_is_out(Result *result)
{
    result_drop(&result);
    assert_int_equal(schemas, 0);
    assert_int_equal(batches, 0);
}

static void a_stream_that_fails(void **state)
{
    char why[64];
    (void)state;
    for (fail_at = 1; fail_at <= 200; fail_at += 33) {
        assert_null(read(300, why));
        assert_string_equal(why, "the disk is gone");
        nothing_is_out(NULL);
    }
    fail_at = 0;
    schema_fails = true;
    assert_null(read(3, why));
    assert_string_equal(why, "the disk is gone");
    nothing_is_out(NULL);
}

static void no_memory(void **state)
{
    char why[64];
    (void)state;
    for (int call = 1; call <= 3; call++) {
        char plan[40];
        snprintf(plan, sizeof plan, "runs.result:%d", call);
        fault_set_plan(plan);
        Result *result = read(300, why);
        if (fault_injected() > 0) {
            assert_null(result);
            assert_string_equal(why, "no memory for the result");
        }
        fault_set_plan(NULL);
        nothing_is_out(result);
    }
    Result *result = read(3, why);
    fault_set_plan("runs.order:1");
    assert_null(result_order(result, 0, false));
    fault_set_plan("runs.order:2");
    assert_null(result_order(result, 0, false));
    fault_set_plan(NULL);
    uint32_t *order = result_order(result, 0, true);
    assert_non_null(order);
    free(order);
    nothing_is_out(result);
}

static void stopped(void **state)
{
    char why[64];
    (void)state;
    for (stop_at = 1; stop_at <= 90; stop_at += 44) {
        assert_null(read(100, why));
        assert_string_equal(why, "it was stopped");
        nothing_is_out(NULL);
    }
}

static void as_many_as_are_kept(void **state)
{
    char why[64];
    (void)state;
    int all = RESULT_ROWS_MAX / BATCH_ROWS; /* and a rest of 576 */
    last_rows = RESULT_ROWS_MAX % BATCH_ROWS;
    Result *result = read(all + 1, why);
    assert_non_null(result);
    assert_int_equal(result->row_count, RESULT_ROWS_MAX);
    assert_false(result->more);
    uint32_t *order = result_order(result, 0, false);
    assert_non_null(order);
    for (int64_t i = 1; i < result->row_count; i++) {
        int64_t a = values[order[i - 1] % BATCH_ROWS], b = values[order[i] % BATCH_ROWS];
        assert_true(a < b || (a == b && order[i - 1] < order[i]));
    }
    free(order);
    nothing_is_out(result);
    last_rows = RESULT_ROWS_MAX % BATCH_ROWS + 1;
    result = read(all + 1, why);
    assert_int_equal(result->row_count, all * BATCH_ROWS);
    assert_true(result->more);
    nothing_is_out(result);
    last_rows = 0;
    result = read(1, why);
    assert_int_equal(result->row_count, 0);
    assert_false(result->more);
    order = result_order(result, 0, true);
    assert_non_null(order);
    free(order);
    nothing_is_out(result);
}

/* 512 MiB are 536870912 bytes: 5 batches of 1000 texts of 100000 bytes fit, and offsets. */
static void as_many_bytes_as_are_kept(void **state)
{
    char why[64];
    (void)state;
    cell_bytes = 100000;
    Result *result = read(9, why);
    assert_non_null(result);
    assert_int_equal(result->row_count, 5 * BATCH_ROWS);
    assert_true(result->more);
    nothing_is_out(result);
    cell_bytes = 1 << 20;
    assert_null(read(2, why));
    assert_memory_equal(why, "the first rows take 1000 MiB, more than the 512 MiB", 51);
    nothing_is_out(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(a_stream_that_fails, begin),
                                       cmocka_unit_test_setup(no_memory, begin),
                                       cmocka_unit_test_setup(stopped, begin),
                                       cmocka_unit_test_setup(as_many_as_are_kept, begin),
                                       cmocka_unit_test_setup(as_many_bytes_as_are_kept, begin)};
    return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
