/* Ending a statement from another thread: while it executes, while its stream is read, before it
 * began; and what is asked afterwards goes on. Run under ASan and TSan too. */
#include "database_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "store/database/select_guard.h"

/* One of them executes for hours, the other streams as long. */
#define EXECUTES "SELECT sum(hash(a.range, b.range)) FROM range(10000000) a, range(10000000) b"
#define STREAMS  "SELECT a.range, b.range FROM range(10000000) a, range(10000000) b"

typedef struct Asked {
    Database *database;
    DatabaseStop *stop;
    const char *sql;
    atomic_bool begun, ended;
    bool answered;
    int status; /* of get_next */
    DatabaseError error;
    char stream_error[256];
} Asked;

static void *work(void *user)
{
    Asked *asked = user;
    struct ArrowArrayStream stream;
    database_stop_watch(asked->stop);
    atomic_store(&asked->begun, true);
    asked->answered = select_guard_query(asked->database, asked->sql, &stream, &asked->error);
    while (asked->answered && asked->status == 0) {
        struct ArrowArray batch = {.release = NULL};
        asked->status = stream.get_next(&stream, &batch);
        if (batch.release == NULL)
            break;
        batch.release(&batch);
    }
    if (asked->answered) {
        const char *words = stream.get_last_error(&stream);
        snprintf(asked->stream_error, sizeof asked->stream_error, "%s", words != NULL ? words : "");
        stream.release(&stream);
    }
    database_stop_watch(NULL);
    atomic_store(&asked->ended, true);
    return NULL;
}

/* Asks until it ended: an interrupt between two statements is lost. */
static void end_it(Asked *asked)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, asked), 0);
    while (!atomic_load(&asked->begun))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    while (!atomic_load(&asked->ended)) {
        database_stop_ask(asked->stop);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    pthread_join(thread, NULL);
}

static void check_works(Database *database)
{
    struct ArrowArrayStream stream = fixture_query(database, "SELECT 7 AS seven");
    struct ArrowArray batch = {.release = NULL};
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_true(((const int32_t *)batch.children[0]->buffers[1])[0] == 7);
    batch.release(&batch);
    stream.release(&stream);
}

static void test_statement(void **state)
{
    (void)state;
    Asked asked = {.database = fixture_memory(), .stop = database_stop_create(), .sql = EXECUTES};
    assert_non_null(asked.stop);
    end_it(&asked);
    const char *words = asked.answered ? asked.stream_error : asked.error.text;
    assert_string_equal(words, DATABASE_STOPPED_TEXT);
    check_works(asked.database);
    database_stop_destroy(&asked.stop);
    assert_null(asked.stop);
    database_close(&asked.database);
}

static void test_stream(void **state)
{
    (void)state;
    Asked asked = {.database = fixture_memory(), .stop = database_stop_create(), .sql = STREAMS};
    end_it(&asked);
    if (asked.answered) {
        assert_int_equal(asked.status, EIO);
        assert_string_equal(asked.stream_error, DATABASE_STOPPED_TEXT);
    } else {
        assert_string_equal(asked.error.text, DATABASE_STOPPED_TEXT);
    }
    check_works(asked.database);
    database_stop_destroy(&asked.stop);
    database_close(&asked.database);
}

/* Asked before: nothing begins, until the thread watches anew. */
static void test_before(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    DatabaseStop *stop = database_stop_create();
    struct ArrowArrayStream stream;
    DatabaseError error = {0};
    database_stop_watch(stop);
    database_stop_ask(stop);
    assert_false(select_guard_query(database, "SELECT 1", &stream, &error));
    assert_int_equal(error.kind, DUCKDB_ERROR_KIND_INTERRUPT);
    assert_string_equal(error.text, DATABASE_STOPPED_TEXT);
    database_stop_watch(stop);
    check_works(database);
    database_stop_watch(NULL);
    database_stop_ask(stop); /* nobody is watched */
    check_works(database);
    database_stop_destroy(&stop);
    database_stop_destroy(&stop);
    database_close(&database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statement),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
