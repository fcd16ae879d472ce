/* The one function that is used where it is there, though it is marked for removal. */
#include <duckdb.h>

typedef duckdb_state (*Streaming)(duckdb_prepared_statement, duckdb_pending_result *);
_Static_assert(__builtin_types_compatible_p(__typeof__(&duckdb_pending_prepared_streaming),
                                            Streaming),
               "duckdb_pending_prepared_streaming is shaped otherwise");
