/* store/metrics/spool.h: rows of a process that cannot write the database, on their way to it.
 *
 * For src/store/metrics/ alone. A session writes <data root>/spool/<session>-<number>.spool, one
 * file after the other: a header, then frames of length, checksums and rows. Whoever owns the data
 * root commits frames together with how far it came, and removes a file when nothing can be added
 * to it any more. The writer thread of either process. */
#ifndef CALIPER_STORE_METRICS_SPOOL_H
#define CALIPER_STORE_METRICS_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "store/metrics/session.h"

enum { SPOOL_FILE_BYTES = 64 << 20 }; /* then the next one is begun */

/* ---- Writing ---- */

typedef struct SpoolWriter {
    char *folder;
    char session[SESSION_NAME_BYTES];
    int session_fd; /* -1: not announced yet */
    int fd;         /* -1: the next frame begins a file */
    uint32_t number;
    uint64_t end_bytes;
    bool unsynced;
    bool has_files; /* since the session was announced */
} SpoolWriter;

/* Touches no disk. False without memory. */
bool spool_writer_init(SpoolWriter *spool, const char *data_root, const char *session);
/* Appends one frame of whole rows. False with errno: nothing of it counts, and it may be tried
 * again. */
bool spool_write(SpoolWriter *spool, const void *rows, uint64_t length_bytes);
/* What was written is durable when it answers true. */
bool spool_sync(SpoolWriter *spool);
/* Where the next frame goes; and back there after a sync that failed, when one frame and what fits
 * behind it into the same file were written since. */
typedef struct SpoolPlace {
    uint32_t number;
    uint64_t end_bytes;
} SpoolPlace;
SpoolPlace spool_place(const SpoolWriter *spool);
void spool_rewind(SpoolWriter *spool, SpoolPlace place);
/* Ends the session: its files are now the owner's. It may be begun again with spool_write. */
void spool_writer_end_session(SpoolWriter *spool);
void spool_writer_finish(SpoolWriter *spool);

/* ---- Reading, by the owner ---- */

typedef struct SpoolEntry {
    char session[SESSION_NAME_BYTES];
    uint32_t number; /* 0: no file, only the session's announcement */
} SpoolEntry;

typedef struct SpoolList {
    SpoolEntry *entries; /* by session, then number */
    uint32_t count, capacity;
} SpoolList;

/* What lies in the folder; an empty list when there is none. False with errno. */
bool spool_list(const char *folder, SpoolList *list);
void spool_list_finish(SpoolList *list);

/* "<session>-<number>.spool": the name that the database remembers. */
enum { SPOOL_NAME_BYTES = 64 };
void spool_file_name(const SpoolEntry *entry, char out[SPOOL_NAME_BYTES]);

typedef enum SpoolRead {
    SPOOL_READ_FRAME = 0, /* rows, and where the next frame begins */
    SPOOL_READ_END = 1,   /* no further whole frame now */
    SPOOL_READ_DAMAGED =
        2,                 /* a frame whose bytes are not what was written; it can be passed over */
    SPOOL_READ_FAILED = 3, /* errno */
    SPOOL_READ_NO_ROOM = 4 /* no memory for the frame, which can be passed over */
} SpoolRead;

typedef struct SpoolReader {
    int fd;
    uint64_t at_bytes;
    uint8_t *rows; /* of the last frame; the reader's */
    uint64_t rows_bytes, rows_capacity_bytes;
    uint64_t no_room_bytes; /* of the frame that there was no memory for */
} SpoolReader;

/* `at_bytes` 0: the first frame. False with errno. */
bool spool_reader_open(SpoolReader *reader, const char *folder, const char *file,
                       uint64_t at_bytes);
/* On FRAME and DAMAGED at_bytes is behind the frame. */
SpoolRead spool_reader_next(SpoolReader *reader);
/* After NO_ROOM: at_bytes is behind the frame. */
void spool_reader_pass(SpoolReader *reader);
/* Whether there are bytes behind at_bytes. */
bool spool_reader_has_rest(const SpoolReader *reader);
void spool_reader_close(SpoolReader *reader);

#endif
