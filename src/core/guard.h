/* core/guard.h: calls into an applet that may fault without taking the host down.
 *
 * guard_call runs a function; SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT raised by it on this
 * thread end the call instead of the process, stack overflow included (each guarded thread has an
 * alternate signal stack). Guards nest: the innermost one ends. A fault is contained only if the
 * thread holds no host lock (guard_lock_enter) and neither allocator, dynamic loader nor graphics
 * driver is anywhere on the stack up to the guard; otherwise the rescue thread (rescue.h) writes
 * out the stores and a crash report, and the signal goes where it went before guard_install.
 *
 * What cannot be contained, and is not promised: a corrupted heap (the next malloc anywhere may
 * abort), memory of the host that the applet overwrote, exit() and pthread_exit() (they end the
 * process, with one line and status 1; exit() on a described thread too), _exit(), faults in a
 * library's constructors (the loader is on the stack), on threads the applet made, while a host
 * lock is held, or with the signal blocked. What the applet held stays held: its memory, its locks,
 * its threads.
 *
 * Any folder of src/ that calls foreign code may include this; the functions are for any thread
 * unless they say otherwise. */
#ifndef CALIPER_CORE_GUARD_H
#define CALIPER_CORE_GUARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUARD_FRAMES_MAX = 64 };

typedef struct GuardFault {
    int signal;        /* 0: none */
    bool hung;         /* it was interrupted by guard_interrupt, `signal` is not a fault */
    int code;          /* si_code */
    uintptr_t address; /* what could not be accessed; for SIGFPE and SIGILL the instruction */
    uintptr_t pc;
    bool walked; /* the stack was walked down to the guard; else frames may be cut short */
    uint32_t frame_count;
    uintptr_t frames[GUARD_FRAMES_MAX]; /* innermost first: pc, then return addresses */
} GuardFault;

typedef struct GuardCall {
    const char *what; /* "frame()": for the crash report; lives for the call */
    uint64_t serial;  /* for guard_interrupt; 0: cannot be interrupted */
    void (*call)(void *arg);
    void *arg;
} GuardCall;

/* Installs the handlers, remembering those that were there. Counted: the last uninstall puts them
 * back. `crash_folder` (copied) is where a crash report goes. False with one line when that fails.
 * One thread at a time. */
bool guard_install(const char *crash_folder);
void guard_uninstall(void);
/* Puts our handlers back if somebody replaced them since; true if that was so. */
bool guard_retake_handlers(void);

/* Gives this thread its alternate signal stack (counted), and takes it away. False with one line.
 */
bool guard_thread_enter(void);
void guard_thread_leave(void);

/* What this thread is ("job 3, \"train\""), for a crash report. Kept by address: lives until it is
 * replaced, with NULL at the latest when the thread ends. */
void guard_thread_describe(const char *words);
/* Ends the process with status 1 and a line if it is the child of a fork() in a guarded call or on
 * a described thread: what comes back there is no second host. */
void guard_thread_end_if_forked(void);

/* Runs call->call(call->arg). True when it returned; false when it was ended, with `fault` filled.
 * Signal mask and floating-point controls are afterwards as they were before, either way. */
bool guard_call(const GuardCall *call, GuardFault *fault);

/* Around everything that may not be left half-way: host locks, tables being changed. Nests; this
 * thread. Async-signal-safe. */
void guard_lock_enter(void);
void guard_lock_leave(void);

/* Asks for the end of the guarded call `serial` if `thread` is in it. It ends only when the thread
 * is in the applet's own code: no lock held, nothing of the host on the stack; so ask again until
 * the call is over. */
void guard_interrupt(pthread_t thread, uint64_t serial);

/* "SIGSEGV" and so on; "signal" for one that is not guarded. */
const char *guard_signal_name(int signal);

/* Writes the stack as text, one frame a line: "#0 library.so(symbol+0x12) 0x7f..". Not in handlers.
 */
void guard_describe_stack(const GuardFault *fault, char *out, size_t out_bytes);

#endif
