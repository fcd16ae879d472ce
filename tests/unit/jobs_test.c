/* Jobs: ids, threads, cancelling, owners and the end. */
#include "jobs_fixture.h"

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/caller_register.h"
#include "core/fault.h"
#include "core/fpenv.h"

enum { SANITIZED = SANITIZED_ADDRESS || SANITIZED_THREAD, MANY = SANITIZED ? 300 : 2000 };

/* ---- Ids ---- */

static void test_ids(void **state)
{
    (void)state;
    uint64_t first = jobs_submit("first", job_nothing, NULL, 0);
    assert_true(first >= 1);
    for (uint64_t i = 1; i <= 20; i++)
        assert_int_equal(jobs_submit("next", job_nothing, NULL, 0), first + i);
    for (uint64_t i = 0; i <= 20; i++)
        wait_end(first + i);
    assert_int_equal(log_capture.lines, 0);
    assert_int_equal(jobs_submit("no function", NULL, NULL, 0), 0);
    assert_int_equal(log_capture.lines, 1);
    assert_int_equal(log_capture.of_item[LOG_JOB_REFUSED], 1);
    assert_int_equal(jobs_submit("after", job_nothing, NULL, 0), first + 21);
    wait_end(first + 21);
}

static void test_unknown_ids(void **state)
{
    (void)state;
    JobView view;
    const uint64_t ids[] = {0, 1u << 30, UINT64_MAX, JOBS_MAX, UINT64_MAX - JOBS_MAX + 1};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_false(jobs_is_running(ids[i]));
        assert_true(jobs_progress_of(ids[i]) == 0.0f);
        jobs_request_cancel(ids[i]);
        assert_false(jobs_view(ids[i], &view));
    }
    assert_int_equal(log_capture.lines, 0);
}

static void job_half(void *user, const CaliperJobControl *control)
{
    (void)user;
    control->progress(control, 0.5f, "half");
}

/* The finished ones are kept up to a bound; then the oldest are forgotten. */
static void test_bound(void **state)
{
    (void)state;
    uint64_t ids[8];
    JobView view;
    uint64_t first = jobs_submit("first", job_half, NULL, 0);
    wait_end(first);
    uint64_t last = first;
    for (uint32_t i = 1; i < JOBS_MAX; i++) {
        last = jobs_submit("later", job_nothing, NULL, 0);
        assert_true(last >= first + i);
        wait_end(last);
    }
    assert_true(jobs_progress_of(first) == 0.5f);
    /* Whoever gets its place is not reached by its id. */
    sem_t entered;
    sem_init(&entered, 0, 0);
    last = jobs_submit("in its place", job_until_cancelled, &entered, 0);
    sem_take(&entered);
    assert_int_equal(last % JOBS_MAX, first % JOBS_MAX);
    jobs_request_cancel(first);
    assert_false(jobs_view(first, &view));
    assert_true(jobs_progress_of(first) == 0.0f);
    assert_true(jobs_view(last, &view) && view.running && !view.cancelled);
    jobs_request_cancel(last);
    wait_end(last);
    sem_destroy(&entered);
    assert_int_equal(jobs_counts().finished, JOBS_MAX);
    assert_int_equal(jobs_list(ids, 8), 8);
    assert_int_equal(ids[0], last); /* the youngest first */
    assert_int_equal(ids[7], last - 7);
}

static void test_many_at_once(void **state)
{
    (void)state;
    static uint64_t ids[MANY];
    Gate gate;
    gate_open(&gate);
    for (int i = 0; i < MANY; i++) {
        ids[i] = jobs_submit("one of many", job_gate, &gate, 0);
        assert_true(ids[i] != 0);
    }
    for (int i = 0; i < MANY; i++)
        sem_take(&gate.entered);
    assert_int_equal(jobs_counts().running, MANY);
    for (int i = 0; i < MANY; i++)
        assert_true(jobs_is_running(ids[i]));
    for (int i = 0; i < MANY; i++)
        sem_post(&gate.leave);
    for (int i = 0; i < MANY; i++)
        wait_end(ids[i]);
    assert_int_equal(jobs_counts().finished, MANY);
    assert_int_equal(log_capture.lines, 0);
}

static void test_no_thread(void **state)
{
    (void)state;
    static const char *const plans[] = {"jobs.thread:1", "jobs.thread:2"};
    uint64_t before = jobs_submit("before", job_nothing, NULL, 0);
    wait_end(before);
    for (int i = 0; i < 2; i++) {
        log_capture_reset();
        assert_true(fault_set_plan(plans[i]));
        uint64_t one = jobs_submit("one", job_nothing, NULL, 0);
        uint64_t two = jobs_submit("two", job_nothing, NULL, 0);
        fault_set_plan(NULL);
        assert_true((one == 0) == (i == 0) && (two == 0) == (i == 1));
        assert_true(one > before || two > before);
        before = one > two ? one : two;
        wait_end(before);
        assert_int_equal(log_capture.of_item[LOG_JOB_REFUSED], 1);
        assert_int_equal(log_capture.lines, 1);
        assert_int_equal(jobs_counts().running, 0);
    }
}

/* ---- The thread ---- */

typedef struct Surroundings {
    pthread_t thread;
    char name[16];
    CallerId caller;
    FpEnv env;
    int rounding;
    int blocked;
    stack_t stack;
    uint64_t own_id;
} Surroundings;

static void job_look_around(void *user, const CaliperJobControl *control)
{
    Surroundings *seen = user;
    sigset_t mask;
    (void)control;
    seen->thread = pthread_self();
    pthread_getname_np(pthread_self(), seen->name, sizeof seen->name);
    seen->caller = caller_current();
    seen->env = fpenv_get();
    seen->rounding = fegetround();
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int signal = 1; signal < 32; signal++)
        seen->blocked += sigismember(&mask, signal) == 1 ? 1 : 0;
    sigaltstack(NULL, &seen->stack);
}

/* The submitter's floating-point controls and signal mask stay its own; the thread has a name, an
 * owner and a signal stack that holds the processor's whole state. */
static void test_surroundings(void **state)
{
    (void)state;
    CallerId owner = caller_register("org.example.jobs");
    Surroundings seen = {0};
    const FpEnv mine = fpenv_get();
    FpEnv odd = mine;
#if defined(__x86_64__)
    odd.mxcsr |= 0x8040; /* flush to zero, denormals are zero */
#endif
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    fpenv_set(odd);
    fesetround(FE_TOWARDZERO);
    /* 13 bytes, then a character of three: cut before it. */
    uint64_t id = jobs_submit("training run \xe2\x82\xac", job_look_around, &seen, owner);
    fesetround(FE_TONEAREST);
    fpenv_set(mine);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    wait_end(id);
    assert_false(pthread_equal(seen.thread, pthread_self()));
    assert_string_equal(seen.name, "training run ");
    assert_int_equal(seen.caller, owner);
    assert_int_equal(seen.rounding, FE_TONEAREST);
#if defined(__x86_64__)
    assert_int_equal(seen.env.mxcsr & 0xffc0, 0x1f80); /* the processor's reset value */
    assert_int_equal(seen.env.x87_control, 0x37f);
#endif
    assert_int_equal(seen.blocked, 0);
    assert_int_equal(seen.stack.ss_flags, 0);
    assert_true(seen.stack.ss_size >= 2 * getauxval(AT_MINSIGSTKSZ));
}

static void job_submit_more(void *user, const CaliperJobControl *control)
{
    uint64_t *more = user;
    (void)control;
    *more = jobs_submit("child", job_nothing, NULL, caller_current());
}

static void test_from_a_job(void **state)
{
    (void)state;
    CallerId owner = caller_register("org.example.nested");
    uint64_t child = 0;
    JobView view;
    uint64_t parent = jobs_submit("parent", job_submit_more, &child, owner);
    wait_end(parent);
    wait_end(child);
    assert_true(jobs_view(child, &view));
    assert_int_equal(view.owner, owner);
    assert_string_equal(view.label, "child");
}

static void job_pthread_exit(void *user, const CaliperJobControl *control)
{
    (void)user;
    control->progress(control, 0.25f, NULL);
    pthread_exit(NULL);
}

static void job_cancel_thread(void *user, const CaliperJobControl *control)
{
    (void)user;
    (void)control;
    pthread_cancel(pthread_self());
    for (;;)
        pthread_testcancel();
}

static void test_ending_the_thread(void **state)
{
    (void)state;
    static const CaliperJobFn functions[] = {job_pthread_exit, job_cancel_thread};
    for (int i = 0; i < 2; i++) {
        log_capture_reset();
        uint64_t id = jobs_submit("odd", functions[i], NULL, 0);
        wait_end(id);
        assert_int_equal(log_capture.of_item[LOG_JOB_THREAD_ENDED], 1);
        assert_int_equal(log_capture.lines, 1);
        assert_true(jobs_progress_of(id) == (i == 0 ? 0.25f : 0.0f));
    }
}

/* ---- Cancel, owners ---- */

static void test_cancel(void **state)
{
    (void)state;
    JobView view;
    uint64_t one = jobs_submit("one", job_until_cancelled, NULL, 0);
    uint64_t two = jobs_submit("two", job_until_cancelled, NULL, 0);
    jobs_request_cancel(one);
    wait_end(one);
    assert_true(jobs_is_running(two));
    assert_true(jobs_view(one, &view) && view.cancelled && !view.running);
    assert_true(jobs_view(two, &view) && !view.cancelled && view.running);
    jobs_request_cancel(two);
    jobs_request_cancel(two);
    wait_end(two);
    jobs_request_cancel(two); /* finished: nothing */
    uint64_t quick = jobs_submit("quick", job_nothing, NULL, 0);
    wait_end(quick);
    jobs_request_cancel(quick);
    assert_true(jobs_view(quick, &view) && !view.cancelled);
}

static void quiesce(CallerId owner)
{
    while (!jobs_quiesce(owner))
        nap();
}

static void test_closing_an_owner(void **state)
{
    (void)state;
    CallerId mine = caller_register("org.example.mine");
    CallerId other = caller_register("org.example.other");
    uint64_t ids[4];
    JobView view;
    for (int i = 0; i < 4; i++)
        ids[i] = jobs_submit("job", job_until_cancelled, NULL, i == 3 ? other : mine);
    quiesce(mine);
    for (int i = 0; i < 3; i++)
        assert_false(jobs_is_running(ids[i]));
    assert_true(jobs_is_running(ids[3]));
    assert_true(jobs_view(ids[3], &view) && !view.cancelled && !view.left_behind);
    assert_int_equal(log_capture.lines, 0);
    assert_int_equal(jobs_submit("too late", job_nothing, NULL, mine), 0);
    assert_int_equal(log_capture.of_item[LOG_JOB_REFUSED], 1);
    assert_int_equal(log_capture.lines, 1);
    assert_true(jobs_quiesce(0)); /* the host itself is not closed this way */
    quiesce(other);
    assert_false(jobs_is_running(ids[3]));
}

static pthread_key_t slow_key;
static Gate slow_gate;

static void slow_destructor(void *value)
{
    (void)value;
    sem_post(&slow_gate.entered);
    sem_take(&slow_gate.leave);
}

static void job_with_slow_end(void *user, const CaliperJobControl *control)
{
    (void)control;
    pthread_setspecific(slow_key, user);
}

/* The library may be unloaded only when nothing of it can run any more: after the last destructor
 * of the thread. */
static void test_a_thread_that_ends_slowly(void **state)
{
    (void)state;
    CallerId owner = caller_register("org.example.slow");
    gate_open(&slow_gate);
    assert_int_equal(pthread_key_create(&slow_key, slow_destructor), 0);
    uint64_t id = jobs_submit("slow", job_with_slow_end, &slow_gate, owner);
    sem_take(&slow_gate.entered);
    assert_false(jobs_is_running(id));
    for (int i = 0; i < 50; i++) {
        assert_false(jobs_quiesce(owner));
        nap();
    }
    sem_post(&slow_gate.leave);
    quiesce(owner);
    pthread_key_delete(slow_key);
}

static void test_left_behind(void **state)
{
    (void)state;
    CallerId owner = caller_register("org.example.stubborn");
    Gate gate;
    JobView view;
    gate_open(&gate);
    uint64_t id = jobs_submit("stubborn", job_gate, &gate, owner);
    sem_take(&gate.entered);
    assert_false(jobs_quiesce(owner));
    jobs_owner_gone(owner);
    assert_true(jobs_view(id, &view));
    assert_true(view.running && view.cancelled && view.left_behind);
    assert_int_equal(jobs_submit("more", job_nothing, NULL, owner), 0);
    log_capture_reset();
    assert_int_equal(jobs_end(), 1); /* does not wait for it once more */
    assert_int_equal(log_capture.of_item[LOG_JOBS_LEFT], 1);
    sem_post(&gate.leave);
    quiesce(owner);
    log_capture_reset();
    assert_int_equal(jobs_end(), 0);
    assert_int_equal(log_capture.lines, 0);
}

static void test_end(void **state)
{
    (void)state;
    Gate gate;
    gate_open(&gate);
    uint64_t obeys = jobs_submit("obeys", job_until_cancelled, NULL, 0);
    assert_int_equal(jobs_end(), 0);
    assert_false(jobs_is_running(obeys));
    uint64_t stubborn = jobs_submit("stubborn", job_gate, &gate, 0);
    assert_int_equal(jobs_end(), 1);
    assert_int_equal(log_capture.of_item[LOG_JOBS_LEFT], 1);
    assert_int_equal(log_capture.lines, 1);
    sem_post(&gate.leave);
    wait_end(stubborn);
}

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_ids, begin),
        cmocka_unit_test_setup(test_unknown_ids, begin),
        cmocka_unit_test_setup(test_bound, begin),
        cmocka_unit_test_setup(test_many_at_once, begin),
        cmocka_unit_test_setup(test_no_thread, begin),
        cmocka_unit_test_setup(test_surroundings, begin),
        cmocka_unit_test_setup(test_from_a_job, begin),
        cmocka_unit_test_setup(test_ending_the_thread, begin),
        cmocka_unit_test_setup(test_cancel, begin),
        cmocka_unit_test_setup(test_closing_an_owner, begin),
        cmocka_unit_test_setup(test_a_thread_that_ends_slowly, begin),
        cmocka_unit_test_setup(test_left_behind, begin),
        cmocka_unit_test_setup(test_end, begin),
    };
    return cmocka_run_group_tests(tests, NULL, begin); /* the last thread is joined, too */
}
