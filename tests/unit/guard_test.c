/* The guard without applets: nesting, threads, interruption, who an address belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fault.h"
#include "core/guard.h"
#include "core/guard_modules.h"
#include "core/log.h"
#include "core/sanitized.h"

/* Not a cmocka setup: that one runs under other signal handlers than the test. */
static void begin(void)
{
    log_stderr_enable(false);
    assert_true(guard_thread_enter());
    assert_true(guard_install("/tmp"));
}

static void end(void)
{
    guard_uninstall();
    guard_thread_leave();
}

static bool run(void (*call)(void *), void *arg, GuardFault *fault)
{
    return guard_call(&(GuardCall){.what = "a call", .call = call, .arg = arg}, fault);
}

static void add_one(void *arg)
{
    ++*(int *)arg;
}

static void raise_it(void *arg)
{
    raise(*(int *)arg);
}

static void test_calls_and_signals(void **state)
{
    (void)state;
    begin();
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static const char *const names[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};
    GuardFault fault;
    int count = 0;
    for (int times = 0; times < 3; times++) {
        for (size_t i = 0; i < 5; i++) {
            int signal = signals[i];
            assert_false(run(raise_it, &signal, &fault));
            assert_int_equal(fault.signal, signal);
            assert_string_equal(guard_signal_name(signal), names[i]);
            assert_false(fault.hung);
            assert_true(fault.walked);
            assert_true(fault.frame_count > 0);
            assert_true(run(add_one, &count, &fault));
            assert_int_equal(fault.signal, 0);
        }
    }
    assert_int_equal(count, 15);
    end();
}

typedef struct Nest {
    int depth;
    GuardFault faults[3];
    bool returned[3];
    int after[3];
} Nest;

static void nest(void *arg)
{
    Nest *state = arg;
    int depth = state->depth++;
    if (depth < 2)
        state->returned[depth + 1] = run(nest, state, &state->faults[depth + 1]);
    state->after[depth] = 1; /* the outer call goes on after the inner fault */
    if (depth >= 1)
        raise(depth == 2 ? SIGSEGV : SIGFPE);
}

static void test_nested(void **state)
{
    (void)state;
    begin();
    Nest nested = {0};
    nested.returned[0] = run(nest, &nested, &nested.faults[0]);
    assert_true(nested.returned[0]);
    assert_false(nested.returned[1]);
    assert_false(nested.returned[2]);
    assert_int_equal(nested.faults[0].signal, 0);
    assert_int_equal(nested.faults[1].signal, SIGFPE);
    assert_int_equal(nested.faults[2].signal, SIGSEGV);
    assert_true(nested.after[0] && nested.after[1] && nested.after[2]);
    end();
}

static void *guarded_thread(void *arg)
{
    bool *ok = arg;
    GuardFault fault;
    int signal = SIGSEGV;
    stack_t before;
    stack_t after;
    sigaltstack(NULL, &before);
    *ok = guard_thread_enter() && guard_thread_enter();
    for (int i = 0; i < 50; i++)
        *ok = *ok && !run(raise_it, &signal, &fault) && fault.signal == SIGSEGV;
    guard_thread_leave();
    guard_thread_leave();
    sigaltstack(NULL, &after);
    *ok = *ok && before.ss_sp == after.ss_sp && before.ss_flags == after.ss_flags;
    return NULL;
}

static void test_threads_have_their_own(void **state)
{
    (void)state;
    begin();
    pthread_t threads[4];
    bool ok[4] = {false};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, guarded_thread, &ok[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(ok[i]);
    }
    end();
}

/* Another altstack that a library put there is replaced at the next call. */
static void test_stack_is_retaken(void **state)
{
    (void)state;
    begin();
    static char small[16384];
    stack_t theirs = {.ss_sp = small, .ss_size = sizeof small};
    stack_t ours;
    stack_t now;
    sigaltstack(NULL, &ours);
    assert_true(ours.ss_size >= 65536);
    assert_int_equal(sigaltstack(&theirs, NULL), 0);
    GuardFault fault;
    int signal = SIGSEGV;
    assert_false(run(raise_it, &signal, &fault));
    sigaltstack(NULL, &now);
    assert_ptr_equal(now.ss_sp, ours.ss_sp);
    end();
}

static void other_handler(int signal)
{
    (void)signal;
}

static void test_handlers_come_and_go(void **state)
{
    (void)state;
    begin();
    struct sigaction now;
    guard_uninstall();
    signal(SIGFPE, other_handler);
    assert_true(guard_install("/tmp"));
    assert_true(guard_install("/tmp"));
    guard_uninstall();
    sigaction(SIGFPE, NULL, &now);
    assert_true(now.sa_flags & SA_SIGINFO); /* still ours */
    assert_false(guard_retake_handlers());
    signal(SIGFPE, SIG_DFL);
    assert_true(guard_retake_handlers());
    assert_false(guard_retake_handlers());
    guard_uninstall();
    sigaction(SIGFPE, NULL, &now);
    assert_ptr_equal((void *)(uintptr_t)now.sa_handler, (void *)(uintptr_t)other_handler);
    guard_uninstall(); /* once too often */
    signal(SIGFPE, SIG_DFL);
    assert_true(guard_install("/tmp"));
    end();
}

/* ---- Interruption ---- */

typedef struct Waiting {
    pthread_t thread;
    atomic_uint_fast64_t serial;
    atomic_bool in_call, leave;
    bool locked;
} Waiting;

__attribute__((noinline)) static void wait_in_host_code(void *arg)
{
    Waiting *waiting = arg;
    if (waiting->locked)
        guard_lock_enter();
    atomic_store(&waiting->in_call, true);
    while (!atomic_load(&waiting->leave))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (waiting->locked)
        guard_lock_leave();
}

/* The function that guard_call calls may be left, one below it not. */
static void wait_deeper(void *arg)
{
    wait_in_host_code(arg);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

/* A call whose stack has host code that may not be left is let go on: asking does no harm. */
static void *pester(void *arg)
{
    Waiting *waiting = arg;
    while (!atomic_load(&waiting->in_call))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < 50; i++) {
        guard_interrupt(waiting->thread, atomic_load(&waiting->serial));
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    atomic_store(&waiting->leave, true);
    return NULL;
}

static bool pestered_returns(void (*call)(void *), uint64_t serial, uint64_t asked, bool locked)
{
    Waiting waiting = {.thread = pthread_self(), .serial = asked, .locked = locked};
    pthread_t thread;
    GuardFault fault;
    assert_int_equal(pthread_create(&thread, NULL, pester, &waiting), 0);
    bool returned = guard_call(
        &(GuardCall){.what = "a wait", .serial = serial, .call = call, .arg = &waiting}, &fault);
    pthread_join(thread, NULL);
    return returned;
}

static void test_interruptions_that_must_not_be(void **state)
{
    (void)state;
    begin();
    assert_true(pestered_returns(wait_in_host_code, 7, 7, true));  /* a lock is held */
    assert_true(pestered_returns(wait_in_host_code, 7, 8, false)); /* another call was meant */
    assert_true(pestered_returns(wait_in_host_code, 0, 0, false)); /* cannot be interrupted */
    /* ThreadSanitizer hands signals over late, with the registers of the time before: no stack can
     * be walked from those. */
    if (!SANITIZED_THREAD)
        assert_true(pestered_returns(wait_deeper, 7, 7, false));
    end();
}

static void test_module_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        ModuleKind kind;
    } cases[] = {
        {"/lib64/ld-linux-x86-64.so.2", MODULE_KIND_LOADER},
        {"/lib/ld-musl-x86_64.so.1", MODULE_KIND_LOADER},
        {"/usr/lib/libvulkan.so.1", MODULE_KIND_DRIVER},
        {"/usr/lib/libvulkan_lvp.so", MODULE_KIND_DRIVER},
        {"/usr/lib/libVkLayer_khronos_validation.so", MODULE_KIND_DRIVER},
        {"/usr/lib/dri/swrast_dri.so", MODULE_KIND_DRIVER},
        {"/usr/lib/libGLX_nvidia.so.0", MODULE_KIND_DRIVER},
        {"/usr/lib/libEGL_mesa.so.0", MODULE_KIND_DRIVER},
        {"/usr/lib/libnvidia-glcore.so.580", MODULE_KIND_DRIVER},
        {"/usr/lib/libcuda.so.1", MODULE_KIND_DRIVER},
        {"/usr/lib/libLLVM-15.so.1", MODULE_KIND_DRIVER},
        {"/usr/lib/libcudart.so.12", MODULE_KIND_PLAIN}, /* an applet's */
        {"/usr/lib/libjemalloc.so.2", MODULE_KIND_ALLOCATOR},
        {"/lib/libc.so.6", MODULE_KIND_PLAIN},
        {"/home/libvulkan/viewer.so", MODULE_KIND_PLAIN}, /* a folder's name says nothing */
        {"viewer.so", MODULE_KIND_PLAIN},
        {"", MODULE_KIND_PLAIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(guard_module_kind(cases[i].path), cases[i].kind);
}

static ModuleKind kind_at(const void *address)
{
    const Module *module = guard_modules_find((uintptr_t)address);
    assert_non_null(module);
    return module->kind;
}

static void test_addresses(void **state)
{
    (void)state;
    begin();
    guard_modules_refresh();
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(libc);
    assert_int_equal(kind_at((const void *)(uintptr_t)guard_call), MODULE_KIND_HOST);
    assert_int_equal(kind_at((const void *)(uintptr_t)test_addresses), MODULE_KIND_HOST);
    assert_int_equal(kind_at(dlsym(libc, "malloc")), MODULE_KIND_ALLOCATOR);
    assert_int_equal(kind_at(dlsym(libc, "free")), MODULE_KIND_ALLOCATOR);
    assert_int_equal(kind_at(dlsym(libc, "realloc")), MODULE_KIND_ALLOCATOR);
    assert_int_equal(kind_at(dlsym(libc, "qsort")), MODULE_KIND_PLAIN);
    assert_int_equal(kind_at(dlsym(libc, "printf")), MODULE_KIND_PLAIN);
    assert_null(guard_modules_find(0));
    assert_null(guard_modules_find(16));
    assert_null(guard_modules_find(UINTPTR_MAX));
    int on_stack = 0;
    assert_null(guard_modules_find((uintptr_t)&on_stack));
    for (int i = 0; i < 100; i++)
        guard_modules_refresh();
    uintptr_t first = 0;
    uintptr_t last = 0;
    assert_true(guard_modules_range((uintptr_t)guard_call, &first, &last));
    assert_true(first <= (uintptr_t)guard_call && (uintptr_t)guard_call < last);
    assert_false(guard_modules_range(16, &first, &last));
    dlclose(libc);
    end();
}

static void test_no_room_for_a_stack(void **state)
{
    (void)state;
    begin();
    guard_thread_leave();
    fault_set_plan("guard.stack:1");
    assert_false(guard_thread_enter());
    fault_set_plan(NULL);
    assert_true(guard_thread_enter());
    for (int nth = 1; nth <= 6; nth++) {
        static const char *const plans[] = {"guard.sigaction:1", "guard.sigaction:2",
                                            "guard.sigaction:3", "guard.sigaction:4",
                                            "guard.sigaction:5", "guard.sigaction:6"};
        struct sigaction now;
        guard_uninstall();
        fault_set_plan(plans[nth - 1]);
        assert_false(guard_install("/tmp"));
        fault_set_plan(NULL);
        sigaction(SIGABRT, NULL, &now);
        assert_false(now.sa_flags & SA_SIGINFO); /* nothing of ours stays */
        assert_true(guard_install("/tmp"));
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_and_signals),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_threads_have_their_own),
        cmocka_unit_test(test_stack_is_retaken),
        cmocka_unit_test(test_handlers_come_and_go),
        cmocka_unit_test(test_interruptions_that_must_not_be),
        cmocka_unit_test(test_module_kinds),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_no_room_for_a_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
