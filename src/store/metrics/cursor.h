/* store/metrics/cursor.h: the rows of a prepared statement, and blocks to keep them in.
 *
 * For src/store/metrics/ alone. The thread that is in the session. */
#ifndef CALIPER_STORE_METRICS_CURSOR_H
#define CALIPER_STORE_METRICS_CURSOR_H

#include "store/database/database.h"

enum { CURSOR_COLUMNS_MAX = 16 };

typedef struct Cursor {
    const DuckdbApi *api;
    DuckdbResult *result;
    DuckdbDataChunk chunk;
    uint64_t rows, row; /* of the chunk */
    uint64_t columns;
    const void *data[CURSOR_COLUMNS_MAX];
    const uint64_t *validity[CURSOR_COLUMNS_MAX];
} Cursor;

/* Over the session's result. */
void cursor_begin(Cursor *cursor, DatabaseSession *session);
bool cursor_next(Cursor *cursor);
void cursor_end(Cursor *cursor);

/* The column's type is the caller's to know: BIGINT, DOUBLE, BOOLEAN, VARCHAR or BLOB. */
bool cursor_is_null(const Cursor *cursor, uint64_t column);
int64_t cursor_number(const Cursor *cursor, uint64_t column); /* 0 for NULL */
double cursor_real(const Cursor *cursor, uint64_t column);    /* NaN for NULL */
bool cursor_truth(const Cursor *cursor, uint64_t column);     /* false for NULL */
const char *cursor_bytes(const Cursor *cursor, uint64_t column, uint32_t *length);

/* ---- Memory that goes at once ---- */

typedef struct Block {
    struct BlockPiece *pieces;
    bool failed; /* there was no memory; everything since is NULL */
} Block;

/* Aligned for any type, not cleared. */
void *block_take(Block *block, uint64_t bytes);
/* A copy with a NUL behind it. */
char *block_text(Block *block, const char *bytes, uint32_t length);
/* Gives all of it back. */
void block_free(struct BlockPiece *pieces);

/* Room for one more of `item_bytes` in a growing array of the block. */
void *block_grow(Block *block, void *items, uint32_t count, uint32_t *capacity,
                 uint64_t item_bytes);

#endif
