/* Which numbers runs get when several hosts live on one data root, one after another or at once:
 * 1, 2, 3 where nobody is killed, none twice wherever somebody is, and none for a host that begins
 * no run. Each host is a process of its own, told what to do through a pipe. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/frame_thread.h"
#include "metrics_fixture.h"

static char *const root = fixture_folder;

typedef struct Host {
    pid_t pid;
    int to, from;
} Host;

enum { TRIES = 2000 };

/* On the thread that draws a call waits 50 ms at most: the next frame asks again. */
static uint64_t begin_in_a_frame(MetricsStore *store)
{
    uint64_t run = 0;
    frame_thread_enter();
    for (int i = 0; run == 0 && i < TRIES; i++)
        run = metrics_store_begin_run(store, "e", "n");
    frame_thread_leave();
    return run;
}

static bool can_read(MetricsStore *store)
{
    struct ArrowArrayStream stream;
    if (!metrics_store_query(store, "SELECT count(*) FROM runs", &stream))
        return false;
    stream.release(&stream);
    return true;
}

/* b, f: begins a run, in a frame or not; q: reads, so that there is a database; c: ends well. */
static void live(int from, int to)
{
    MetricsStore *store = metrics_store_create(&(MetricsParams){
        .struct_size = sizeof(MetricsParams), .data_root = root, .start_now = true});
    char order = 0;
    while (store != NULL && read(from, &order, 1) == 1 && order != 'c') {
        uint64_t answer = 0;
        if (order == 'b')
            answer = metrics_store_begin_run(store, "e", "n");
        else if (order == 'f')
            answer = begin_in_a_frame(store);
        else
            answer = can_read(store);
        if (write(to, &answer, sizeof answer) != sizeof answer)
            break;
    }
    metrics_store_destroy(&store);
    _exit(0);
}

static Host host_start(void)
{
    int orders[2];
    int answers[2];
    assert_int_equal(pipe(orders), 0);
    assert_int_equal(pipe(answers), 0);
    Host host = {.pid = fork(), .to = orders[1], .from = answers[0]};
    assert_true(host.pid >= 0);
    if (host.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(orders[1]);
        close(answers[0]);
        live(orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    return host;
}

static uint64_t tell(const Host *host, char order)
{
    uint64_t answer = 0;
    assert_int_equal(write(host->to, &order, 1), 1);
    assert_int_equal(read(host->from, &answer, sizeof answer), sizeof answer);
    return answer;
}

static void host_end(Host *host, bool kills)
{
    if (kills)
        assert_int_equal(kill(host->pid, SIGKILL), 0);
    else
        assert_int_equal(write(host->to, "c", 1), 1);
    assert_int_equal(waitpid(host->pid, NULL, 0), host->pid);
    close(host->to);
    close(host->from);
}

static uint64_t number_of_a_life(char order, bool kills)
{
    Host host = host_start();
    uint64_t run = tell(&host, order);
    host_end(&host, kills);
    return run;
}

static void test_a_host_that_begins_no_run_takes_no_number(void **state)
{
    (void)state;
    for (int kills = 0; kills < 2; kills++)
        for (int reads = 0; reads < 2; reads++) {
            Host host = host_start();
            if (reads)
                assert_int_equal(tell(&host, 'q'), 1);
            host_end(&host, kills);
        }
    Host beside = host_start(); /* one that stays open, as a home page does */
    assert_int_equal(tell(&beside, 'q'), 1);
    assert_int_equal(number_of_a_life('b', false), 1);
    assert_int_equal(number_of_a_life('f', false), 2);
    host_end(&beside, true);
    assert_int_equal(number_of_a_life('b', false), 3);
}

static void test_one_after_another_they_count(void **state)
{
    (void)state;
    uint64_t next = 1;
    for (int life = 0; life < 6; life++) {
        Host host = host_start();
        for (int i = 0; i < life * 3; i++) /* 0 to 15: over the edges of the first blocks */
            assert_int_equal(tell(&host, life % 2 == 0 ? 'b' : 'f'), next++);
        host_end(&host, false);
    }
    assert_int_equal(next, 1 + 3 * (1 + 2 + 3 + 4 + 5));
    assert_int_equal(fixture_number(root, "SELECT max(id) FROM runs"), next - 1);
    assert_int_equal(fixture_number(root, "SELECT count(*) FROM runs"), next - 1);
}

static void test_a_killed_host_leaves_a_small_gap(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (int life = 0; life < 4; life++) {
        uint64_t run = number_of_a_life('b', true);
        assert_true(run > before && run <= before + 4);
        before = run;
    }
}

static void test_what_is_left_goes_back_unless_somebody_took_more(void **state)
{
    (void)state;
    Host first = host_start();
    Host second = host_start();
    assert_int_equal(tell(&first, 'b'), 1);
    uint64_t later = tell(&second, 'b');
    assert_true(later > 1);
    host_end(&first, false); /* its rest lies below what the other one has */
    assert_int_equal(tell(&second, 'b'), later + 1);
    host_end(&second, false);
    assert_int_equal(number_of_a_life('b', false), later + 2);
}

/* Hosts at once, half of them killed in the middle: each number once. */
static void test_no_number_comes_twice(void **state)
{
    (void)state;
    enum { HOSTS = 6, ROUNDS = 4, RUNS = 11, ALL = HOSTS * ROUNDS * RUNS };
    static bool seen[ALL * 16];
    for (int round = 0; round < ROUNDS; round++) {
        Host hosts[HOSTS];
        for (int i = 0; i < HOSTS; i++)
            hosts[i] = host_start();
        for (int run = 0; run < RUNS; run++)
            for (int i = 0; i < HOSTS; i++) {
                uint64_t id = tell(&hosts[i], i % 3 == 0 ? 'f' : 'b');
                assert_true(id > 0 && id < ALL * 16);
                assert_false(seen[id]);
                seen[id] = true;
            }
        for (int i = 0; i < HOSTS; i++)
            host_end(&hosts[i], (i + round) % 2 == 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_host_that_begins_no_run_takes_no_number),
        TEST(test_one_after_another_they_count),
        TEST(test_a_killed_host_leaves_a_small_gap),
        TEST(test_what_is_left_goes_back_unless_somebody_took_more),
        TEST(test_no_number_comes_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
