/* Jobs: ids, threads, what a job says and asks, owners, the list that the tray shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "core/caller_register.h"
#include "core/fault.h"
#include "core/fpenv.h"
#include "core/sanitized.h"
#include "jobs/jobs.h"
#include "log_capture.h"

enum {
    SANITIZED = SANITIZED_ADDRESS || SANITIZED_THREAD,
    MANY = SANITIZED ? 300 : 2000,
    HAMMERS = 6
};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* A hang is ended by the test runner's time limit. */
static void wait_end(uint64_t id)
{
    for (int turns = 0; jobs_is_running(id); turns++) {
        if (turns < 1000)
            sched_yield();
        else
            nap();
    }
}

static void clear_all(void)
{
    do {
        jobs_clear(0);
        nap();
    } while (jobs_counts().finished > 0);
    assert_int_equal(jobs_counts().running, 0);
}

static int begin(void **state)
{
    (void)state;
    clear_all();
    log_capture_reset();
    return 0;
}

/* ---- Jobs for tests ---- */

typedef struct Gate {
    sem_t entered, leave;
} Gate;

static void gate_open(Gate *gate)
{
    sem_init(&gate->entered, 0, 0);
    sem_init(&gate->leave, 0, 0);
}

static void sem_take(sem_t *sem)
{
    while (sem_wait(sem) != 0)
        continue;
}

static void job_gate(void *user, const CaliperJobControl *control)
{
    Gate *gate = user;
    (void)control;
    sem_post(&gate->entered);
    sem_take(&gate->leave);
}

static void job_nothing(void *user, const CaliperJobControl *control)
{
    (void)user;
    (void)control;
}

static void job_until_cancelled(void *user, const CaliperJobControl *control)
{
    if (user != NULL)
        sem_post(user);
    while (!control->cancelled(control))
        nap();
}

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

/* ---- What a job says ---- */

typedef struct Saying {
    float fraction;
    const char *message;
    Gate gate;
    atomic_bool stop;
} Saying;

static void job_say(void *user, const CaliperJobControl *control)
{
    Saying *saying = user;
    for (;;) {
        sem_take(&saying->gate.leave);
        if (saying->stop)
            return;
        control->progress(control, saying->fraction, saying->message);
        sem_post(&saying->gate.entered);
    }
}

static void say(Saying *saying, float fraction, const char *message)
{
    saying->fraction = fraction;
    saying->message = message;
    sem_post(&saying->gate.leave);
    sem_take(&saying->gate.entered);
}

static void test_progress(void **state)
{
    (void)state;
    static const struct {
        float given, shown;
    } fractions[] = {{0.25f, 0.25f},   {-1.0f, 0.0f},    {1.5f, 1.0f}, {0.5f, 0.5f},
                     {NAN, 0.5f},      {INFINITY, 1.0f}, {NAN, 1.0f},  {-INFINITY, 0.0f},
                     {1e-45f, 1e-45f}, {1.0f, 1.0f},     {-0.0f, 0.0f}};
    Saying saying = {0};
    JobView view;
    gate_open(&saying.gate);
    uint64_t id = jobs_submit("say", job_say, &saying, 0);
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        say(&saying, fractions[i].given, NULL);
        assert_true(jobs_progress_of(id) == fractions[i].shown);
    }
    say(&saying, 0.75f, "nearly");
    saying.stop = true;
    sem_post(&saying.gate.leave);
    wait_end(id);
    assert_true(jobs_progress_of(id) == 0.75f); /* kept until cleared */
    assert_true(jobs_view(id, &view) && !view.running && view.progress == 0.75f);
    assert_string_equal(view.message, "nearly");
    jobs_clear(id);
    assert_true(jobs_progress_of(id) == 0.0f);
    assert_false(jobs_view(id, &view));
}

static void test_messages(void **state)
{
    (void)state;
    char longest[1000], expected[JOB_TEXT_BYTES];
    Saying saying = {0};
    JobView view;
    gate_open(&saying.gate);
    uint64_t id = jobs_submit("\xff\nlabel", job_say, &saying, 0);
    assert_true(jobs_view(id, &view));
    assert_string_equal(view.label, "\xef\xbf\xbd label");
    assert_string_equal(view.message, "");
    /* RFC 3629: a lone continuation byte, an overlong slash, a surrogate, a cut sequence. */
    static const struct {
        const char *given, *shown;
    } messages[] = {
        {"epoch 3", "epoch 3"},
        {"", ""},
        {"\xce\xb1\xe2\x82\xac\xf0\x9f\x98\x80", "\xce\xb1\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\x80z", "a\xef\xbf\xbdz"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"two\nlines\tand\x7f", "two lines and "}};
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        char copy[64];
        snprintf(copy, sizeof copy, "%s", messages[i].given);
        say(&saying, 0.0f, copy);
        memset(copy, 'x', sizeof copy); /* it was copied */
        say(&saying, 0.1f, NULL);       /* which leaves the message as it is */
        assert_true(jobs_view(id, &view));
        assert_string_equal(view.message, messages[i].shown);
    }
    memset(longest, 'm', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    memset(expected, 'm', sizeof expected);
    expected[sizeof expected - 1] = '\0';
    say(&saying, 0.0f, longest);
    assert_true(jobs_view(id, &view));
    assert_string_equal(view.message, expected);
    /* Cut at a character. */
    memcpy(longest + JOB_TEXT_BYTES - 3, "\xe2\x82\xac", 3);
    expected[JOB_TEXT_BYTES - 3] = '\0';
    say(&saying, 0.0f, longest);
    assert_true(jobs_view(id, &view));
    assert_string_equal(view.message, expected);
    saying.stop = true;
    sem_post(&saying.gate.leave);
    wait_end(id);
    uint64_t nameless = jobs_submit(NULL, job_nothing, NULL, 0);
    wait_end(nameless);
    assert_true(jobs_view(nameless, &view));
    assert_string_equal(view.label, "(job)");
}

static void job_misuse(void *user, const CaliperJobControl *control)
{
    CaliperJobControl copy = *control;
    bool *answers = user;
    assert_int_equal(control->struct_size, sizeof(CaliperJobControl));
    answers[0] = control->cancelled(control);
    answers[1] = control->cancelled(NULL);
    answers[2] = control->cancelled(&copy);
    control->progress(NULL, 0.5f, "nobody's");
    control->progress(&copy, 0.5f, "a copy's");
    control->progress((const CaliperJobControl *)((const char *)control + 8), 0.5f, "off by eight");
}

/* A control that is none: the job is told to end, and nothing is written anywhere. */
static void test_foreign_controls(void **state)
{
    (void)state;
    bool answers[3] = {true, false, false};
    JobView view;
    uint64_t id = jobs_submit("misuse", job_misuse, answers, 0);
    wait_end(id);
    assert_false(answers[0]);
    assert_true(answers[1] && answers[2]);
    assert_int_equal(log_capture.of_item[LOG_JOB_CONTROL_REFUSED], 5);
    assert_int_equal(log_capture.lines, 5);
    assert_true(jobs_view(id, &view));
    assert_string_equal(view.message, "");
}

typedef struct Helper {
    const CaliperJobControl *control;
    bool seen;
} Helper;

static void *helper_thread(void *arg)
{
    Helper *helper = arg;
    helper->control->progress(helper->control, 0.5f, "from a helper");
    while (!helper->control->cancelled(helper->control))
        nap();
    helper->seen = true;
    return NULL;
}

static void job_with_helper(void *user, const CaliperJobControl *control)
{
    Helper *helper = user;
    pthread_t thread;
    helper->control = control;
    assert_int_equal(pthread_create(&thread, NULL, helper_thread, helper), 0);
    pthread_join(thread, NULL);
}

/* A job's own threads may use its control as well. */
static void test_helpers(void **state)
{
    (void)state;
    Helper helper = {0};
    uint64_t id = jobs_submit("parallel", job_with_helper, &helper, 0);
    while (jobs_progress_of(id) != 0.5f)
        nap();
    assert_true(jobs_is_running(id));
    jobs_request_cancel(id);
    wait_end(id);
    assert_true(helper.seen);
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

/* ---- The list ---- */

static void test_list(void **state)
{
    (void)state;
    uint64_t ids[16];
    sem_t entered;
    sem_init(&entered, 0, 0);
    uint64_t old = jobs_submit("old", job_until_cancelled, &entered, 0);
    uint64_t one = jobs_submit("one", job_nothing, NULL, 0);
    wait_end(one);
    uint64_t two = jobs_submit("two", job_nothing, NULL, 0);
    wait_end(two);
    uint64_t young = jobs_submit("young", job_until_cancelled, &entered, 0);
    const uint64_t expected[] = {old, young, two, one};
    assert_int_equal(jobs_list(ids, 16), 4);
    assert_memory_equal(ids, expected, sizeof expected);
    assert_int_equal(jobs_list(ids, 3), 3);
    assert_int_equal(jobs_list(ids, 1), 1);
    assert_int_equal(jobs_list(ids, 0), 0);
    assert_int_equal(jobs_counts().running, 2);
    assert_int_equal(jobs_counts().finished, 2);
    jobs_clear(old); /* it runs: nothing */
    jobs_clear(one);
    assert_int_equal(jobs_list(ids, 16), 3);
    jobs_clear(0);
    assert_int_equal(jobs_list(ids, 16), 2);
    assert_int_equal(jobs_counts().finished, 0);
    jobs_request_cancel(old);
    jobs_request_cancel(young);
    wait_end(old);
    wait_end(young);
    assert_int_equal(jobs_counts().finished, 2);
    sem_destroy(&entered);
}

/* ---- All at once ---- */

static atomic_bool hammer_stop;
static atomic_uint_fast64_t hammer_newest;
static atomic_uint hammer_torn;

static void job_talk(void *user, const CaliperJobControl *control)
{
    char message[JOB_TEXT_BYTES];
    (void)user;
    for (int i = 0; i < 200 && !control->cancelled(control); i++) {
        memset(message, 'a' + i % 26, sizeof message - 1);
        message[sizeof message - 1] = '\0';
        control->progress(control, (float)i / 200.0f, message);
    }
}

static void *hammer_submit(void *arg)
{
    (void)arg;
    while (!hammer_stop) {
        uint64_t id = jobs_submit("talk", job_talk, NULL, 0);
        if (id != 0)
            hammer_newest = id;
        if (id % 3 == 0)
            jobs_request_cancel(id);
        while (jobs_counts().running > 32 && !hammer_stop)
            nap();
    }
    return NULL;
}

static void *hammer_read(void *arg)
{
    JobView view;
    (void)arg;
    while (!hammer_stop) {
        for (uint64_t back = 0; back < 64; back++) {
            uint64_t id = hammer_newest - back;
            jobs_is_running(id);
            float progress = jobs_progress_of(id);
            if (!(progress >= 0.0f && progress <= 1.0f))
                hammer_torn++;
            if (!jobs_view(id, &view))
                continue;
            for (const char *c = view.message; *c != '\0'; c++)
                hammer_torn += *c != view.message[0] ? 1 : 0;
        }
    }
    return NULL;
}

/* Many submitters, readers, a frame thread that lists and clears: nothing is torn, nothing lost. */
static void test_hammer(void **state)
{
    (void)state;
    static uint64_t ids[JOBS_MAX];
    pthread_t threads[HAMMERS];
    hammer_newest = 1;
    for (int i = 0; i < HAMMERS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, i % 2 == 0 ? hammer_submit : hammer_read, NULL), 0);
    for (int frame = 0; frame < 300; frame++) {
        jobs_frame();
        uint32_t count = jobs_list(ids, JOBS_MAX);
        assert_true(count <= JOBS_MAX);
        if (frame % 50 == 49)
            jobs_clear(0);
        nap();
    }
    hammer_stop = true;
    for (int i = 0; i < HAMMERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(jobs_end(), 0);
    assert_int_equal(hammer_torn, 0);
    assert_int_equal(jobs_counts().running, 0);
    assert_int_equal(log_capture.lines, 0);
    assert_int_equal(jobs_list(ids, JOBS_MAX), jobs_counts().finished);
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
        cmocka_unit_test_setup(test_progress, begin),
        cmocka_unit_test_setup(test_messages, begin),
        cmocka_unit_test_setup(test_foreign_controls, begin),
        cmocka_unit_test_setup(test_helpers, begin),
        cmocka_unit_test_setup(test_cancel, begin),
        cmocka_unit_test_setup(test_closing_an_owner, begin),
        cmocka_unit_test_setup(test_a_thread_that_ends_slowly, begin),
        cmocka_unit_test_setup(test_left_behind, begin),
        cmocka_unit_test_setup(test_end, begin),
        cmocka_unit_test_setup(test_list, begin),
        cmocka_unit_test_setup(test_hammer, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
