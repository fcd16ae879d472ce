/* store/database/arrow_stream.h: a result as an Arrow C stream that is right in every order.
 *
 * For src/store/, services/data and cli/. A stream owns its session: it may be read after later
 * queries, moved, and released before or after the store closed, on another thread too. The schema
 * is a copy that needs no database. Batches that were handed out own their memory. After the store
 * closed get_next is EIO and get_last_error says so; before that an error stays that error and the
 * end stays the end. The connection goes back at the end or at the first error, so that a drained
 * stream keeps no transaction open. */
#ifndef CALIPER_STORE_ARROW_STREAM_H
#define CALIPER_STORE_ARROW_STREAM_H

#include "store/database/database.h"

/* Fills *out from the session's result (database_session_execute) and takes the session over:
 * *session is NULL afterwards. False and *error: *out is untouched and the session stays the
 * caller's. Between enter and leave; the session is left on success. */
bool arrow_stream_from_session(DatabaseSession **session, struct ArrowArrayStream *out,
                               DatabaseError *error);

/* A deep copy of a schema that needs nothing of `from`. False: no memory, *out is untouched. */
bool arrow_schema_copy(const struct ArrowSchema *from, struct ArrowSchema *out);

#endif
