/* The parts of the metrics store that need no database and no rows: the owner's lock, numbers for
 * runs, checksums, the JSON check. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include "store/metrics/checksum.h"
#include "store/metrics/json_check.h"
#include "store/metrics/run_ids.h"
#include "store/metrics/run_table.h"
#include "store/owner_lock.h"

static char *const root = fixture_folder;

/* ---- owner.lock ---- */

static int state_in_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        OwnerLock *lock = NULL;
        OwnerInfo other = {0};
        OwnerState state = owner_lock_take(root, &lock, &other);
        bool named = state != OWNER_STATE_OTHER || (other.pid == getppid() && other.host[0]);
        _exit(named ? (int)state : 99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_owner_lock(void **state)
{
    (void)state;
    OwnerLock *first = NULL;
    OwnerLock *second = NULL;
    OwnerInfo info;
    assert_false(owner_lock_is_held(root, &info));
    assert_int_equal(owner_lock_take(root, &first, NULL), OWNER_STATE_HELD);
    assert_int_equal(owner_lock_take(root, &second, NULL), OWNER_STATE_HELD);
    assert_true(owner_lock_is_held(root, &info));
    assert_int_equal(info.pid, getpid());
    assert_int_equal(state_in_child(), OWNER_STATE_OTHER);
    /* Reading the file, as anybody may, does not end the lock. */
    char text[64];
    int fd = open(fixture_path(root, "owner.lock"), O_RDONLY);
    assert_true(read(fd, text, sizeof text) > 0);
    close(fd);
    owner_lock_release(&first);
    assert_null(first);
    assert_int_equal(state_in_child(), OWNER_STATE_OTHER);
    owner_lock_release(&second);
    assert_int_equal(state_in_child(), OWNER_STATE_HELD);
    assert_false(owner_lock_is_held(root, NULL)); /* the child's ended with it */
    owner_lock_release(&second);
    owner_lock_release(NULL);
}

/* A child that an owner forked and that lives on does not keep the lock. */
static void test_owner_lock_is_not_inherited(void **state)
{
    (void)state;
    OwnerLock *lock = NULL;
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    assert_int_equal(owner_lock_take(root, &lock, NULL), OWNER_STATE_HELD);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(gate[0]);
    assert_true(owner_lock_is_held(root, NULL));
    owner_lock_release(&lock);
    /* The child closes its copy when it begins to run. */
    for (int i = 0; i < 120000 && owner_lock_is_held(root, NULL); i++)
        usleep(1000);
    assert_int_equal(state_in_child(), OWNER_STATE_HELD);
    close(gate[1]);
    waitpid(child, NULL, 0);
}

static void test_owner_lock_failures(void **state)
{
    (void)state;
    OwnerLock *lock = NULL;
    static const char *const plans[] = {"owner.open:1", "owner.lock:1"};
    for (int i = 0; i < 2; i++) {
        fixture_log_start();
        fault_set_plan(plans[i]);
        assert_int_equal(owner_lock_take(root, &lock, NULL), OWNER_STATE_FAILED);
        assert_null(lock);
        assert_int_equal(fixture_log_count(LOG_OWNER_LOCK_FAILED), 1);
    }
    fault_set_plan("owner.write:1");
    assert_int_equal(owner_lock_take(root, &lock, NULL), OWNER_STATE_HELD);
    owner_lock_release(&lock);
    fault_set_plan(NULL);
    assert_int_equal(owner_lock_take("/nowhere/at/all", &lock, NULL), OWNER_STATE_FAILED);
    /* A link in its place is not followed. */
    assert_int_equal(unlink(fixture_path(root, "owner.lock")), 0);
    assert_int_equal(symlink("elsewhere", fixture_path(root, "owner.lock")), 0);
    assert_int_equal(owner_lock_take(root, &lock, NULL), OWNER_STATE_FAILED);
}

/* ---- Runs ---- */

static void test_run_table(void **state)
{
    (void)state;
    RunTable table;
    assert_true(run_table_init(&table));
    for (uint64_t id = 1; id < 5000; id += 3)
        assert_non_null(run_table_add(&table, id));
    for (uint64_t id = 0; id < 5000; id++) {
        MetricsRun *run = run_table_find(&table, id);
        assert_int_equal(run != NULL, id % 3 == 1);
        assert_true(run == NULL || run->id == id);
    }
    run_table_finish(&table);
    assert_true(run_table_init(&table));
    fault_set_plan("metrics.runs.alloc:1+");
    assert_null(run_table_add(&table, 1));
    fault_set_plan(NULL);
    run_table_finish(&table);
}

static void test_run_ids(void **state)
{
    (void)state;
    RunIdBlock block;
    assert_true(run_ids_reserve(root, 1, 64, &block));
    assert_int_equal(block.first, 1);
    assert_int_equal(block.end, 65);
    assert_true(run_ids_reserve(root, 1, 64, &block));
    assert_int_equal(block.first, 65);
    block.first = 70;
    run_ids_return(root, block);
    assert_true(run_ids_reserve(root, 1, 10, &block));
    assert_int_equal(block.first, 70);
    run_ids_return(root, (RunIdBlock){.first = 5, .end = 70}); /* not the last: stays */
    assert_true(run_ids_reserve(root, 1, 10, &block));
    assert_int_equal(block.first, 80);
    assert_true(run_ids_reserve(root, 1000, 10, &block));
    assert_int_equal(block.first, 1000);
    bool raised = true;
    assert_true(run_ids_raise(root, 900, &raised));
    assert_false(raised);
    assert_true(run_ids_raise(root, 2000, &raised));
    assert_true(raised);
    assert_true(run_ids_reserve(root, 1, 1, &block));
    assert_int_equal(block.first, 2000);
}

/* The file of a fresh data root is made before its database, and is not taken for one that was lost
 * when there is a database; one that was lost is. */
static void test_run_ids_of_a_file_that_was_prepared(void **state)
{
    (void)state;
    RunIdBlock block;
    struct stat before;
    struct stat after;
    assert_true(run_ids_prepare(root));
    fixture_write(root, "metrics.duckdb", "x", 1);
    assert_int_equal(stat(fixture_path(root, "metrics.ids"), &before), 0);
    for (uint64_t first = 1; first <= 3; first++) {
        assert_true(run_ids_prepare(root));
        assert_true(run_ids_reserve(root, 1, 1, &block));
        assert_int_equal(block.first, first);
    }
    assert_int_equal(stat(fixture_path(root, "metrics.ids"), &after), 0);
    assert_int_equal(after.st_size, before.st_size); /* so a reservation is one write in place */
    assert_int_equal(unlink(fixture_path(root, "metrics.ids")), 0);
    assert_true(run_ids_prepare(root));
    assert_true(run_ids_reserve(root, 1, 1, &block));
    assert_true(block.first > UINT64_C(1000000000000000));
}

/* Whatever one torn write leaves, no number comes twice. */
static void test_run_ids_of_a_torn_file(void **state)
{
    (void)state;
    RunIdBlock block;
    uint8_t bytes[1024];
    for (int i = 0; i < 5; i++)
        assert_true(run_ids_reserve(root, 1, 10, &block));
    int fd = open(fixture_path(root, "metrics.ids"), O_RDWR);
    ssize_t length = read(fd, bytes, sizeof bytes);
    assert_true(length > 512);
    for (int slot = 0; slot < 2; slot++)
        for (int at = 0; at < 32; at++) {
            uint8_t flipped = bytes[slot * 512 + at] ^ 0x10;
            assert_int_equal(pwrite(fd, bytes, (size_t)length, 0), length);
            assert_int_equal(pwrite(fd, &flipped, 1, slot * 512 + at), 1);
            assert_true(run_ids_reserve(root, 1, 1, &block));
            /* Five blocks of ten were given out: 51 comes next; a lost newest slot leaves 41, which
             * a torn write never made durable, so was never given out. */
            assert_true(block.first == 51 || block.first == 41);
        }
    close(fd);
    /* Both lost, with a database there: above everything. */
    memset(bytes, 0xff, sizeof bytes);
    fixture_write(root, "metrics.ids", bytes, sizeof bytes);
    fixture_write(root, "metrics.duckdb", "x", 1);
    assert_true(run_ids_reserve(root, 1, 1, &block));
    assert_true(block.first > UINT64_C(1000000000000000));
}

static void test_run_ids_failures(void **state)
{
    (void)state;
    static const char *const sites[] = {"metrics.ids.open:1", "metrics.ids.lock:1",
                                        "metrics.ids.read:1", "metrics.ids.write:1",
                                        "metrics.ids.sync:1"};
    RunIdBlock block;
    for (int i = 0; i < 5; i++) {
        fixture_log_start();
        fault_set_plan(sites[i]);
        assert_false(run_ids_reserve(root, 1, 10, &block));
        assert_int_equal(fixture_log_count(LOG_METRICS_IDS_FAILED), 1);
        fault_set_plan(sites[i]);
        unlink(fixture_path(root, "metrics.ids"));
        assert_false(run_ids_prepare(root));
        assert_int_equal(fixture_log_count(LOG_METRICS_IDS_FAILED), 2);
    }
    fault_set_plan(NULL);
    assert_true(run_ids_reserve(root, 1, 10, &block));
}

/* ---- Checksum and JSON ---- */

static void test_checksum(void **state)
{
    (void)state;
    /* RFC 3720 B.4 and the usual check value. */
    uint8_t bytes[32];
    assert_int_equal(checksum_add(0, "123456789", 9), 0xe3069283);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(checksum_add(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(checksum_add(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(checksum_add(0, bytes, 32), 0x46dd794e);
    assert_int_equal(checksum_add(checksum_add(0, bytes, 5), bytes + 5, 27), 0x46dd794e);
}

static void test_json(void **state)
{
    (void)state;
    /* After RFC 8259 and its test suite's names of what must and must not be taken. */
    static const char *const good[] = {"{}",
                                       "[]",
                                       "0",
                                       "-0",
                                       "1e5",
                                       "-1.5E+10",
                                       "\"\"",
                                       "true",
                                       " null ",
                                       "[[],{}]",
                                       "{\"a\":1,\"a\":2}",
                                       "[1,2,3]",
                                       "\"\\u0000\\uD834\\udd1e\\n\\/\"",
                                       "\"\xf0\x9d\x84\x9e\"",
                                       "{\"a\":{\"b\":[{\"c\":null}]}}",
                                       "\t\r\n[1 , 2 ]\n",
                                       "\"\x7f\""};
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "[",
                                      "]",
                                      "}",
                                      "[1,]",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{'a':1}",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "-",
                                      "1e",
                                      "1e+",
                                      "NaN",
                                      "Infinity",
                                      "tru",
                                      "truex",
                                      "nul",
                                      "\"",
                                      "\"\\x\"",
                                      "\"\\u12g4\"",
                                      "\"\n\"",
                                      "\"\xff\"",
                                      "\"\xed\xa0\x80\"",
                                      "\"\xc0\x80\"",
                                      "[1 2]",
                                      "1 2",
                                      "{\"a\" 1}",
                                      "{\"a\":}",
                                      "{1:2}",
                                      "[1,,2]",
                                      "/*c*/1",
                                      "{\"a\":1]",
                                      "[1}",
                                      "\xef\xbb\xbf{}",
                                      "\"\\",
                                      "\"\\u",
                                      "{\"a\"",
                                      "{\"a\":1",
                                      "[\"a"};
    const char *why = NULL;
    size_t at = 0;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!json_check(good[i], strlen(good[i]), &why, &at))
            fail_msg("refused: %s (%s at %zu)", good[i], why, at);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        why = NULL;
        if (json_check(bad[i], strlen(bad[i]), &why, &at))
            fail_msg("taken: %s", bad[i]);
        assert_non_null(why);
        assert_true(at <= strlen(bad[i]));
    }
    char deep[2 * 600];
    for (int depth = 511; depth <= 513; depth++) {
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        assert_int_equal(json_check(deep, (size_t)depth * 2, &why, &at), depth <= 512);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_owner_lock),
        TEST(test_owner_lock_is_not_inherited),
        TEST(test_owner_lock_failures),
        TEST(test_run_table),
        TEST(test_run_ids),
        TEST(test_run_ids_of_a_file_that_was_prepared),
        TEST(test_run_ids_of_a_torn_file),
        TEST(test_run_ids_failures),
        TEST(test_checksum),
        TEST(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
