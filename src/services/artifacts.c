/* caliper.artifacts.v1: the frozen table over store/artifacts. Any thread; answers of path_of are
 * the calling thread's. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/guard.h"
#include "core/log.h"
#include "services/artifacts_service.h"

typedef struct Shared { /* a store and those who are in it; freed by the last of them */
    const void *owner;
    char *data_root;
    ArtifactStore *store; /* NULL until somebody needs it */
    uint32_t users;       /* one of them is `bound` itself */
    struct Shared *next;
} Shared;

static pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;
static Shared *bound;   /* what calls go to; NULL: nothing */
static Shared *retired; /* replaced, but somebody is still in them */

static void lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&shared_mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&shared_mutex);
    guard_lock_leave();
}

static void shared_free(Shared *shared)
{
    artifact_store_close(&shared->store);
    free(shared->data_root);
    free(shared);
}

/* With the lock held: the entry to free, when that was its last user. */
static Shared *leave(Shared *shared)
{
    if (--shared->users > 0)
        return NULL;
    for (Shared **place = &retired; *place != NULL; place = &(*place)->next) {
        if (*place == shared) {
            *place = shared->next;
            break;
        }
    }
    return shared;
}

/* Puts `fresh`, which may be NULL, in the place of what is bound, if that is `owner`'s or
 * anybody's. */
static void replace(Shared *fresh, const void *owner, bool of_anybody)
{
    Shared *dead = NULL;
    lock();
    Shared *before = bound;
    if (of_anybody || (before != NULL && before->owner == owner)) {
        bound = fresh;
        if (before != NULL) {
            before->next = retired;
            retired = before;
            dead = leave(before);
        }
    }
    unlock();
    if (dead != NULL)
        shared_free(dead);
}

bool artifacts_service_bind(const void *owner, const char *data_root)
{
    Shared *fresh = calloc(1, sizeof *fresh);
    char *copy = strdup(data_root);
    if (fresh == NULL || copy == NULL) {
        log_item(OUT_OF_MEMORY, "artifacts_service_bind",
                 (unsigned long long)strlen(data_root) + 1);
        free(copy);
        free(fresh);
        return false;
    }
    *fresh = (Shared){.owner = owner, .data_root = copy, .users = 1};
    replace(fresh, NULL, true);
    return true;
}

void artifacts_service_unbind(const void *owner)
{
    replace(NULL, owner, false);
}

/* The last step of opening; the caller is a user of `shared`. Somebody else may have been quicker.
 */
static ArtifactStore *keep_opened(Shared *shared, ArtifactStore *opened)
{
    Shared *dead = NULL;
    ArtifactStore *spare = opened;
    lock();
    if (shared->store == NULL) {
        shared->store = opened;
        spare = NULL;
    }
    ArtifactStore *store = shared->store;
    if (store == NULL)
        dead = leave(shared);
    unlock();
    artifact_store_close(&spare);
    if (dead != NULL)
        shared_free(dead);
    return store;
}

/* The store is opened without the lock, which nobody holds across a wait for the disk. */
ArtifactStore *artifacts_service_acquire(void)
{
    lock();
    Shared *shared = bound;
    ArtifactStore *store = shared != NULL ? shared->store : NULL;
    if (shared != NULL)
        shared->users++;
    unlock();
    if (shared == NULL)
        log_item(ARTIFACT_REFUSED, "caliper.artifacts.v1", "a call while no data root is open",
                 "a host that runs");
    else if (store == NULL)
        store = keep_opened(shared, artifact_store_open(shared->data_root));
    return store;
}

void artifacts_service_release(ArtifactStore *store)
{
    Shared *dead = NULL;
    if (store == NULL)
        return;
    lock();
    Shared *shared = bound != NULL && bound->store == store ? bound : retired;
    while (shared != NULL && shared->store != store)
        shared = shared->next;
    if (shared != NULL)
        dead = leave(shared);
    unlock();
    if (dead != NULL)
        shared_free(dead);
}

static bool service_put(const char *name, const void *bytes, uint64_t len, uint64_t run,
                        char out_digest[65])
{
    ArtifactStore *store = artifacts_service_acquire();
    bool done = store != NULL && artifact_store_put(store, name, bytes, len, run, out_digest);
    artifacts_service_release(store);
    return done;
}

static bool find(const char *call, const char *digest_or_name, char path[ARTIFACT_STORE_PATH_BYTES])
{
    if (digest_or_name == NULL) {
        log_item(ARTIFACT_REFUSED, call, "nothing", "a digest or a name");
        return false;
    }
    ArtifactStore *store = artifacts_service_acquire();
    bool found = store != NULL && artifact_store_find(store, digest_or_name, path);
    artifacts_service_release(store);
    return found;
}

static const char *service_path_of(const char *digest_or_name)
{
    static _Thread_local char answer[ARTIFACT_STORE_PATH_BYTES];
    char path[ARTIFACT_STORE_PATH_BYTES]; /* what was asked for may be the last answer */
    if (!find("path_of", digest_or_name, path))
        return NULL;
    return strcpy(answer, path);
}

static bool service_exists(const char *digest_or_name)
{
    char path[ARTIFACT_STORE_PATH_BYTES];
    return find("exists", digest_or_name, path);
}

static const CaliperArtifactsV1 table = {.struct_size = sizeof table,
                                         .put = service_put,
                                         .path_of = service_path_of,
                                         .exists = service_exists};

const CaliperArtifactsV1 *artifacts_service_table(void)
{
    return &table;
}
