/* Offline work on a store: reading a blob, verify, gc. Any thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "store/artifacts/artifact_store_impl.h"

enum { READ_BYTES = 1 << 20 };

bool artifact_work_stops(const ArtifactWork *work)
{
    return work != NULL && work->stop != NULL && work->stop(work->user);
}

void artifact_work_finding(const ArtifactWork *work, const ArtifactFinding *finding)
{
    if (work != NULL && work->finding != NULL)
        work->finding(work->user, finding);
}

static void tell_progress(const ArtifactReading *reading)
{
    if (reading->work != NULL && reading->work->progress != NULL)
        reading->work->progress(reading->work->user, reading->done_bytes, reading->total_bytes);
}

/* ---- Reading one blob ---- */

int artifact_hash_file(const char *path, ArtifactReading *reading, ArtifactDigest *out,
                       uint64_t *size_bytes, ArtifactError *error)
{
    uint64_t offset = 0;
    int64_t got = -1;
    bool stopped = false;
    ArtifactHash *hash = artifact_hash_create();
    uint8_t *buffer = fault_here("artifacts.alloc") ? NULL : malloc(READ_BYTES);
    int fd = artifact_open(path, O_RDONLY, 0, error);
    if (hash == NULL || buffer == NULL)
        artifact_error_set(error, ENOMEM, "cannot hash", path);
    if (fd < 0 || hash == NULL || buffer == NULL)
        goto done;
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    while (!(stopped = artifact_work_stops(reading->work))) {
        got = artifact_read_at(fd, path, buffer, READ_BYTES, offset, error);
        if (got <= 0)
            break;
        if (!artifact_hash_add(hash, buffer, (size_t)got)) {
            artifact_error_set(error, 0, "libcrypto cannot hash", path);
            got = -1;
            break;
        }
        offset += (uint64_t)got;
        reading->done_bytes += (uint64_t)got;
        tell_progress(reading);
        if (reading->take != NULL && !reading->take(reading->take_user, buffer, (size_t)got)) {
            stopped = true;
            break;
        }
    }
    *size_bytes = offset;
    if (!stopped && got == 0 && !artifact_hash_finish(hash, out)) {
        artifact_error_set(error, 0, "libcrypto cannot hash", path);
        got = -1;
    }
done:
    artifact_close(&fd);
    artifact_hash_destroy(&hash);
    free(buffer);
    return stopped ? 0 : got == 0 ? 1 : -1;
}

/* The newest row that `wanted` means and whose file is there. */
static bool find_row(ArtifactStore *store, const char *wanted, char path[ARTIFACT_PATH_BYTES],
                     ArtifactDigest *digest, ArtifactRow *out)
{
    if (!artifact_store_find(store, wanted, path))
        return false;
    const char *text = strrchr(path, '/') + 1;
    memset(out, 0, sizeof *out);
    memcpy(out->digest, text, ARTIFACT_STORE_DIGEST_BYTES);
    return artifact_digest_parse(text, strlen(text), digest);
}

bool artifact_store_read(ArtifactStore *store, const char *digest_or_name, ArtifactTake take,
                         void *take_user, const ArtifactWork *work, ArtifactRow *out_row)
{
    char path[ARTIFACT_PATH_BYTES];
    struct stat status;
    ArtifactDigest wanted, found;
    ArtifactRow row;
    ArtifactError error = {0};
    ArtifactReading reading = {.work = work, .take = take, .take_user = take_user};
    if (!find_row(store, digest_or_name, path, &wanted, &row)) {
        log_item(ARTIFACT_FAILED, "reading", digest_or_name, "there is no such artifact");
        return false;
    }
    if (stat(path, &status) == 0)
        reading.total_bytes = (uint64_t)status.st_size;
    int done = artifact_hash_file(path, &reading, &found, &row.size_bytes, &error);
    if (done > 0 && !artifact_digest_equal(&wanted, &found)) {
        artifact_error_set(&error, 0, "damaged: its bytes have another digest:", path);
        done = -1;
    }
    if (out_row != NULL)
        *out_row = row;
    if (done < 0)
        log_item(ARTIFACT_FAILED, "reading", digest_or_name, error.text);
    return done > 0;
}

/* ---- Verify ---- */

typedef struct Check {
    ArtifactStore *store;
    const ArtifactWork *work;
    ArtifactSummary *summary;
    ArtifactReading reading;
    bool dry_run;
    ArtifactFindingKind kind;
} Check;

static void count_damaged_lines(Check *check)
{
    ArtifactError ignored = {0};
    artifact_mutex_lock(&check->store->index_mutex);
    artifact_log_refresh(check->store, &ignored);
    check->summary->damaged_lines = check->store->index.damaged;
    check->summary->at_line = check->store->index.damaged_line;
    artifact_mutex_unlock(&check->store->index_mutex);
}

static void tell_bad(Check *check, ArtifactFindingKind kind, const ArtifactRow *row,
                     const char *path, uint64_t size_bytes, const char *detail)
{
    check->summary->bad++;
    artifact_work_finding(check->work, &(ArtifactFinding){.kind = kind,
                                                          .digest = row->digest,
                                                          .name = row->name,
                                                          .path = path,
                                                          .size_bytes = size_bytes,
                                                          .detail = detail});
}

/* False when it was stopped. */
static bool verify_row(Check *check, const ArtifactRow *row)
{
    char path[ARTIFACT_PATH_BYTES];
    char detail[128];
    struct stat status;
    ArtifactDigest wanted, found;
    ArtifactError error = {0};
    uint64_t size = 0;
    artifact_digest_parse(row->digest, ARTIFACT_DIGEST_DIGITS, &wanted);
    artifact_blob_path(check->store, &wanted, path);
    check->summary->blobs++;
    int there = artifact_stat(path, &status, &error);
    if (there == 0) {
        tell_bad(check, ARTIFACT_FINDING_MISSING, row, path, 0, "it is not there");
        return true;
    }
    int done = there < 0 ? -1 : artifact_hash_file(path, &check->reading, &found, &size, &error);
    check->summary->checked_bytes += size;
    if (done < 0) {
        tell_bad(check, ARTIFACT_FINDING_UNREADABLE, row, path, size, error.text);
    } else if (done > 0 && size != row->size_bytes) {
        snprintf(detail, sizeof detail, "it has %llu bytes, wanted %llu", (unsigned long long)size,
                 (unsigned long long)row->size_bytes);
        tell_bad(check, ARTIFACT_FINDING_LENGTH, row, path, size, detail);
    } else if (done > 0 && !artifact_digest_equal(&wanted, &found)) {
        tell_bad(check, ARTIFACT_FINDING_DAMAGED, row, path, size, "its bytes have another digest");
    }
    return done != 0;
}

static int by_digest_then_newest(const void *a, const void *b)
{
    const ArtifactRow *left = a, *right = b;
    int order = strcmp(left->digest, right->digest);
    /* names lie in the order newest first */
    return order != 0 ? order : (left->name > right->name) - (left->name < right->name);
}

/* One row of each blob, the newest; the list is sorted by it. */
static size_t leave_one_a_blob(ArtifactList *list, uint64_t *total_bytes)
{
    size_t kept = 0;
    if (list->count > 0)
        qsort(list->rows, list->count, sizeof *list->rows, by_digest_then_newest);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && strcmp(list->rows[kept - 1].digest, list->rows[i].digest) == 0)
            continue;
        list->rows[kept++] = list->rows[i];
        *total_bytes += list->rows[i].size_bytes;
    }
    return kept;
}

static void tell_unnamed(Check *check, const ArtifactFound *found, const char *detail)
{
    char path[ARTIFACT_PATH_BYTES];
    char text[ARTIFACT_DIGEST_TEXT_BYTES];
    artifact_blob_path(check->store, &found->digest, path);
    artifact_digest_text(&found->digest, text);
    artifact_work_finding(check->work, &(ArtifactFinding){.kind = ARTIFACT_FINDING_UNNAMED,
                                                          .digest = text,
                                                          .name = "",
                                                          .path = path,
                                                          .size_bytes = found->size_bytes,
                                                          .detail = detail});
}

static void visit_temporary(void *user, const char *path, uint64_t size_bytes, bool live)
{
    Check *check = user;
    if (live) {
        check->summary->live++;
        return;
    }
    check->summary->temporaries++;
    if (check->kind == ARTIFACT_FINDING_TEMPORARY) {
        check->summary->removed++;
        check->summary->removed_bytes += size_bytes;
    }
    artifact_work_finding(check->work,
                          &(ArtifactFinding){.kind = ARTIFACT_FINDING_TEMPORARY,
                                             .digest = "",
                                             .name = "",
                                             .path = path,
                                             .size_bytes = size_bytes,
                                             .detail = "left by a put that did not end"});
}

static bool look_at_rest(Check *check, ArtifactFoundList *unnamed, ArtifactError *error)
{
    if (!artifact_scan_unnamed(check->store, unnamed, error))
        return false;
    check->summary->unnamed = unnamed->count;
    for (size_t i = 0; i < unnamed->count; i++)
        check->summary->unnamed_bytes += unnamed->found[i].size_bytes;
    return true;
}

bool artifact_store_verify(ArtifactStore *store, const ArtifactWork *work, ArtifactSummary *out)
{
    Check check = {.store = store, .work = work, .summary = out, .reading = {.work = work}};
    ArtifactError error = {0};
    ArtifactFoundList unnamed = {0};
    ArtifactList list;
    memset(out, 0, sizeof *out);
    if (!artifact_store_list(store, NULL, &list))
        return false;
    out->rows = list.count;
    size_t blobs = leave_one_a_blob(&list, &check.reading.total_bytes);
    for (size_t i = 0; i < blobs && !out->stopped; i++)
        out->stopped = artifact_work_stops(work) || !verify_row(&check, &list.rows[i]);
    artifact_list_free(&list);
    count_damaged_lines(&check);
    if (out->stopped)
        return true;
    check.kind = ARTIFACT_FINDING_UNNAMED;
    bool done = look_at_rest(&check, &unnamed, &error) &&
                artifact_scan_temporaries(store, false, visit_temporary, &check, &error);
    for (size_t i = 0; done && i < unnamed.count; i++)
        tell_unnamed(&check, &unnamed.found[i], "no line of index.log names it");
    artifact_found_free(&unnamed);
    if (!done)
        log_item(ARTIFACT_FAILED, "verify", store->folder, error.text);
    return done;
}

/* ---- gc ---- */

/* Removes a blob if it still has no name; a put that is about to name it holds the lock. -1 with
 * `error`, 0 when it has one now. */
static int remove_unnamed(ArtifactStore *store, const ArtifactFound *found, bool dry_run,
                          ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    int removed = -1;
    artifact_mutex_lock(&store->put_mutex);
    int lock_fd = artifact_log_lock(store, error);
    if (lock_fd >= 0 &&
        (dry_run || (artifact_log_recover(store, error) && artifact_log_mend(store, error)))) {
        artifact_mutex_lock(&store->index_mutex);
        bool read = artifact_log_refresh(store, error);
        uint32_t row = artifact_index_find_digest(&store->index, &found->digest);
        bool keep =
            row != ARTIFACT_ROW_NONE || store->index.damaged > 0 || artifact_log_is_lost(store);
        artifact_mutex_unlock(&store->index_mutex);
        removed = !read ? -1 : keep ? 0 : 1;
    }
    artifact_blob_path(store, &found->digest, path);
    if (removed > 0 && !dry_run)
        artifact_unlink(path);
    artifact_log_unlock(&lock_fd);
    artifact_mutex_unlock(&store->put_mutex);
    return removed;
}

static bool sweep_blobs(Check *check, const ArtifactFoundList *unnamed, ArtifactError *error)
{
    ArtifactSummary *summary = check->summary;
    for (size_t i = 0; i < unnamed->count; i++) {
        if ((summary->stopped = artifact_work_stops(check->work)))
            return true;
        int removed = remove_unnamed(check->store, &unnamed->found[i], check->dry_run, error);
        if (removed < 0)
            return false;
        if (removed == 0)
            continue;
        summary->removed++;
        summary->removed_bytes += unnamed->found[i].size_bytes;
        tell_unnamed(check, &unnamed->found[i], "no line of index.log names it");
    }
    return true;
}

bool artifact_store_gc(ArtifactStore *store, bool dry_run, const ArtifactWork *work,
                       ArtifactSummary *out)
{
    Check check = {.store = store,
                   .work = work,
                   .summary = out,
                   .dry_run = dry_run,
                   .kind = ARTIFACT_FINDING_TEMPORARY};
    ArtifactError error = {0};
    ArtifactFoundList unnamed = {0};
    memset(out, 0, sizeof *out);
    bool done = artifact_log_recover_now(store, &error) &&
                artifact_scan_temporaries(store, !dry_run, visit_temporary, &check, &error) &&
                look_at_rest(&check, &unnamed, &error);
    count_damaged_lines(&check);
    if (done && out->damaged_lines == 0)
        done = sweep_blobs(&check, &unnamed, &error);
    artifact_found_free(&unnamed);
    if (!done)
        log_item(ARTIFACT_FAILED, "gc", store->folder, error.text);
    return done;
}
