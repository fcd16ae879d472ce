/* The caller table: names and library addresses by serial number, and each thread's current caller.
 *
 * Names are written once and never freed, so that readers need no lock; addresses change when a
 * library is unloaded and are read under a mutex, rarely. Any thread. */
#include "core/caller.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/caller_register.h"
#include "core/guard.h"
#include "core/log.h"

enum { RANGES_MAX = 1024 };

typedef struct CallerRange {
    CallerId id; /* 0: free */
    uintptr_t first, end;
} CallerRange;

static _Thread_local CallerId thread_caller;
static _Atomic(const char *) caller_names[CALLER_SERIALS_MAX];
static atomic_uint caller_count;
static pthread_mutex_t range_mutex = PTHREAD_MUTEX_INITIALIZER;
static CallerRange ranges[RANGES_MAX];

static void range_lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&range_mutex);
}

static void range_unlock(void)
{
    pthread_mutex_unlock(&range_mutex);
    guard_lock_leave();
}

CallerId caller_current(void)
{
    return thread_caller;
}

CallerId caller_enter(CallerId id)
{
    CallerId before = thread_caller;
    thread_caller = id;
    return before;
}

void caller_leave(CallerId before)
{
    thread_caller = before;
}

const char *caller_name(CallerId id)
{
    if (id == 0 || id >= CALLER_SERIALS_MAX)
        return "";
    const char *name = atomic_load_explicit(&caller_names[id], memory_order_acquire);
    return name != NULL ? name : "";
}

CallerId caller_register(const char *name)
{
    size_t size_bytes = strlen(name) + 1;
    char *copy = malloc(size_bytes);
    if (copy == NULL) {
        log_item(OUT_OF_MEMORY, "caller_register", (unsigned long long)size_bytes);
        return 0;
    }
    memcpy(copy, name, size_bytes);
    unsigned id = atomic_fetch_add(&caller_count, 1) + 1;
    if (id >= CALLER_SERIALS_MAX) {
        atomic_fetch_sub(&caller_count, 1);
        free(copy);
        log_item(CALLER_SERIALS_SPENT, name, (unsigned)CALLER_SERIALS_MAX - 1);
        return 0;
    }
    atomic_store_explicit(&caller_names[id], copy, memory_order_release);
    return id;
}

void caller_forget_range(CallerId id)
{
    range_lock();
    for (int i = 0; i < RANGES_MAX; i++) {
        if (ranges[i].id == id)
            ranges[i].id = 0;
    }
    range_unlock();
}

void caller_set_range(CallerId id, uintptr_t first, uintptr_t end)
{
    if (id == 0)
        return;
    range_lock();
    CallerRange *free_slot = NULL;
    CallerRange *slot = NULL;
    for (int i = 0; i < RANGES_MAX; i++) {
        if (ranges[i].id == id)
            slot = &ranges[i];
        else if (ranges[i].id == 0 && free_slot == NULL)
            free_slot = &ranges[i];
    }
    if (slot == NULL)
        slot = free_slot;
    if (slot != NULL)
        *slot = (CallerRange){.id = id, .first = first, .end = end};
    range_unlock();
}

CallerId caller_of_address(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    CallerId id = 0;
    range_lock();
    /* The youngest: an abandoned life's image may serve another one. */
    for (int i = 0; i < RANGES_MAX; i++) {
        if (ranges[i].id > id && at >= ranges[i].first && at < ranges[i].end)
            id = ranges[i].id;
    }
    range_unlock();
    return id;
}
