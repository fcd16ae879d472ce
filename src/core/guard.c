/* The guard: signal handlers, alternate stacks, guarded calls. See guard.h for what it promises.
 *
 * A handler does three things: it notes the fault in the guard's own frame, decides, and jumps or
 * passes the signal on. Words are written after the jump. */
#include "core/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/fpenv.h"
#include "core/guard_impl.h"
#include "core/guard_modules.h"
#include "core/log.h"
#include "core/log_file.h"

enum { GUARDED_SIGNALS = 5, HANDLER_BYTES = 64 << 10 };

static const struct {
    int signal;
    const char *name;
} guarded[GUARDED_SIGNALS] = {{SIGSEGV, "SIGSEGV"},
                              {SIGBUS, "SIGBUS"},
                              {SIGFPE, "SIGFPE"},
                              {SIGILL, "SIGILL"},
                              {SIGABRT, "SIGABRT"}};

_Thread_local GuardThread guard_thread __attribute__((tls_model("initial-exec")));

static uint32_t installed; /* how often; one thread at a time */
static struct sigaction actions_before[GUARDED_SIGNALS];
static struct sigaction interrupt_before;
static atomic_uint_fast64_t interrupt_serial;
static atomic_bool crashing;
static GuardFault crash_fault; /* of the one thread that holds `crashing` */

int guard_interrupt_signal(void)
{
    return SIGRTMAX - 2;
}

void guard_signals_remove(sigset_t *set)
{
    for (int i = 0; i < GUARDED_SIGNALS; i++)
        sigdelset(set, guarded[i].signal);
    sigdelset(set, guard_interrupt_signal());
}

const char *guard_signal_name(int signal)
{
    for (int i = 0; i < GUARDED_SIGNALS; i++) {
        if (guarded[i].signal == signal)
            return guarded[i].name;
    }
    return "signal";
}

void guard_lock_enter(void)
{
    guard_thread.locks++;
    atomic_signal_fence(memory_order_seq_cst);
}

void guard_lock_leave(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    guard_thread.locks--;
}

/* ---- Decisions, inside handlers ---- */

/* Return addresses lie behind their call, which may be a function's last instruction. */
static const Module *module_of_frame(const GuardFault *fault, uint32_t i)
{
    return guard_modules_find(i == 0 ? fault->frames[i] : fault->frames[i] - 1);
}

/* NULL: the guarded call may be ended here. */
static const char *why_not_contained(const GuardFault *fault)
{
    if (guard_thread.locks > 0)
        return "the thread holds a lock of the host or is inside the loader";
    for (uint32_t i = 0; i < fault->frame_count; i++) {
        const Module *module = module_of_frame(fault, i);
        switch (module != NULL ? module->kind : MODULE_KIND_PLAIN) {
        case MODULE_KIND_LOADER:
            return "the dynamic loader is on the stack";
        case MODULE_KIND_ALLOCATOR:
            return "the allocator is on the stack, the heap may be damaged";
        case MODULE_KIND_DRIVER:
            return "a graphics driver is on the stack";
        case MODULE_KIND_PLAIN:
        case MODULE_KIND_HOST:
            break;
        }
    }
    return NULL;
}

/* An interruption can come anywhere, so more is asked: the stack is known, and nothing of the host
 * is on it but the function that guard_call called. */
static bool may_interrupt(const GuardFault *fault)
{
    if (why_not_contained(fault) != NULL)
        return false;
    uint32_t last = fault->frame_count - 1;
    for (uint32_t i = 0; i < fault->frame_count; i++) {
        const Module *module = module_of_frame(fault, i);
        bool of_host = module != NULL && module->kind == MODULE_KIND_HOST;
        if (of_host && !(fault->walked && i == last && i > 0))
            return false;
    }
    /* A stack that cannot be walked is the applet's own if its innermost function is: code without
     * unwind tables does not come from the host. */
    return fault->walked || fault->frame_count == GUARD_FRAMES_MAX ||
           guard_modules_find(fault->pc) != NULL;
}

/* ---- Handlers ---- */

static int guarded_index(int signal)
{
    int index = 0;
    while (guarded[index].signal != signal)
        index++;
    return index;
}

/* Hands a signal to whoever had it before us. With the default action the process ends: at the
 * faulting instruction again, or here if there is none. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *before = &actions_before[guarded_index(signal)];
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(signal, info, context);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(signal);
    } else if (before->sa_handler == SIG_DFL || info->si_code > 0) {
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(signal, &standard, NULL);
        if (info->si_code <= 0)
            raise(signal);
    }
}

/* Somebody else's kill() is no fault of the code that runs. */
static bool raised_here(const siginfo_t *info)
{
    return info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid());
}

void guard_crash_wait(void)
{
    while (!guard_thread.crashing && atomic_load(&crashing))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The thread that has it ends the process, unless whoever has the signal next goes on. */
void guard_crash_begin(void)
{
    while (atomic_exchange(&crashing, true))
        guard_crash_wait();
    guard_thread.crashing = 1;
}

void guard_crash_end(void)
{
    guard_thread.crashing = 0;
    atomic_store(&crashing, false);
}

/* Not contained. */
static void report_crash(const GuardFault *fault, const GuardFrame *top, const char *why)
{
    GuardCrash crash = {.fault = fault,
                        .what = top != NULL ? top->what : NULL,
                        .thread = guard_thread.words,
                        .why = why,
                        .caller = caller_current()};
    if (!rescue_run(&crash)) {
        guard_report_write(&crash);
        log_file_rescue();
    }
}

static const char *why_not_guarded(const GuardThread *thread, const siginfo_t *info)
{
    return thread->top == NULL  ? thread->words != NULL
                                      ? "what a job leaves half done cannot be made good"
                                      : "no guarded call was running on this thread"
           : !raised_here(info) ? "it was sent from outside"
           : thread->forked     ? "it is in a child that the call forked"
                                : NULL;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    GuardThread *thread = &guard_thread;
    if (thread->walking)
        siglongjmp(thread->walk_escape, 1);
    if (thread->flush_escape != NULL)
        siglongjmp(*thread->flush_escape, RESCUE_ESCAPE_FAULTED);
    GuardFrame *top = thread->top;
    const char *why = why_not_guarded(thread, info);
    if (top == NULL)
        guard_crash_begin();
    GuardFault *fault = top != NULL ? top->fault : &crash_fault;
    memset(fault, 0, offsetof(GuardFault, frames));
    fault->signal = signal;
    fault->code = info->si_code;
    fault->address = info->si_code > 0 ? (uintptr_t)info->si_addr : 0;
    guard_walk(context, top, fault);
    if (why == NULL)
        why = why_not_contained(fault);
    if (why == NULL)
        siglongjmp(top->escape, 1);
    if (top != NULL)
        guard_crash_begin();
    report_crash(fault, top, why);
    pass_on(signal, info, context);
    guard_crash_end();
    errno = saved_errno;
}

static void on_interrupt(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    int saved_errno = errno;
    GuardThread *thread = &guard_thread;
    GuardFrame *top = thread->top;
    uint64_t wanted = atomic_load(&interrupt_serial);
    if (thread->flush_escape != NULL) {
        if (!thread->walking && rescue_is_late())
            siglongjmp(*thread->flush_escape, RESCUE_ESCAPE_LATE);
    } else if (!thread->walking && top != NULL && top->serial != 0 && top->serial == wanted) {
        GuardFault *fault = top->fault;
        memset(fault, 0, offsetof(GuardFault, frames));
        guard_walk(context, top, fault);
        fault->hung = true;
        if (may_interrupt(fault))
            siglongjmp(top->escape, 1);
    }
    errno = saved_errno;
}

void guard_interrupt(pthread_t thread, uint64_t serial)
{
    atomic_store(&interrupt_serial, serial);
    pthread_kill(thread, guard_interrupt_signal());
}

/* ---- Installing ---- */

static bool install_one(int signal, void (*handler)(int, siginfo_t *, void *),
                        struct sigaction *before)
{
    /* SA_NODEFER: a stack walk that faults must reach the handler again. */
    struct sigaction ours = {.sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    sigemptyset(&ours.sa_mask);
    return !fault_here("guard.sigaction") && sigaction(signal, &ours, before) == 0;
}

bool guard_install(const char *crash_folder)
{
    guard_report_set_folder(crash_folder);
    guard_exit_watch();
    guard_exit_watch_thread(guard_thread.entered > 0);
    if (installed > 0) {
        installed++;
        return true;
    }
    guard_modules_refresh();
    int done = 0;
    while (done < GUARDED_SIGNALS &&
           install_one(guarded[done].signal, on_fault, &actions_before[done]))
        done++;
    if (done == GUARDED_SIGNALS &&
        install_one(guard_interrupt_signal(), on_interrupt, &interrupt_before)) {
        installed = 1;
        rescue_start(); /* without it a report is written all the same */
        return true;
    }
    log_item(GUARD_NOT_INSTALLED, done < GUARDED_SIGNALS ? guarded[done].name : "the interrupt",
             strerror(errno));
    while (done-- > 0)
        sigaction(guarded[done].signal, &actions_before[done], NULL);
    return false;
}

void guard_uninstall(void)
{
    if (installed == 0 || --installed > 0)
        return;
    rescue_stop();
    for (int i = 0; i < GUARDED_SIGNALS; i++)
        sigaction(guarded[i].signal, &actions_before[i], NULL);
    sigaction(guard_interrupt_signal(), &interrupt_before, NULL);
}

bool guard_retake_handlers(void)
{
    bool taken = false;
    for (int i = 0; installed > 0 && i < GUARDED_SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(guarded[i].signal, NULL, &now) != 0 ||
            ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault))
            continue;
        /* What was put there may call us: passing on to it would go in circles. */
        install_one(guarded[i].signal, on_fault, NULL);
        taken = true;
    }
    return taken;
}

/* ---- Threads ---- */

static size_t alternate_stack_bytes(void)
{
    /* A frame holds the processor's whole vector state, which no constant knows (AVX-512). */
    size_t frame_bytes = (size_t)getauxval(AT_MINSIGSTKSZ);
    long advised = sysconf(_SC_SIGSTKSZ);
    size_t bytes = 2 * frame_bytes + HANDLER_BYTES; /* two: a walk may fault inside a handler */
    if (advised > 0 && (size_t)advised > bytes)
        bytes = (size_t)advised;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

bool guard_thread_enter(void)
{
    GuardThread *thread = &guard_thread;
    if (thread->entered > 0) {
        thread->entered++;
        return true;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = alternate_stack_bytes();
    uint8_t *map = fault_here("guard.stack") ? MAP_FAILED
                                             : mmap(NULL, page + bytes, PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (map == MAP_FAILED) {
        log_item(GUARD_NO_STACK, strerror(errno));
        return false;
    }
    stack_t stack = {.ss_sp = map + page, .ss_size = bytes};
    if (mprotect(map, page, PROT_NONE) != 0 || sigaltstack(&stack, &thread->stack_before) != 0) {
        log_item(GUARD_NO_STACK, strerror(errno));
        munmap(map, page + bytes);
        return false;
    }
    thread->stack = stack;
    thread->stack_map = map;
    thread->stack_map_bytes = page + bytes;
    thread->entered = 1;
    guard_exit_watch_thread(true);
    return true;
}

void guard_thread_leave(void)
{
    GuardThread *thread = &guard_thread;
    if (thread->entered == 0 || --thread->entered > 0)
        return;
    guard_exit_watch_thread(false);
    sigaltstack(&thread->stack_before, NULL);
    munmap(thread->stack_map, thread->stack_map_bytes);
    thread->stack_map = NULL;
    thread->stack = (stack_t){0};
}

void guard_thread_describe(const char *words)
{
    guard_thread.words = words;
}

/* Libraries sometimes bring a stack of their own, too small or soon freed. */
static void stack_retake(const GuardThread *thread)
{
    stack_t now;
    if (thread->entered > 0 && sigaltstack(NULL, &now) == 0 && now.ss_sp != thread->stack.ss_sp)
        sigaltstack(&thread->stack, NULL);
}

bool guard_call(const GuardCall *call, GuardFault *fault)
{
    GuardThread *thread = &guard_thread;
    GuardFrame frame = {.below = thread->top,
                        .stack_at = (uintptr_t)__builtin_frame_address(0),
                        .what = call->what,
                        .serial = call->serial,
                        .fault = fault};
    memset(fault, 0, offsetof(GuardFault, frames));
    const FpEnv env = fpenv_get();
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (frame.below == NULL)
        stack_retake(thread);
    volatile bool returned = false;
    if (sigsetjmp(frame.escape, 0) == 0) {
        thread->top = &frame;
        atomic_signal_fence(memory_order_seq_cst);
        call->call(call->arg);
        returned = true;
        atomic_signal_fence(memory_order_seq_cst);
    }
    guard_thread_end_if_forked();
    guard_thread.top = frame.below;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    fpenv_set(env);
    return returned;
}
