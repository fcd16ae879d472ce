/* store/owner_lock.h: which process owns a data root.
 *
 * src/store/ is what is kept on disk: one folder a store, none of which knows UI or rendering; the
 * services include their top headers. One process owns a data root, by a lock on
 * <data root>/owner.lock that it holds for life; the file names its pid and host. The engine's own
 * lock on a .duckdb file is not enough: it is gone when the process closes any descriptor of that
 * file. Several stores of a process share the lock; it ends with the process, however that ends,
 * and a forked child does not keep it. Any thread. */
#ifndef CALIPER_STORE_OWNER_LOCK_H
#define CALIPER_STORE_OWNER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct OwnerLock OwnerLock;

typedef struct OwnerInfo { /* as the owner wrote it; pid 0 when it cannot be read */
    int64_t pid;
    char host[65];
} OwnerInfo;

typedef enum OwnerState {
    OWNER_STATE_HELD = 0,  /* by this process */
    OWNER_STATE_OTHER = 1, /* another process has it */
    OWNER_STATE_FAILED = 2 /* it cannot be told; one line was written */
} OwnerState;

/* Takes the lock of the folder `data_root`, or one more share of it if this process has it. Does
 * not wait. *out is set for HELD alone; *other (may be NULL) is filled for OTHER. */
OwnerState owner_lock_take(const char *data_root, OwnerLock **out, OwnerInfo *other);
/* The last share lets the lock go. Accepts NULL; NULLs *lock. */
void owner_lock_release(OwnerLock **lock);

/* Whether any process, this one included, has it now; looks only. False when that cannot be told.
 */
bool owner_lock_is_held(const char *data_root, OwnerInfo *owner);

#endif
