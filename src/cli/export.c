/* cli/export.c: `caliper export FILE [RUN...]`: what runs logged, as Parquet or CSV. First thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/printable.h"
#include "core/log.h"
#include "core/paths.h"
#include "store/metrics/export.h"

/* The caller's; NULL after a line, and *status. */
static char *statement(const CliOptions *options, int *status)
{
    const char *table = options->table != NULL ? options->table : "scalars";
    uint32_t count = options->word_count > 1 ? (uint32_t)options->word_count - 1 : 0;
    uint64_t *runs = calloc(count + 1, sizeof *runs);
    char *sql = NULL;
    for (uint32_t i = 0; runs != NULL && i < count; i++) {
        const char *word = options->words[i + 1];
        char *end = NULL;
        errno = 0;
        runs[i] = strtoull(word, &end, 10);
        if (word[0] < '0' || word[0] > '9' || *end != '\0' || errno != 0 || runs[i] > INT64_MAX) {
            *status = cli_usage("export: given \"%s\", wanted the number of a run", word);
            free(runs);
            return NULL;
        }
    }
    if (runs != NULL)
        sql = metrics_export_sql(table, runs, count);
    if (sql == NULL)
        *status = cli_failed("export: no memory");
    free(runs);
    return sql;
}

static int write_rows(const CliOptions *options, MetricsStore *store, const char *sql)
{
    DatabaseError error = {.text = ""};
    if (!metrics_export(store, sql, options->words[0], options->force, &error))
        return cli_failed("export: %s", error.text);
    printable_print(stdout, "%s\n", options->words[0]);
    return 0;
}

int cli_export(CliOptions *options)
{
    const char *reason = NULL;
    const char *path = options->words[0];
    if (options->word_count == 0)
        return cli_usage("export wants a file, and the numbers of runs or none for all");
    if (!metrics_export_is_name(path))
        return cli_usage("export: given \"%s\", wanted a name that ends in .parquet or .csv", path);
    if (!options->force && access(path, F_OK) == 0)
        return cli_failed("export: %s is there already; --force replaces it", path);
    if (!duckdb_api_present(&reason))
        return cli_failed("export: %s", reason);
    if (!options->has_log_level && getenv("CALIPER_LOG") == NULL)
        log_set_threshold("error"); /* what goes wrong is said in one line here */
    int status = 1;
    char *sql = statement(options, &status);
    if (sql == NULL)
        return status;
    char *root = paths_data_root(options->shell.data_dir);
    MetricsStore *store =
        root != NULL ? metrics_store_create(&(MetricsParams){.struct_size = sizeof(MetricsParams),
                                                             .data_root = root})
                     : NULL;
    status = store != NULL ? write_rows(options, store, sql) : 1;
    metrics_store_destroy(&store);
    free(root);
    free(sql);
    return status;
}
