/* store/data/data_store_impl.h: what data_store.c and data_open.c share.
 *
 * Included by these two. No lock is held while a database is opened or closed: one thread at a time
 * does that, as store->busy says, and the others wait for it as long as they may. */
#ifndef CALIPER_STORE_DATA_STORE_IMPL_H
#define CALIPER_STORE_DATA_STORE_IMPL_H

#include <pthread.h>

#include "store/data/data_store.h"
#include "store/owner_lock.h"

struct DataStore {
    char *data_root;
    char *path; /* <data root>/data.duckdb */
    /* Held while a call makes a schema or names a dataset, commits included, so that two do not get
     * in each other's way. Taken before `lock`; the closing does not take it. */
    pthread_mutex_t change_lock;
    pthread_mutex_t lock;   /* the fields below; held over no work and no call of the system's */
    pthread_cond_t changed; /* a thread is no longer busy, a call ended, the store was closed */
    bool closed;
    bool busy; /* a thread opens the database, or closes a broken one; `owner` is that one's */
    bool left; /* the closing waited no longer for a call */
    bool file_stays; /* a session in use kept the file open: the data root stays this process's */
    bool destroyed;  /* the last call frees the store */
    uint32_t calls;  /* that are in the store */
    OwnerLock *owner;
    Database *database; /* NULL until somebody needs it */
};

extern const char data_store_prepare_sql[]; /* makes what is missing in the database */

/* data_open.c. A session of the open database, which is opened if need be, and that database, to be
 * let go of. A wait for another thread ends at `until_ns`. NULL and *error. */
DatabaseSession *data_open_session(DataStore *store, int64_t until_ns, Database **database,
                                   DatabaseError *error);
/* Lets go of the database whose session failed with *error. One that is broken is closed, if it is
 * still the store's: the next call opens the file anew. */
void data_open_failed(DataStore *store, int64_t until_ns, Database **database,
                      const DatabaseError *error);
/* Whether the commit that failed left the database in memory other than the file. */
bool data_commit_broke(const DatabaseError *error);

#endif
