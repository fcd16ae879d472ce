/* The store of a data root: opening, finding by name or digest, lineage. Any thread. */
#include "store/artifacts/artifact_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "core/guard.h"
#include "core/log.h"
#include "store/artifacts/artifact_store_impl.h"

/* "/tmp/" and a temporary's name, or a blob's, after the folder. */
enum { INNER_BYTES_MAX = 128 };

void artifact_mutex_lock(pthread_mutex_t *mutex)
{
    guard_lock_enter();
    pthread_mutex_lock(mutex);
}

bool artifact_mutex_enter(ArtifactStore *store, pthread_mutex_t *mutex, ArtifactError *error)
{
    guard_lock_enter();
    if (frame_thread_lock(mutex))
        return true;
    guard_lock_leave();
    return artifact_error_set(error, EWOULDBLOCK, FRAME_THREAD_BUSY ": another thread uses",
                              store->folder);
}

void artifact_mutex_unlock(pthread_mutex_t *mutex)
{
    pthread_mutex_unlock(mutex);
    guard_lock_leave();
}

void artifact_inner_path(const ArtifactStore *store, const char *name,
                         char out[ARTIFACT_PATH_BYTES])
{
    artifact_path_join(out, store->folder, name, NULL);
}

void artifact_blob_folder(const ArtifactStore *store, const ArtifactDigest *digest,
                          char out[ARTIFACT_PATH_BYTES])
{
    char name[3];
    snprintf(name, sizeof name, "%02x", digest->bytes[0]);
    artifact_inner_path(store, name, out);
}

void artifact_blob_path(const ArtifactStore *store, const ArtifactDigest *digest,
                        char out[ARTIFACT_PATH_BYTES])
{
    char text[ARTIFACT_DIGEST_TEXT_BYTES];
    char name[3];
    artifact_digest_text(digest, text);
    snprintf(name, sizeof name, "%.2s", text);
    artifact_path_join(out, store->folder, name, text);
}

ArtifactStore *artifact_store_open(const char *data_root)
{
    ArtifactError error = {0};
    size_t length = data_root != NULL ? strlen(data_root) : 0;
    if (length == 0 || length + INNER_BYTES_MAX > ARTIFACT_PATH_BYTES) {
        log_item(ARTIFACT_REFUSED, "artifact_store_open",
                 length == 0 ? "no data root" : "a data root with a path too long",
                 "a folder whose path has at most 3968 bytes");
        return NULL;
    }
    ArtifactStore *store = fault_here("artifacts.alloc") ? NULL : calloc(1, sizeof *store);
    if (store == NULL) {
        log_item(OUT_OF_MEMORY, "artifact_store_open", (unsigned long long)sizeof *store);
        return NULL;
    }
    store->log_fd = -1;
    pthread_mutex_init(&store->put_mutex, NULL);
    pthread_mutex_init(&store->index_mutex, NULL);
    store->data_root = strdup(data_root);
    store->folder = malloc(length + sizeof "/artifacts");
    if (store->data_root == NULL || store->folder == NULL) {
        log_item(OUT_OF_MEMORY, "artifact_store_open", (unsigned long long)length);
        artifact_store_close(&store);
        return NULL;
    }
    memcpy(store->folder, data_root, length);
    strcpy(store->folder + length, "/artifacts");
    /* What cannot be mended can still be read, on a disk that is read-only for instance. */
    if (!artifact_log_recover_now(store, &error))
        log_item(ARTIFACT_FAILED, "rebuild", store->folder, error.text);
    if (error.code == EWOULDBLOCK && frame_thread_is_current())
        artifact_store_close(&store); /* the next call does it */
    return store;
}

void artifact_store_close(ArtifactStore **store)
{
    if (store == NULL || *store == NULL)
        return;
    artifact_close(&(*store)->log_fd);
    artifact_index_finish(&(*store)->index);
    pthread_mutex_destroy(&(*store)->index_mutex);
    pthread_mutex_destroy(&(*store)->put_mutex);
    free((*store)->data_root);
    free((*store)->folder);
    free(*store);
    *store = NULL;
}

/* ---- Finding ---- */

/* The newest row, with index_mutex held: a digest's if there is such a blob, else a name's. */
static uint32_t newest_row(const ArtifactStore *store, const char *wanted, ArtifactKey *key)
{
    ArtifactDigest digest;
    uint32_t row = ARTIFACT_ROW_NONE;
    *key = ARTIFACT_KEY_DIGEST;
    if (artifact_digest_parse(wanted, strlen(wanted), &digest))
        row = artifact_index_find_digest(&store->index, &digest);
    if (row == ARTIFACT_ROW_NONE) {
        *key = ARTIFACT_KEY_NAME;
        row = artifact_index_find_name(&store->index, wanted);
    }
    return row;
}

typedef struct Candidate {
    ArtifactDigest digest;
    uint64_t size_bytes;
    uint64_t generation;
    uint32_t row, older;
    bool told;
} Candidate;

static void candidate_fill(const ArtifactStore *store, uint32_t row, ArtifactKey key,
                           Candidate *out)
{
    out->row = row;
    if (row == ARTIFACT_ROW_NONE)
        return;
    const ArtifactEntry *entry = &store->index.rows[row];
    *out = (Candidate){.digest = entry->digest,
                       .size_bytes = entry->size_bytes,
                       .generation = store->generation,
                       .row = row,
                       .older = entry->older[key],
                       .told = entry->told};
}

/* The next older row; false when the index was read anew meanwhile. Marks the row as told of. */
static bool candidate_next(ArtifactStore *store, ArtifactKey key, Candidate *candidate)
{
    artifact_mutex_lock(&store->index_mutex);
    bool same = store->generation == candidate->generation;
    if (same) {
        store->index.rows[candidate->row].told = true;
        candidate_fill(store, candidate->older, key, candidate);
    }
    artifact_mutex_unlock(&store->index_mutex);
    return same;
}

static bool is_there(const ArtifactStore *store, const Candidate *candidate,
                     char path[ARTIFACT_PATH_BYTES], ArtifactError *error)
{
    struct stat status;
    artifact_blob_path(store, &candidate->digest, path);
    return artifact_stat(path, &status, error) > 0 &&
           (uint64_t)status.st_size == candidate->size_bytes;
}

static bool find(ArtifactStore *store, const char *wanted, char path[ARTIFACT_PATH_BYTES],
                 ArtifactError *error)
{
    enum { TRIES = 8 };
    for (int i = 0; i < TRIES; i++) {
        Candidate candidate = {0};
        ArtifactKey key = ARTIFACT_KEY_NAME;
        bool same = true;
        if (!artifact_mutex_enter(store, &store->index_mutex, error))
            return false;
        bool read = artifact_log_refresh(store, error);
        uint32_t newest = read ? newest_row(store, wanted, &key) : ARTIFACT_ROW_NONE;
        if (read)
            candidate_fill(store, newest, key, &candidate);
        artifact_mutex_unlock(&store->index_mutex);
        if (!read)
            return false;
        while (same && candidate.row != ARTIFACT_ROW_NONE) {
            if (is_there(store, &candidate, path, error))
                return true;
            if (error->text[0] != '\0')
                return false;
            if (!candidate.told)
                log_item(ARTIFACT_BLOB_MISSING, wanted, path,
                         (unsigned long long)candidate.size_bytes);
            same = candidate_next(store, key, &candidate);
        }
        if (same)
            return false;
    }
    return artifact_error_set(error, 0, "somebody keeps changing the index of", store->folder);
}

bool artifact_store_find(ArtifactStore *store, const char *digest_or_name,
                         char out_path[ARTIFACT_STORE_PATH_BYTES])
{
    ArtifactError error = {0};
    if (find(store, digest_or_name, out_path, &error))
        return true;
    if (error.text[0] != '\0')
        log_item(ARTIFACT_FAILED, "finding", digest_or_name, error.text);
    return false;
}

/* ---- Lineage ---- */

static uint32_t first_row_of(const ArtifactStore *store, const ArtifactQuery *query,
                             ArtifactKey *key)
{
    ArtifactDigest digest;
    switch (query->filter) {
    case ARTIFACT_FILTER_RUN:
        *key = ARTIFACT_KEY_RUN;
        return artifact_index_find_run(&store->index, query->run);
    case ARTIFACT_FILTER_NAME:
        *key = ARTIFACT_KEY_NAME;
        return artifact_index_find_name(&store->index, query->text);
    case ARTIFACT_FILTER_DIGEST:
        *key = ARTIFACT_KEY_DIGEST;
        return artifact_digest_parse(query->text, strlen(query->text), &digest)
                   ? artifact_index_find_digest(&store->index, &digest)
                   : ARTIFACT_ROW_NONE;
    case ARTIFACT_FILTER_ALL:
        break;
    }
    *key = ARTIFACT_KEY_COUNT;
    return store->index.count > 0 ? store->index.count - 1 : ARTIFACT_ROW_NONE;
}

static uint32_t older_row(const ArtifactStore *store, uint32_t row, ArtifactKey key)
{
    if (key != ARTIFACT_KEY_COUNT)
        return store->index.rows[row].older[key];
    return row > 0 ? row - 1 : ARTIFACT_ROW_NONE;
}

/* Copies the rows, newest last. With index_mutex held; false without memory. */
static bool copy_rows(const ArtifactStore *store, const ArtifactQuery *query, ArtifactList *out)
{
    ArtifactKey key;
    size_t count = 0, names_bytes = 0;
    uint32_t first = first_row_of(store, query, &key);
    for (uint32_t row = first; row != ARTIFACT_ROW_NONE; row = older_row(store, row, key)) {
        count++;
        names_bytes += strlen(artifact_index_name(&store->index, row)) + 1;
    }
    out->rows = fault_here("artifacts.alloc") ? NULL : calloc(count + 1, sizeof *out->rows);
    out->names = fault_here("artifacts.alloc") ? NULL : malloc(names_bytes + 1);
    if (out->rows == NULL || out->names == NULL)
        return false;
    out->count = count;
    char *name = out->names;
    for (uint32_t row = first; row != ARTIFACT_ROW_NONE; row = older_row(store, row, key)) {
        const ArtifactEntry *entry = &store->index.rows[row];
        ArtifactRow *copy = &out->rows[--count];
        const char *of_index = artifact_index_name(&store->index, row);
        artifact_digest_text(&entry->digest, copy->digest);
        copy->run = entry->run;
        copy->size_bytes = entry->size_bytes;
        copy->created_us = entry->created_us;
        copy->name = name;
        memcpy(name, of_index, strlen(of_index) + 1);
        name += strlen(of_index) + 1;
    }
    return true;
}

bool artifact_store_list(ArtifactStore *store, const ArtifactQuery *query, ArtifactList *out)
{
    static const ArtifactQuery all = {.filter = ARTIFACT_FILTER_ALL};
    ArtifactError error = {0};
    memset(out, 0, sizeof *out);
    artifact_mutex_lock(&store->index_mutex);
    bool done = artifact_log_refresh(store, &error);
    if (done && !copy_rows(store, query != NULL ? query : &all, out))
        done = artifact_error_set(&error, ENOMEM, "cannot list", store->folder);
    artifact_mutex_unlock(&store->index_mutex);
    if (!done) {
        artifact_list_free(out);
        log_item(ARTIFACT_FAILED, "listing", store->folder, error.text);
    }
    return done;
}

void artifact_list_free(ArtifactList *list)
{
    free(list->rows);
    free(list->names);
    memset(list, 0, sizeof *list);
}

bool artifact_store_row_is_there(ArtifactStore *store, const ArtifactRow *row)
{
    ArtifactError ignored = {0};
    char path[ARTIFACT_PATH_BYTES];
    Candidate candidate = {.size_bytes = row->size_bytes};
    return artifact_digest_parse(row->digest, ARTIFACT_DIGEST_DIGITS, &candidate.digest) &&
           is_there(store, &candidate, path, &ignored);
}

static int latest_first(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return (*left < *right) - (*left > *right);
}

static int by_run_then_latest(const void *a, const void *b, void *rows)
{
    const ArtifactRow *all = rows;
    const uint32_t *left = a, *right = b;
    uint64_t left_run = all[*left].run, right_run = all[*right].run;
    return left_run != right_run ? (left_run > right_run) - (left_run < right_run)
                                 : latest_first(a, b);
}

/* Leaves in `order` the latest row of each run but 0, the latest first; how many there are. */
static size_t leave_latest_of_runs(const ArtifactList *list, uint32_t *order)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, list->count, sizeof *order, by_run_then_latest, list->rows);
    for (size_t i = 0; i < list->count; i++) {
        uint64_t run = list->rows[order[i]].run;
        if (run != 0 && (kept == 0 || list->rows[order[kept - 1]].run != run))
            order[kept++] = order[i];
    }
    qsort(order, kept, sizeof *order, latest_first);
    return kept;
}

size_t artifact_store_runs_of(ArtifactStore *store, const char *digest_or_name, uint64_t *out_runs,
                              size_t capacity)
{
    char digest[ARTIFACT_STORE_DIGEST_BYTES] = "";
    ArtifactError error = {0};
    ArtifactList list;
    ArtifactKey key;
    size_t runs = 0;
    artifact_mutex_lock(&store->index_mutex);
    if (artifact_log_refresh(store, &error)) {
        uint32_t row = newest_row(store, digest_or_name, &key);
        if (row != ARTIFACT_ROW_NONE)
            artifact_digest_text(&store->index.rows[row].digest, digest);
    }
    artifact_mutex_unlock(&store->index_mutex);
    if (error.text[0] != '\0')
        log_item(ARTIFACT_FAILED, "listing", store->folder, error.text);
    ArtifactQuery query = {.filter = ARTIFACT_FILTER_DIGEST, .text = digest};
    if (digest[0] == '\0' || !artifact_store_list(store, &query, &list))
        return 0;
    uint32_t *order = malloc((list.count + 1) * sizeof *order);
    if (order != NULL)
        runs = leave_latest_of_runs(&list, order);
    else
        log_item(OUT_OF_MEMORY, "artifact_store_runs_of", (unsigned long long)list.count);
    for (size_t i = 0; i < runs && i < capacity; i++)
        out_runs[i] = list.rows[order[i]].run;
    free(order);
    artifact_list_free(&list);
    return runs;
}
