/* cli/sql_print.h: a result on standard output, row by row as it comes. For cli/sql.c. */
#ifndef CALIPER_CLI_SQL_PRINT_H
#define CALIPER_CLI_SQL_PRINT_H

#include <stdio.h>

#include "store/database/arrow_text.h"

typedef enum SqlFormat {
    SQL_FORMAT_TABLE = 0, /* for people: long cells are cut, control characters shown as escapes */
    SQL_FORMAT_CSV = 1,   /* RFC 4180 with a header: NULL is nothing, an empty text is "" */
    SQL_FORMAT_JSON = 2   /* an array of objects, one a line */
} SqlFormat;

/* Reads the stream to its end. False when it fails half-way (its get_last_error says why), when
 * there is no memory, or when `file` takes no more (then ferror is set). */
bool sql_print(struct ArrowArrayStream *stream, SqlFormat format, FILE *file);

#endif
