/* cli/export.c: `caliper export FILE [RUN...]`: what runs logged, as Parquet or CSV.
 *
 * The store's database is locked against writing files, so the rows stream through Arrow into a
 * second one in memory, which writes the file beside its place and renames it. First thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/printable.h"
#include "core/log.h"
#include "core/paths.h"
#include "store/data/data_store.h"
#include "store/metrics/metrics_store.h"

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), wanted = strlen(ending);
    return length > wanted && strcmp(text + length - wanted, ending) == 0;
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
    return "SELECT r.id AS run, r.experiment, r.name, s.tag, s.step, s.value, s.seq, s.wall_time "
           "FROM scalars s JOIN runs r ON r.id = s.run";
}

/* The caller's; NULL after a usage line. */
static char *statement(const CliOptions *options)
{
    const char *table = options->table != NULL ? options->table : "scalars";
    size_t size = 1024 + (size_t)options->word_count * 24;
    char *sql = malloc(size);
    int at = 0;
    if (sql == NULL) {
        cli_failed("export: no memory");
        return NULL;
    }
    at = snprintf(sql, size, "%s WHERE r.id NOT IN (SELECT run FROM deleted_runs)",
                  select_of(table));
    for (int32_t i = 1; i < options->word_count; i++) {
        char *end = NULL;
        errno = 0;
        unsigned long long run = strtoull(options->words[i], &end, 10);
        if (options->words[i][0] < '0' || options->words[i][0] > '9' || *end != '\0' ||
            errno != 0 || run > INT64_MAX) {
            cli_usage("export: given \"%s\", wanted the number of a run", options->words[i]);
            free(sql);
            return NULL;
        }
        at += snprintf(sql + at, size - (size_t)at, "%s%llu", i == 1 ? " AND r.id IN (" : ",", run);
    }
    snprintf(sql + at, size - (size_t)at, "%s ORDER BY %s", options->word_count > 1 ? ")" : "",
             strcmp(table, "runs") == 0 ? "r.id" : "s.seq");
    return sql;
}

/* The rows, lent to DuckDB, which forgets to release the schemas that it asks a stream for: each is
 * the one that we keep. */
typedef struct Lent {
    struct ArrowArrayStream *from;
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
    const Lent *lent = stream->private_data;
    return lent->from->get_next(lent->from, out);
}

static const char *lent_error(struct ArrowArrayStream *stream)
{
    const Lent *lent = stream->private_data;
    return lent->from->get_last_error(lent->from);
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

/* Durable before it has its name. */
static bool put_in_place(const char *part, const char *path)
{
    int fd = open(part, O_RDONLY | O_CLOEXEC);
    bool kept = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return kept && rename(part, path) == 0;
}

static int write_rows(const CliOptions *options, MetricsStore *store, const char *sql)
{
    const char *path = options->words[0];
    struct ArrowArrayStream stream;
    DatabaseError error = {.text = ""};
    size_t size = strlen(path) + 32;
    char *part = malloc(size);
    int status = 1;
    if (part == NULL)
        return cli_failed("export: no memory");
    snprintf(part, size, "%s.part-%ld", path, (long)getpid());
    if (!metrics_store_query(store, sql, &stream)) {
        status = cli_failed("export: %s", metrics_store_last_error());
        free(part);
        return status;
    }
    Lent lent = {.from = &stream};
    struct ArrowArrayStream given = {.get_schema = lent_schema,
                                     .get_next = lent_next,
                                     .get_last_error = lent_error,
                                     .release = lent_release,
                                     .private_data = &lent};
    bool copied = false;
    if (stream.get_schema(&stream, &lent.schema) != 0)
        database_error_set(&error, 0, "no memory");
    else
        copied = copy(&given, part, ends_with(path, ".csv"), &error);
    if (lent.schema.release != NULL)
        lent.schema.release(&lent.schema);
    if (stream.release != NULL)
        stream.release(&stream);
    if (!copied)
        cli_failed("export: %s", error.text);
    else if (!put_in_place(part, path))
        cli_failed("export: %s: %s", path, strerror(errno));
    else
        status = 0;
    if (status != 0)
        unlink(part);
    else
        printable_print(stdout, "%s\n", path);
    free(part);
    return status;
}

int cli_export(CliOptions *options)
{
    const char *reason = NULL;
    const char *path = options->words[0];
    if (options->word_count == 0)
        return cli_usage("export wants a file, and the numbers of runs or none for all");
    if (!ends_with(path, ".parquet") && !ends_with(path, ".csv"))
        return cli_usage("export: given \"%s\", wanted a name that ends in .parquet or .csv", path);
    if (!options->force && access(path, F_OK) == 0)
        return cli_failed("export: %s is there already; --force replaces it", path);
    if (!duckdb_api_present(&reason))
        return cli_failed("export: %s", reason);
    if (!options->has_log_level && getenv("CALIPER_LOG") == NULL)
        log_set_threshold("error"); /* what goes wrong is said in one line here */
    char *sql = statement(options);
    if (sql == NULL)
        return CLI_USAGE;
    char *root = paths_data_root(options->shell.data_dir);
    MetricsStore *store =
        root != NULL ? metrics_store_create(&(MetricsParams){.struct_size = sizeof(MetricsParams),
                                                             .data_root = root})
                     : NULL;
    int status = store != NULL ? write_rows(options, store, sql) : 1;
    metrics_store_destroy(&store);
    free(root);
    free(sql);
    return status;
}
