/* core/guard_impl.h: what the files of the guard share. For src/core/guard*.c alone.
 *
 * Everything here but guard_describe_stack's helpers runs inside signal handlers: no allocation, no
 * locks, no stdio. */
#ifndef CALIPER_CORE_GUARD_IMPL_H
#define CALIPER_CORE_GUARD_IMPL_H

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

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
    bool forked; /* this process is the child of a fork() in a guarded call */
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
/* Ends a forked child that would go on as a second host. */
_Noreturn void guard_exit_forked_child(void);

/* guard_report.c: writes crash-<pid>.txt and a line on stderr. */
void guard_report_set_folder(const char *folder);
void guard_report_write(const GuardFault *fault, const GuardFrame *top, const char *why);

#endif
