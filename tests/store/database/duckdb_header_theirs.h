/* What duckdb_header_theirs.c, which sees the real duckdb.h, tells duckdb_header_test.c, which sees
 * ours: the two define the same tags. */
#ifndef DUCKDB_HEADER_THEIRS_H
#define DUCKDB_HEADER_THEIRS_H

#include <stddef.h>

typedef struct HeaderNumber {
    const char *name;
    long long value;
} HeaderNumber;

extern const HeaderNumber duckdb_theirs[];
extern const size_t duckdb_theirs_count;
/* Functions whose shape was compared by the compiler. */
extern const size_t duckdb_theirs_functions;

#endif
