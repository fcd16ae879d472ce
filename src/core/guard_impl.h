/* core/guard_impl.h: what the files of the guard share. For src/core/guard*.c alone.
 *
 * Everything here but guard_describe_stack's helpers runs inside signal handlers: no allocation, no
 * locks, no stdio. */
#ifndef CALIPER_CORE_GUARD_IMPL_H
#define CALIPER_CORE_GUARD_IMPL_H

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

#include "core/caller.h"
#include "core/guard.h"

typedef struct GuardFrame {
    sigjmp_buf escape;
    struct GuardFrame *below;
    uintptr_t stack_at; /* guard_call's frame address */
    const char *what;
    uint64_t serial;
    GuardFault *fault;
} GuardFrame;

/* One for each thread. Touched by the thread and by its own signal handlers. */
typedef struct GuardThread {
    GuardFrame *volatile top;
    volatile sig_atomic_t locks;
    volatile sig_atomic_t walking; /* a fault now is the stack walk's own */
    sigjmp_buf walk_escape;
    sigjmp_buf *volatile flush_escape; /* on the rescue thread, inside a registered function */
    const char *volatile words;        /* guard_thread_describe */
    volatile sig_atomic_t crashing;    /* this thread's fault is the one that ends the process */
    bool forked;                       /* this process is the child of a fork() in a guarded call */
    uint32_t entered;
    void *stack_map; /* guard page, then the alternate stack */
    size_t stack_map_bytes;
    stack_t stack, stack_before;
} GuardThread;

extern _Thread_local GuardThread guard_thread __attribute__((tls_model("initial-exec")));

/* guard_walk.c: fills pc, frames and walked from a signal's context, up to `stop` (a guard's frame,
 * or NULL: as far as it goes). A stack too broken to be walked ends the walk, not the process. */
void guard_walk(void *context, const GuardFrame *stop, GuardFault *fault);

/* guard_exit.c: guarded code that ends the process or the thread is told of, and the status is 1.
 * From then on for the process; for a thread while it is on. Not in handlers. */
void guard_exit_watch(void);
void guard_exit_watch_thread(bool on);

/* What the rescue thread's functions did. */
typedef struct RescueFlushed {
    uint32_t back, late, faulted; /* functions by how they ended */
    uint32_t took_ms;
    bool asked;   /* there is a thread */
    bool gave_up; /* it did not come back at all */
} RescueFlushed;

/* A fault that ends the process, for the report. Lives in the parked handler. */
typedef struct GuardCrash {
    const GuardFault *fault;
    const char *what;   /* of the innermost guard; NULL: none */
    const char *thread; /* guard_thread_describe's words, NULL: none */
    const char *why;    /* it was not contained */
    CallerId caller;
    RescueFlushed flushed;
} GuardCrash;

/* guard_report.c: writes crash-<pid>.txt and a line on stderr. */
void guard_report_set_folder(const char *folder);
void guard_report_write(const GuardCrash *crash);

/* guard.c: one crash at a time, whether by fault or by exit(). begin waits for another thread's,
 * which mostly ends the process. wait does that alone. */
void guard_crash_begin(void);
void guard_crash_end(void);
void guard_crash_wait(void);
/* The reserved signal of guard_interrupt and of the rescue. */
int guard_interrupt_signal(void);
/* Takes the fault signals and that one out of a set. */
void guard_signals_remove(sigset_t *set);

/* rescue.c. The thread's start (false with one line) and end. */
bool rescue_start(void);
void rescue_stop(void);
/* Wakes the thread and waits until it has called the registered functions and, unless `crash` is
 * NULL, written report and log. False: they are not written. Between guard_crash_begin and end;
 * in handlers. */
bool rescue_run(GuardCrash *crash);
/* Whether the function that runs has passed its deadline. In handlers. */
bool rescue_is_late(void);
enum { RESCUE_ESCAPE_LATE = 1, RESCUE_ESCAPE_FAULTED = 2 }; /* values for flush_escape */

#endif
