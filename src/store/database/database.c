/* Opening a database with hardened settings, closing it, and the words of errors. Any thread. */
#include "store/database/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "core/mutex_wait.h"
#include "core/utf8.h"
#include "store/database/database_impl.h"

void database_error_set(DatabaseError *error, DuckdbErrorKind kind, const char *format, ...)
{
    if (error == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    if (length < 0)
        error->text[0] = '\0';
    else if ((size_t)length >= sizeof error->text)
        utf8_trim(error->text);
    /* What DuckDB appends to an error of its own making: addresses in its library. */
    char *trace = strstr(error->text, "\n\nStack Trace:");
    if (trace != NULL)
        *trace = '\0';
    error->kind = kind;
}

static uint32_t default_threads(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1)
        return 1;
    return processors < DATABASE_THREADS_MAX ? (uint32_t)processors : DATABASE_THREADS_MAX;
}

static uint64_t default_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t quarter = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes / 4 : 0;
    if (quarter < DATABASE_MEMORY_MIN_BYTES)
        return DATABASE_MEMORY_MIN_BYTES;
    return quarter < DATABASE_MEMORY_MAX_BYTES ? quarter : DATABASE_MEMORY_MAX_BYTES;
}

static bool set_one(const DuckdbApi *duckdb, DuckdbConfig config, const char *name,
                    const char *value, DatabaseError *error)
{
    if (!fault_here("store.database.configure") &&
        duckdb->set_config(config, name, value) == DUCKDB_STATE_SUCCESS)
        return true;
    database_error_set(error, 0, "DuckDB %s does not take the setting %s = %s", duckdb->version,
                       name, value);
    return false;
}

/* The settings of every instance; the lock comes last. */
static DuckdbConfig make_config(const DuckdbApi *duckdb, const DatabaseParams *params,
                                DatabaseError *error)
{
    char threads[16];
    char memory[32];
    uint32_t thread_count = params->threads != 0 ? params->threads : default_threads();
    uint64_t memory_bytes =
        params->memory_bytes != 0 ? params->memory_bytes : default_memory_bytes();
    snprintf(threads, sizeof threads, "%u", thread_count);
    snprintf(memory, sizeof memory, "%lluB", (unsigned long long)memory_bytes);
    const char *fixed[] = {
        "autoinstall_known_extensions",
        "false",
        "autoload_known_extensions",
        "false",
        "allow_community_extensions",
        "false",
        "allow_unsigned_extensions",
        "false",
        "allow_persistent_secrets",
        "false",
        "threads",
        threads,
        "memory_limit",
        memory,
        "access_mode",
        params->read_only ? "READ_ONLY" : "AUTOMATIC",
        "enable_external_access",
        params->external_access ? "true" : "false",
        NULL,
    };
    DuckdbConfig config = NULL;
    if (fault_here("store.database.configure") ||
        duckdb->create_config(&config) != DUCKDB_STATE_SUCCESS) {
        database_error_set(error, 0, "DuckDB makes no configuration");
        return NULL;
    }
    /* Without a file there is no place of our own to spill to. */
    bool set = params->path != NULL || set_one(duckdb, config, "temp_directory", "", error);
    for (const char *const *pair = fixed; set && pair[0] != NULL; pair += 2)
        set = set_one(duckdb, config, pair[0], pair[1], error);
    for (const char *const *pair = params->settings; set && pair != NULL && pair[0] != NULL;
         pair += 2)
        set = set_one(duckdb, config, pair[0], pair[1], error);
    set = set && set_one(duckdb, config, "lock_configuration", "true", error);
    if (!set)
        duckdb->destroy_config(&config);
    return config;
}

static DuckdbDatabase open_once(const DuckdbApi *duckdb, const DatabaseParams *params,
                                DatabaseError *error)
{
    DuckdbConfig config = make_config(duckdb, params, error);
    DuckdbDatabase handle = NULL;
    char *text = NULL;
    if (config == NULL)
        return NULL;
    if (fault_here("store.database.open")) {
        database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s: injected failure",
                           params->path != NULL ? params->path : "(memory)");
    } else if (duckdb->open_ext(params->path, &handle, config, &text) != DUCKDB_STATE_SUCCESS) {
        database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s",
                           text != NULL ? text : "DuckDB does not say why it cannot open it");
        handle = NULL;
    }
    duckdb->free(text);
    duckdb->destroy_config(&config);
    return handle;
}

/* A log without its database, which somebody took away: a fresh one must not meet it. */
static bool move_lone_log(const DatabaseParams *params, char **moved, DatabaseError *error)
{
    char log_path[4096 + 64];
    snprintf(log_path, sizeof log_path, "%s.wal", params->path);
    if (access(log_path, F_OK) != 0 && errno == ENOENT)
        return true;
    if (!params->move_damaged) {
        database_error_set(error, 0, "%s is there without its database", log_path);
        return false;
    }
    char *name = database_move_aside(params->path, DATABASE_DAMAGE_LOG, error);
    if (name == NULL)
        return false;
    log_item(DATABASE_LOG_ALONE, log_path, name);
    free(*moved);
    *moved = name;
    return true;
}

/* Makes an empty database where there is no file: under another name first, since one that was
 * begun and not ended would look damaged. What such an end left is nobody's. */
static bool make_file(const DuckdbApi *duckdb, const DatabaseParams *params, char **moved,
                      DatabaseError *error)
{
    char path[4096 + 64];
    char log_path[sizeof path + 8];
    DatabaseParams fresh = *params;
    int length = snprintf(path, sizeof path, "%s.new", params->path);
    if (length < 0 || (size_t)length >= sizeof path - 4) {
        database_error_set(error, 0, "%.200s... is too long a path", params->path);
        return false;
    }
    if (!move_lone_log(params, moved, error))
        return false;
    snprintf(log_path, sizeof log_path, "%s.wal", path);
    unlink(log_path);
    unlink(path);
    fresh.path = path;
    DuckdbDatabase handle = open_once(duckdb, &fresh, error);
    if (handle == NULL)
        return false;
    duckdb->close(&handle);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool made = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP) &&
                access(log_path, F_OK) != 0 && rename(path, params->path) == 0;
    if (!made)
        database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s cannot be made: %s", params->path,
                           strerror(errno));
    if (fd >= 0)
        close(fd);
    return made;
}

/* Opens, moving aside what is damaged: the log first when that is what DuckDB names, then the file.
 * *moved is the last new name, the caller's. */
static DuckdbDatabase open_or_move(const DuckdbApi *duckdb, const DatabaseParams *params,
                                   char **moved, DatabaseError *error)
{
    DatabaseError own;
    for (int attempt = 0;; attempt++) {
        bool there = params->path == NULL || params->read_only || access(params->path, F_OK) == 0 ||
                     make_file(duckdb, params, moved, &own);
        DuckdbDatabase handle = there ? open_once(duckdb, params, &own) : NULL;
        if (handle != NULL)
            return handle;
        if (!there)
            break;
        DatabaseDamage damage = database_damage_of(own.text);
        if (damage == DATABASE_DAMAGE_LOG && attempt > 0)
            damage = DATABASE_DAMAGE_FILE;
        if (damage == DATABASE_DAMAGE_NONE || !params->move_damaged || params->path == NULL ||
            attempt > 1)
            break;
        char *name = database_move_aside(params->path, damage, &own);
        if (name == NULL)
            break;
        log_item(DATABASE_DAMAGED, params->path, own.text, name);
        free(*moved);
        *moved = name;
    }
    database_error_set(error, own.kind, "%s", own.text);
    return NULL;
}

/* Makes the name of a new file durable. */
static bool sync_name(const char *path, DatabaseError *error)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) : 1,
             slash != NULL ? path : ".");
    int fd = open(folder[0] != '\0' ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool failing = fault_here("store.database.sync");
    if (failing)
        errno = EIO;
    bool ok = fd >= 0 && !failing && (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP);
    if (!ok)
        database_error_set(error, DUCKDB_ERROR_KIND_IO, "%s cannot be flushed: %s", folder,
                           strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

Database *database_open(const DatabaseParams *params, DatabaseError *error)
{
    const char *reason = NULL;
    const DuckdbApi *duckdb = duckdb_api(&reason);
    if (duckdb == NULL) {
        database_error_set(error, 0, "%s", reason);
        return NULL;
    }
    Database *database = fault_here("store.database.alloc") ? NULL : calloc(1, sizeof *database);
    if (database == NULL)
        goto no_memory;
    database->duckdb = duckdb;
    atomic_init(&database->references, 1);
    atomic_init(&database->closing, false);
    if (pthread_mutex_init(&database->lock, NULL) != 0)
        goto free_database;
    bool checked = params->path == NULL || database_files_check(params->path, error);
    bool claims = checked && params->path != NULL && !params->read_only;
    if (claims)
        database->file = database_file_claim(params->path, error);
    bool fresh = claims && access(params->path, F_OK) != 0;
    if (checked && (!claims || database->file != NULL))
        database->handle = open_or_move(duckdb, params, &database->moved_to, error);
    fresh = fresh || database->moved_to != NULL;
    if (database->handle != NULL && fresh && !sync_name(params->path, error))
        duckdb->close(&database->handle);
    if (database->handle == NULL) {
        database_file_release(&database->file);
        database_unref(database);
        return NULL;
    }
    return database;

free_database:
    free(database);
no_memory:
    database_error_set(error, 0, "no memory for a database");
    return NULL;
}

void database_unref(Database *database)
{
    if (atomic_fetch_sub(&database->references, 1) != 1)
        return;
    if (database->handle != NULL)
        database->duckdb->close(&database->handle);
    database_file_release(&database->file);
    pthread_mutex_destroy(&database->lock);
    free(database->moved_to);
    free(database);
}

bool database_close(Database **address)
{
    return database_close_within(address, DATABASE_CLOSE_WAIT_MS);
}

bool database_close_within(Database **address, uint32_t wait_ms)
{
    Database *database = *address;
    *address = NULL;
    if (database == NULL)
        return true;
    atomic_store(&database->closing, true);
    if (!database_sessions_end(database, mutex_wait_now_ns() + (int64_t)wait_ms * 1000000)) {
        log_item(DATABASE_LEFT_OPEN, (int)wait_ms);
        database_unref(database);
        return false;
    }
    pthread_mutex_lock(&database->lock);
    DuckdbDatabase handle = database->handle;
    database->handle = NULL;
    pthread_mutex_unlock(&database->lock);
    database->duckdb->close(&handle);
    database_file_release(&database->file);
    database_unref(database);
    return true;
}

void database_hold(Database *database)
{
    atomic_fetch_add(&database->references, 1);
}

void database_let_go(Database **address)
{
    if (*address != NULL)
        database_unref(*address);
    *address = NULL;
}

const DuckdbApi *database_api(const Database *database)
{
    return database->duckdb;
}

const char *database_moved_to(const Database *database)
{
    return database->moved_to != NULL ? database->moved_to : "";
}

DuckdbConnection database_connect(Database *database, DatabaseError *error)
{
    DuckdbConnection connection = NULL;
    pthread_mutex_lock(&database->lock);
    DuckdbDatabase handle = database->handle;
    bool failed = handle == NULL || fault_here("store.database.connect") ||
                  database->duckdb->connect(handle, &connection) != DUCKDB_STATE_SUCCESS;
    pthread_mutex_unlock(&database->lock);
    if (!failed)
        return connection;
    database_error_set(error, 0, "%s",
                       handle == NULL ? DATABASE_CLOSED_TEXT : "DuckDB makes no connection");
    return NULL;
}

bool database_run(const DuckdbApi *duckdb, DuckdbConnection connection, const char *sql,
                  DatabaseError *error)
{
    DuckdbResult result;
    memset(&result, 0, sizeof result);
    if (fault_here("store.database.run")) {
        database_error_set(error, DUCKDB_ERROR_KIND_IO, "injected failure");
        return false;
    }
    bool done = duckdb->query(connection, sql, &result) == DUCKDB_STATE_SUCCESS;
    if (!done) {
        const char *text = duckdb->result_error(&result);
        database_error_set(error, duckdb->result_error_type(&result), "%s",
                           text != NULL ? text : "DuckDB does not say why");
    }
    duckdb->destroy_result(&result);
    return done;
}
