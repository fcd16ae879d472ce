/* shell/runs/result.h: the rows of one answer to SQL, kept as they came, for a table and a plot.
 *
 * Loaded and sorted by the worker of the Data page (data_reader.h); after that it is never changed,
 * and any thread may look. Rows beyond RESULT_ROWS_MAX or RESULT_BYTES_MAX are not kept: an
 * answer whose first batch is larger is refused. */
#ifndef CALIPER_SHELL_RUNS_RESULT_H
#define CALIPER_SHELL_RUNS_RESULT_H

#include <stdatomic.h>

#include "store/database/arrow_text.h"

enum { RESULT_ROWS_MAX = 1 << 20, RESULT_CELL_BYTES = 160 };
#define RESULT_BYTES_MAX ((uint64_t)512 << 20)

typedef enum ResultKind {
    RESULT_KIND_INTEGER = 0, /* fits in int64 */
    RESULT_KIND_UNSIGNED = 1,
    RESULT_KIND_REAL = 2,
    RESULT_KIND_BOOL = 3,
    RESULT_KIND_TIME = 4, /* a moment: seconds since 1970 as a number */
    RESULT_KIND_DECIMAL = 5,
    RESULT_KIND_TEXT = 6, /* text or blob */
    RESULT_KIND_OTHER = 7 /* lists, structs, ...: text that was made when it was read */
} ResultKind;

typedef struct ResultColumn {
    const char *name; /* the schema's */
    ResultKind kind;
    uint32_t width_bytes; /* of an integer or real */
    double unit;          /* of a TIME: seconds; of a DECIMAL: 10^-scale */
    TextBuffer rendered;  /* of OTHER */
    uint64_t *at;         /* where each row's text begins in it, and its end */
} ResultColumn;

typedef struct Result {
    atomic_uint references;
    struct ArrowSchema schema;
    struct ArrowArray *batches;
    int64_t *starts; /* of each batch, and the end */
    uint32_t batch_count, batch_capacity;
    int64_t row_count;
    bool more; /* there were more rows */
    uint64_t bytes;
    ResultColumn *columns;
    int32_t column_count;
} Result;

/* Reads the stream to its end and releases it. NULL: no memory, its first batch is too large, or
 * it failed half-way; `why` says which. `stop` is asked between the batches. */
Result *result_read(struct ArrowArrayStream *stream, const atomic_bool *stop, char *why,
                    size_t why_bytes);
Result *result_hold(Result *result);
void result_drop(Result **result);

bool result_is_null(const Result *result, int32_t column, int64_t row);
/* As a number, for plots: NaN for NULL and for what is none. */
double result_number(const Result *result, int32_t column, int64_t row);
/* Whether the column can be plotted. */
bool result_is_number(const Result *result, int32_t column);
/* Adds the cell as one line of text, at most RESULT_CELL_BYTES of a long one. */
void result_cell(const Result *result, int32_t column, int64_t row, TextBuffer *out);

/* The rows in the order of a column: numbers by value, NaN after all others, texts by their bytes,
 * NULL last in either direction; equal ones as they came. Column -1: as they came, or backwards.
 * NULL without memory. */
uint32_t *result_order(const Result *result, int32_t column, bool descending);

#endif
