/* The parts of the metrics store that need no database: the owner's lock, the queue, numbers for
 * runs, the JSON check, spool files. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#include "store/metrics/queue.h"
#include "store/metrics/run_ids.h"
#include "store/metrics/run_table.h"
#include "store/metrics/spool.h"
#include "store/owner_lock.h"

static char root[256];

static int set_up(void **state)
{
    (void)state;
    fixture_root(root);
    fixture_log_start();
    fault_set_plan(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fault_set_plan(NULL);
    fixture_log_stop();
    fixture_remove(root);
    return 0;
}

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
    for (int i = 0; i < 2000 && owner_lock_is_held(root, NULL); i++)
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

/* ---- The queue ---- */

static Row *put_scalar(Queue *queue, uint64_t run, int64_t step)
{
    Row *row = queue_reserve(queue, row_size_bytes(3, 0), QUEUE_CLASS_ROW, NULL);
    if (row == NULL)
        return NULL;
    row->kind = ROW_KIND_SCALAR;
    row->run = run;
    row->step = step;
    row->text_bytes = 3;
    memcpy(row_text(row), "tag", 3);
    return row;
}

static void test_queue_keeps_order_over_the_end(void **state)
{
    (void)state;
    Queue queue;
    assert_true(queue_init(&queue, QUEUE_MIN_BYTES));
    int64_t written = 0;
    int64_t read = 0;
    for (int round = 0; round < 50; round++) {
        Row *row;
        while ((row = put_scalar(&queue, 1, written)) != NULL) {
            queue_publish(&queue, row);
            written++;
        }
        assert_null(queue_reserve(&queue, row_size_bytes(3, 0), QUEUE_CLASS_ROW, NULL));
        uint64_t size = 0;
        uint64_t position = queue.cursor;
        /* Not all, so that the end of the ring lies elsewhere each time. */
        for (int i = 0; i < 700; i++) {
            const Row *next =
                queue_row_at(&queue, &position, atomic_load(&queue.head), false, &size);
            assert_non_null(next);
            assert_int_equal(next->step, read++);
            assert_memory_equal(row_text(next), "tag", 3);
            position += size;
        }
        queue_release(&queue, position);
        queue.cursor = position;
    }
    assert_true(written > 30000);
    queue_finish(&queue);
}

static void test_queue_room_for_control(void **state)
{
    (void)state;
    Queue queue;
    assert_true(queue_init(&queue, QUEUE_MIN_BYTES));
    int rows = 0;
    for (Row *row; (row = put_scalar(&queue, 1, 0)) != NULL; rows++)
        queue_publish(&queue, row);
    /* 15/16 of 65536 bytes in rows of 64. */
    assert_int_equal(rows, 960);
    Row *control = queue_reserve(&queue, row_size_bytes(0, 0), QUEUE_CLASS_CONTROL, NULL);
    assert_non_null(control);
    queue_finish(&queue);
}

static void test_queue_stops_at_an_unfinished_row(void **state)
{
    (void)state;
    Queue queue;
    uint64_t size = 0;
    assert_true(queue_init(&queue, QUEUE_MIN_BYTES));
    queue_publish(&queue, put_scalar(&queue, 1, 1));
    Row *unfinished = put_scalar(&queue, 1, 2);
    queue_publish(&queue, put_scalar(&queue, 1, 3));
    uint64_t head = atomic_load(&queue.head);
    uint64_t position = 0;
    assert_int_equal(queue_row_at(&queue, &position, head, false, &size)->step, 1);
    position += size;
    assert_null(queue_row_at(&queue, &position, head, false, &size));
    assert_int_equal(queue_row_at(&queue, &position, head, true, &size)->step, 3);
    queue_publish(&queue, unfinished);
    position = 64;
    assert_int_equal(queue_row_at(&queue, &position, head, false, &size)->step, 2);
    queue_finish(&queue);
}

enum { PRODUCERS = 8, ROWS_EACH = 20000 };
static Queue shared;

static void *produce(void *user)
{
    uint64_t run = (uint64_t)(uintptr_t)user;
    for (int64_t step = 0; step < ROWS_EACH;) {
        Row *row = put_scalar(&shared, run, step);
        if (row == NULL) {
            sched_yield();
            continue;
        }
        queue_publish(&shared, row);
        step++;
    }
    return NULL;
}

static void test_queue_of_many_threads(void **state)
{
    (void)state;
    pthread_t threads[PRODUCERS];
    int64_t next[PRODUCERS] = {0};
    assert_true(queue_init(&shared, QUEUE_MIN_BYTES));
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, (void *)i), 0);
    for (int64_t rows = 0; rows < (int64_t)PRODUCERS * ROWS_EACH;) {
        uint64_t size = 0;
        uint64_t position = shared.cursor;
        const Row *row = queue_row_at(&shared, &position, atomic_load(&shared.head), false, &size);
        if (row == NULL) {
            sched_yield();
            continue;
        }
        assert_true(row->run < PRODUCERS);
        assert_int_equal(row->step, next[row->run]++);
        assert_int_equal(row->text_bytes, 3);
        rows++;
        queue_release(&shared, position + size);
        shared.cursor = position + size;
    }
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(queue_used_bytes(&shared), 0);
    assert_int_equal(atomic_load(&shared.accepted), (uint64_t)PRODUCERS * ROWS_EACH);
    queue_finish(&shared);
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

/* ---- Spool files ---- */

static uint64_t make_row(uint8_t *out, uint64_t run, int64_t step)
{
    Row row = {.kind = ROW_KIND_SCALAR, .text_bytes = 3, .run = run, .step = step};
    uint64_t size = row_size_bytes(3, 0);
    atomic_init(&row.size_and_state, size << ROW_STATE_BITS | ROW_STATE_READY);
    memset(out, 0, (size_t)size);
    memcpy(out, &row, sizeof row);
    memcpy(out + ROW_HEADER_BYTES, "tag", 3);
    return size;
}

static uint32_t frames_of(const char *folder, const char *file, SpoolRead *last)
{
    SpoolReader reader;
    uint32_t frames = 0;
    assert_true(spool_reader_open(&reader, folder, file, 0));
    while ((*last = spool_reader_next(&reader)) == SPOOL_READ_FRAME) {
        uint64_t size = 0;
        const Row *row = (const Row *)(const void *)reader.rows;
        assert_true(row_check(row, reader.rows_bytes, &size));
        assert_int_equal(row->step, frames);
        frames++;
    }
    spool_reader_close(&reader);
    return frames;
}

static void test_spool_cut_and_flipped_anywhere(void **state)
{
    (void)state;
    enum { FRAMES = 5 };
    char session[SESSION_NAME_BYTES];
    SpoolWriter spool;
    SpoolList list;
    SpoolRead last;
    session_make_name(session);
    assert_true(session_name_valid(session, strlen(session)));
    assert_true(spool_writer_init(&spool, root, session));
    for (int i = 0; i < FRAMES; i++) {
        _Alignas(16) uint8_t row[128];
        assert_true(spool_write(&spool, row, make_row(row, 1, i)));
    }
    assert_true(spool_sync(&spool));
    char folder[300];
    snprintf(folder, sizeof folder, "%s/spool", root);
    assert_true(session_is_alive(folder, session));
    assert_true(spool_list(folder, &list));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.entries[0].number, 0);
    assert_int_equal(list.entries[1].number, 1);
    char file[SPOOL_NAME_BYTES];
    spool_file_name(&list.entries[1], file);
    spool_list_finish(&list);
    assert_int_equal(frames_of(folder, file, &last), FRAMES);
    assert_int_equal(last, SPOOL_READ_END);
    spool_writer_finish(&spool);
    assert_false(session_is_alive(folder, session));

    uint8_t whole[2048];
    int fd = open(fixture_path(folder, file), O_RDWR);
    ssize_t length = read(fd, whole, sizeof whole);
    /* 16 bytes of header, then frames of 24 and a row of 64. */
    assert_int_equal(length, 16 + FRAMES * 88);
    for (ssize_t cut = 0; cut <= length; cut++) {
        assert_int_equal(ftruncate(fd, cut), 0);
        uint32_t expected = cut < 16 ? 0 : (uint32_t)(cut - 16) / 88;
        assert_int_equal(frames_of(folder, file, &last), expected);
        assert_int_equal(last, SPOOL_READ_END);
        assert_int_equal(pwrite(fd, whole, (size_t)length, 0), length);
    }
    for (ssize_t at = 0; at < length; at++) {
        uint8_t flipped = whole[at] ^ 0x04;
        assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
        uint32_t expected = at < 16 ? 0 : (uint32_t)(at - 16) / 88;
        assert_int_equal(frames_of(folder, file, &last), expected);
        bool in_rows = at >= 16 && (at - 16) % 88 >= 24;
        assert_int_equal(last, in_rows ? SPOOL_READ_DAMAGED : SPOOL_READ_END);
        assert_int_equal(pwrite(fd, whole, (size_t)length, 0), length);
    }
    close(fd);
}

static void test_spool_write_fails_and_is_tried_again(void **state)
{
    (void)state;
    static const char *const sites[] = {"metrics.session.open",   "metrics.session.lock",
                                        "metrics.session.rename", "metrics.spool.open",
                                        "metrics.spool.write",    "metrics.spool.sync"};
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++)
        for (int nth = 1; nth <= 4; nth++) {
            char plan[64];
            char session[SESSION_NAME_BYTES];
            char file[SPOOL_NAME_BYTES];
            char folder[300];
            _Alignas(16) uint8_t row[128];
            SpoolWriter spool;
            SpoolRead last;
            SpoolEntry entry = {.number = 1};
            session_make_name(session);
            memcpy(entry.session, session, sizeof session);
            spool_file_name(&entry, file);
            assert_true(spool_writer_init(&spool, root, session));
            snprintf(plan, sizeof plan, "%s:%d", sites[i], nth);
            fault_set_plan(plan);
            for (int step = 0; step < 3; step++) {
                uint64_t size = make_row(row, 1, step);
                while (!spool_write(&spool, row, size))
                    assert_int_equal(fault_injected(), 1);
                if (!spool_sync(&spool))
                    assert_true(spool_sync(&spool));
            }
            fault_set_plan(NULL);
            spool_writer_finish(&spool);
            snprintf(folder, sizeof folder, "%s/spool", root);
            assert_int_equal(frames_of(folder, file, &last), 3);
        }
}

/* Bytes of nobody: never out of bounds (ASan), never a row that is longer than what is there. */
static void test_rows_of_random_bytes(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u; /* xorshift64 */
    for (int i = 0; i < 300000; i++) {
        _Alignas(16) uint8_t bytes[256];
        for (size_t at = 0; at < sizeof bytes; at += 8) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            memcpy(bytes + at, &seed, 8);
        }
        Row *row = (Row *)(void *)bytes;
        row->kind = (uint8_t)(i % 10);
        row->run = 5;
        row->text_bytes = (uint32_t)(i % 7 == 0 ? row->text_bytes : row->text_bytes % 64);
        if (i % 3 == 0)
            row->value.count = row->value.count & 0x3f;
        uint64_t claimed = row_size_bytes(row->text_bytes, row_payload_bytes(row));
        atomic_store(&row->size_and_state, claimed << ROW_STATE_BITS | ROW_STATE_READY);
        uint64_t available = 16 * (uint64_t)(i % 17);
        uint64_t size = 0;
        if (row_check(row, available, &size)) {
            assert_true(size <= available);
            assert_true(ROW_HEADER_BYTES + row->text_bytes + row_payload_bytes(row) <= size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_owner_lock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_owner_lock_is_not_inherited, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_owner_lock_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_queue_keeps_order_over_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_queue_room_for_control, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_queue_stops_at_an_unfinished_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_queue_of_many_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_ids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_ids_of_a_torn_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_run_ids_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checksum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_json, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spool_cut_and_flipped_anywhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spool_write_fails_and_is_tried_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_rows_of_random_bytes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
