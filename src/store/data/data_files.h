/* store/data/data_files.h: whether a statement names a file that is a store's own. For
 * src/store/data/. */
#ifndef CALIPER_STORE_DATA_FILES_H
#define CALIPER_STORE_DATA_FILES_H

#include "store/database/statement.h"

/* Before `sql` is prepared, since that opens what it reads. False and *error: a text in quotes
 * leads to a database file of the data root that this process has open, also as one of a pattern's
 * files; or COPY, EXPORT or ATTACH would write what is a store's own. A path that the statement
 * computes is not seen. */
bool data_files_check(const char *data_root, const char *sql, DatabaseError *error);

#endif
