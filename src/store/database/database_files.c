/* Which files this process has open for writing: see database_impl.h. The engine's lock on a file
 * is the process's, so that a second instance would not notice the first, and closing either would
 * end the lock of both. Any thread. */
#include <errno.h>
#include <pthread.h>
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

DatabaseFile *database_file_claim(const char *path, DatabaseError *error)
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
