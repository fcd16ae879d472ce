/* store/database/database.h: an open database, its connections, and how both end.
 *
 * For src/store/, services/data and cli/. A Database is opened with hardened settings: extensions
 * are neither installed nor loaded by themselves, secrets are not kept, threads and memory are
 * bounded, and the configuration is locked. SQL of others runs in sessions: connections that
 * database_close() can end at any moment, whatever thread holds them. Any thread, except that
 * database_close() is called once and after it only sessions and streams may still be used. */
#ifndef CALIPER_STORE_DATABASE_H
#define CALIPER_STORE_DATABASE_H

#include "store/database/duckdb_api.h"

typedef struct Database Database;
typedef struct DatabaseSession DatabaseSession;

enum { DATABASE_ERROR_BYTES = 2048 };

/* Why a call failed. `text` is one entry of valid UTF-8, cut if need be; kind is DuckDB's
 * DUCKDB_ERROR_KIND_*, 0 when the cause is not DuckDB's. */
typedef struct DatabaseError {
    DuckdbErrorKind kind;
    char text[DATABASE_ERROR_BYTES];
} DatabaseError;

/* Fills *error (may be NULL) by printf. */
__attribute__((format(printf, 3, 4))) void
database_error_set(DatabaseError *error, DuckdbErrorKind kind, const char *format, ...);

typedef struct DatabaseParams { /* zero means the default */
    const char *path;           /* NULL: in memory, gone when closed */
    bool read_only;
    bool external_access;  /* SQL may name files of the machine */
    bool move_damaged;     /* a damaged file is moved aside and a fresh one begun */
    uint32_t threads;      /* 0: those of the processor, at most DATABASE_THREADS_MAX */
    uint64_t memory_bytes; /* 0: a quarter of the machine's, DATABASE_MEMORY_MAX_BYTES at most */
    const char *const
        *settings; /* more of DuckDB's settings: name, value, ..., NULL; may be NULL */
} DatabaseParams;

enum { DATABASE_THREADS_MAX = 4 };
#define DATABASE_MEMORY_MAX_BYTES ((uint64_t)4 << 30)
#define DATABASE_MEMORY_MIN_BYTES ((uint64_t)256 << 20)

/* NULL and *error: no library, no access, another process has it, a newer format, a pipe or the
 * like instead of a file, or damage and move_damaged was not set. With move_damaged a damaged file
 * (or only its write-ahead log, when the file itself is whole) is renamed to PATH.damaged-TIME, one
 * log line says so, and nothing is ever deleted. */
Database *database_open(const DatabaseParams *params, DatabaseError *error);

/* Ends every session: a running statement is interrupted, the connection is given back; then closes
 * the file. What cannot be interrupted (a commit, a caller that stands still in a session) is
 * waited for DATABASE_CLOSE_WAIT_MS: then one line, false, and the file stays open, and its data
 * root must stay this process's, until the last session is closed. Connections of
 * database_connect() are disconnected before. NULLs *database, accepts NULL. */
enum { DATABASE_CLOSE_WAIT_MS = 2000 };
bool database_close(Database **database);
bool database_close_within(Database **database, uint32_t wait_ms);

/* Keeps a Database to be asked after another thread closed it: then it answers that the store is
 * closed. Held and let go in pairs, the first before the close. let_go NULLs *database and accepts
 * NULL. */
void database_hold(Database *database);
void database_let_go(Database **database);

const DuckdbApi *database_api(const Database *database);
/* Where the damaged file went when this was opened; "" when there was none. */
const char *database_moved_to(const Database *database);

/* A connection of the owner's own, to be disconnected before database_close(). NULL and *error. */
DuckdbConnection database_connect(Database *database, DatabaseError *error);
/* Runs one or more statements of our own and drops their rows. */
bool database_run(const DuckdbApi *duckdb, DuckdbConnection connection, const char *sql,
                  DatabaseError *error);

/* ---- Sessions: database_session.c ---- */

/* A connection that database_close() may end. NULL and *error, also after the database closed. */
DatabaseSession *database_session_open(Database *database, DatabaseError *error);
/* Ends it, with whatever result it holds. NULLs *session, accepts NULL. Also after the close. */
void database_session_close(DatabaseSession **session);

/* Between enter and leave the session is the calling thread's and the connection stays. False: the
 * store is closed, *error says so, and there is nothing to leave. */
bool database_session_enter(DatabaseSession *session, DatabaseError *error);
void database_session_leave(DatabaseSession *session);
/* Whether database_close() has begun: an error then came from its interrupt. */
bool database_session_closing(const DatabaseSession *session);
/* Gives the connection back early, between enter and leave: nothing more is to be read. */
void database_session_finish(DatabaseSession *session);

/* Between enter and leave. */
const DuckdbApi *database_session_api(const DatabaseSession *session);
DuckdbConnection database_session_connection(const DatabaseSession *session);
/* The one result a session may hold, destroyed with its connection; NULL when it holds none. */
DuckdbResult *database_session_result(DatabaseSession *session);
/* Executes a prepared statement into the session's result: streaming where the library can, else
 * whole. Between enter and leave; does not destroy `prepared`. */
bool database_session_execute(DatabaseSession *session, DuckdbPrepared prepared,
                              DatabaseError *error);
/* The same, whole in any case: other statements of the connection, which end what streams, may
 * come before it is read. */
bool database_session_execute_whole(DatabaseSession *session, DuckdbPrepared prepared,
                                    DatabaseError *error);
/* Runs statements of our own, as database_run(). */
bool database_session_run(DatabaseSession *session, const char *sql, DatabaseError *error);

#define DATABASE_CLOSED_TEXT  "the store is closed"
#define DATABASE_STOPPED_TEXT "it was cancelled"

/* ---- Ending what another thread asks: database_stop.c ---- */

typedef struct DatabaseStop DatabaseStop;

/* NULL without memory. */
DatabaseStop *database_stop_create(void);
/* After the last thread that it watches let go. NULLs *stop, accepts NULL. */
void database_stop_destroy(DatabaseStop **stop);
/* From now on what the calling thread runs in sessions, and reads of their streams, may be ended
 * through `stop`, and has not been so far; NULL: no more. One thread a stop at a time. */
void database_stop_watch(DatabaseStop *stop);
/* Any thread; waits for nothing. The work ends soon, with an error; so does all that the thread
 * begins until it watches anew. To be asked again while the work goes on: an interrupt between two
 * statements is lost. */
void database_stop_ask(DatabaseStop *stop);

/* For src/store/database/: around what may take long, in a session that is entered. False and
 * *error: it was asked to stop. */
bool database_work_begin(DatabaseSession *session, DatabaseError *error);
/* Whether it was asked to stop meanwhile. */
bool database_work_end(void);

#endif
