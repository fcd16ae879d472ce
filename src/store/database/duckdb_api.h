/* store/database/duckdb_api.h: DuckDB's C API, loaded at run time.
 *
 * src/store/database/ holds what the stores share: the library, instances with their hardened
 * settings, Arrow streams of results, and the check of a SELECT that may only read. For src/store/,
 * services/data and cli/sql; it knows nothing of UI or rendering. No header or library of DuckDB is
 * needed to build or to start; types and shapes are those of the published C API (checked against
 * duckdb.h by a test where that is installed). Any thread. */
#ifndef CALIPER_STORE_DUCKDB_API_H
#define CALIPER_STORE_DUCKDB_API_H

#include <caliper/arrow_c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/database/duckdb_functions.h"

/* Handles: the tags are the library's own, so that the test can compare types. */
typedef struct _duckdb_database *DuckdbDatabase;
typedef struct _duckdb_connection *DuckdbConnection;
typedef struct _duckdb_config *DuckdbConfig;
typedef struct _duckdb_prepared_statement *DuckdbPrepared;
typedef struct _duckdb_extracted_statements *DuckdbExtracted;
typedef struct _duckdb_pending_result *DuckdbPending;
typedef struct _duckdb_logical_type *DuckdbLogicalType;
typedef struct _duckdb_data_chunk *DuckdbDataChunk;
typedef struct _duckdb_vector *DuckdbVector;
typedef struct _duckdb_appender *DuckdbAppender;
typedef struct _duckdb_error_data *DuckdbErrorData;
typedef struct _duckdb_arrow_options *DuckdbArrowOptions;
typedef struct _duckdb_arrow_converted_schema *DuckdbArrowConverted;

/* Enums cross as unsigned int; the values below are those that are used. */
typedef unsigned int DuckdbState; /* 0 is success */
typedef unsigned int DuckdbType;
typedef unsigned int DuckdbStatement;
typedef unsigned int DuckdbResultKind;
typedef unsigned int DuckdbErrorKind;
typedef unsigned int DuckdbPendingState;

enum {
    DUCKDB_STATE_SUCCESS = 0,
    DUCKDB_STATE_ERROR = 1,
    DUCKDB_KIND_BOOLEAN = 1,
    DUCKDB_KIND_TINYINT = 2,
    DUCKDB_KIND_SMALLINT = 3,
    DUCKDB_KIND_INTEGER = 4,
    DUCKDB_KIND_BIGINT = 5,
    DUCKDB_KIND_UTINYINT = 6,
    DUCKDB_KIND_USMALLINT = 7,
    DUCKDB_KIND_UINTEGER = 8,
    DUCKDB_KIND_UBIGINT = 9,
    DUCKDB_KIND_FLOAT = 10,
    DUCKDB_KIND_DOUBLE = 11,
    DUCKDB_KIND_TIMESTAMP = 12,
    DUCKDB_KIND_VARCHAR = 17,
    DUCKDB_KIND_BLOB = 18,
    DUCKDB_RESULT_CHANGED_ROWS = 1,
    DUCKDB_RESULT_NOTHING = 2,
    DUCKDB_RESULT_ROWS = 3,
    DUCKDB_STATEMENT_INVALID = 0,
    DUCKDB_STATEMENT_SELECT = 1,
    DUCKDB_STATEMENT_INSERT = 2,
    DUCKDB_STATEMENT_UPDATE = 3,
    DUCKDB_STATEMENT_EXPLAIN = 4,
    DUCKDB_STATEMENT_DELETE = 5,
    DUCKDB_STATEMENT_PREPARE = 6,
    DUCKDB_STATEMENT_CREATE = 7,
    DUCKDB_STATEMENT_EXECUTE = 8,
    DUCKDB_STATEMENT_ALTER = 9,
    DUCKDB_STATEMENT_TRANSACTION = 10,
    DUCKDB_STATEMENT_COPY = 11,
    DUCKDB_STATEMENT_ANALYZE = 12,
    DUCKDB_STATEMENT_VARIABLE_SET = 13,
    DUCKDB_STATEMENT_CREATE_FUNCTION = 14,
    DUCKDB_STATEMENT_DROP = 15,
    DUCKDB_STATEMENT_EXPORT = 16,
    DUCKDB_STATEMENT_PRAGMA = 17,
    DUCKDB_STATEMENT_VACUUM = 18,
    DUCKDB_STATEMENT_CALL = 19,
    DUCKDB_STATEMENT_SET = 20,
    DUCKDB_STATEMENT_LOAD = 21,
    DUCKDB_STATEMENT_RELATION = 22,
    DUCKDB_STATEMENT_EXTENSION = 23,
    DUCKDB_STATEMENT_LOGICAL_PLAN = 24,
    DUCKDB_STATEMENT_ATTACH = 25,
    DUCKDB_STATEMENT_DETACH = 26,
    DUCKDB_STATEMENT_MULTI = 27,
    DUCKDB_ERROR_KIND_SERIALIZATION = 9,
    DUCKDB_ERROR_KIND_TRANSACTION = 10,
    DUCKDB_ERROR_KIND_IO = 28,
    DUCKDB_ERROR_KIND_INTERRUPT = 29,
    DUCKDB_ERROR_KIND_FATAL = 30,
    DUCKDB_ERROR_KIND_INTERNAL = 31,
    DUCKDB_ERROR_KIND_OUT_OF_MEMORY = 33,
    DUCKDB_ERROR_KIND_PERMISSION = 34,
    DUCKDB_PENDING_READY = 0,
    DUCKDB_PENDING_NOT_READY = 1,
    DUCKDB_PENDING_FAILED = 2,
    DUCKDB_PENDING_NO_TASKS = 3
};

typedef struct DuckdbResult { /* opaque; the sizes are the library's */
    uint64_t column_count, row_count, rows_changed;
    void *columns;
    char *error_message;
    void *internal;
} DuckdbResult;

typedef struct DuckdbProgress {
    double percentage; /* -1: not known */
    uint64_t rows_processed;
    uint64_t total_rows;
} DuckdbProgress;

/* One VARCHAR or BLOB in a vector: up to DUCKDB_INLINE_BYTES are in place. */
enum { DUCKDB_INLINE_BYTES = 12 };
typedef struct DuckdbString {
    union {
        struct {
            uint32_t length;
            char prefix[4];
            char *text;
        } pointer;
        struct {
            uint32_t length;
            char text[DUCKDB_INLINE_BYTES];
        } in_place;
    } value;
} DuckdbString;

/* duckdb_pending_prepared_streaming is marked for removal and has no successor. It is used where
 * the library has it and NULL elsewhere: results are then held whole. */
typedef DuckdbState (*DuckdbPendingStreaming)(DuckdbPrepared prepared, DuckdbPending *out_pending);

/* The same for duckdb_arrow_scan, which makes a stream a view; its stream is our struct behind a
 * handle of the library's. */
typedef struct _duckdb_arrow_stream *DuckdbArrowStream;
typedef DuckdbState (*DuckdbArrowScan)(DuckdbConnection connection, const char *view_name,
                                       DuckdbArrowStream stream);

typedef struct DuckdbApi {
#define DUCKDB_MEMBER(result, name, parameters) result(*name) parameters;
    DUCKDB_FUNCTIONS(DUCKDB_MEMBER)
#undef DUCKDB_MEMBER
    DuckdbPendingStreaming pending_prepared_streaming; /* may be NULL */
    DuckdbArrowScan arrow_scan;                        /* may be NULL */
    const char *version;                               /* "v1.4.4" */
    char path[4096];                                   /* the file that was loaded */
} DuckdbApi;

/* The loaded library, or NULL; `reason` (may be NULL) then says what is missing and what to do.
 * Tried once in the process, with one log line; the first call takes some tens of milliseconds, so
 * it is for a thread that may wait. Places: CALIPER_DUCKDB_LIBRARY alone if it is set, else
 * lib/caliper/libduckdb.so of this installation, else the system's libduckdb.so. */
const DuckdbApi *duckdb_api(const char **reason);

/* Whether there is a file to load in those places. Looks at names alone, so that the frame thread
 * may ask: services that need DuckDB are vended when this is true. `reason` as above. */
bool duckdb_api_present(const char **reason);

/* A VARCHAR or BLOB of a vector; *length in bytes. Lives as long as the chunk. */
static inline const char *duckdb_string_bytes(const DuckdbString *string, uint32_t *length)
{
    *length = string->value.pointer.length;
    return *length <= DUCKDB_INLINE_BYTES ? string->value.in_place.text
                                          : string->value.pointer.text;
}

/* A vector's validity mask as the library lays it out; a NULL mask means all rows are valid. */
static inline bool duckdb_row_is_valid(const uint64_t *validity, uint64_t row)
{
    return validity == NULL || (validity[row / 64] >> (row % 64) & 1) != 0;
}

#endif
