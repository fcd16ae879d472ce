/* Rows of the metrics store on their way: the queue, and spool files that are cut, flipped, or fail
 * while they are written. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include "store/metrics/queue.h"
#include "store/metrics/spool.h"

static char *const root = fixture_folder;

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
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_queue_keeps_order_over_the_end),
        TEST(test_queue_room_for_control),
        TEST(test_queue_stops_at_an_unfinished_row),
        TEST(test_queue_of_many_threads),
        TEST(test_spool_cut_and_flipped_anywhere),
        TEST(test_spool_write_fails_and_is_tried_again),
        TEST(test_rows_of_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
