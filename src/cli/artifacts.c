/* cli/artifacts.c: `caliper artifacts list|verify|gc|rebuild|export`: work on the blob store
 * without a host; one may be running. First thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/artifacts_export.h"
#include "cli/artifacts_report.h"
#include "cli/cli.h"
#include "cli/printable.h"
#include "core/paths.h"
#include "store/artifacts/artifact_store.h"

static const char *const finding_words[] = {"missing",    "length",  "damaged",
                                            "unreadable", "unnamed", "temporary"};

/* "2026-12-02T10:23:34Z" */
static void time_text(int64_t created_us, char out[24])
{
    time_t seconds = (time_t)(created_us / 1000000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm) == NULL || strftime(out, 24, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        out[0] = '\0';
}

/* ---- list ---- */

static void print_row(const ArtifactRow *row, bool is_there)
{
    static char name[ARTIFACT_NAME_TEXT_BYTES];
    char created[24], size[ARTIFACTS_SIZE_TEXT_BYTES], run[32] = "-";
    time_text(row->created_us, created);
    artifact_name_text(row->name, name);
    if (row->run != 0)
        snprintf(run, sizeof run, "%llu", (unsigned long long)row->run);
    printf("%s  %10s  %6s  %.12s  %s%s\n", created, artifacts_size_text(row->size_bytes, size), run,
           row->digest, name, is_there ? "" : "  (missing)");
}

static void print_row_json(const ArtifactRow *row, bool is_there)
{
    char created[24];
    time_text(row->created_us, created);
    printf("{\"digest\": \"%s\", \"name\": ", row->digest);
    artifacts_print_json_string(row->name);
    printf(", \"run\": %llu, \"size_bytes\": %llu, \"created\": \"%s\", \"there\": %s}",
           (unsigned long long)row->run, (unsigned long long)row->size_bytes, created,
           is_there ? "true" : "false");
}

static int list(ArtifactStore *store, const CliOptions *options)
{
    ArtifactList rows;
    ArtifactQuery query = {.filter = options->has_run ? ARTIFACT_FILTER_RUN : ARTIFACT_FILTER_ALL,
                           .run = options->run};
    if (!artifact_store_list(store, &query, &rows))
        return 1;
    if (options->json)
        fputs("[", stdout);
    else if (rows.count > 0)
        printf("%-20s  %10s  %6s  %-12s  %s\n", "created", "size", "run", "digest", "name");
    for (size_t i = 0; i < rows.count; i++) {
        bool is_there = artifact_store_row_is_there(store, &rows.rows[i]);
        if (options->json) {
            fputs(i > 0 ? ",\n " : "", stdout);
            print_row_json(&rows.rows[i], is_there);
        } else {
            print_row(&rows.rows[i], is_there);
        }
    }
    if (options->json)
        puts("]");
    artifact_list_free(&rows);
    return 0;
}

/* ---- What verify, gc and rebuild share ---- */

typedef struct Report {
    bool json;
    bool quiet_extras; /* verify: blobs without a line and temporaries are counted only */
    uint64_t printed;
} Report;

static void print_finding(void *user, const ArtifactFinding *finding)
{
    static char name[ARTIFACT_NAME_TEXT_BYTES];
    Report *report = user;
    if (report->quiet_extras && finding->kind >= ARTIFACT_FINDING_UNNAMED)
        return;
    if (report->json) {
        printf("%s{\"kind\": \"%s\", \"digest\": \"%s\", \"name\": ",
               report->printed > 0 ? ",\n  " : "", finding_words[finding->kind], finding->digest);
        artifacts_print_json_string(finding->name);
        fputs(", \"path\": ", stdout);
        artifacts_print_json_string(finding->path);
        printf(", \"size_bytes\": %llu, \"detail\": ", (unsigned long long)finding->size_bytes);
        artifacts_print_json_string(finding->detail);
        fputs("}", stdout);
    } else {
        artifact_name_text(finding->name, name);
        printable_print(stdout, "%-10s %s%s%s%s: %s\n", finding_words[finding->kind],
                        finding->digest[0] != '\0' ? finding->digest : finding->path,
                        name[0] != '\0' ? " \"" : "", name, name[0] != '\0' ? "\"" : "",
                        finding->detail);
    }
    report->printed++;
}

static void print_progress(void *user, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)user;
    artifacts_report_progress(done_bytes, total_bytes);
}

static bool is_interrupted(void *user)
{
    (void)user;
    return artifacts_report_interrupted();
}

static void print_number(const char *name, uint64_t value)
{
    printf(", \"%s\": %llu", name, (unsigned long long)value);
}

static void print_summary_json(const ArtifactSummary *summary, bool done)
{
    printf("],\n \"done\": %s", done && !summary->stopped ? "true" : "false");
    print_number("rows", summary->rows);
    print_number("blobs", summary->blobs);
    print_number("checked_bytes", summary->checked_bytes);
    print_number("bad", summary->bad);
    print_number("unnamed", summary->unnamed);
    print_number("unnamed_bytes", summary->unnamed_bytes);
    print_number("temporaries", summary->temporaries);
    print_number("live", summary->live);
    print_number("removed", summary->removed);
    print_number("removed_bytes", summary->removed_bytes);
    print_number("added", summary->added);
    print_number("damaged_lines", summary->damaged_lines);
    puts("}");
}

static void print_damaged_lines(const ArtifactSummary *summary)
{
    if (summary->damaged_lines > 0)
        printf("index.log has %llu lines that cannot be read, the first is line %llu;"
               " caliper artifacts rebuild mends it\n",
               (unsigned long long)summary->damaged_lines, (unsigned long long)summary->at_line);
}

static void print_verify(const ArtifactSummary *summary)
{
    char size[ARTIFACTS_SIZE_TEXT_BYTES];
    printf("%llu blobs of %llu rows read, %s: %llu bad\n", (unsigned long long)summary->blobs,
           (unsigned long long)summary->rows, artifacts_size_text(summary->checked_bytes, size),
           (unsigned long long)summary->bad);
    if (summary->unnamed > 0 || summary->temporaries > 0)
        printf("%llu blobs (%s) that no row names and %llu temporaries of puts that did not end;"
               " caliper artifacts gc removes them\n",
               (unsigned long long)summary->unnamed,
               artifacts_size_text(summary->unnamed_bytes, size),
               (unsigned long long)summary->temporaries);
}

static void print_gc(const ArtifactSummary *summary, bool dry_run)
{
    char size[ARTIFACTS_SIZE_TEXT_BYTES];
    printf("%s %llu files, %s\n", dry_run ? "would remove" : "removed",
           (unsigned long long)summary->removed, artifacts_size_text(summary->removed_bytes, size));
    if (summary->damaged_lines > 0 && summary->unnamed > 0)
        printf("%llu blobs that no row names are kept: a damaged line may have named them\n",
               (unsigned long long)summary->unnamed);
}

static int work(ArtifactStore *store, const CliOptions *options, const char *what)
{
    Report report = {.json = options->json, .quiet_extras = strcmp(what, "verify") == 0};
    ArtifactWork talk = {.finding = print_finding,
                         .progress = print_progress,
                         .stop = is_interrupted,
                         .user = &report};
    ArtifactSummary summary = {0};
    bool is_gc = strcmp(what, "gc") == 0, is_verify = report.quiet_extras, done;
    artifacts_report_begin(what);
    if (options->json)
        fputs("{\"findings\": [", stdout);
    if (is_gc)
        done = artifact_store_gc(store, options->dry_run, &talk, &summary);
    else if (is_verify)
        done = artifact_store_verify(store, &talk, &summary);
    else
        done = artifact_store_rebuild(store, &talk, &summary);
    if (options->json) {
        print_summary_json(&summary, done);
    } else if (done) {
        if (is_gc)
            print_gc(&summary, options->dry_run);
        else if (is_verify)
            print_verify(&summary);
        else
            printf("%llu rows written, %llu blobs left out\n", (unsigned long long)summary.added,
                   (unsigned long long)summary.bad);
        if (is_gc || is_verify)
            print_damaged_lines(&summary);
    }
    artifacts_report_end();
    bool damaged = (is_verify && summary.damaged_lines > 0) ||
                   (is_gc && summary.damaged_lines > 0 && summary.unnamed > 0);
    return done && !summary.stopped && summary.bad == 0 && !damaged ? 0 : 1;
}

/* ---- The command ---- */

static int usage(const CliOptions *options)
{
    const char *word = options->word_count > 0 ? options->words[0] : "nothing";
    return cli_usage("artifacts: given %s with %d more names, wanted list, verify, gc, rebuild, or "
                     "export NAME|DIGEST FILE",
                     word, (int)(options->word_count > 0 ? options->word_count - 1 : 0));
}

int cli_artifacts(CliOptions *options)
{
    static const char *const words[] = {"list", "verify", "gc", "rebuild", "export"};
    size_t which = 0;
    const char *word = options->word_count > 0 ? options->words[0] : "";
    while (which < 5 && strcmp(word, words[which]) != 0)
        which++;
    if (which == 5 || options->word_count != (which == 4 ? 3 : 1))
        return usage(options);
    if ((options->dry_run && which != 2) || (options->has_run && which != 0))
        return cli_usage("artifacts %s takes no %s", word,
                         options->dry_run ? "--dry-run" : "--run");
    char *root = paths_data_root(options->shell.data_dir);
    ArtifactStore *store = root != NULL ? artifact_store_open(root) : NULL;
    free(root);
    if (store == NULL)
        return 1;
    int status = which == 0   ? list(store, options)
                 : which == 4 ? artifacts_export(store, options)
                              : work(store, options, word);
    artifact_store_close(&store);
    return status;
}
