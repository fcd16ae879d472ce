/* store/data/data_check.h: which statements caliper.data.v1 does not run. For src/store/data/. */
#ifndef CALIPER_STORE_DATA_CHECK_H
#define CALIPER_STORE_DATA_CHECK_H

#include "store/database/database.h"

/* Between enter and leave of the session in which `sql`, one statement of type `kind`, was
 * prepared. False and *error: it would outlive the call (a transaction, a setting, logging of the
 * whole instance), or it would fetch an extension. */
bool data_check_statement(DatabaseSession *session, const char *sql, DuckdbStatement kind,
                          DatabaseError *error);

#endif
