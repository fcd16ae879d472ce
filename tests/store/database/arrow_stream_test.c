/* Arrow streams in every order of release, moved, closed and failing. Run under ASan and TSan too.
 */
#include "arrow_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/fault.h"

static const char CLOSED[] = DATABASE_CLOSED_TEXT;

/* Two rows a batch and two batches at least: more rows than one vector holds. */
#define MANY "SELECT range AS i, 'row ' || range AS text FROM range(5000)"

static void check_many(const struct ArrowArray *batch, int64_t first)
{
    const int64_t *numbers = batch->children[0]->buffers[1];
    const int32_t *offsets = batch->children[1]->buffers[1];
    const char *bytes = batch->children[1]->buffers[2];
    assert_int_equal(batch->n_children, 2);
    for (int64_t row = 0; row < batch->length; row++) {
        char wanted[32];
        int length = snprintf(wanted, sizeof wanted, "row %lld", (long long)(first + row));
        assert_true(numbers[row] == first + row);
        assert_int_equal(offsets[row + 1] - offsets[row], length);
        assert_memory_equal(bytes + offsets[row], wanted, (size_t)length);
    }
}

static void check_closed(struct ArrowArrayStream *stream)
{
    for (int i = 0; i < 3; i++) {
        struct ArrowArray batch;
        memset(&batch, 0x5a, sizeof batch);
        assert_int_equal(stream->get_next(stream, &batch), EIO);
        assert_null(batch.release);
        assert_string_equal(stream->get_last_error(stream), CLOSED);
    }
    struct ArrowSchema schema;
    assert_int_equal(stream->get_schema(stream, &schema), 0);
    assert_string_equal(schema.format, "+s");
    schema.release(&schema);
}

/* All of it, then the end for good; batches are kept beyond the stream. */
static void test_whole(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    struct ArrowArrayStream stream = fixture_query(database, MANY);
    struct ArrowArray batches[8];
    struct ArrowSchema schema;
    int count = 0;
    int64_t rows = 0;
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(schema.n_children, 2);
    assert_string_equal(schema.children[0]->format, "l");
    assert_string_equal(schema.children[0]->name, "i");
    assert_string_equal(schema.children[1]->format, "u");
    for (;;) {
        batches[count] = next(&stream);
        if (batches[count].release == NULL)
            break;
        rows += batches[count++].length;
        assert_true(count < 8);
    }
    assert_true(count > 1);
    assert_int_equal(rows, 5000);
    assert_null(next(&stream).release);
    stream.release(&stream);
    assert_null(stream.release);
    database_close(&database);
    int64_t first = 0;
    for (int i = 0; i < count; i++) {
        check_many(&batches[i], first);
        first += batches[i].length;
    }
    for (int i = count; i-- > 0;)
        batches[i].release(&batches[i]);
    assert_string_equal(schema.children[1]->name, "text");
    schema.release(&schema);
}

/* What is released when, in all orders of: batch, schema, stream, database. */
static void test_orders(void **state)
{
    (void)state;
    for (int order = 0; order < 24; order++) {
        int left[4] = {0, 1, 2, 3};
        int sequence[4];
        for (int i = 0, number = order; i < 4; i++) {
            int pick = number % (4 - i);
            number /= 4 - i;
            sequence[i] = left[pick];
            for (int k = pick; k < 3; k++)
                left[k] = left[k + 1];
        }
        Database *database = fixture_memory();
        struct ArrowArrayStream stream = fixture_query(database, MANY);
        struct ArrowSchema schema;
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        struct ArrowArray batch = next(&stream);
        for (int i = 0; i < 4; i++) {
            if (batch.release != NULL)
                check_many(&batch, 0);
            if (schema.release != NULL)
                assert_string_equal(schema.children[0]->name, "i");
            if (sequence[i] == 0) {
                batch.release(&batch);
                assert_null(batch.release);
            } else if (sequence[i] == 1) {
                schema.release(&schema);
                assert_null(schema.release);
            } else if (sequence[i] == 2) {
                stream.release(&stream);
                assert_null(stream.release);
            } else {
                database_close(&database);
                assert_null(database);
                if (stream.release != NULL)
                    check_closed(&stream);
            }
        }
    }
}

/* Moved: the bytes are copied, the source is no more. Children are moved out of a batch, too. */
static void test_moved(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    struct ArrowArrayStream source = fixture_query(database, MANY);
    struct ArrowArrayStream *moved = malloc(sizeof *moved);
    assert_non_null(moved);
    *moved = source;
    source.release = NULL;
    memset(&source, 0x5a, sizeof source);
    struct ArrowArray batch = next(moved);
    check_many(&batch, 0);
    struct ArrowArray child = *batch.children[1];
    batch.children[1]->release = NULL;
    batch.release(&batch);
    assert_memory_equal(child.buffers[2], "row 0row 1row 2", 15);
    child.release(&child);
    struct ArrowArrayStream again = *moved;
    free(moved);
    batch = next(&again);
    check_many(&batch, 2048);
    batch.release(&batch);
    struct ArrowSchema schema;
    assert_int_equal(again.get_schema(&again, &schema), 0);
    struct ArrowSchema column = *schema.children[0];
    schema.children[0]->release = NULL;
    schema.release(&schema);
    assert_string_equal(column.name, "i");
    column.release(&column);
    again.release(&again);
    database_close(&database);
}

/* Used after the next query, after writes, with another stream of the same table between. */
static void test_after_next_query(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    fixture_run(database, "CREATE TABLE t AS " MANY);
    struct ArrowArrayStream first = fixture_query(database, "SELECT * FROM t");
    struct ArrowArray batch = next(&first);
    check_many(&batch, 0);
    struct ArrowArrayStream second = fixture_query(database, "SELECT * FROM t");
    fixture_run(database, "DELETE FROM t WHERE i > 10; UPDATE t SET text = 'changed'");
    check_many(&batch, 0);
    batch.release(&batch);
    int64_t at = 2048;
    for (batch = next(&first); batch.release != NULL; batch = next(&first)) {
        check_many(&batch, at);
        at += batch.length;
        batch.release(&batch);
    }
    assert_int_equal(at, 5000);
    at = 0;
    for (batch = next(&second); batch.release != NULL; batch = next(&second)) {
        check_many(&batch, at);
        at += batch.length;
        batch.release(&batch);
    }
    assert_int_equal(at, 5000);
    assert_true(fixture_number(database, "SELECT count(*) FROM t WHERE text = 'changed'") == 11);
    second.release(&second);
    first.release(&first);
    database_close(&database);
}

/* An error in the middle: the rows before it, then EIO with DuckDB's words, for good. */
static void test_error(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    struct ArrowArrayStream stream = fixture_query(
        database, "SELECT CASE WHEN range < 300000 THEN range ELSE error('stop here') END AS i "
                  "FROM range(400000)");
    struct ArrowArray batch;
    struct ArrowArray first = next(&stream);
    int64_t rows = first.length;
    int status;
    while ((status = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL) {
        rows += batch.length;
        batch.release(&batch);
    }
    assert_int_equal(status, EIO);
    assert_true(rows > 2048 && rows <= 300000);
    for (int i = 0; i < 3; i++) {
        assert_non_null(strstr(stream.get_last_error(&stream), "stop here"));
        assert_int_equal(stream.get_next(&stream, &batch), EIO);
        assert_null(batch.release);
    }
    assert_true(((const int64_t *)first.children[0]->buffers[1])[7] == 7);
    assert_true(fixture_number(database, "SELECT 42::BIGINT") == 42);
    database_close(&database);
    assert_int_equal(stream.get_next(&stream, &batch), EIO);
    assert_non_null(strstr(stream.get_last_error(&stream), "stop here"));
    stream.release(&stream);
    first.release(&first);
}

/* Never read, half read, drained: closing the store ends each, and it gives its connection back. */
static void test_close_first(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    enum { STREAMS = 20 };
    struct ArrowArrayStream streams[STREAMS];
    struct ArrowArray batches[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = fixture_query(database, MANY);
        batches[i].release = NULL;
        if (i % 3 != 0)
            batches[i] = next(&streams[i]);
        if (i % 3 == 2) {
            for (struct ArrowArray more = next(&streams[i]); more.release != NULL;
                 more = next(&streams[i]))
                more.release(&more);
        }
    }
    database_close(&database);
    for (int i = 0; i < STREAMS; i++) {
        check_closed(&streams[i]);
        if (i % 2 == 0)
            streams[i].release(&streams[i]);
        if (batches[i].release != NULL) {
            check_many(&batches[i], 0);
            batches[i].release(&batches[i]);
        }
        if (i % 2 != 0)
            streams[i].release(&streams[i]);
    }
}

typedef struct Reader {
    DatabaseSession *session;
    const char *sql;
    struct ArrowArrayStream stream;
    atomic_bool started;
    int status;
    char words[128];
    int64_t rows;
} Reader;

/* The session is open before the thread starts: the database may close at any moment after. */
static bool start_reading(Reader *reader, DatabaseError *error)
{
    Statement statement;
    if (!database_session_enter(reader->session, error))
        return false;
    atomic_store(&reader->started, true);
    bool done = statement_prepare(reader->session, reader->sql, &statement, error);
    if (done) {
        done = database_session_execute(reader->session, statement.prepared, error);
        statement_drop(reader->session, &statement);
    }
    if (done && arrow_stream_from_session(&reader->session, &reader->stream, error))
        return true;
    database_session_leave(reader->session);
    return false;
}

static void *read_all(void *user)
{
    Reader *reader = user;
    struct ArrowArray batch;
    DatabaseError error;
    if (!start_reading(reader, &error)) {
        reader->status = EIO;
        snprintf(reader->words, sizeof reader->words, "%.100s", error.text);
        database_session_close(&reader->session);
        return NULL;
    }
    for (;;) {
        reader->status = reader->stream.get_next(&reader->stream, &batch);
        if (reader->status != 0) {
            snprintf(reader->words, sizeof reader->words, "%s",
                     reader->stream.get_last_error(&reader->stream));
            break;
        }
        if (batch.release == NULL)
            break;
        reader->rows += batch.length;
        batch.release(&batch);
    }
    reader->stream.release(&reader->stream);
    return NULL;
}

/* The store closes while other threads read, some of them inside a statement that would take
 * minutes; they end with EIO and the reason, and release on their own threads. */
static void test_close_while_reading(void **state)
{
    (void)state;
    static const char endless[] = "SELECT count(*) FROM range(100000000000) a";
    for (int round = 0; round < 3; round++) {
        Database *database = fixture_memory();
        enum { READERS = 6 };
        Reader readers[READERS];
        pthread_t threads[READERS];
        for (int i = 0; i < READERS; i++) {
            memset(&readers[i], 0, sizeof readers[i]);
            readers[i].sql = i % 2 == 0 ? "SELECT range FROM range(100000000000)" : endless;
            readers[i].session = database_session_open(database, NULL);
            assert_non_null(readers[i].session);
            assert_int_equal(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
        }
        for (int i = 0; round > 0 && i < READERS; i++) {
            while (!atomic_load(&readers[i].started))
                usleep(1000);
        }
        usleep((useconds_t)round * 30000);
        database_close(&database);
        for (int i = 0; i < READERS; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(readers[i].status, EIO);
            assert_string_equal(readers[i].words, CLOSED);
        }
    }
}

static void *release_it(void *user)
{
    struct ArrowArrayStream *stream = user;
    stream->release(stream);
    return NULL;
}

/* Released on another thread, while the store closes. */
static void test_release_elsewhere(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        Database *database = fixture_memory();
        struct ArrowArrayStream streams[4];
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            streams[i] = fixture_query(database, MANY);
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, release_it, &streams[i]), 0);
        database_close(&database);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
}

/* A drained or failed stream keeps no transaction: the table can be dropped and the file shrinks.
 */
static void test_gives_back(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    fixture_run(database, "CREATE TABLE t AS SELECT range AS i FROM range(10)");
    struct ArrowArrayStream stream = fixture_query(database, "SELECT i FROM t");
    struct ArrowArray batch = next(&stream);
    batch.release(&batch);
    assert_null(next(&stream).release);
    assert_true(fixture_number(database, "SELECT count::BIGINT FROM duckdb_connection_count()") ==
                1);
    stream.release(&stream);
    database_close(&database);
}

/* Each failing call: a stream that fails says so and can be released; the store goes on. */
static void test_faults(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    static const char *const sites[] = {"store.stream.fetch", "store.stream.convert"};
    for (size_t i = 0; i < 2; i++) {
        struct ArrowArrayStream stream = fixture_query(database, MANY);
        struct ArrowArray batch;
        char plan[64];
        snprintf(plan, sizeof plan, "%s:2", sites[i]);
        assert_true(fault_set_plan(plan));
        batch = next(&stream);
        check_many(&batch, 0);
        batch.release(&batch);
        assert_int_equal(stream.get_next(&stream, &batch), EIO);
        fault_set_plan(NULL);
        assert_non_null(stream.get_last_error(&stream));
        assert_int_equal(stream.get_next(&stream, &batch), EIO);
        stream.release(&stream);
    }
    struct ArrowArrayStream stream = fixture_query(database, MANY);
    for (int call = 1; call < 8; call++) {
        struct ArrowSchema schema;
        char plan[64];
        snprintf(plan, sizeof plan, "store.schema.alloc:%d", call);
        assert_true(fault_set_plan(plan));
        int status = stream.get_schema(&stream, &schema);
        bool injected = fault_injected() > 0;
        fault_set_plan(NULL);
        assert_int_equal(status, injected ? ENOMEM : 0);
        if (status == 0)
            schema.release(&schema);
        else
            assert_non_null(stream.get_last_error(&stream));
    }
    struct ArrowArray batch = next(&stream);
    check_many(&batch, 0);
    batch.release(&batch);
    stream.release(&stream);
    database_close(&database);
}

/* A schema with metadata, a dictionary and children is copied whole. */
static void test_schema_copy(void **state)
{
    (void)state;
    char metadata[4 + 4 + 3 + 4 + 5];
    const int32_t numbers[] = {1, 3, 5};
    memcpy(metadata, &numbers[0], 4);
    memcpy(metadata + 4, &numbers[1], 4);
    memcpy(metadata + 8, "key", 3);
    memcpy(metadata + 11, &numbers[2], 4);
    memcpy(metadata + 15, "va\0ue", 5);
    struct ArrowSchema words = {.format = "u"};
    struct ArrowSchema child = {
        .format = "i", .name = "c", .metadata = metadata, .flags = 2, .dictionary = &words};
    struct ArrowSchema *children[] = {&child};
    struct ArrowSchema from = {.format = "+s", .n_children = 1, .children = children};
    struct ArrowSchema copy;
    assert_true(arrow_schema_copy(&from, &copy));
    assert_null(copy.name);
    assert_string_equal(copy.children[0]->name, "c");
    assert_int_equal(copy.children[0]->flags, 2);
    assert_memory_equal(copy.children[0]->metadata, metadata, sizeof metadata);
    assert_string_equal(copy.children[0]->dictionary->format, "u");
    copy.release(&copy);
    assert_null(copy.release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_after_next_query),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_close_first),
        cmocka_unit_test(test_close_while_reading),
        cmocka_unit_test(test_release_elsewhere),
        cmocka_unit_test(test_gives_back),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_schema_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
