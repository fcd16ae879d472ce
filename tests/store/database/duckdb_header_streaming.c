/* The functions that are used where they are there, though they are marked for removal. */
#include <duckdb.h>

typedef duckdb_state (*Streaming)(duckdb_prepared_statement, duckdb_pending_result *);
_Static_assert(__builtin_types_compatible_p(__typeof__(&duckdb_pending_prepared_streaming),
                                            Streaming),
               "duckdb_pending_prepared_streaming is shaped otherwise");

typedef duckdb_state (*Scan)(duckdb_connection, const char *, duckdb_arrow_stream);
_Static_assert(__builtin_types_compatible_p(__typeof__(&duckdb_arrow_scan), Scan),
               "duckdb_arrow_scan is shaped otherwise");
