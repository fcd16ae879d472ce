/* The rescue thread. The handler's side (rescue_run) uses atomics, sem_post, nanosleep and
 * pthread_kill only. What the thread does may hang or fault, since the heap may be damaged and
 * locks may be held for ever: the parked handler watches the clock, makes it leave a function that
 * is late, and at last does without it. */
#include "core/rescue.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/guard_impl.h"
#include "core/log.h"
#include "core/log_file.h"

enum { POLL_MS = 2, GRACE_MS = 500, NO_SLOT = -1 };
static const uint64_t ms_ns = 1000000;

typedef struct Slot {
    atomic_bool taken;
    _Atomic(RescueFlush) flush; /* NULL: not (or no longer) to be called */
    void *user;
} Slot;

typedef enum RescueState {
    RESCUE_STATE_NONE = 0, /* no thread */
    RESCUE_STATE_ASLEEP,
    RESCUE_STATE_WOKEN,
    RESCUE_STATE_DONE,
    RESCUE_STATE_LOST /* it was given up */
} RescueState;

static Slot slots[RESCUE_FUNCTIONS_MAX];
static atomic_int running_slot = NO_SLOT;
static atomic_uint_fast64_t running_until_ns; /* of the function that runs; 0: none does */

static atomic_int state; /* RescueState */
static atomic_bool stop;
static pthread_t thread;
static pid_t thread_process; /* a forked child has no rescue thread */
static sem_t wake, awake;    /* awake: it runs and has its stack */

/* The crash: written before `wake` is posted. */
static GuardCrash *crash; /* NULL: only flush */
static uint64_t crash_began_ns;
static atomic_flag reporting = ATOMIC_FLAG_INIT; /* by the thread or by the handler */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
}

/* ---- Functions ---- */

int rescue_register(RescueFlush flush, void *user)
{
    for (int i = 0; flush != NULL && i < RESCUE_FUNCTIONS_MAX; i++) {
        if (atomic_exchange(&slots[i].taken, true))
            continue;
        slots[i].user = user;
        atomic_store(&slots[i].flush, flush);
        return i + 1;
    }
    log_item(HOOK_REFUSED, "rescue_register", (int)RESCUE_FUNCTIONS_MAX);
    return 0;
}

void rescue_unregister(int handle)
{
    if (handle < 1 || handle > RESCUE_FUNCTIONS_MAX)
        return;
    Slot *slot = &slots[handle - 1];
    atomic_store(&slot->flush, NULL);
    while (atomic_load(&running_slot) == handle - 1)
        nap();
    atomic_store(&slot->taken, false);
}

/* ---- The thread ---- */

/* Functions registered from slot `first` on. */
static uint32_t count_from(int first)
{
    uint32_t count = 0;
    for (int i = first; i < RESCUE_FUNCTIONS_MAX; i++)
        count += atomic_load(&slots[i].flush) != NULL ? 1u : 0u;
    return count;
}

/* Calls the function of a slot, if it has one; 0, or what made it leave. */
static int call_one(int index, uint64_t deadline_ns)
{
    sigjmp_buf escape;
    atomic_store(&running_slot, index);
    RescueFlush flush = atomic_load(&slots[index].flush);
    int how = sigsetjmp(escape, 1);
    if (how == 0 && flush != NULL) {
        guard_thread.flush_escape = &escape;
        atomic_store(&running_until_ns, deadline_ns);
        flush(slots[index].user, deadline_ns);
    }
    atomic_store(&running_until_ns, 0);
    guard_thread.flush_escape = NULL;
    guard_thread.top = NULL;
    guard_thread.locks = 0;
    atomic_store(&running_slot, NO_SLOT);
    return how;
}

static void call_all(RescueFlushed *flushed)
{
    const uint64_t end_ns = crash_began_ns + RESCUE_TOTAL_MS * ms_ns;
    for (int i = 0; i < RESCUE_FUNCTIONS_MAX; i++) {
        uint32_t left = count_from(i);
        if (left == 0)
            break;
        if (atomic_load(&slots[i].flush) == NULL)
            continue;
        uint64_t now = now_ns();
        uint64_t share = now < end_ns ? (end_ns - now) / left : 0;
        int how = call_one(i, now + share);
        flushed->back += how == 0 ? 1 : 0;
        flushed->late += how == RESCUE_ESCAPE_LATE ? 1 : 0;
        flushed->faulted += how == RESCUE_ESCAPE_FAULTED ? 1 : 0;
    }
    flushed->took_ms = (uint32_t)((now_ns() - crash_began_ns) / ms_ns);
}

static void wait_for(sem_t *what)
{
    while (sem_wait(what) != 0 && errno == EINTR)
        continue;
}

static void *rescue(void *arg)
{
    (void)arg;
    bool has_stack = guard_thread_enter();
    sem_post(&awake);
    for (;;) {
        wait_for(&wake);
        if (atomic_load(&stop))
            break;
        RescueFlushed flushed = {.asked = true};
        call_all(&flushed);
        if (crash != NULL && !atomic_flag_test_and_set(&reporting)) {
            crash->flushed = flushed;
            guard_report_write(crash);
            log_file_rescue();
        }
        int woken = RESCUE_STATE_WOKEN; /* else it was given up */
        atomic_compare_exchange_strong(&state, &woken, RESCUE_STATE_DONE);
    }
    if (has_stack)
        guard_thread_leave();
    return NULL;
}

bool rescue_start(void)
{
    sigset_t most;
    sigset_t before;
    if (atomic_load(&state) != RESCUE_STATE_NONE)
        return false; /* one that hangs */
    sem_init(&wake, 0, 0);
    sem_init(&awake, 0, 0);
    /* The fault signals and the guard's own reach it; everybody else's go elsewhere. */
    sigfillset(&most);
    guard_signals_remove(&most);
    atomic_store(&stop, false);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int error = fault_here("rescue.thread") ? EAGAIN : pthread_create(&thread, NULL, rescue, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        log_item(RESCUE_NOT_STARTED, strerror(error));
        sem_destroy(&wake);
        sem_destroy(&awake);
        return false;
    }
    wait_for(&awake); /* a fork() soon after meets a thread at rest */
    pthread_setname_np(thread, "caliper-rescue");
    thread_process = getpid();
    atomic_store(&state, RESCUE_STATE_ASLEEP);
    return true;
}

void rescue_stop(void)
{
    int asleep = RESCUE_STATE_ASLEEP;
    if (atomic_load(&state) == RESCUE_STATE_NONE || thread_process != getpid())
        return;
    /* A crash that is being dealt with ends the process, or goes on after a handler of somebody. */
    while (!atomic_compare_exchange_strong(&state, &asleep, RESCUE_STATE_NONE)) {
        if (asleep == RESCUE_STATE_LOST)
            return; /* it hangs: it cannot be joined */
        asleep = RESCUE_STATE_ASLEEP;
        nap();
    }
    atomic_store(&stop, true);
    sem_post(&wake);
    pthread_join(thread, NULL);
    sem_destroy(&wake);
    sem_destroy(&awake);
}

/* ---- In handlers ---- */

bool rescue_is_late(void)
{
    uint64_t until = atomic_load(&running_until_ns);
    return until != 0 && now_ns() > until;
}

bool rescue_run(GuardCrash *of)
{
    int asleep = RESCUE_STATE_ASLEEP;
    if (thread_process != getpid() || pthread_equal(pthread_self(), thread) ||
        !atomic_compare_exchange_strong(&state, &asleep, RESCUE_STATE_WOKEN))
        return false;
    crash = of;
    crash_began_ns = now_ns();
    atomic_flag_clear(&reporting);
    sem_post(&wake);
    while (atomic_load(&state) != RESCUE_STATE_DONE) {
        if (rescue_is_late())
            pthread_kill(thread, guard_interrupt_signal());
        uint64_t passed_ms = (now_ns() - crash_began_ns) / ms_ns;
        if (passed_ms > RESCUE_TOTAL_MS + 2 * GRACE_MS) {
            atomic_store(&state, RESCUE_STATE_LOST); /* it hangs in the report itself */
            return true;
        }
        if (passed_ms > RESCUE_TOTAL_MS + GRACE_MS && !atomic_flag_test_and_set(&reporting)) {
            atomic_store(&state, RESCUE_STATE_LOST);
            if (of != NULL)
                of->flushed = (RescueFlushed){.asked = true, .gave_up = true};
            return false;
        }
        nap();
    }
    atomic_store(&state, RESCUE_STATE_ASLEEP);
    return of != NULL;
}
