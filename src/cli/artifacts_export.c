/* `caliper artifacts export`: a blob to a file, verified on the way. First thread. */
#include "cli/artifacts_export.h"

#include <stdio.h>

#include "cli/artifacts_report.h"
#include "cli/printable.h"
#include "core/log.h"
#include "formats/write_file.h"

typedef struct Export {
    WriteFile file;
    ArrayError error;
} Export;

static bool take(void *user, const void *bytes, size_t size_bytes)
{
    Export *export = user;
    return write_file_append(&export->file, bytes, size_bytes, &export->error);
}

static void progress(void *user, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)user;
    artifacts_report_progress(done_bytes, total_bytes);
}

static bool stop(void *user)
{
    (void)user;
    return artifacts_report_interrupted();
}

static void print_answer(const ArtifactRow *row, const char *path, bool json)
{
    char size[ARTIFACTS_SIZE_TEXT_BYTES];
    if (json) {
        printf("{\"digest\": \"%s\", \"size_bytes\": %llu, \"file\": ", row->digest,
               (unsigned long long)row->size_bytes);
        artifacts_print_json_string(path);
        puts("}");
    } else {
        printable_print(stdout, "%s  %s  %s\n", row->digest,
                        artifacts_size_text(row->size_bytes, size), path);
    }
}

int artifacts_export(ArtifactStore *store, const CliOptions *options)
{
    const ArtifactWork work = {.progress = progress, .stop = stop};
    const char *path = options->words[2];
    Export export = {0};
    ArtifactRow row;
    artifacts_report_begin("export");
    bool begun = write_file_begin(&export.file, path, &export.error);
    bool done = begun && artifact_store_read(store, options->words[1], take, &export, &work, &row);
    done = done && write_file_commit(&export.file, &export.error);
    if (begun && !done)
        write_file_cancel(&export.file);
    if (export.error.fault != ARRAY_FAULT_NONE)
        log_item(ARTIFACT_FAILED, "export", options->words[1], export.error.message);
    if (done)
        print_answer(&row, path, options->json);
    artifacts_report_end();
    return done ? 0 : 1;
}
