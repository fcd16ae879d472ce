/* The owner takes over what other processes spooled: see writer.h.
 *
 * Rows and how far the file was read are committed in one transaction, so that each row is there
 * once whatever fails between. A file goes when its session is dead, or has a later file, and all
 * of it is in the tables; what is left of it in spool_files goes after its name is gone for good.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"
#include "core/paths.h"
#include "store/metrics/disk.h"
#include "store/metrics/writer.h"

/* A frame that there is no memory for is looked at again that often. */
enum { PIECE_BYTES = 4 << 20, NO_ROOM_TRIES = 4, FREE_NAMES = 1000 };

typedef struct Takeover {
    Writer *writer;
    uint64_t budget_bytes;
    bool more; /* the budget ended before the rows did */
} Takeover;

typedef enum FileEnd {
    FILE_END_DATABASE_FAILED = 0,
    FILE_END_WAITS = 1, /* more may come */
    FILE_END_DONE = 2   /* nothing is left to take; the file is gone or set aside */
} FileEnd;

/* ---- How far a file was taken over ---- */

static SpoolSeen *seen_find(Writer *writer, const char *name)
{
    for (uint32_t i = 0; i < writer->seen_count; i++)
        if (strcmp(writer->seen[i].name, name) == 0)
            return &writer->seen[i];
    return NULL;
}

static void seen_set(Writer *writer, const char *name, uint64_t bytes)
{
    SpoolSeen *seen = seen_find(writer, name);
    if (seen == NULL && writer->seen_count == writer->seen_capacity) {
        uint32_t capacity = writer->seen_capacity == 0 ? 16 : writer->seen_capacity * 2;
        SpoolSeen *larger = realloc(writer->seen, capacity * sizeof *larger);
        if (larger == NULL)
            return; /* it is asked of the database again */
        writer->seen = larger;
        writer->seen_capacity = capacity;
    }
    if (seen == NULL) {
        seen = &writer->seen[writer->seen_count++];
        *seen = (SpoolSeen){.bytes = bytes};
        snprintf(seen->name, sizeof seen->name, "%s", name);
    }
    if (seen->bytes != bytes)
        seen->no_room = 0;
    seen->bytes = bytes;
}

static void seen_forget(Writer *writer, const char *name)
{
    SpoolSeen *seen = seen_find(writer, name);
    if (seen != NULL)
        *seen = writer->seen[--writer->seen_count];
}

static bool position_of(Writer *writer, const char *name, uint64_t *out)
{
    SpoolSeen *seen = seen_find(writer, name);
    if (seen != NULL) {
        *out = seen->bytes;
        return true;
    }
    char text[160];
    int64_t bytes = 0;
    snprintf(text, sizeof text, "SELECT bytes FROM spool_files WHERE name = '%s'", name);
    if (!sql_number(&writer->commit.sql, text, 0, &bytes))
        return false;
    *out = bytes > 0 ? (uint64_t)bytes : 0;
    seen_set(writer, name, *out);
    return true;
}

/* ---- One file ---- */

/* The rows of one frame. A row that cannot be one ends it: the bytes are what was written, so this
 * is a file of another make. */
static bool commit_frame(Takeover *takeover, const SpoolReader *reader, const SpoolEntry *entry,
                         uint64_t *rows, bool *ends_run, bool *strange)
{
    for (uint64_t at = 0; at < reader->rows_bytes;) {
        const Row *row = (const Row *)(const void *)(reader->rows + at);
        uint64_t size_bytes = 0;
        if (!row_check(row, reader->rows_bytes - at, &size_bytes)) {
            *strange = true;
            return true;
        }
        if (!commit_row(&takeover->writer->commit, row, entry->session))
            return false;
        *ends_run |= row->kind == ROW_KIND_END;
        (*rows)++;
        at += size_bytes;
    }
    return true;
}

typedef struct Piece {
    SpoolRead last; /* what ended it */
    uint64_t rows;
    bool damaged, passed, ends_run, over_budget;
} Piece;

/* Where the file system has no second names, an empty file stands at the name that the damaged one
 * gets at its end: whoever ends it, this process or a later one, finds it there. */
static bool mark_damaged(const char *kept)
{
    int fd = open(kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

/* Some of the file cannot be taken over. From now on it has a second name, under which it stays
 * when the first one goes. */
static bool keep_aside(Writer *writer, const char *name)
{
    char path[4096];
    char kept[4096 + 16];
    snprintf(path, sizeof path, "%s/%s", writer->spool.folder, name);
    snprintf(kept, sizeof kept, "%s.damaged", path);
    if (fault_here("metrics.spool.aside")) {
        errno = EIO;
        return false;
    }
    errno = EPERM;
    bool has = !fault_here("metrics.spool.link") && link(path, kept) == 0;
    if (!has && (errno == EPERM || errno == ENOTSUP || errno == EMLINK || errno == ENOSYS))
        has = mark_damaged(kept);
    if (!has && errno != EEXIST)
        return false;
    if (has)
        log_item(METRICS_SPOOL_DAMAGED, path, kept);
    return disk_sync_folder(writer->spool.folder, "metrics.spool.sync");
}

/* Memory may be short for a moment; a frame that it never suffices for holds up nobody. False: it
 * is to be tried again. */
static bool pass_without_room(Writer *writer, SpoolReader *reader, const char *name)
{
    SpoolSeen *seen = seen_find(writer, name);
    if (seen == NULL || seen->bytes != reader->at_bytes || ++seen->no_room < NO_ROOM_TRIES)
        return false;
    log_item(METRICS_SPOOL_FRAME_PASSED, name, (unsigned long long)reader->no_room_bytes,
             (unsigned long long)reader->at_bytes);
    spool_reader_pass(reader);
    return true;
}

/* Frames from the reader's place on, in one transaction. */
static bool commit_piece(Takeover *takeover, SpoolReader *reader, const SpoolEntry *entry,
                         const char *name, Piece *piece)
{
    Commit *commit = &takeover->writer->commit;
    uint64_t first_bytes = reader->at_bytes;
    bool kept = false;
    *piece = (Piece){0};
    while (!piece->over_budget) {
        piece->last = spool_reader_next(reader);
        bool passed =
            piece->last == SPOOL_READ_NO_ROOM && pass_without_room(takeover->writer, reader, name);
        piece->passed |= passed;
        if (piece->last == SPOOL_READ_END || piece->last == SPOOL_READ_FAILED ||
            (piece->last == SPOOL_READ_NO_ROOM && !passed))
            break;
        if (!commit->open && !commit_begin(commit))
            return false;
        piece->damaged |= piece->last == SPOOL_READ_DAMAGED;
        if (piece->last == SPOOL_READ_FRAME && !commit_frame(takeover, reader, entry, &piece->rows,
                                                             &piece->ends_run, &piece->damaged)) {
            commit_abandon(commit);
            return false;
        }
        /* Before it is noted that they were passed over. */
        if ((piece->damaged || piece->passed) && !kept && !keep_aside(takeover->writer, name)) {
            commit_abandon(commit);
            reader->at_bytes = first_bytes;
            *piece = (Piece){.last = SPOOL_READ_FAILED};
            return true;
        }
        kept = piece->damaged || piece->passed;
        uint64_t taken_bytes = reader->at_bytes - first_bytes;
        piece->over_budget = taken_bytes >= takeover->budget_bytes;
    }
    if (!commit->open)
        return true;
    if (!commit_spool_position(commit, name, (int64_t)reader->at_bytes)) {
        commit_abandon(commit);
        return false;
    }
    return commit_end(commit);
}

/* The bytes of a frame that was being written when its process died: its header comes last. */
static bool rest_is_torn(SpoolReader *reader)
{
    uint8_t header[24];
    int64_t got =
        disk_read_at(reader->fd, header, sizeof header, reader->at_bytes, "metrics.spool.read");
    bool zero = true;
    for (int64_t i = 0; i < got; i++)
        zero = zero && header[i] == 0;
    return got >= 0 && (got < (int64_t)sizeof header || zero);
}

/* The file goes, but for its second name if it has one; where that is another file, the name that
 * is free. False: in doubt it stays. */
static bool drop_file(const char *path, const char *kept)
{
    struct stat file, other;
    char free_name[4096 + 32];
    if (lstat(path, &file) != 0)
        return errno == ENOENT;
    if (lstat(kept, &other) != 0)
        return errno == ENOENT && !fault_here("metrics.spool.unlink") && unlink(path) == 0;
    if (file.st_dev == other.st_dev && file.st_ino == other.st_ino)
        return !fault_here("metrics.spool.unlink") && unlink(path) == 0;
    if (S_ISREG(other.st_mode) && other.st_size == 0)
        return disk_rename(path, kept, "metrics.spool.aside");
    for (int i = 1; i < FREE_NAMES; i++) {
        snprintf(free_name, sizeof free_name, "%s-%d", kept, i);
        errno = 0;
        if (lstat(free_name, &other) != 0)
            break;
    }
    if (errno != ENOENT || !disk_rename(path, free_name, "metrics.spool.aside"))
        return false;
    log_item(METRICS_SPOOL_DAMAGED, path, free_name);
    return true;
}

/* Nothing more comes: the file goes, but for its second name if some of it could not be read. */
static FileEnd end_file(Writer *writer, SpoolReader *reader, const char *name)
{
    char path[4096];
    char kept[4096 + 16];
    snprintf(path, sizeof path, "%s/%s", writer->spool.folder, name);
    snprintf(kept, sizeof kept, "%s.damaged", path);
    if (spool_reader_has_rest(reader) && !rest_is_torn(reader) && !keep_aside(writer, name))
        return FILE_END_WAITS;
    if (!drop_file(path, kept) || !disk_sync_folder(writer->spool.folder, "metrics.spool.sync"))
        return FILE_END_WAITS;
    seen_forget(writer, name);
    char text[160];
    snprintf(text, sizeof text, "DELETE FROM spool_files WHERE name = '%s'", name);
    if (sql_run(&writer->commit.sql, text, "metrics.spool.forget"))
        return FILE_END_DONE;
    writer_database_failed(writer, &writer->commit.sql);
    return FILE_END_DATABASE_FAILED;
}

static void took(Writer *writer, const Piece *piece)
{
    if (piece->rows == 0)
        return;
    atomic_fetch_add(&writer->store->rows_taken_over, piece->rows);
    atomic_fetch_add(&writer->store->commits, 1);
    writer->rows_since_snapshot = true;
    writer->snapshot_due |= piece->ends_run;
    writer_trouble(writer, 0, NULL);
}

/* errno says why; one line. */
static void say_unreadable(Writer *writer, const char *name)
{
    if (!writer->spool_said)
        log_item(METRICS_SPOOL_UNREADABLE, writer->spool.folder, name, strerror(errno));
    writer->spool_said = true;
}

static FileEnd take_file(Takeover *takeover, const SpoolEntry *entry, bool complete)
{
    Writer *writer = takeover->writer;
    char name[SPOOL_NAME_BYTES];
    uint64_t at_bytes = 0;
    SpoolReader reader;
    Piece piece;
    spool_file_name(entry, name);
    if (!position_of(writer, name, &at_bytes)) {
        writer_database_failed(writer, &writer->commit.sql);
        return FILE_END_DATABASE_FAILED;
    }
    if (!spool_reader_open(&reader, writer->spool.folder, name, at_bytes)) {
        say_unreadable(writer, name);
        return FILE_END_WAITS;
    }
    FileEnd end = FILE_END_WAITS;
    if (!commit_piece(takeover, &reader, entry, name, &piece)) {
        /* It may have been committed: the database knows. */
        seen_forget(writer, name);
        writer_database_failed(writer, &writer->commit.sql);
        end = FILE_END_DATABASE_FAILED;
    } else {
        seen_set(writer, name, reader.at_bytes);
        took(writer, &piece);
        takeover->more |= piece.over_budget;
        if (piece.damaged)
            log_item(METRICS_SPOOL_FRAME_DAMAGED, name, (unsigned long long)reader.at_bytes);
        if (piece.last == SPOOL_READ_FAILED)
            say_unreadable(writer, name);
        if (piece.last == SPOOL_READ_END && complete)
            end = end_file(writer, &reader, name);
    }
    spool_reader_close(&reader);
    return end;
}

/* ---- Sessions ---- */

/* The files of one session in their order. False: the database failed. */
static bool take_session(Takeover *takeover, const SpoolEntry *entries, uint32_t count)
{
    Writer *writer = takeover->writer;
    const char *session = entries[0].session;
    /* Asked before its files are read: what a dead one wrote is all there. */
    bool alive = session_is_alive(writer->spool.folder, session);
    bool all = true;
    for (uint32_t i = 0; all && i < count; i++) {
        if (entries[i].number == 0)
            continue;
        FileEnd end = take_file(takeover, &entries[i], !alive || i + 1 < count);
        if (end == FILE_END_DATABASE_FAILED)
            return false;
        all = end == FILE_END_DONE;
    }
    writer->others_alive |= alive;
    if (!alive && all) {
        session_forget(writer->spool.folder, session);
        writer->interrupted_due = true;
    }
    return true;
}

bool takeover_step(Writer *writer, bool *more)
{
    Takeover takeover = {.writer = writer, .budget_bytes = PIECE_BYTES};
    SpoolList list;
    *more = false;
    if (!spool_list(writer->spool.folder, &list)) {
        say_unreadable(writer, "");
        return true;
    }
    bool ok = true;
    writer->others_alive = false;
    for (uint32_t first = 0; ok && first < list.count;) {
        uint32_t count = 1;
        while (first + count < list.count &&
               strcmp(list.entries[first].session, list.entries[first + count].session) == 0)
            count++;
        ok = take_session(&takeover, &list.entries[first], count);
        first += count;
    }
    spool_list_finish(&list);
    *more = takeover.more;
    if (ok && !takeover.more && writer->interrupted_due)
        ok = takeover_clean(writer) && takeover_mark_interrupted(writer, false);
    return ok;
}

bool takeover_is_due(const Writer *writer)
{
    SpoolList list;
    bool due = false;
    if (!spool_list(writer->spool.folder, &list))
        return false;
    for (uint32_t i = 0; !due && i < list.count; i++)
        due = !session_is_alive(writer->spool.folder, list.entries[i].session);
    spool_list_finish(&list);
    return due;
}

/* ---- Names ---- */

typedef struct Names {
    Writer *writer;
    char (*names)[SPOOL_NAME_BYTES];
    uint32_t count, capacity;
} Names;

static void names_add(void *user, const char *const *values, const uint32_t *lengths)
{
    Names *names = user;
    if (values[0] == NULL || lengths[0] >= SPOOL_NAME_BYTES)
        return;
    if (names->count == names->capacity) {
        uint32_t capacity = names->capacity == 0 ? 16 : names->capacity * 2;
        void *larger = realloc(names->names, capacity * sizeof names->names[0]);
        if (larger == NULL)
            return; /* another time */
        names->names = larger;
        names->capacity = capacity;
    }
    memcpy(names->names[names->count], values[0], lengths[0]);
    names->names[names->count++][lengths[0]] = '\0';
}

bool takeover_clean(Writer *writer)
{
    Names names = {.writer = writer};
    bool ok = sql_texts(&writer->commit.sql, "SELECT name FROM spool_files", names_add, &names);
    for (uint32_t i = 0; ok && i < names.count; i++) {
        char *path = paths_join(writer->spool.folder, names.names[i]);
        bool gone = path != NULL && access(path, F_OK) != 0 && errno == ENOENT &&
                    strchr(names.names[i], '\'') == NULL;
        free(path);
        if (!gone)
            continue;
        char text[160];
        snprintf(text, sizeof text, "DELETE FROM spool_files WHERE name = '%s'", names.names[i]);
        ok = sql_run(&writer->commit.sql, text, "metrics.spool.forget");
    }
    free(names.names);
    if (!ok)
        writer_database_failed(writer, &writer->commit.sql);
    return ok;
}

/* Whether rows of that session may still come. */
static bool session_goes_on(const Writer *writer, const char *session, bool closing)
{
    if (!session_name_valid(session, strlen(session)))
        return false;
    if (strcmp(session, writer->store->session) == 0)
        return !closing;
    return session_is_alive(writer->spool.folder, session);
}

bool takeover_mark_interrupted(Writer *writer, bool closing)
{
    static const char open_sessions[] =
        "SELECT DISTINCT coalesce(s.session, '') FROM runs r LEFT JOIN run_sessions s "
        "ON s.run = r.id WHERE NOT r.done AND r.id NOT IN (SELECT run FROM interrupted_runs)";
    Names names = {.writer = writer};
    bool ok = sql_texts(&writer->commit.sql, open_sessions, names_add, &names);
    for (uint32_t i = 0; ok && i < names.count; i++) {
        const char *session = names.names[i];
        if (session_goes_on(writer, session, closing) || strchr(session, '\'') != NULL)
            continue;
        char text[512];
        snprintf(text, sizeof text,
                 "INSERT INTO interrupted_runs SELECT r.id, make_timestamp(%lld) FROM runs r "
                 "LEFT JOIN run_sessions s ON s.run = r.id WHERE NOT r.done AND "
                 "coalesce(s.session, '') = '%s' ON CONFLICT DO NOTHING",
                 (long long)disk_wall_us(), session);
        ok = sql_run(&writer->commit.sql, text, "metrics.interrupted");
        writer->rows_since_snapshot = true;
    }
    free(names.names);
    if (ok)
        writer->interrupted_due = false;
    else
        writer_database_failed(writer, &writer->commit.sql);
    return ok;
}
