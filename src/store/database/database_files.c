/* Which files are a database, and which this process has open for writing: see database_impl.h. The
 * engine's lock on a file is the process's, so that a second instance would not notice the first,
 * and closing either would end the lock of both. Any thread. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fault.h"
#include "core/guard.h"
#include "store/database/database_impl.h"

struct DatabaseFile {
    dev_t device; /* of its folder: the file itself may not be there yet, or be moved aside */
    ino_t folder;
    DatabaseFile *next;
    char name[];
};

/* Guards the list; held over no call of the system. */
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static DatabaseFile *list;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void list_lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&list_mutex);
}

static void list_unlock(void)
{
    pthread_mutex_unlock(&list_mutex);
    guard_lock_leave();
}

/* What the parent has open is not the child's. */
static void forget_in_child(void)
{
    list = NULL;
    list_unlock();
}

static void watch_forks(void)
{
    pthread_atfork(list_lock, list_unlock, forget_in_child);
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISLNK(mode)  ? "a link"
           : S_ISREG(mode)  ? "a file"
                            : "a device";
}

static bool check_one(const char *path, bool links, DatabaseError *error)
{
    struct stat status;
    if (lstat(path, &status) != 0) {
        if (errno == ENOENT)
            return true;
    } else if (links && S_ISLNK(status.st_mode) && stat(path, &status) != 0 && errno == ENOENT) {
        database_error_set(error, 0, "%s is a link to nothing, wanted a file", path);
        return false;
    } else if (S_ISREG(status.st_mode)) {
        return true;
    } else {
        database_error_set(error, 0, "%s is %s, wanted a file", path, kind_of(status.st_mode));
        return false;
    }
    database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s cannot be looked at: %s", path,
                       strerror(errno));
    return false;
}

bool database_files_check(const char *path, DatabaseError *error)
{
    char log_path[4096 + 64];
    int length = snprintf(log_path, sizeof log_path, "%s.wal", path);
    if (length < 0 || (size_t)length >= sizeof log_path) {
        database_error_set(error, 0, "%.200s... is too long a path", path);
        return false;
    }
    return check_one(path, true, error) && check_one(log_path, false, error);
}

static bool stat_folder(const char *path, const char *slash, struct stat *status)
{
    if (slash == NULL)
        return stat(".", status) == 0;
    char *folder = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    bool found = folder != NULL && stat(folder, status) == 0;
    int failure = errno;
    free(folder);
    errno = failure;
    return found;
}

static DatabaseFile *claim(const char *path, DatabaseError *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    struct stat status;
    pthread_once(&fork_once, watch_forks);
    if (!stat_folder(path, slash, &status)) {
        database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s cannot be opened: %s", path,
                           strerror(errno));
        return NULL;
    }
    size_t name_bytes = strlen(name) + 1;
    DatabaseFile *file =
        fault_here("store.database.alloc") ? NULL : malloc(sizeof *file + name_bytes);
    if (file == NULL) {
        database_error_set(error, 0, "no memory for a database");
        return NULL;
    }
    file->device = status.st_dev;
    file->folder = status.st_ino;
    memcpy(file->name, name, name_bytes);
    list_lock();
    DatabaseFile *other = list;
    while (other != NULL && (other->device != file->device || other->folder != file->folder ||
                             strcmp(other->name, file->name) != 0))
        other = other->next;
    if (other == NULL) {
        file->next = list;
        list = file;
    }
    list_unlock();
    if (other == NULL)
        return file;
    free(file);
    database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s is open in this process already", path);
    return NULL;
}

/* Through a link it is the file that it leads to. */
DatabaseFile *database_file_claim(const char *path, DatabaseError *error)
{
    char *real = realpath(path, NULL);
    DatabaseFile *file = claim(real != NULL ? real : path, error);
    free(real);
    return file;
}

void database_file_release(DatabaseFile **address)
{
    DatabaseFile *file = *address;
    *address = NULL;
    if (file == NULL)
        return;
    list_lock();
    DatabaseFile **link = &list;
    while (*link != NULL && *link != file)
        link = &(*link)->next;
    if (*link == file)
        *link = file->next;
    list_unlock();
    free(file);
}
