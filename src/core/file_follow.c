/* The thread that follows files; see file_follow.h. */
#include "core/file_follow.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/loader.h"
#include "core/log.h"

enum { LOOK_EVERY_MS = 250, EVENTS_BYTES = 8192 };
static const double settle_sec = 0.1;       /* of quiet after a change */
static const double writer_lasts_sec = 3.0; /* a writer that shows no sign has closed unseen */
static const uint32_t events_wanted = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO |
                                      IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF |
                                      IN_MOVE_SELF | IN_ONLYDIR;

typedef struct Followed {
    char *path;
    char *name; /* in `path` */
    char *folder;
    int watch; /* of the folder; -1: it is not there */
    LibraryStamp stamp;
    bool writing; /* open for writing by somebody */
} Followed;

struct FileFollow {
    Followed files[FILE_FOLLOW_MAX]; /* the thread's alone, once it runs */
    int count;
    int events_fd, stop_fd; /* events_fd -1: looks must do */
    bool pending;
    double changed_sec;
    atomic_bool changed;
    bool has_thread;
    pthread_t thread;
};

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void note_change(FileFollow *follow)
{
    follow->pending = true;
    follow->changed_sec = now_sec();
}

/* A new name: of a file that is going to be written, or of one that is whole already (a link). */
static bool is_being_made(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

static void take_event(FileFollow *follow, Followed *file, const struct inotify_event *event)
{
    if (event->wd != file->watch)
        return;
    if ((event->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)) != 0) {
        if ((event->mask & IN_MOVE_SELF) != 0)
            inotify_rm_watch(follow->events_fd, file->watch);
        file->watch = -1;
        file->writing = false;
        return;
    }
    if (event->len == 0 || strcmp(event->name, file->name) != 0)
        return;
    if ((event->mask & IN_MODIFY) != 0)
        file->writing = true;
    else if ((event->mask & IN_CREATE) != 0)
        file->writing = is_being_made(file->path);
    else if ((event->mask & IN_ATTRIB) == 0)
        file->writing = false;
    if ((event->mask & IN_ATTRIB) == 0)
        note_change(follow);
}

static void take_events(FileFollow *follow)
{
    char buffer[EVENTS_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t got;
    while ((got = read(follow->events_fd, buffer, sizeof buffer)) > 0) {
        for (char *at = buffer; at < buffer + got;) {
            const struct inotify_event *event = (const struct inotify_event *)(void *)at;
            for (int i = 0; i < follow->count; i++) {
                if ((event->mask & IN_Q_OVERFLOW) != 0)
                    follow->files[i].writing = false;
                else
                    take_event(follow, &follow->files[i], event);
            }
            at += sizeof *event + event->len;
        }
    }
}

/* What events do not tell. */
static void look(FileFollow *follow)
{
    for (int i = 0; i < follow->count; i++) {
        Followed *file = &follow->files[i];
        LibraryStamp stamp;
        if (file->watch < 0 && follow->events_fd >= 0)
            file->watch = inotify_add_watch(follow->events_fd, file->folder, events_wanted);
        loader_stamp(file->path, &stamp);
        if (memcmp(&stamp, &file->stamp, sizeof stamp) == 0)
            continue;
        file->stamp = stamp;
        note_change(follow);
    }
}

static bool is_settled(FileFollow *follow)
{
    double quiet_sec = now_sec() - follow->changed_sec;
    bool writing = false;
    for (int i = 0; i < follow->count; i++) {
        if (quiet_sec > writer_lasts_sec)
            follow->files[i].writing = false;
        writing = writing || follow->files[i].writing;
    }
    /* Without events two looks have to find the same. */
    double wanted_sec = follow->events_fd >= 0 ? settle_sec : 2.5e-3 * LOOK_EVERY_MS;
    return follow->pending && !writing && quiet_sec >= wanted_sec;
}

static void *run(void *arg)
{
    FileFollow *follow = arg;
    struct pollfd polled[2] = {{.fd = follow->stop_fd, .events = POLLIN},
                               {.fd = follow->events_fd, .events = POLLIN}};
    double looked_sec = now_sec();
    while (poll(polled, 2, follow->pending ? (int)(settle_sec * 500) : LOOK_EVERY_MS) >= 0 ||
           errno == EINTR) {
        if ((polled[0].revents & POLLIN) != 0)
            break;
        if (follow->events_fd >= 0)
            take_events(follow);
        if (now_sec() - looked_sec >= 1e-3 * LOOK_EVERY_MS) {
            look(follow);
            looked_sec = now_sec();
        }
        if (is_settled(follow)) {
            follow->pending = false;
            for (int i = 0; i < follow->count; i++)
                loader_stamp(follow->files[i].path, &follow->files[i].stamp);
            atomic_store(&follow->changed, true);
        }
    }
    return NULL;
}

static bool add_file(FileFollow *follow, const char *path)
{
    Followed *file = &follow->files[follow->count];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || follow->count == FILE_FOLLOW_MAX)
        return false;
    *file = (Followed){.path = strdup(path), .watch = -1};
    file->folder = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    follow->count++;
    if (file->path == NULL || file->folder == NULL)
        return false;
    file->name = strrchr(file->path, '/') + 1;
    loader_stamp(path, &file->stamp);
    if (follow->events_fd >= 0)
        file->watch = inotify_add_watch(follow->events_fd, file->folder, events_wanted);
    return true;
}

/* The thread takes no signals: they are the frame thread's. */
static bool start_thread(FileFollow *follow)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error =
        fault_here("follow.thread") ? EAGAIN : pthread_create(&follow->thread, NULL, run, follow);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    follow->has_thread = error == 0;
    errno = error;
    return error == 0;
}

FileFollow *file_follow_create(const char *const *paths)
{
    FileFollow *follow = fault_here("follow.alloc") ? NULL : calloc(1, sizeof *follow);
    if (follow == NULL) {
        log_item(FOLLOW_NOT_STARTED, paths[0], "no memory");
        return NULL;
    }
    follow->events_fd = fault_here("follow.inotify") ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    follow->stop_fd = eventfd(0, EFD_CLOEXEC);
    bool good = follow->stop_fd >= 0;
    for (int i = 0; good && paths[i] != NULL; i++)
        good = add_file(follow, paths[i]);
    if (!good || !start_thread(follow)) {
        log_item(FOLLOW_NOT_STARTED, paths[0], strerror(errno));
        file_follow_destroy(&follow);
    }
    return follow;
}

void file_follow_destroy(FileFollow **follow_ptr)
{
    FileFollow *follow = follow_ptr != NULL ? *follow_ptr : NULL;
    uint64_t one = 1;
    if (follow == NULL)
        return;
    if (follow->has_thread) {
        while (write(follow->stop_fd, &one, sizeof one) < 0 && errno == EINTR) {
        }
        pthread_join(follow->thread, NULL);
    }
    for (int i = 0; i < follow->count; i++) {
        free(follow->files[i].path);
        free(follow->files[i].folder);
    }
    if (follow->events_fd >= 0)
        close(follow->events_fd);
    if (follow->stop_fd >= 0)
        close(follow->stop_fd);
    free(follow);
    *follow_ptr = NULL;
}

bool file_follow_changed(FileFollow *follow)
{
    return atomic_exchange(&follow->changed, false);
}
