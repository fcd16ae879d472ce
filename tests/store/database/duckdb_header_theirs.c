/* Our list of functions over the types of the real duckdb.h, without what that calls deprecated: a
 * function that is gone, deprecated or shaped otherwise does not compile. */
#define DUCKDB_API_NO_DEPRECATED
#include <duckdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "duckdb_header_theirs.h"
#include "store/database/duckdb_functions.h"

typedef duckdb_database DuckdbDatabase;
typedef duckdb_connection DuckdbConnection;
typedef duckdb_config DuckdbConfig;
typedef duckdb_prepared_statement DuckdbPrepared;
typedef duckdb_extracted_statements DuckdbExtracted;
typedef duckdb_pending_result DuckdbPending;
typedef duckdb_logical_type DuckdbLogicalType;
typedef duckdb_data_chunk DuckdbDataChunk;
typedef duckdb_vector DuckdbVector;
typedef duckdb_appender DuckdbAppender;
typedef duckdb_error_data DuckdbErrorData;
typedef duckdb_arrow_options DuckdbArrowOptions;
typedef duckdb_arrow_converted_schema DuckdbArrowConverted;
typedef duckdb_state DuckdbState;
typedef duckdb_type DuckdbType;
typedef duckdb_statement_type DuckdbStatement;
typedef duckdb_result_type DuckdbResultKind;
typedef duckdb_error_type DuckdbErrorKind;
typedef duckdb_pending_state DuckdbPendingState;
typedef duckdb_result DuckdbResult;
typedef duckdb_query_progress_type DuckdbProgress;

typedef char IdxIs64Bits[sizeof(idx_t) == 8 ? 1 : -1];
#define SAME_SHAPE(result, name, parameters)                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&duckdb_##name),        \
                                                __typeof__(result(*) parameters)), \
                   "duckdb_" #name " is shaped otherwise");
DUCKDB_FUNCTIONS(SAME_SHAPE)

#define COUNT_ONE(result, name, parameters) +1
const size_t duckdb_theirs_functions = 0 DUCKDB_FUNCTIONS(COUNT_ONE);

#define NUMBER(value)              \
    {                              \
#value, (long long)(value) \
    }
const HeaderNumber duckdb_theirs[] = {
    NUMBER(DuckDBSuccess),
    NUMBER(DuckDBError),
    NUMBER(DUCKDB_TYPE_BOOLEAN),
    NUMBER(DUCKDB_TYPE_TINYINT),
    NUMBER(DUCKDB_TYPE_SMALLINT),
    NUMBER(DUCKDB_TYPE_INTEGER),
    NUMBER(DUCKDB_TYPE_BIGINT),
    NUMBER(DUCKDB_TYPE_UTINYINT),
    NUMBER(DUCKDB_TYPE_USMALLINT),
    NUMBER(DUCKDB_TYPE_UINTEGER),
    NUMBER(DUCKDB_TYPE_UBIGINT),
    NUMBER(DUCKDB_TYPE_FLOAT),
    NUMBER(DUCKDB_TYPE_DOUBLE),
    NUMBER(DUCKDB_TYPE_TIMESTAMP),
    NUMBER(DUCKDB_TYPE_VARCHAR),
    NUMBER(DUCKDB_TYPE_BLOB),
    NUMBER(DUCKDB_RESULT_TYPE_CHANGED_ROWS),
    NUMBER(DUCKDB_RESULT_TYPE_NOTHING),
    NUMBER(DUCKDB_RESULT_TYPE_QUERY_RESULT),
    NUMBER(DUCKDB_STATEMENT_TYPE_INVALID),
    NUMBER(DUCKDB_STATEMENT_TYPE_SELECT),
    NUMBER(DUCKDB_STATEMENT_TYPE_INSERT),
    NUMBER(DUCKDB_STATEMENT_TYPE_UPDATE),
    NUMBER(DUCKDB_STATEMENT_TYPE_EXPLAIN),
    NUMBER(DUCKDB_STATEMENT_TYPE_DELETE),
    NUMBER(DUCKDB_STATEMENT_TYPE_PREPARE),
    NUMBER(DUCKDB_STATEMENT_TYPE_CREATE),
    NUMBER(DUCKDB_STATEMENT_TYPE_EXECUTE),
    NUMBER(DUCKDB_STATEMENT_TYPE_ALTER),
    NUMBER(DUCKDB_STATEMENT_TYPE_TRANSACTION),
    NUMBER(DUCKDB_STATEMENT_TYPE_COPY),
    NUMBER(DUCKDB_STATEMENT_TYPE_ANALYZE),
    NUMBER(DUCKDB_STATEMENT_TYPE_VARIABLE_SET),
    NUMBER(DUCKDB_STATEMENT_TYPE_CREATE_FUNC),
    NUMBER(DUCKDB_STATEMENT_TYPE_DROP),
    NUMBER(DUCKDB_STATEMENT_TYPE_EXPORT),
    NUMBER(DUCKDB_STATEMENT_TYPE_PRAGMA),
    NUMBER(DUCKDB_STATEMENT_TYPE_VACUUM),
    NUMBER(DUCKDB_STATEMENT_TYPE_CALL),
    NUMBER(DUCKDB_STATEMENT_TYPE_SET),
    NUMBER(DUCKDB_STATEMENT_TYPE_LOAD),
    NUMBER(DUCKDB_STATEMENT_TYPE_RELATION),
    NUMBER(DUCKDB_STATEMENT_TYPE_EXTENSION),
    NUMBER(DUCKDB_STATEMENT_TYPE_LOGICAL_PLAN),
    NUMBER(DUCKDB_STATEMENT_TYPE_ATTACH),
    NUMBER(DUCKDB_STATEMENT_TYPE_DETACH),
    NUMBER(DUCKDB_STATEMENT_TYPE_MULTI),
    NUMBER(DUCKDB_ERROR_SERIALIZATION),
    NUMBER(DUCKDB_ERROR_TRANSACTION),
    NUMBER(DUCKDB_ERROR_IO),
    NUMBER(DUCKDB_ERROR_INTERRUPT),
    NUMBER(DUCKDB_ERROR_FATAL),
    NUMBER(DUCKDB_ERROR_INTERNAL),
    NUMBER(DUCKDB_ERROR_OUT_OF_MEMORY),
    NUMBER(DUCKDB_ERROR_PERMISSION),
    NUMBER(DUCKDB_PENDING_RESULT_READY),
    NUMBER(DUCKDB_PENDING_RESULT_NOT_READY),
    NUMBER(DUCKDB_PENDING_ERROR),
    NUMBER(DUCKDB_PENDING_NO_TASKS_AVAILABLE),
    NUMBER(sizeof(duckdb_state)),
    NUMBER(sizeof(duckdb_type)),
    NUMBER(sizeof(duckdb_statement_type)),
    NUMBER(sizeof(duckdb_pending_state)),
    NUMBER(sizeof(duckdb_error_type)),
    NUMBER((duckdb_state)-1 > (duckdb_state)0), /* enums are unsigned int */
    NUMBER(sizeof(duckdb_result)),
    NUMBER(offsetof(duckdb_result, internal_data)),
    NUMBER(sizeof(duckdb_query_progress_type)),
    NUMBER(offsetof(duckdb_query_progress_type, rows_processed)),
    NUMBER(sizeof(duckdb_string_t)),
    NUMBER(offsetof(duckdb_string_t, value.pointer.ptr)),
    NUMBER(offsetof(duckdb_string_t, value.inlined.inlined)),
};
const size_t duckdb_theirs_count = sizeof duckdb_theirs / sizeof duckdb_theirs[0];
