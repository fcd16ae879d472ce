/* What lies in the folders: blobs by their names, temporaries by their locks. Any thread. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "store/artifacts/artifact_store_impl.h"

void artifact_found_free(ArtifactFoundList *list)
{
    free(list->found);
    memset(list, 0, sizeof *list);
}

static bool found_add(ArtifactFoundList *list, const ArtifactFound *found)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity * 2 + 64;
        ArtifactFound *grown =
            fault_here("artifacts.alloc") ? NULL : realloc(list->found, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        list->found = grown;
        list->capacity = capacity;
    }
    list->found[list->count++] = *found;
    return true;
}

/* The folder's stream; NULL without `error` when there is no such folder. */
static DIR *open_folder(const char *path, ArtifactError *error)
{
    DIR *folder = fault_here("artifact_folders") ? NULL : opendir(path);
    if (folder == NULL && errno != ENOENT && errno != ENOTDIR)
        artifact_error_set(error, errno, "cannot list", path);
    return folder;
}

/* One of the 256 folders. */
static bool scan_folder(ArtifactStore *store, const char name[3], ArtifactFoundList *out,
                        ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    char blob[ARTIFACT_PATH_BYTES];
    artifact_inner_path(store, name, path);
    errno = EIO;
    DIR *folder = open_folder(path, error);
    if (folder == NULL)
        return error->text[0] == '\0';
    bool good = true;
    struct dirent *entry;
    while (good && (entry = readdir(folder)) != NULL) {
        ArtifactFound found;
        struct stat status;
        if (strncmp(entry->d_name, name, 2) != 0 ||
            !artifact_digest_parse(entry->d_name, strlen(entry->d_name), &found.digest))
            continue;
        artifact_blob_path(store, &found.digest, blob);
        int there = artifact_stat(blob, &status, error);
        good = there >= 0;
        if (there <= 0)
            continue;
        found.size_bytes = (uint64_t)status.st_size;
        found.changed_us = (int64_t)status.st_mtim.tv_sec * 1000000 + status.st_mtim.tv_nsec / 1000;
        good = found_add(out, &found) || artifact_error_set(error, ENOMEM, "cannot list", path);
    }
    closedir(folder);
    return good;
}

bool artifact_scan_blobs(ArtifactStore *store, ArtifactFoundList *out, ArtifactError *error)
{
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < 256; i++) {
        char name[3];
        snprintf(name, sizeof name, "%02x", i & 255u);
        if (!scan_folder(store, name, out, error))
            return false;
    }
    return true;
}

bool artifact_scan_unnamed(ArtifactStore *store, ArtifactFoundList *out, ArtifactError *error)
{
    size_t kept = 0;
    if (!artifact_scan_blobs(store, out, error))
        return false;
    artifact_mutex_lock(&store->index_mutex);
    bool read = artifact_log_refresh(store, error);
    for (size_t i = 0; read && i < out->count; i++) {
        if (artifact_index_find_digest(&store->index, &out->found[i].digest) == ARTIFACT_ROW_NONE)
            out->found[kept++] = out->found[i];
    }
    artifact_mutex_unlock(&store->index_mutex);
    out->count = kept;
    return read;
}

bool artifact_scan_temporaries(ArtifactStore *store, bool remove, ArtifactTemporaryVisit visit,
                               void *user, ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    char file[ARTIFACT_PATH_BYTES];
    artifact_inner_path(store, "tmp", path);
    errno = EIO;
    DIR *folder = open_folder(path, error);
    if (folder == NULL)
        return error->text[0] == '\0';
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        struct stat status;
        ArtifactError ignored = {0};
        if (entry->d_name[0] == '.' || !artifact_path_join(file, path, entry->d_name, NULL) ||
            artifact_stat(file, &status, &ignored) <= 0)
            continue;
        int fd = artifact_open_to_lock(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, &ignored);
        if (fd < 0)
            continue;
        bool live = !artifact_lock(fd, file, false, &ignored);
        if (!live && remove)
            artifact_unlink(file);
        visit(user, file, (uint64_t)status.st_size, live);
        artifact_close_locked(&fd);
    }
    closedir(folder);
    return true;
}
