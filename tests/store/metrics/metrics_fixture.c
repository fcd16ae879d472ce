#include "metrics_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "store/database/database.h"
#include "store/owner_lock.h"

char fixture_folder[256];

void fixture_root(char out[256])
{
    assert_true(store_folder_make(out, 256, "metrics", false));
}

int fixture_set_up(void **state)
{
    (void)state;
    fault_set_plan(NULL);
    fixture_root(fixture_folder);
    fixture_log_start();
    return 0;
}

int fixture_tear_down(void **state)
{
    (void)state;
    fault_set_plan(NULL);
    fixture_log_stop();
    store_folder_remove(fixture_folder);
    return 0;
}

pid_t fixture_owner_start(const char *root)
{
    int gate[2];
    char held = 0;
    assert_int_equal(pipe(gate), 0);
    pid_t owner = fork();
    if (owner == 0) {
        OwnerLock *lock = NULL;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        held = owner_lock_take(root, &lock, NULL) == OWNER_STATE_HELD ? 1 : 0;
        (void)!write(gate[1], &held, 1);
        for (;;)
            pause();
    }
    assert_true(owner > 0);
    assert_int_equal(read(gate[0], &held, 1), 1);
    assert_int_equal(held, 1);
    close(gate[0]);
    close(gate[1]);
    return owner;
}

void fixture_owner_end(pid_t owner)
{
    kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);
}

const char *fixture_path(const char *root, const char *name)
{
    static char paths[8][512];
    static atomic_uint next;
    char *path = paths[atomic_fetch_add(&next, 1) % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

bool fixture_exists(const char *root, const char *name)
{
    return access(fixture_path(root, name), F_OK) == 0;
}

void fixture_write(const char *root, const char *name, const void *bytes, size_t length)
{
    int fd = open(fixture_path(root, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
}

/* ---- Log ---- */

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t counts[LOG_ITEM_COUNT];
static char texts[LOG_ITEM_COUNT][512];
static int sink;

static void count_line(void *user, const LogEntry *entry)
{
    (void)user;
    pthread_mutex_lock(&log_mutex);
    counts[entry->item]++;
    snprintf(texts[entry->item], sizeof texts[0], "%s", entry->text);
    pthread_mutex_unlock(&log_mutex);
}

void fixture_log_start(void)
{
    log_stderr_enable(getenv("TEST_VERBOSE") != NULL);
    pthread_mutex_lock(&log_mutex);
    memset(counts, 0, sizeof counts);
    memset(texts, 0, sizeof texts);
    pthread_mutex_unlock(&log_mutex);
    if (sink == 0)
        sink = log_sink_add(count_line, NULL);
}

void fixture_log_stop(void)
{
    if (sink != 0)
        log_sink_remove(sink);
    sink = 0;
}

uint32_t fixture_log_count(LogItem item)
{
    pthread_mutex_lock(&log_mutex);
    uint32_t count = counts[item];
    pthread_mutex_unlock(&log_mutex);
    return count;
}

const char *fixture_log_text(LogItem item)
{
    return texts[item];
}

MetricsStore *fixture_store(const char *root)
{
    MetricsStore *store = metrics_store_create(
        &(MetricsParams){.struct_size = sizeof(MetricsParams), .data_root = root});
    assert_non_null(store);
    return store;
}

/* ---- The database at rest ---- */

typedef struct Value {
    DuckdbType type;
    bool is_null;
    int64_t number;
    double real;
    char text[4096];
} Value;

static void read_value(const DuckdbApi *api, DuckdbResult *result, Value *out)
{
    memset(out, 0, sizeof *out);
    out->is_null = true;
    out->type = api->column_type(result, 0);
    DuckdbDataChunk chunk = api->fetch_chunk(*result);
    if (chunk == NULL)
        return;
    DuckdbVector vector = api->data_chunk_get_vector(chunk, 0);
    const void *data = api->vector_get_data(vector);
    out->is_null = api->data_chunk_get_size(chunk) == 0 ||
                   !duckdb_row_is_valid(api->vector_get_validity(vector), 0);
    if (!out->is_null && out->type == DUCKDB_KIND_BIGINT) {
        out->number = *(const int64_t *)data;
    } else if (!out->is_null && out->type == DUCKDB_KIND_DOUBLE) {
        out->real = *(const double *)data;
    } else if (!out->is_null && out->type == DUCKDB_KIND_VARCHAR) {
        uint32_t length = 0;
        const char *text = duckdb_string_bytes(data, &length);
        snprintf(out->text, sizeof out->text, "%.*s", (int)length, text);
    }
    api->destroy_data_chunk(&chunk);
}

static void ask(const char *root, const char *sql, bool changes, Value *out)
{
    DatabaseError error = {0};
    DatabaseParams params = {.path = fixture_path(root, "metrics.duckdb"), .read_only = !changes};
    Database *database = database_open(&params, &error);
    if (database == NULL)
        fail_msg("%s: %s", sql, error.text);
    const DuckdbApi *api = database_api(database);
    DuckdbConnection connection = database_connect(database, &error);
    assert_non_null(connection);
    DuckdbResult result;
    if (api->query(connection, sql, &result) != DUCKDB_STATE_SUCCESS)
        fail_msg("%s: %s", sql, api->result_error(&result));
    if (out != NULL)
        read_value(api, &result, out);
    api->destroy_result(&result);
    api->disconnect(&connection);
    database_close(&database);
}

int64_t fixture_number(const char *root, const char *sql)
{
    Value value;
    ask(root, sql, false, &value);
    if (value.type != DUCKDB_KIND_BIGINT)
        fail_msg("%s: type %u, not BIGINT", sql, value.type);
    return value.is_null ? INT64_MIN : value.number;
}

double fixture_real(const char *root, const char *sql)
{
    Value value;
    ask(root, sql, false, &value);
    assert_int_equal(value.type, DUCKDB_KIND_DOUBLE);
    return value.is_null ? NAN : value.real;
}

const char *fixture_text(const char *root, const char *sql)
{
    static Value value;
    ask(root, sql, false, &value);
    assert_int_equal(value.type, DUCKDB_KIND_VARCHAR);
    return value.is_null ? "NULL" : value.text;
}

void fixture_run(const char *root, const char *sql)
{
    ask(root, sql, true, NULL);
}

int64_t fixture_query(MetricsStore *store, const char *sql)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    if (!metrics_store_query(store, sql, &stream))
        fail_msg("%s: %s", sql, metrics_store_last_error());
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_non_null(batch.release);
    assert_int_equal(batch.length, 1);
    int64_t number = ((const int64_t *)batch.children[0]->buffers[1])[0];
    batch.release(&batch);
    stream.release(&stream);
    return number;
}

bool fixture_long(void)
{
    const char *text = getenv("CALIPER_TEST_LONG");
    return text != NULL && strcmp(text, "1") == 0;
}
