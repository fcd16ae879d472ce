/* Our declarations of DuckDB's C API against DuckDB's own header; signatures are compared by the
 * compiler in duckdb_header_theirs.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "duckdb_header_theirs.h"
#include "store/database/duckdb_api.h"

#define NUMBER(value) (long long)(value)

/* In the order of duckdb_theirs. */
static const long long ours[] = {
    NUMBER(DUCKDB_STATE_SUCCESS),
    NUMBER(DUCKDB_STATE_ERROR),
    NUMBER(DUCKDB_KIND_BOOLEAN),
    NUMBER(DUCKDB_KIND_TINYINT),
    NUMBER(DUCKDB_KIND_SMALLINT),
    NUMBER(DUCKDB_KIND_INTEGER),
    NUMBER(DUCKDB_KIND_BIGINT),
    NUMBER(DUCKDB_KIND_UTINYINT),
    NUMBER(DUCKDB_KIND_USMALLINT),
    NUMBER(DUCKDB_KIND_UINTEGER),
    NUMBER(DUCKDB_KIND_UBIGINT),
    NUMBER(DUCKDB_KIND_FLOAT),
    NUMBER(DUCKDB_KIND_DOUBLE),
    NUMBER(DUCKDB_KIND_TIMESTAMP),
    NUMBER(DUCKDB_KIND_VARCHAR),
    NUMBER(DUCKDB_KIND_BLOB),
    NUMBER(DUCKDB_RESULT_CHANGED_ROWS),
    NUMBER(DUCKDB_RESULT_NOTHING),
    NUMBER(DUCKDB_RESULT_ROWS),
    NUMBER(DUCKDB_STATEMENT_INVALID),
    NUMBER(DUCKDB_STATEMENT_SELECT),
    NUMBER(DUCKDB_STATEMENT_INSERT),
    NUMBER(DUCKDB_STATEMENT_UPDATE),
    NUMBER(DUCKDB_STATEMENT_EXPLAIN),
    NUMBER(DUCKDB_STATEMENT_DELETE),
    NUMBER(DUCKDB_STATEMENT_PREPARE),
    NUMBER(DUCKDB_STATEMENT_CREATE),
    NUMBER(DUCKDB_STATEMENT_EXECUTE),
    NUMBER(DUCKDB_STATEMENT_ALTER),
    NUMBER(DUCKDB_STATEMENT_TRANSACTION),
    NUMBER(DUCKDB_STATEMENT_COPY),
    NUMBER(DUCKDB_STATEMENT_ANALYZE),
    NUMBER(DUCKDB_STATEMENT_VARIABLE_SET),
    NUMBER(DUCKDB_STATEMENT_CREATE_FUNCTION),
    NUMBER(DUCKDB_STATEMENT_DROP),
    NUMBER(DUCKDB_STATEMENT_EXPORT),
    NUMBER(DUCKDB_STATEMENT_PRAGMA),
    NUMBER(DUCKDB_STATEMENT_VACUUM),
    NUMBER(DUCKDB_STATEMENT_CALL),
    NUMBER(DUCKDB_STATEMENT_SET),
    NUMBER(DUCKDB_STATEMENT_LOAD),
    NUMBER(DUCKDB_STATEMENT_RELATION),
    NUMBER(DUCKDB_STATEMENT_EXTENSION),
    NUMBER(DUCKDB_STATEMENT_LOGICAL_PLAN),
    NUMBER(DUCKDB_STATEMENT_ATTACH),
    NUMBER(DUCKDB_STATEMENT_DETACH),
    NUMBER(DUCKDB_STATEMENT_MULTI),
    NUMBER(DUCKDB_ERROR_KIND_SERIALIZATION),
    NUMBER(DUCKDB_ERROR_KIND_TRANSACTION),
    NUMBER(DUCKDB_ERROR_KIND_IO),
    NUMBER(DUCKDB_ERROR_KIND_INTERRUPT),
    NUMBER(DUCKDB_ERROR_KIND_FATAL),
    NUMBER(DUCKDB_ERROR_KIND_INTERNAL),
    NUMBER(DUCKDB_ERROR_KIND_OUT_OF_MEMORY),
    NUMBER(DUCKDB_ERROR_KIND_PERMISSION),
    NUMBER(DUCKDB_PENDING_READY),
    NUMBER(DUCKDB_PENDING_NOT_READY),
    NUMBER(DUCKDB_PENDING_FAILED),
    NUMBER(DUCKDB_PENDING_NO_TASKS),
    NUMBER(sizeof(DuckdbState)),
    NUMBER(sizeof(DuckdbType)),
    NUMBER(sizeof(DuckdbStatement)),
    NUMBER(sizeof(DuckdbPendingState)),
    NUMBER(sizeof(DuckdbErrorKind)),
    NUMBER((DuckdbState)-1 > (DuckdbState)0),
    NUMBER(sizeof(DuckdbResult)),
    NUMBER(offsetof(DuckdbResult, internal)),
    NUMBER(sizeof(DuckdbProgress)),
    NUMBER(offsetof(DuckdbProgress, rows_processed)),
    NUMBER(sizeof(DuckdbString)),
    NUMBER(offsetof(DuckdbString, value.pointer.text)),
    NUMBER(offsetof(DuckdbString, value.in_place.text)),
};

static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(duckdb_theirs_count, sizeof ours / sizeof ours[0]);
    for (size_t i = 0; i < duckdb_theirs_count; i++) {
        if (ours[i] != duckdb_theirs[i].value)
            fail_msg("%s is %lld, not %lld", duckdb_theirs[i].name, duckdb_theirs[i].value,
                     ours[i]);
    }
}

/* Every function that was compared is a member that the loader fills. */
static void test_functions(void **state)
{
    (void)state;
    assert_int_equal(duckdb_theirs_functions,
                     offsetof(DuckdbApi, pending_prepared_streaming) / sizeof(void (*)(void)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
