/* Telling a damaged database file from one that is only locked, newer or not ours to read, and
 * moving it out of the way. Any thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "store/database/database_impl.h"

/* DuckDB reports the state of a file in words alone. These are the ones of version 1.4 that mean
 * damage; anything else is no reason to move a file that somebody trusted us with. */
static const char *const log_words[] = {"replaying WAL", "WAL file", NULL};
static const char *const file_words[] = {
    "not a valid DuckDB database file",
    "Corrupt database file",
    "Could not read enough bytes",
    "checksum",
    "Failed to deserialize",
    "Serialization Error",
    "INTERNAL Error",
    "corrupt",
    NULL,
};
static const char *const sound_words[] = {
    "set lock on file",
    "Permission denied",
    "version number",
    "newer",
    "different endianness",
    "read-only mode",
    "No space left",
    "Too many open files",
    "encrypted",
    NULL,
};

static bool has_any(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strstr(text, *words) != NULL)
            return true;
    }
    return false;
}

DatabaseDamage database_damage_of(const char *error_text)
{
    if (has_any(error_text, sound_words))
        return DATABASE_DAMAGE_NONE;
    if (has_any(error_text, log_words))
        return DATABASE_DAMAGE_LOG;
    return has_any(error_text, file_words) ? DATABASE_DAMAGE_FILE : DATABASE_DAMAGE_NONE;
}

/* PATH.damaged-20261202-103000, with -1, -2, ... when that is taken; malloc'ed. */
static char *free_name(const char *path)
{
    size_t size_bytes = strlen(path) + 64;
    char *name = fault_here("store.damage.alloc") ? NULL : malloc(size_bytes);
    char log_name[4096 + 64];
    char stamp[32];
    struct tm utc;
    time_t now = time(NULL);
    if (name == NULL || gmtime_r(&now, &utc) == NULL)
        goto failed;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
    for (int try = 0; try < 1000; try++) {
        int length = snprintf(name, size_bytes, try == 0 ? "%s.damaged-%s" : "%s.damaged-%s-%d",
                              path, stamp, try);
        if (length < 0 || (size_t)length >= size_bytes)
            goto failed;
        snprintf(log_name, sizeof log_name, "%s.wal", name);
        if (access(name, F_OK) != 0 && access(log_name, F_OK) != 0)
            return name;
    }
failed:
    free(name);
    return NULL;
}

static bool rename_one(const char *from, const char *to, DatabaseError *error)
{
    if (!fault_here("store.damage.rename") && rename(from, to) == 0)
        return true;
    database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s is damaged and cannot be moved to %s: %s",
                       from, to, strerror(errno));
    return false;
}

char *database_move_aside(const char *path, DatabaseDamage damage, DatabaseError *error)
{
    char log_path[4096 + 64];
    char log_name[4096 + 64];
    char *name = free_name(path);
    if (name == NULL) {
        database_error_set(error, 0, "%s is damaged and no name is free to move it to", path);
        return NULL;
    }
    snprintf(log_path, sizeof log_path, "%s.wal", path);
    snprintf(log_name, sizeof log_name, "%s.wal", name);
    /* The log goes first: left behind, it would be replayed into the fresh file. */
    bool has_log = access(log_path, F_OK) == 0;
    if (has_log && !rename_one(log_path, log_name, error))
        goto failed;
    if (damage == DATABASE_DAMAGE_LOG) {
        char *moved = strdup(log_name);
        free(name);
        return moved;
    }
    if (rename_one(path, name, error))
        return name;
    if (has_log && rename(log_name, log_path) != 0)
        database_error_set(error, DUCKDB_ERROR_KIND_IO,
                           "%s is damaged and stays; its log is now %s: %s", path, log_name,
                           strerror(errno));

failed:
    free(name);
    return NULL;
}
