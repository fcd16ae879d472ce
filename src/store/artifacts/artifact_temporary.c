/* Blobs on their way: a file in tmp/ that is locked while its process lives, so that whoever cleans
 * up can tell it from what a dead process left. Any thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/artifacts/artifact_store_impl.h"

/* Readable only: path_of's answer is for reading. */
enum { BLOB_MODE = 0444, TRIES = 1000 };

/* A copy of the folder that left out what was empty has none. */
static bool make_tmp(ArtifactStore *store, ArtifactError *error)
{
    char path[ARTIFACT_PATH_BYTES];
    artifact_inner_path(store, "tmp", path);
    return artifact_make_folder(path, error) && artifact_sync_folder(store->folder, error);
}

bool artifact_temporary_begin(ArtifactStore *store, ArtifactTemporary *out, ArtifactError *error)
{
    struct stat status;
    struct timespec now;
    char name[96];
    bool made = false;
    out->fd = -1;
    for (int i = 0; i < TRIES; i++) {
        ArtifactError this_time = {0};
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(name, sizeof name, "tmp/%ld-%lld%09ld-%u", (long)getpid(), (long long)now.tv_sec,
                 now.tv_nsec, atomic_fetch_add(&store->next_temporary, 1));
        artifact_inner_path(store, name, out->path);
        out->fd =
            artifact_open_to_lock(out->path, O_WRONLY | O_CREAT | O_EXCL, BLOB_MODE, &this_time);
        if (out->fd < 0 && this_time.code == EEXIST)
            continue;
        if (out->fd < 0 && this_time.code == ENOENT && !made) {
            made = true;
            if (!make_tmp(store, error))
                return false;
            continue;
        }
        if (out->fd < 0)
            return artifact_error_set(error, this_time.code, "cannot make", out->path);
        if (!artifact_lock(out->fd, out->path, true, error)) {
            artifact_temporary_end(out, false);
            return false;
        }
        /* A cleaner that came between the two calls has taken it for a dead one's. */
        if (fstat(out->fd, &status) == 0 && status.st_nlink > 0)
            return true;
        artifact_close_locked(&out->fd);
    }
    return artifact_error_set(error, EEXIST, "cannot make a file in", store->folder);
}

void artifact_temporary_end(ArtifactTemporary *temporary, bool keep)
{
    if (temporary->fd < 0)
        return;
    if (!keep)
        artifact_unlink(temporary->path);
    artifact_close_locked(&temporary->fd);
}
