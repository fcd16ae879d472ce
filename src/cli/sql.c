/* cli/sql.c: `caliper sql "..."`: one statement on data.duckdb, or a SELECT on what runs logged,
 * and its result as a table, CSV or JSON. First thread. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/sql_print.h"
#include "core/log.h"
#include "core/paths.h"
#include "store/data/data_store.h"
#include "store/metrics/metrics_store.h"
#include "store/owner_lock.h"

/* DuckDB's words in one line: without the excerpt of the statement that it puts below. */
static void one_line(char *text)
{
    char *excerpt = strstr(text, "\n\nLINE ");
    if (excerpt != NULL)
        *excerpt = '\0';
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        bool blank = *from == '\n' || *from == '\r';
        if (!blank)
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

/* One line on standard error; status 1. */
static int failed(const char *words)
{
    DatabaseError line;
    database_error_set(&line, 0, "%s", words);
    one_line(line.text);
    return cli_failed("%s", line.text);
}

static int print_stream(const CliOptions *options, struct ArrowArrayStream *stream)
{
    SqlFormat format = options->csv    ? SQL_FORMAT_CSV
                       : options->json ? SQL_FORMAT_JSON
                                       : SQL_FORMAT_TABLE;
    int status = 0;
    if (!sql_print(stream, format, stdout)) {
        const char *words = stream->get_last_error(stream);
        bool written = fflush(stdout) == 0 && !ferror(stdout);
        /* That standard output took no more is said by whoever called the subcommand. */
        if (words != NULL || written)
            status = failed(words != NULL ? words : "no memory for the result");
        else
            status = 1;
    }
    stream->release(stream);
    return status;
}

static int ask_data(const CliOptions *options, const char *root, const char *sql)
{
    struct ArrowArrayStream stream;
    DatabaseError error;
    int status = 1;
    DataStore *store = data_store_create(root);
    if (store == NULL)
        return failed("no memory for the store");
    if (data_store_query(store, "", sql, &stream, &error))
        status = print_stream(options, &stream);
    else
        failed(error.text);
    data_store_destroy(&store);
    return status;
}

/* Whose rows these are, when another process has the data root. */
static void say_age(const char *root)
{
    OwnerInfo owner = {.pid = 0};
    struct stat status;
    char *path = paths_join(root, "metrics.snapshot.duckdb");
    if (path != NULL && stat(path, &status) == 0 && owner_lock_is_held(root, &owner))
        fprintf(stderr,
                "caliper: process %" PRId64 " has the data root: this is its snapshot of %" PRId64
                " s ago\n",
                owner.pid, (int64_t)(time(NULL) - status.st_mtime));
    free(path);
}

static int ask_metrics(const CliOptions *options, const char *root, const char *sql)
{
    const MetricsParams params = {.struct_size = sizeof params, .data_root = root};
    struct ArrowArrayStream stream;
    int status = 1;
    MetricsStore *store = metrics_store_create(&params);
    if (store == NULL)
        return 1;
    if (metrics_store_query(store, sql, &stream)) {
        MetricsStatus now;
        metrics_store_status(store, &now);
        if (now.mode != METRICS_MODE_OWNER)
            say_age(root);
        status = print_stream(options, &stream);
    } else {
        failed(metrics_store_last_error());
    }
    metrics_store_destroy(&store);
    return status;
}

/* All of standard input; malloc'ed. NULL after one line. */
static char *read_input(void)
{
    TextBuffer text = {.bytes = NULL};
    char part[4096];
    size_t got;
    text_buffer_add(&text, "", 0);
    while ((got = fread(part, 1, sizeof part, stdin)) > 0 && !text.failed)
        text_buffer_add(&text, part, got);
    if (!text.failed && !ferror(stdin) && memchr(text.bytes, '\0', text.length) == NULL)
        return text.bytes;
    cli_failed("standard input cannot be read as SQL: %s", ferror(stdin) ? strerror(errno)
                                                           : text.failed
                                                               ? "no memory"
                                                               : "there is a zero byte in it");
    free(text.bytes);
    return NULL;
}

int cli_sql(CliOptions *options)
{
    const char *reason = NULL;
    if (options->word_count != 1)
        return cli_usage("sql wants one statement as one argument, or - for standard input");
    if (options->csv && options->json)
        return cli_usage("sql takes one of --csv and --json");
    if (!duckdb_api_present(&reason))
        return failed(reason);
    /* What goes wrong is said in one line here. */
    if (!options->has_log_level && getenv("CALIPER_LOG") == NULL)
        log_set_threshold("error");
    char *input = NULL;
    const char *sql = options->words[0];
    if (strcmp(sql, "-") == 0) {
        input = read_input();
        if (input == NULL)
            return 1;
        sql = input;
    }
    char *root = paths_data_root(options->shell.data_dir);
    int status = root == NULL       ? 1
                 : options->metrics ? ask_metrics(options, root, sql)
                                    : ask_data(options, root, sql);
    free(root);
    free(input);
    return status;
}
