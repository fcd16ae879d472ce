/* store/metrics/session.h: one life of a process that logs, and whether it still lives.
 *
 * For src/store/metrics/ alone. A process that does not own the data root holds a lock on
 * <data root>/spool/<session>.session for as long as it may write there; that is how the owner
 * knows that more may come. The writer thread. */
#ifndef CALIPER_STORE_METRICS_SESSION_H
#define CALIPER_STORE_METRICS_SESSION_H

#include <stdbool.h>
#include <stddef.h>

enum { SESSION_NAME_BYTES = 33 }; /* 32 hexadecimal digits and NUL */

/* A name that nobody else has. */
void session_make_name(char out[SESSION_NAME_BYTES]);
bool session_name_valid(const char *name, size_t length);

/* Makes the folder, durably, and the locked file, which is another's to take when the descriptor is
 * closed (file_lock_close) or this process ends; forked children do not keep it. -1 with errno. */
int session_announce(const char *spool_folder, const char *name);
/* Removes the file, then lets go of it; for a session that left no spool file behind. */
void session_withdraw(const char *spool_folder, const char *name, int fd);

/* Whether a process still holds it. An error counts as alive: then nothing is taken from it. */
bool session_is_alive(const char *spool_folder, const char *name);
/* Removes the file of a dead session. */
bool session_forget(const char *spool_folder, const char *name);

#endif
