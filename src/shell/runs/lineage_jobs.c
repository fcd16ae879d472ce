/* The jobs of the artifacts page: verifying blobs, opening a folder; see lineage.h. A block is held
 * by the page and by its job; who lets go last frees it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "core/log.h"
#include "jobs/jobs.h"
#include "services/artifacts_service.h"
#include "shell/runs/lineage.h"

/* ---- Verifying ---- */

typedef struct Checked {
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    uint64_t size_bytes;
    atomic_int verdict; /* LineageVerdict */
} Checked;

struct LineageCheck {
    atomic_int references;
    atomic_bool done;
    uint64_t job;
    uint64_t total_bytes, before_bytes; /* the job's: of all, and of those that are through */
    uint32_t count;
    Checked blobs[]; /* by digest, each once */
};

static void check_unref(LineageCheck *check)
{
    if (atomic_fetch_sub(&check->references, 1) == 1)
        free(check);
}

typedef struct Progress {
    LineageCheck *check;
    const CaliperJobControl *control;
    char words[96];
} Progress;

static bool is_cancelled(void *user)
{
    const Progress *progress = user;
    return progress->control->cancelled(progress->control);
}

static void tell_progress(void *user, uint64_t done_bytes, uint64_t total_bytes)
{
    const Progress *progress = user;
    const LineageCheck *check = progress->check;
    uint64_t done = check->before_bytes + done_bytes;
    float share = check->total_bytes > 0 ? (float)done / (float)check->total_bytes : 1.0f;
    (void)total_bytes;
    progress->control->progress(progress->control, share, progress->words);
}

static bool take_nothing(void *user, const void *bytes, size_t size_bytes)
{
    (void)user;
    (void)bytes;
    (void)size_bytes;
    return true;
}

static LineageVerdict verify(ArtifactStore *store, const Checked *blob, Progress *progress)
{
    ArtifactRow row = {.size_bytes = blob->size_bytes};
    memcpy(row.digest, blob->digest, sizeof row.digest);
    const ArtifactWork work = {.progress = tell_progress, .stop = is_cancelled, .user = progress};
    if (!artifact_store_row_is_there(store, &row))
        return LINEAGE_VERDICT_MISSING;
    if (artifact_store_read(store, blob->digest, take_nothing, NULL, &work, NULL))
        return LINEAGE_VERDICT_WHOLE;
    return is_cancelled(progress) ? LINEAGE_VERDICT_CANCELLED : LINEAGE_VERDICT_DAMAGED;
}

static void run_check(void *user, const CaliperJobControl *control)
{
    LineageCheck *check = user;
    Progress progress = {.check = check, .control = control};
    uint32_t bad = 0;
    ArtifactStore *store = artifacts_service_acquire();
    for (uint32_t i = 0; i < check->count; i++) {
        Checked *blob = &check->blobs[i];
        snprintf(progress.words, sizeof progress.words, "%u of %u blobs", i + 1, check->count);
        LineageVerdict verdict = store == NULL || control->cancelled(control)
                                     ? LINEAGE_VERDICT_CANCELLED
                                     : verify(store, blob, &progress);
        bad += verdict == LINEAGE_VERDICT_MISSING || verdict == LINEAGE_VERDICT_DAMAGED;
        check->before_bytes += blob->size_bytes;
        atomic_store(&blob->verdict, (int)verdict);
    }
    artifacts_service_release(store);
    snprintf(progress.words, sizeof progress.words, "%u of %u blobs are not whole", bad,
             check->count);
    control->progress(control, 1.0f, bad > 0 ? progress.words : "All blobs are whole");
    atomic_store(&check->done, true);
    check_unref(check);
}

static int by_digest(const void *a, const void *b)
{
    return strcmp(((const Checked *)a)->digest, ((const Checked *)b)->digest);
}

static void fill_check(LineageCheck *check, const LineageRow *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        memcpy(check->blobs[i].digest, rows[i].put->digest, sizeof check->blobs[i].digest);
        check->blobs[i].size_bytes = rows[i].put->size_bytes;
    }
    qsort(check->blobs, count, sizeof check->blobs[0], by_digest);
    for (uint32_t i = 0; i < count; i++) {
        Checked *last = check->count > 0 ? &check->blobs[check->count - 1] : NULL;
        if (last != NULL && strcmp(last->digest, check->blobs[i].digest) == 0)
            continue;
        check->total_bytes += check->blobs[i].size_bytes;
        if (check->count != i)
            memcpy(&check->blobs[check->count], &check->blobs[i], sizeof check->blobs[0]);
        check->count++;
    }
}

LineageCheck *lineage_check_start(const LineageRow *rows, uint32_t count)
{
    LineageCheck *check = calloc(1, sizeof *check + count * sizeof check->blobs[0]);
    char label[64];
    if (check == NULL) {
        log_item(OUT_OF_MEMORY, "lineage_check_start", (unsigned long long)count);
        return NULL;
    }
    fill_check(check, rows, count);
    if (check->count == 1)
        snprintf(label, sizeof label, "Verify %.12s", check->blobs[0].digest);
    else
        snprintf(label, sizeof label, "Verify %u blobs", check->count);
    atomic_init(&check->references, 2);
    check->job = jobs_submit(label, run_check, check, 0);
    if (check->job != 0)
        return check;
    free(check);
    return NULL;
}

void lineage_check_drop(LineageCheck **address)
{
    LineageCheck *check = *address;
    *address = NULL;
    if (check == NULL)
        return;
    if (!atomic_load(&check->done))
        jobs_request_cancel(check->job);
    check_unref(check);
}

bool lineage_check_of(const LineageCheck *check, const char *digest, LineageVerdict *out)
{
    uint32_t low = 0, high = check->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(check->blobs[middle].digest, digest);
        if (order == 0) {
            *out = (LineageVerdict)atomic_load(&check->blobs[middle].verdict);
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool lineage_check_is_done(const LineageCheck *check)
{
    return atomic_load(&check->done);
}

float lineage_check_progress(const LineageCheck *check)
{
    return atomic_load(&check->done) ? 1.0f : jobs_progress_of(check->job);
}

void lineage_check_count(const LineageCheck *check, uint32_t counts[5])
{
    memset(counts, 0, 5 * sizeof counts[0]);
    for (uint32_t i = 0; i < check->count; i++)
        counts[atomic_load(&check->blobs[i].verdict)]++;
}

/* ---- Showing in a folder ---- */

struct LineageShow {
    atomic_int references;
    atomic_bool done; /* `words` are there */
    uint64_t job;
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    char words[ARTIFACT_STORE_PATH_BYTES + 128];
};

static void show_unref(LineageShow *show)
{
    if (atomic_fetch_sub(&show->references, 1) == 1)
        free(show);
}

/* Starts xdg-open, without a shell, in a session of its own that writes nowhere; errno, or 0. */
static int open_folder(const char *folder, pid_t *out_child)
{
    char program[] = "xdg-open";
    char *words[] = {program, (char *)(uintptr_t)folder, NULL};
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, (short)(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK));
    int failed = posix_spawnp(out_child, program, &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* Its exit status; -1: it goes on, and nobody waits for it any more. */
static int wait_for(pid_t child, const CaliperJobControl *control)
{
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        if ((ended < 0 && errno != EINTR) || control->cancelled(control))
            return -1;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

static void run_show(void *user, const CaliperJobControl *control)
{
    LineageShow *show = user;
    char path[ARTIFACT_STORE_PATH_BYTES];
    pid_t child = 0;
    ArtifactStore *store = artifacts_service_acquire();
    bool found = store != NULL && artifact_store_find(store, show->digest, path);
    artifacts_service_release(store);
    if (!found) {
        snprintf(show->words, sizeof show->words, "The file of %.12s is not there", show->digest);
    } else {
        *strrchr(path, '/') = '\0';
        int failed = open_folder(path, &child);
        int status = failed == 0 ? wait_for(child, control) : 0;
        if (failed == ENOENT)
            snprintf(show->words, sizeof show->words, "There is no xdg-open here; the folder is %s",
                     path);
        else if (failed != 0)
            snprintf(show->words, sizeof show->words,
                     "xdg-open cannot start (%s); the folder is %s", strerror(failed), path);
        else if (status > 0)
            snprintf(show->words, sizeof show->words,
                     "xdg-open could not open it (status %d); the folder is %s", status, path);
        else
            snprintf(show->words, sizeof show->words, "Opened %s", path);
    }
    control->progress(control, 1.0f, show->words);
    atomic_store(&show->done, true);
    show_unref(show);
}

LineageShow *lineage_show_start(const char *digest)
{
    LineageShow *show = calloc(1, sizeof *show);
    if (show == NULL) {
        log_item(OUT_OF_MEMORY, "lineage_show_start", (unsigned long long)sizeof *show);
        return NULL;
    }
    snprintf(show->digest, sizeof show->digest, "%s", digest);
    atomic_init(&show->references, 2);
    show->job = jobs_submit("Show in folder", run_show, show, 0);
    if (show->job != 0)
        return show;
    free(show);
    return NULL;
}

void lineage_show_drop(LineageShow **address)
{
    LineageShow *show = *address;
    *address = NULL;
    if (show == NULL)
        return;
    if (!atomic_load(&show->done))
        jobs_request_cancel(show->job);
    show_unref(show);
}

const char *lineage_show_words(const LineageShow *show)
{
    return atomic_load(&show->done) ? show->words : NULL;
}
