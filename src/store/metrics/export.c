/* What runs logged as a Parquet or CSV file; see export.h. The store's database is locked against
 * writing files, so the rows stream through Arrow into a second one in memory, which writes the
 * file beside its place. */
#include "store/metrics/export.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/data/data_store.h"

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), wanted = strlen(ending);
    return length > wanted && strcmp(text + length - wanted, ending) == 0;
}

bool metrics_export_is_name(const char *path)
{
    return ends_with(path, ".parquet") || ends_with(path, ".csv");
}

static const char *select_of(const char *table)
{
    if (strcmp(table, "runs") == 0)
        return "SELECT r.id AS run, r.experiment, r.name, r.done, r.hparams, r.started_at, "
               "r.ended_at FROM runs r";
    if (strcmp(table, "histograms") == 0)
        return "SELECT r.id AS run, r.experiment, r.name, s.tag, s.step, s.count, s.data, s.seq, "
               "s.wall_time FROM histograms s JOIN runs r ON r.id = s.run";
    if (strcmp(table, "images") == 0)
        return "SELECT r.id AS run, r.experiment, r.name, s.tag, s.step, s.w, s.h, s.c, s.data, "
               "s.seq, s.wall_time FROM images s JOIN runs r ON r.id = s.run";
    if (strcmp(table, "texts") == 0)
        return "SELECT r.id AS run, r.experiment, r.name, s.tag, s.step, s.value, s.seq, "
               "s.wall_time FROM texts s JOIN runs r ON r.id = s.run";
    return "SELECT r.id AS run, r.experiment, r.name, s.tag, s.step, s.value, s.seq, s.wall_time "
           "FROM scalars s JOIN runs r ON r.id = s.run";
}

char *metrics_export_sql(const char *table, const uint64_t *runs, uint32_t run_count)
{
    size_t size = 1024 + (size_t)run_count * 24;
    char *sql = malloc(size);
    if (sql == NULL)
        return NULL;
    int at = snprintf(sql, size, "%s WHERE r.id NOT IN (SELECT run FROM deleted_runs)",
                      select_of(table));
    for (uint32_t i = 0; i < run_count; i++)
        at += snprintf(sql + at, size - (size_t)at, "%s%llu", i == 0 ? " AND r.id IN (" : ",",
                       (unsigned long long)runs[i]);
    snprintf(sql + at, size - (size_t)at, "%s ORDER BY %s", run_count > 0 ? ")" : "",
             strcmp(table, "runs") == 0 ? "r.id" : "s.seq");
    return sql;
}

/* The rows, lent to DuckDB, which asks from any of its threads, and forgets to release the schemas
 * that it asks a stream for: each is the one that we keep. */
typedef struct Lent {
    struct ArrowArrayStream *from;
    pthread_mutex_t mutex; /* one thread at a time in `from`, which knows of no threads */
    struct ArrowSchema schema;
} Lent;

static void schema_goes_back(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static int lent_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const Lent *lent = stream->private_data;
    *out = lent->schema;
    out->release = schema_goes_back;
    return 0;
}

static int lent_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    Lent *lent = stream->private_data;
    pthread_mutex_lock(&lent->mutex);
    int status = lent->from->get_next(lent->from, out);
    pthread_mutex_unlock(&lent->mutex);
    return status;
}

static const char *lent_error(struct ArrowArrayStream *stream)
{
    Lent *lent = stream->private_data;
    pthread_mutex_lock(&lent->mutex);
    const char *text = lent->from->get_last_error(lent->from);
    pthread_mutex_unlock(&lent->mutex);
    return text;
}

static void lent_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

/* COPY to `part`, from the stream. */
static bool copy(struct ArrowArrayStream *stream, const char *part, bool csv, DatabaseError *error)
{
    bool done = false;
    char *quoted = dataset_quote(part, '\'');
    size_t size = quoted != NULL ? strlen(quoted) + 128 : 0;
    char *sql = malloc(size + 1);
    Database *memory = database_open(
        &(DatabaseParams){.external_access = true,
                          .settings =
                              (const char *const[]){"preserve_insertion_order", "true", NULL}},
        error);
    DuckdbConnection connection = memory != NULL ? database_connect(memory, error) : NULL;
    if (quoted == NULL || sql == NULL) {
        database_error_set(error, 0, "no memory");
    } else if (connection != NULL) {
        const DuckdbApi *api = database_api(memory);
        snprintf(sql, size, "COPY (SELECT * FROM logged) TO %s (%s)", quoted,
                 csv ? "FORMAT csv, HEADER" : "FORMAT parquet, COMPRESSION zstd");
        if (api->arrow_scan == NULL ||
            api->arrow_scan(connection, "logged", (DuckdbArrowStream)stream) !=
                DUCKDB_STATE_SUCCESS)
            database_error_set(error, 0, "the rows cannot be read as a table");
        else
            done = database_run(api, connection, sql, error);
        api->disconnect(&connection);
    }
    database_close(&memory);
    free(sql);
    free(quoted);
    return done;
}

/* False and errno: EEXIST where something is there that is not to be replaced. */
static bool give_name(const char *part, const char *path, bool replaces)
{
    if (replaces)
        return rename(part, path) == 0;
    if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    /* A file system without it. */
    if (access(path, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(part, path) == 0;
}

/* Durable before it has its name. */
static bool put_in_place(const char *part, const char *path, bool replaces)
{
    int fd = open(part, O_RDONLY | O_CLOEXEC);
    bool kept = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return kept && give_name(part, path, replaces);
}

bool metrics_export(MetricsStore *store, const char *sql, const char *path, bool replaces,
                    DatabaseError *error)
{
    static atomic_uint count; /* two exports of one process have files of their own */
    struct ArrowArrayStream stream;
    size_t size = strlen(path) + 48;
    char *part = malloc(size);
    database_error_set(error, 0, "no memory");
    if (part == NULL)
        return false;
    snprintf(part, size, "%s.part-%ld-%u", path, (long)getpid(), atomic_fetch_add(&count, 1));
    if (!metrics_store_query(store, sql, &stream)) {
        database_error_set(error, 0, "%s", metrics_store_last_error());
        free(part);
        return false;
    }
    Lent lent = {.from = &stream, .mutex = PTHREAD_MUTEX_INITIALIZER};
    struct ArrowArrayStream given = {.get_schema = lent_schema,
                                     .get_next = lent_next,
                                     .get_last_error = lent_error,
                                     .release = lent_release,
                                     .private_data = &lent};
    bool done = stream.get_schema(&stream, &lent.schema) == 0;
    if (!done)
        database_error_set(error, 0, "the columns cannot be read");
    done = done && copy(&given, part, ends_with(path, ".csv"), error);
    if (lent.schema.release != NULL)
        lent.schema.release(&lent.schema);
    if (stream.release != NULL)
        stream.release(&stream);
    if (done && !put_in_place(part, path, replaces)) {
        database_error_set(error, 0, "%s: %s", path, strerror(errno));
        done = false;
    }
    if (!done)
        unlink(part);
    free(part);
    return done;
}
