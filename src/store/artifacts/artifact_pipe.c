/* A ring of slots between the thread that writes and the one that hashes; see the header. */
#include "store/artifacts/artifact_pipe.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "core/fault.h"

enum { SLOTS = 8 };

/* On the heap with all it holds: a fault of the owner that is contained leaves it to the hashing
 * thread, which then waits for ever. */
struct ArtifactPipe {
    ArtifactHash *hash; /* the hashing thread's, while there is one */
    bool has_thread, hashed;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint32_t filled, emptied; /* slots so far; filled - emptied of them wait to be hashed */
    bool ended;               /* no more will be filled */
    size_t sizes[SLOTS];
    uint8_t *slots;
};

static void *hash_slots(void *argument)
{
    ArtifactPipe *pipe = argument;
    pthread_mutex_lock(&pipe->mutex);
    for (;;) {
        while (pipe->filled == pipe->emptied && !pipe->ended)
            pthread_cond_wait(&pipe->changed, &pipe->mutex);
        if (pipe->filled == pipe->emptied)
            break;
        uint32_t slot = pipe->emptied % SLOTS;
        pthread_mutex_unlock(&pipe->mutex);
        bool added = artifact_hash_add(pipe->hash, pipe->slots + slot * ARTIFACT_SLOT_BYTES,
                                       pipe->sizes[slot]);
        pthread_mutex_lock(&pipe->mutex);
        pipe->hashed = pipe->hashed && added;
        pipe->emptied++;
        pthread_cond_signal(&pipe->changed);
    }
    pthread_mutex_unlock(&pipe->mutex);
    return NULL;
}

/* Signals meant for the process go to threads that expect them; faults stay where they happen. */
static bool start_thread(ArtifactPipe *pipe)
{
    sigset_t all, before;
    if (fault_here("artifacts.thread"))
        return false;
    sigfillset(&all);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = pthread_create(&pipe->thread, NULL, hash_slots, pipe) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

ArtifactPipe *artifact_pipe_create(void)
{
    ArtifactPipe *pipe = fault_here("artifacts.alloc") ? NULL : calloc(1, sizeof *pipe);
    if (pipe == NULL)
        return NULL;
    pthread_mutex_init(&pipe->mutex, NULL);
    pthread_cond_init(&pipe->changed, NULL);
    pipe->hashed = true;
    pipe->hash = artifact_hash_create();
    pipe->slots =
        fault_here("artifacts.alloc") ? NULL : malloc((size_t)SLOTS * ARTIFACT_SLOT_BYTES);
    if (pipe->hash == NULL || pipe->slots == NULL) {
        artifact_pipe_destroy(&pipe);
        return NULL;
    }
    pipe->has_thread = start_thread(pipe);
    return pipe;
}

uint8_t *artifact_pipe_slot(ArtifactPipe *pipe)
{
    if (pipe->has_thread) {
        pthread_mutex_lock(&pipe->mutex);
        while (pipe->filled - pipe->emptied == SLOTS)
            pthread_cond_wait(&pipe->changed, &pipe->mutex);
        pthread_mutex_unlock(&pipe->mutex);
    }
    return pipe->slots + (pipe->filled % SLOTS) * ARTIFACT_SLOT_BYTES;
}

void artifact_pipe_pass(ArtifactPipe *pipe, size_t size_bytes)
{
    if (!pipe->has_thread) {
        pipe->hashed = artifact_hash_add(pipe->hash, pipe->slots, size_bytes) && pipe->hashed;
        return;
    }
    pthread_mutex_lock(&pipe->mutex);
    pipe->sizes[pipe->filled % SLOTS] = size_bytes;
    pipe->filled++;
    pthread_cond_signal(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
}

static void end_thread(ArtifactPipe *pipe)
{
    if (!pipe->has_thread)
        return;
    pthread_mutex_lock(&pipe->mutex);
    pipe->ended = true;
    pthread_cond_signal(&pipe->changed);
    pthread_mutex_unlock(&pipe->mutex);
    pthread_join(pipe->thread, NULL);
    pipe->has_thread = false;
}

bool artifact_pipe_finish(ArtifactPipe *pipe, ArtifactDigest *out)
{
    end_thread(pipe);
    return pipe->hashed && artifact_hash_finish(pipe->hash, out);
}

void artifact_pipe_destroy(ArtifactPipe **pipe)
{
    if (pipe == NULL || *pipe == NULL)
        return;
    end_thread(*pipe);
    artifact_hash_destroy(&(*pipe)->hash);
    pthread_cond_destroy(&(*pipe)->changed);
    pthread_mutex_destroy(&(*pipe)->mutex);
    free((*pipe)->slots);
    free(*pipe);
    *pipe = NULL;
}
