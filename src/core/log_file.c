/* The log file: two buffers, one being filled by the sink, one being written by the thread. The
 * log's mutex is taken before ours; the thread holds ours only to swap. */
#include "core/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/log.h"
#include "core/paths.h"

enum { BUFFER_BYTES = 128 << 10, HEAD_BYTES = 512 };

static struct {
    bool open;
    int sink;
    char *path;
    uint64_t max_bytes;
    pthread_t thread;
    char *buffers[2];
    atomic_size_t used[2];
    atomic_int filling;   /* which buffer the sink fills */
    atomic_int fd;        /* the thread's, and of a rescue; -1: none */
    uint64_t dropped;     /* lines without room, not yet told */
    uint64_t lines, done; /* taken by the sink; written or lost */
    bool stop;
} file = {.fd = -1};

static pthread_mutex_t file_mutex = PTHREAD_MUTEX_INITIALIZER; /* buffers' turns and the counts */
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t written = PTHREAD_COND_INITIALIZER;

static void file_lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&file_mutex);
}

static void file_unlock(void)
{
    pthread_mutex_unlock(&file_mutex);
    guard_lock_leave();
}

/* ---- The sink ---- */

/* "2026-12-02T07:13:36.123Z warn  bridge [org.example.viewer] ": UTC, so that files from different
 * places can be laid side by side. */
static size_t head_write(const LogEntry *entry, char *out)
{
    time_t seconds = (time_t)entry->wall_time_sec;
    int millis = (int)((entry->wall_time_sec - (double)seconds) * 1000.0);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t length = strftime(out, HEAD_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
    const char *applet = entry->applet;
    int more = snprintf(out + length, HEAD_BYTES - length, ".%03dZ %-5s %.32s%s%.256s%s ", millis,
                        log_level_name(entry->level), entry->module, applet[0] != '\0' ? " [" : "",
                        applet, applet[0] != '\0' ? "]" : "");
    return length + (size_t)more;
}

/* With the lock held and room made sure of. */
static void append(const char *bytes, size_t size_bytes)
{
    int filling = atomic_load(&file.filling);
    size_t used = atomic_load(&file.used[filling]);
    memcpy(file.buffers[filling] + used, bytes, size_bytes);
    atomic_store(&file.used[filling], used + size_bytes);
}

static void take_entry(void *user, const LogEntry *entry)
{
    (void)user;
    char head[HEAD_BYTES];
    char note[64] = "";
    size_t head_bytes = head_write(entry, head);
    size_t text_bytes = strlen(entry->text);
    file_lock();
    size_t room = BUFFER_BYTES - atomic_load(&file.used[atomic_load(&file.filling)]);
    if (text_bytes + 2 * head_bytes + sizeof note + 2 > room) {
        file.dropped++;
    } else {
        if (file.dropped > 0) {
            snprintf(note, sizeof note, "(%llu lines dropped here)\n",
                     (unsigned long long)file.dropped);
            append(head, head_bytes);
            append(note, strlen(note));
            file.dropped = 0;
        }
        append(head, head_bytes);
        append(entry->text, text_bytes);
        append("\n", 1);
    }
    file.lines++;
    pthread_cond_signal(&filled);
    file_unlock();
}

/* ---- The thread ---- */

static int file_open_append(void)
{
    if (fault_here("log_file.open"))
        return -1;
    /* O_NONBLOCK: a pipe of that name is refused, not waited for. */
    struct stat status;
    int fd =
        open(file.path,
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    errno = ENOTSUP;
    return -1;
}

/* Another process may have renamed the file that we hold. */
static bool is_current(int fd)
{
    struct stat held;
    struct stat named;
    return fstat(fd, &held) == 0 && stat(file.path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static void reopen(void)
{
    int old = atomic_exchange(&file.fd, -1);
    if (old >= 0)
        close(old);
    atomic_store(&file.fd, file_open_append());
}

/* Renames .2 to .3, .1 to .2, the file to .1; with the file locked, so that two processes do not
 * both do it. */
static void rotate(int fd)
{
    if (flock(fd, LOCK_EX) != 0 || !is_current(fd))
        return;
    size_t name_bytes = strlen(file.path) + 16;
    char *from = malloc(2 * name_bytes);
    for (int number = LOG_FILE_KEPT; from != NULL && number >= 1; number--) {
        char *to = from + name_bytes;
        snprintf(to, name_bytes, "%s.%d", file.path, number);
        if (number == 1)
            snprintf(from, name_bytes, "%s", file.path);
        else
            snprintf(from, name_bytes, "%s.%d", file.path, number - 1);
        rename(from, to); /* the older ones need not exist */
    }
    free(from);
}

/* A descriptor with room for so many bytes; -1 with errno. */
static int ready(size_t batch_bytes)
{
    int fd = atomic_load(&file.fd);
    if (fd < 0 || !is_current(fd))
        reopen();
    fd = atomic_load(&file.fd);
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0 &&
        (uint64_t)status.st_size + batch_bytes > file.max_bytes) {
        rotate(fd);
        reopen(); /* which gives the lock back */
        fd = atomic_load(&file.fd);
    }
    return fd;
}

static bool write_all(int fd, const char *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t wrote =
            fault_here("log_file.write") ? (errno = ENOSPC, -1) : write(fd, bytes, size_bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes += wrote;
        size_bytes -= (size_t)wrote;
    }
    return true;
}

static void *write_lines(void *arg)
{
    (void)arg;
    bool failing = false;
    file_lock();
    for (;;) {
        int turn = atomic_load(&file.filling);
        while (!file.stop && atomic_load(&file.used[turn]) == 0 && file.done == file.lines)
            pthread_cond_wait(&filled, &file_mutex);
        size_t size_bytes = atomic_load(&file.used[turn]);
        uint64_t lines = file.lines;
        if (size_bytes == 0 && file.stop)
            break;
        atomic_store(&file.filling, 1 - turn);
        file_unlock();
        int fd = size_bytes > 0 ? ready(size_bytes) : -1;
        bool ok = size_bytes == 0 || (fd >= 0 && write_all(fd, file.buffers[turn], size_bytes));
        const char *why = ok ? "" : strerror(errno);
        atomic_store(&file.used[turn], 0);
        if (!ok && !failing)
            log_item(LOG_FILE_LOST, file.path, why);
        failing = size_bytes > 0 ? !ok : failing;
        file_lock();
        file.done = lines;
        pthread_cond_broadcast(&written);
    }
    file_unlock();
    return NULL;
}

/* ---- Opening and closing ---- */

static void release(void)
{
    int fd = atomic_exchange(&file.fd, -1);
    if (fd >= 0)
        close(fd);
    free(file.buffers[0]);
    free(file.buffers[1]);
    free(file.path);
    file.buffers[0] = NULL;
    file.buffers[1] = NULL;
    file.path = NULL;
    file.open = false;
}

static int thread_start(void)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = fault_here("log_file.thread")
                    ? EAGAIN
                    : pthread_create(&file.thread, NULL, write_lines, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_setname_np(file.thread, "caliper-log");
    return error;
}

bool log_file_open(const char *folder, uint64_t max_bytes)
{
    if (file.open)
        return false;
    file.open = true;
    file.max_bytes = max_bytes != 0 ? max_bytes : LOG_FILE_MAX_BYTES;
    file.path = paths_join(folder, "caliper.log");
    file.buffers[0] = fault_here("log_file.alloc") ? NULL : malloc(BUFFER_BYTES);
    file.buffers[1] = malloc(BUFFER_BYTES);
    atomic_store(&file.used[0], 0);
    atomic_store(&file.used[1], 0);
    file.dropped = 0;
    file.lines = 0;
    file.done = 0;
    file.stop = false;
    int error = ENOMEM;
    if (file.path == NULL || file.buffers[0] == NULL || file.buffers[1] == NULL)
        goto failed;
    atomic_store(&file.fd, file_open_append());
    error = errno;
    if (atomic_load(&file.fd) < 0)
        goto failed;
    error = thread_start();
    if (error != 0)
        goto failed;
    file.sink = log_sink_add(take_entry, NULL);
    return true;
failed:
    log_item(LOG_FILE_LOST, file.path != NULL ? file.path : folder, strerror(error));
    release();
    return false;
}

void log_file_close(void)
{
    if (!file.open)
        return;
    log_sink_remove(file.sink);
    file_lock();
    file.stop = true;
    pthread_cond_signal(&filled);
    file_unlock();
    pthread_join(file.thread, NULL);
    release();
}

void log_file_flush(void)
{
    file_lock();
    uint64_t wanted = file.lines;
    while (file.open && file.done < wanted)
        pthread_cond_wait(&written, &file_mutex);
    file_unlock();
}

void log_file_rescue(void)
{
    int fd = atomic_load(&file.fd);
    for (int i = 0; fd >= 0 && i < 2; i++) {
        /* The one being written first, which is the older one; a part of it may come twice. */
        int buffer = i == 0 ? 1 - atomic_load(&file.filling) : atomic_load(&file.filling);
        size_t size_bytes = atomic_load(&file.used[buffer]);
        if (file.buffers[buffer] != NULL && size_bytes > 0 &&
            write(fd, file.buffers[buffer], size_bytes) < 0)
            return;
    }
}
