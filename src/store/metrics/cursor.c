/* Rows of results and the blocks they are kept in: see cursor.h. */
#include "store/metrics/cursor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

void cursor_begin(Cursor *cursor, DatabaseSession *session)
{
    memset(cursor, 0, sizeof *cursor);
    cursor->api = database_session_api(session);
    cursor->result = database_session_result(session);
    cursor->columns = cursor->api->column_count(cursor->result);
    if (cursor->columns > CURSOR_COLUMNS_MAX)
        cursor->columns = CURSOR_COLUMNS_MAX;
}

bool cursor_next(Cursor *cursor)
{
    if (cursor->chunk != NULL && ++cursor->row < cursor->rows)
        return true;
    do {
        if (cursor->chunk != NULL)
            cursor->api->destroy_data_chunk(&cursor->chunk);
        cursor->chunk = cursor->api->fetch_chunk(*cursor->result);
        if (cursor->chunk == NULL)
            return false;
        cursor->rows = cursor->api->data_chunk_get_size(cursor->chunk);
        cursor->row = 0;
    } while (cursor->rows == 0);
    for (uint64_t i = 0; i < cursor->columns; i++) {
        DuckdbVector vector = cursor->api->data_chunk_get_vector(cursor->chunk, i);
        cursor->data[i] = cursor->api->vector_get_data(vector);
        cursor->validity[i] = cursor->api->vector_get_validity(vector);
    }
    return true;
}

void cursor_end(Cursor *cursor)
{
    if (cursor->chunk != NULL)
        cursor->api->destroy_data_chunk(&cursor->chunk);
    cursor->chunk = NULL;
}

bool cursor_is_null(const Cursor *cursor, uint64_t column)
{
    return !duckdb_row_is_valid(cursor->validity[column], cursor->row);
}

int64_t cursor_number(const Cursor *cursor, uint64_t column)
{
    return cursor_is_null(cursor, column) ? 0
                                          : ((const int64_t *)cursor->data[column])[cursor->row];
}

double cursor_real(const Cursor *cursor, uint64_t column)
{
    return cursor_is_null(cursor, column) ? NAN
                                          : ((const double *)cursor->data[column])[cursor->row];
}

bool cursor_truth(const Cursor *cursor, uint64_t column)
{
    return !cursor_is_null(cursor, column) && ((const bool *)cursor->data[column])[cursor->row];
}

const char *cursor_bytes(const Cursor *cursor, uint64_t column, uint32_t *length)
{
    *length = 0;
    if (cursor_is_null(cursor, column))
        return NULL;
    return duckdb_string_bytes(&((const DuckdbString *)cursor->data[column])[cursor->row], length);
}

/* ---- Blocks ---- */

enum { PIECE_BYTES = 64 << 10 };

typedef struct BlockPiece {
    struct BlockPiece *next;
    uint64_t used, capacity;
    _Alignas(16) uint8_t bytes[];
} BlockPiece;

void *block_take(Block *block, uint64_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    BlockPiece *piece = block->pieces;
    if (!block->failed && (piece == NULL || bytes > piece->capacity - piece->used)) {
        uint64_t capacity = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
        piece = fault_here("metrics.read.alloc") ? NULL : malloc(sizeof *piece + (size_t)capacity);
        block->failed = piece == NULL;
        if (piece != NULL) {
            piece->next = block->pieces;
            piece->used = 0;
            piece->capacity = capacity;
            block->pieces = piece;
        }
    }
    if (block->failed)
        return NULL;
    void *taken = piece->bytes + piece->used;
    piece->used += bytes;
    return taken;
}

char *block_text(Block *block, const char *bytes, uint32_t length)
{
    char *copy = block_take(block, (uint64_t)length + 1);
    if (copy != NULL) {
        memcpy(copy, bytes, length);
        copy[length] = '\0';
    }
    return copy;
}

void block_free(BlockPiece *pieces)
{
    while (pieces != NULL) {
        BlockPiece *next = pieces->next;
        free(pieces);
        pieces = next;
    }
}

void *block_grow(Block *block, void *items, uint32_t count, uint32_t *capacity, uint64_t item_bytes)
{
    if (count < *capacity)
        return items;
    uint32_t wanted = *capacity == 0 ? 64 : *capacity * 2;
    void *larger = block_take(block, wanted * item_bytes);
    if (larger == NULL)
        return NULL;
    if (count > 0)
        memcpy(larger, items, count * item_bytes);
    *capacity = wanted;
    return larger;
}
