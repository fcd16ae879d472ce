/* The command as a child process, its last line as words; see import_job.h. */
#include "shell/runs/import_job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"
#include "jobs/jobs.h"

enum { WORDS_BYTES = 512, PATH_BYTES = 4096 };

struct ImportJob {
    atomic_int references; /* the page's and the job's: who lets go last frees it */
    atomic_bool done;      /* words and succeeded are there */
    bool succeeded;
    uint64_t job;
    char folder[PATH_BYTES], data_root[PATH_BYTES];
    char words[WORDS_BYTES];
};

static void unref(ImportJob *job)
{
    if (atomic_fetch_sub(&job->references, 1) == 1)
        free(job);
}

/* errno, or 0. Both of the child's outputs go into `out_fd`. */
static int start(ImportJob *job, pid_t *child, int *out_fd)
{
    char exe[PATH_BYTES], word[] = "import", kind[] = "tfevents", root[] = "--data-dir";
    char *words[] = {exe, word, kind, job->folder, root, job->data_root, NULL};
    extern char **environ;
    int ends[2];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (length <= 0)
        return errno;
    exe[length] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, ends[1], 2);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawn(child, exe, &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (failed != 0)
        close(ends[0]);
    else
        *out_fd = ends[0];
    return failed;
}

/* Keeps the last line that was ended or that ends now. */
static void take(ImportJob *job, char *line, size_t *used, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n' && *used + 1 < WORDS_BYTES) {
            line[(*used)++] = (unsigned char)bytes[i] < 0x20 ? ' ' : bytes[i];
        } else if (bytes[i] == '\n') {
            line[*used] = '\0';
            if (*used > 0)
                memcpy(job->words, line, *used + 1);
            *used = 0;
        }
    }
}

/* Reads until the child closes its outputs; asked to end, it gets a signal and time to stop. */
static void listen_to(ImportJob *job, pid_t child, int fd, const CaliperJobControl *control)
{
    char line[WORDS_BYTES], bytes[1024];
    size_t used = 0;
    bool told = false;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = poll(&wait, 1, 50);
        if (control->cancelled(control) && !told) {
            kill(child, SIGINT);
            told = true;
        }
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t got = ready > 0 ? read(fd, bytes, sizeof bytes) : -1;
        if (got <= 0)
            break;
        take(job, line, &used, bytes, (size_t)got);
        control->progress(control, 0.0f, job->words);
    }
    take(job, line, &used, "\n", 1);
}

static void run(void *user, const CaliperJobControl *control)
{
    ImportJob *job = user;
    pid_t child = 0;
    int fd = -1, status = 0;
    int failed = start(job, &child, &fd);
    if (failed != 0) {
        snprintf(job->words, sizeof job->words, "caliper import cannot start: %s",
                 strerror(failed));
    } else {
        listen_to(job, child, fd, control);
        close(fd);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        job->succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (control->cancelled(control))
            snprintf(job->words, sizeof job->words, "Cancelled; a run that was whole stays");
        else if (job->words[0] == '\0')
            snprintf(job->words, sizeof job->words, "caliper import said nothing (status %d)",
                     status);
    }
    control->progress(control, 1.0f, job->words);
    atomic_store(&job->done, true);
    unref(job);
}

/* A leading ~ is the home folder, as in a shell. */
static void set_folder(ImportJob *job, const char *folder)
{
    const char *home = getenv("HOME");
    bool is_home = folder[0] == '~' && (folder[1] == '/' || folder[1] == '\0') && home != NULL;
    snprintf(job->folder, sizeof job->folder, "%s%s", is_home ? home : "",
             is_home ? folder + 1 : folder);
}

ImportJob *import_job_start(const char *folder, const char *data_root)
{
    char label[96];
    ImportJob *job = calloc(1, sizeof *job);
    if (job == NULL) {
        log_item(OUT_OF_MEMORY, "import_job_start", (unsigned long long)sizeof *job);
        return NULL;
    }
    set_folder(job, folder);
    snprintf(job->data_root, sizeof job->data_root, "%s", data_root);
    snprintf(label, sizeof label, "Import %.80s", folder);
    atomic_init(&job->references, 2);
    job->job = jobs_submit(label, run, job, 0);
    if (job->job != 0)
        return job;
    free(job);
    return NULL;
}

void import_job_drop(ImportJob **address)
{
    ImportJob *job = *address;
    *address = NULL;
    if (job == NULL)
        return;
    if (!atomic_load(&job->done))
        jobs_request_cancel(job->job);
    unref(job);
}

const char *import_job_words(const ImportJob *job)
{
    return atomic_load(&job->done) ? job->words : NULL;
}

bool import_job_succeeded(const ImportJob *job)
{
    return job->succeeded;
}
