/* store/database/database_impl.h: what database*.c share. */
#ifndef CALIPER_STORE_DATABASE_IMPL_H
#define CALIPER_STORE_DATABASE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/database/database.h"

typedef struct DatabaseFile DatabaseFile; /* database_files.c */

struct Database {
    const DuckdbApi *duckdb;
    atomic_uint references; /* the owner's and one a session */
    atomic_bool closing;
    pthread_mutex_t lock;      /* the fields below, and who is in the list */
    DuckdbDatabase handle;     /* NULL once closed, which the last session does at the latest */
    DatabaseSession *sessions; /* those whose connection is open */
    char *moved_to;            /* "" or the damaged file's new name */
    DatabaseFile *file;        /* of one that may write, until its handle is closed */
};

struct DatabaseSession {
    Database *database;     /* referenced */
    atomic_uint references; /* the user's, and database_close()'s while it looks */
    pthread_mutex_t lock;   /* held by whoever uses the connection */
    DuckdbConnection connection;
    DuckdbResult result;
    bool has_result;
    bool linked; /* in database->sessions; under database->lock */
    DatabaseSession *previous, *next;
};

void database_unref(Database *database);
/* Interrupts and ends all sessions; `closing` is set. False: some are still in use at `until_ns` of
 * CLOCK_MONOTONIC. */
bool database_sessions_end(Database *database, int64_t until_ns);

/* database_files.c: whether the file and its log are files, or not there: the engine would wait for
 * the other end of a pipe, without end. The file may be a link to one. False and *error. */
bool database_files_check(const char *path, DatabaseError *error);
/* Notes that this process has the file open for writing; NULL and *error when it
 * has already. */
DatabaseFile *database_file_claim(const char *path, DatabaseError *error);
/* Sets the address to NULL; NULL in it is fine. */
void database_file_release(DatabaseFile **file);

/* database_damage.c: whether an open failed because the file is damaged, judged by DuckDB's words,
 * and where the damage is. */
typedef enum DatabaseDamage {
    DATABASE_DAMAGE_NONE = 0, /* not damaged: locked, no access, newer, ... */
    DATABASE_DAMAGE_FILE = 1,
    DATABASE_DAMAGE_LOG = 2 /* the write-ahead log alone, as far as is known */
} DatabaseDamage;
DatabaseDamage database_damage_of(const char *error_text);
/* Renames `path` (or its log alone) to PATH.damaged-TIME; the name is malloc'ed and the caller's.
 * NULL and *error when it cannot be. */
char *database_move_aside(const char *path, DatabaseDamage damage, DatabaseError *error);

#endif
