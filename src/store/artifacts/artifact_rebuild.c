/* index.log from the blobs: of itself when it was lost, or when somebody asks for it. Any thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "store/artifacts/artifact_store_impl.h"

bool artifact_log_recover(ArtifactStore *store, ArtifactError *error)
{
    ArtifactFoundList list = {0};
    if (!artifact_log_is_lost(store))
        return true;
    bool done = artifact_scan_blobs(store, &list, error) &&
                (list.count == 0 || artifact_log_rewrite(store, list.found, list.count, error));
    if (done && list.count > 0)
        log_item(ARTIFACT_LOG_REBUILT, store->folder, (unsigned long long)list.count);
    artifact_found_free(&list);
    return done;
}

bool artifact_log_recover_now(ArtifactStore *store, ArtifactError *error)
{
    ArtifactFoundList list = {0};
    if (!artifact_log_is_lost(store))
        return true;
    bool done = artifact_scan_blobs(store, &list, error);
    size_t count = list.count;
    artifact_found_free(&list);
    if (!done || count == 0)
        return done;
    if (!artifact_mutex_enter(store, &store->put_mutex, error))
        return false;
    int lock_fd = artifact_log_lock(store, error);
    done = lock_fd >= 0 && artifact_log_recover(store, error);
    artifact_log_unlock(&lock_fd);
    artifact_mutex_unlock(&store->put_mutex);
    return done;
}

/* Leaves in the list the blobs whose bytes are what their names say; tells of the others. False
 * when it was stopped. */
static bool keep_whole(ArtifactStore *store, ArtifactFoundList *list, const ArtifactWork *work,
                       ArtifactSummary *out)
{
    ArtifactReading reading = {.work = work};
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        reading.total_bytes += list->found[i].size_bytes;
    for (size_t i = 0; i < list->count; i++) {
        ArtifactDigest digest;
        ArtifactError this_file = {0};
        char path[ARTIFACT_PATH_BYTES];
        char text[ARTIFACT_DIGEST_TEXT_BYTES];
        artifact_blob_path(store, &list->found[i].digest, path);
        artifact_digest_text(&list->found[i].digest, text);
        int done =
            artifact_hash_file(path, &reading, &digest, &list->found[i].size_bytes, &this_file);
        if (done == 0)
            return false;
        out->checked_bytes += done > 0 ? list->found[i].size_bytes : 0;
        if (done > 0 && artifact_digest_equal(&digest, &list->found[i].digest)) {
            list->found[kept++] = list->found[i];
            continue;
        }
        out->bad++;
        artifact_work_finding(
            work,
            &(ArtifactFinding){
                .kind = done > 0 ? ARTIFACT_FINDING_DAMAGED : ARTIFACT_FINDING_UNREADABLE,
                .digest = text,
                .name = "",
                .path = path,
                .size_bytes = list->found[i].size_bytes,
                .detail = done > 0 ? "its bytes have another digest; not added" : this_file.text});
    }
    list->count = kept;
    return true;
}

/* With index.lock held: some may have got a name meanwhile. */
static bool drop_named(ArtifactStore *store, ArtifactFoundList *list, ArtifactSummary *out,
                       ArtifactError *error)
{
    size_t kept = 0;
    artifact_mutex_lock(&store->index_mutex);
    bool read = artifact_log_refresh(store, error);
    for (size_t i = 0; read && i < list->count; i++) {
        if (artifact_index_find_digest(&store->index, &list->found[i].digest) == ARTIFACT_ROW_NONE)
            list->found[kept++] = list->found[i];
    }
    out->rows = store->index.count;
    out->damaged_lines = store->index.damaged;
    out->at_line = store->index.damaged_line;
    artifact_mutex_unlock(&store->index_mutex);
    list->count = kept;
    return read;
}

static bool has_damage(ArtifactStore *store)
{
    artifact_mutex_lock(&store->index_mutex);
    bool damaged = store->index.damaged > 0 || artifact_index_has_torn_line(&store->index);
    artifact_mutex_unlock(&store->index_mutex);
    return damaged;
}

bool artifact_store_rebuild(ArtifactStore *store, const ArtifactWork *work, ArtifactSummary *out)
{
    ArtifactError error = {0};
    ArtifactFoundList list = {0};
    int lock_fd = -1;
    memset(out, 0, sizeof *out);
    bool done =
        artifact_log_recover_now(store, &error) && artifact_scan_unnamed(store, &list, &error);
    out->unnamed = list.count;
    out->stopped = done && !keep_whole(store, &list, work, out);
    if (done && !out->stopped && (list.count > 0 || has_damage(store))) {
        artifact_mutex_lock(&store->put_mutex);
        lock_fd = artifact_log_lock(store, &error);
        done = lock_fd >= 0 && drop_named(store, &list, out, &error);
        done = done && artifact_log_rewrite(store, list.found, list.count, &error);
        out->added = done ? list.count : 0;
        artifact_log_unlock(&lock_fd);
        artifact_mutex_unlock(&store->put_mutex);
    }
    artifact_found_free(&list);
    if (!done)
        log_item(ARTIFACT_FAILED, "rebuild", store->folder, error.text);
    return done;
}
