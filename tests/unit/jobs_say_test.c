/* Jobs: what they say and ask, the list that the tray shows, and all of it at once. */
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

enum { HAMMERS = 6 };

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
        cmocka_unit_test_setup(test_progress, begin),
        cmocka_unit_test_setup(test_messages, begin),
        cmocka_unit_test_setup(test_foreign_controls, begin),
        cmocka_unit_test_setup(test_helpers, begin),
        cmocka_unit_test_setup(test_list, begin),
        cmocka_unit_test_setup(test_hammer, begin),
    };
    return cmocka_run_group_tests(tests, NULL, begin); /* the last thread is joined, too */
}
