/* Walking a stack from inside a signal handler, with the compiler's unwind tables (the unwinder is
 * lock-free with the C library of Debian 12 and later). Memory that it reads may be rubbish: a
 * fault on the way comes back here through walk_escape. */
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include "core/guard_impl.h"
#include "core/guard_modules.h"
#include "core/sanitized.h"

typedef struct Walk {
    GuardFault *fault;
    const GuardFrame *stop;
    uintptr_t stack_first, stack_end; /* the alternate stack, where the handler's own frames are */
    bool started;                     /* past the handler's frames */
} Walk;

static uintptr_t context_pc(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
#error "guard_walk: where is this machine's program counter?"
#endif
}

/* After a call through a wild pointer: where it was called from. */
static uintptr_t context_caller(const ucontext_t *context)
{
#if defined(__x86_64__)
    return *(const uintptr_t *)(uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
    return (uintptr_t)context->uc_mcontext.regs[30];
#endif
}

static void add_frame(GuardFault *fault, uintptr_t address)
{
    if (fault->frame_count < GUARD_FRAMES_MAX)
        fault->frames[fault->frame_count++] = address;
}

static _Unwind_Reason_Code walk_one(struct _Unwind_Context *context, void *user)
{
    Walk *walk = user;
    int before_instruction = 0;
    uintptr_t address = (uintptr_t)_Unwind_GetIPInfo(context, &before_instruction);
    uintptr_t frame_at = (uintptr_t)_Unwind_GetCFA(context);
    if (!walk->started) {
        walk->started = address == walk->fault->pc;
        if (walk->started)
            add_frame(walk->fault, address);
        return _URC_NO_REASON;
    }
    bool on_alternate = frame_at >= walk->stack_first && frame_at < walk->stack_end;
    /* The unwinder reports a frame with its callee's CFA, so the first one above the guard's frame
     * is guard_call's caller, and the last one added was guard_call itself. */
    if (walk->stop != NULL && !on_alternate && frame_at >= walk->stop->stack_at) {
        walk->fault->walked = true;
        if (walk->fault->frame_count > 1)
            walk->fault->frame_count--;
        return _URC_END_OF_STACK;
    }
    if (address == 0)
        return _URC_END_OF_STACK;
    add_frame(walk->fault, address);
    /* Endless recursion: the innermost frames say enough. */
    return walk->fault->frame_count == GUARD_FRAMES_MAX ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* 0 at first; again, with 1, when the walk faulted. ThreadSanitizer forgets the jump buffers of
 * stacks that lie below the one where a new buffer is made, which is the guard's own: a walk that
 * faults ends the process there. */
#if SANITIZED_THREAD
enum { WALK_MAY_FAULT = 0 };
#define WALK_ESCAPE(thread) 0
#else
enum { WALK_MAY_FAULT = 1 };
#define WALK_ESCAPE(thread) sigsetjmp((thread)->walk_escape, 0)
#endif

void guard_walk(void *context, const GuardFrame *stop, GuardFault *fault)
{
    GuardThread *thread = &guard_thread;
    Walk walk = {.fault = fault,
                 .stop = stop,
                 .stack_first = (uintptr_t)thread->stack.ss_sp,
                 .stack_end = (uintptr_t)thread->stack.ss_sp + thread->stack.ss_size};
    fault->pc = context_pc(context);
    fault->walked = false;
    fault->frame_count = 0;
    if (WALK_ESCAPE(thread) == 0) {
        thread->walking = WALK_MAY_FAULT;
        _Unwind_Backtrace(walk_one, &walk);
        if (fault->frame_count <= 1 && guard_modules_find(fault->pc) == NULL) {
            uintptr_t caller = context_caller(context);
            fault->frame_count = 0;
            add_frame(fault, fault->pc);
            if (guard_modules_find(caller) != NULL)
                add_frame(fault, caller);
        }
    }
    thread->walking = 0;
    if (fault->frame_count == 0)
        add_frame(fault, fault->pc);
}
