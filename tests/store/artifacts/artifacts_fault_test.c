/* Failures outside our control: every call in turn, and a disk that is full. After each: an error
 * in bounded time and one line, nothing half-way, what was there is there, and the next put works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/log_capture.h"
#include "artifact_room.h"
#include "core/fault.h"
#include "core/guard.h"
#include "core/sanitized.h"
#include "failing_io.h"
#include "store/artifacts/artifact_store.h"

static ArtifactRoom room;
static ArtifactStore *store;
static char old_digest[65];

static int begin(void **state)
{
    (void)state;
    fault_set_plan(NULL);
    if (!room_make(&room, false))
        return -1;
    store = artifact_store_open(room.root);
    log_capture_reset();
    return store != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    fault_set_plan(NULL);
    failing_io_plan(NULL);
    artifact_store_close(&store);
    room_remove(&room);
    return 0;
}

/* ---- Every call in turn ---- */

typedef struct Case {
    const char *name;
    size_t size;
    bool fresh_store;   /* the first put of this process, with folders to make */
    bool lost_log;      /* with the index to write anew */
    bool same_again;    /* the blob is there */
    bool damaged_there; /* another file is in its place */
} Case;

static void prepare(const Case *c, const uint8_t *bytes)
{
    char digest[65];
    end(NULL);
    assert_int_equal(begin(NULL), 0);
    if (c->fresh_store)
        return;
    assert_true(artifact_store_put(store, "old", "old", 3, 1, old_digest));
    if (c->same_again || c->damaged_there)
        assert_true(artifact_store_put(store, "before", bytes, c->size, 1, digest));
    if (c->damaged_there)
        assert_true(room_write(room_blob(&room, digest), "damaged", 7));
    if (c->lost_log)
        assert_int_equal(unlink(room_path(&room, "artifacts/index.log")), 0);
    log_capture_reset();
}

/* The plan's Nth call fails: the put says so, and the store is sound. */
static void check_after(const Case *c, bool put, const uint8_t *bytes, uint32_t n,
                        size_t blobs_before)
{
    char digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    ArtifactSummary summary;
    uint32_t failures =
        log_capture.of_item[LOG_ARTIFACT_FAILED] + log_capture.of_item[LOG_OUT_OF_MEMORY];
    if (failures != (put ? 0u : 1u))
        fail_msg("%s, call %u: put answered %d with %u lines, the last: %s", c->name, n, put,
                 failures, log_capture.text);
    if (!put) { /* nothing was kept: only a blob that was damaged may have been mended */
        assert_false(artifact_store_find(store, "new", path));
        assert_int_equal(room_count_blobs(&room), blobs_before);
    }
    if (!c->fresh_store && !c->lost_log)
        assert_true(artifact_store_find(store, "old", path));
    assert_true(artifact_store_put(store, "new", bytes, c->size, 2, digest));
    if (!c->fresh_store) {
        assert_true(artifact_store_find(store, old_digest, path));
        assert_true(artifact_store_find(store, digest, path));
    }
    assert_true(artifact_store_verify(store, NULL, &summary));
    if (summary.bad != 0 || summary.damaged_lines != 0)
        fail_msg("%s, call %u: %llu blobs bad, %llu lines damaged", c->name, n,
                 (unsigned long long)summary.bad, (unsigned long long)summary.damaged_lines);
    assert_true(artifact_store_gc(store, false, NULL, &summary));
    assert_int_equal(room_count_temporaries(&room), 0);
}

/* The Nth call of `site` fails, from the first on, `step` apart. How many ended the put. */
static uint32_t walk_site(const Case *c, const char *site, uint32_t step)
{
    uint8_t *bytes = room_bytes(77, c->size);
    uint32_t n = 1, failed = 0;
    bool any = true;
    for (; any; n += step) {
        char plan[64], digest[65] = "untouched";
        prepare(c, bytes);
        snprintf(plan, sizeof plan, "%s:%u", site, n);
        size_t blobs = room_count_blobs(&room);
        assert_true(fault_set_plan(plan));
        bool put = artifact_store_put(store, "new", bytes, c->size, 2, digest);
        any = fault_injected() > 0;
        fault_set_plan(NULL);
        if (!put)
            assert_string_equal(digest, "untouched");
        failed += put ? 0 : 1;
        if (!put && !any)
            fail_msg("%s failed without a fault: %s", c->name, log_capture.text);
        check_after(c, put, bytes, n, blobs);
    }
    print_message("%s: up to call %u of %s, %u end the put\n", c->name, n - 2 * step, site, failed);
    free(bytes);
    return failed;
}

static void walk(const Case *c)
{
    assert_true(walk_site(c, "artifacts", 1) >= 5);
    if (c->lost_log || c->fresh_store) /* the 256 folders are looked through */
        assert_true(walk_site(c, "artifact_folders", 85) == 4);
}

static void test_every_call_in_turn(void **state)
{
    static const Case cases[] = {
        {.name = "first put", .size = 1000, .fresh_store = true},
        {.name = "small", .size = 1000},
        {.name = "large", .size = 1200 << 10},
        {.name = "large, first", .size = 1200 << 10, .fresh_store = true},
        {.name = "the same again", .size = 1000, .same_again = true},
        {.name = "the same again, large", .size = 1200 << 10, .same_again = true},
        {.name = "damaged", .size = 1000, .damaged_there = true},
        {.name = "damaged, large", .size = 1200 << 10, .damaged_there = true},
        {.name = "lost log", .size = 1000, .lost_log = true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        walk(&cases[i]);
}

/* The same for the calls of the C library themselves, whatever site they have: the Nth one fails,
 * or all from the Nth on do. */
static uint32_t walk_calls(const Case *c, FailingIo io, bool once)
{
    uint8_t *bytes = room_bytes(78, c->size);
    uint32_t n = 1, failed = 0;
    bool any = true;
    for (; any; n++) {
        char digest[65] = "untouched";
        prepare(c, bytes);
        size_t blobs = room_count_blobs(&room);
        io.folder = room.root;
        io.first = n;
        io.last = once ? n : 0;
        failing_io_plan(&io);
        bool put = artifact_store_put(store, "new", bytes, c->size, 2, digest);
        any = failing_io_failed() > 0;
        failing_io_plan(NULL);
        if (!put)
            assert_string_equal(digest, "untouched");
        if (!put && !any)
            fail_msg("%s failed without a fault: %s", c->name, log_capture.text);
        failed += put ? 0 : 1;
        check_after(c, put, bytes, n, blobs);
    }
    print_message("%s: %u calls of the C library, %u end the put\n", c->name, n - 2, failed);
    free(bytes);
    return failed;
}

static void test_every_library_call_in_turn(void **state)
{
    static const Case cases[] = {
        {.name = "first put", .size = 1000, .fresh_store = true},
        {.name = "small", .size = 1000},
        {.name = "large", .size = 1200 << 10},
        {.name = "the same again", .size = 1000, .same_again = true},
        {.name = "damaged", .size = 1000, .damaged_there = true},
        {.name = "lost log", .size = 1000, .lost_log = true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(walk_calls(&cases[i], (FailingIo){.error = EIO, .reads = true}, true) >= 2);
        assert_true(
            walk_calls(&cases[i],
                       (FailingIo){.error = ENOSPC, .short_writes = true, .freeing_works = true},
                       false) >= 2);
    }
}

/* A call that goes on failing: an error each time, and no state that stays wrong. */
static void test_a_site_that_stays_broken(void **state)
{
    static const char *const sites[] = {"open", "write", "sync",  "rename", "lock",
                                        "stat", "read",  "alloc", "hash",   "mkdir"};
    uint8_t *bytes = room_bytes(5, 700 << 10);
    char digest[65];
    (void)state;
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        char plan[64];
        prepare(&(Case){.name = sites[i], .fresh_store = strcmp(sites[i], "mkdir") == 0}, bytes);
        snprintf(plan, sizeof plan, "artifacts.%s:1+", sites[i]);
        assert_true(fault_set_plan(plan));
        for (int again = 0; again < 3; again++)
            assert_false(artifact_store_put(store, "new", bytes, 700 << 10, 0, digest));
        fault_set_plan(NULL);
        assert_true(artifact_store_put(store, "new", bytes, 700 << 10, 0, digest));
        assert_int_equal(room_count_temporaries(&room), strcmp(sites[i], "unlink") == 0 ? 3 : 0);
    }
    /* Without a thread it hashes itself. */
    prepare(&(Case){.name = "thread"}, bytes);
    assert_true(fault_set_plan("artifacts.thread:1+"));
    bytes[0] ^= 1;
    assert_true(artifact_store_put(store, "new", bytes, 700 << 10, 0, digest));
    fault_set_plan(NULL);
    assert_true(room_blobs_are_whole(&room));
    free(bytes);
}

/* Reading, listing, verify and gc under failures: an answer, and the truth afterwards. */
static void test_reading_under_failures(void **state)
{
    char path[ARTIFACT_STORE_PATH_BYTES];
    ArtifactSummary summary;
    ArtifactList list;
    (void)state;
    for (uint32_t n = 1; n < 40; n++) {
        char plan[32];
        prepare(&(Case){.name = "reading", .same_again = true, .size = 4}, (const uint8_t *)"same");
        artifact_store_close(&store);
        snprintf(plan, sizeof plan, "artifacts:%u", n);
        assert_true(fault_set_plan(plan));
        store = artifact_store_open(room.root);
        if (store == NULL) {
            fault_set_plan(NULL);
            store = artifact_store_open(room.root);
        }
        artifact_store_find(store, "old", path);
        if (artifact_store_list(store, NULL, &list))
            artifact_list_free(&list);
        artifact_store_verify(store, NULL, &summary);
        artifact_store_gc(store, false, NULL, &summary);
        artifact_store_rebuild(store, NULL, &summary);
        fault_set_plan(NULL);
        assert_true(artifact_store_find(store, "old", path));
        assert_true(artifact_store_find(store, "before", path));
        assert_true(artifact_store_verify(store, NULL, &summary));
        assert_true(summary.bad == 0 && summary.rows == 2 && summary.damaged_lines == 0);
    }
}

/* ---- A bad pointer ---- */

typedef struct BadPut {
    uint64_t size;
    char digest[65];
} BadPut;

static void put_from_nowhere(void *argument)
{
    BadPut *bad = argument;
    artifact_store_put(store, "bad", (const void *)(uintptr_t)4096, bad->size, 0, bad->digest);
}

/* On the frame thread a fault in an applet's bytes ends the applet's call, and the store goes on;
 * what is left behind in tmp/ is the process's while it lives. */
static void test_bytes_that_fault(void **state)
{
    char digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    ArtifactSummary summary;
    (void)state;
    if (SANITIZED_ADDRESS) {
        print_message("skipped: AddressSanitizer ends the process before the guard sees it\n");
        skip();
    }
    assert_true(artifact_store_put(store, "old", "old", 3, 1, old_digest));
    assert_true(guard_thread_enter() && guard_install("/tmp"));
    for (int i = 0; i < 2; i++) { /* both ways to write */
        BadPut bad = {.size = i == 0 ? 10 : 1 << 20};
        GuardFault fault;
        assert_false(guard_call(
            &(GuardCall){.what = "a put", .call = put_from_nowhere, .arg = &bad}, &fault));
        assert_int_equal(fault.signal, 11);
        assert_string_equal(bad.digest, "");
        assert_true(artifact_store_put(store, "good", &i, sizeof i, 0, digest));
        assert_true(artifact_store_find(store, "old", path));
        assert_false(artifact_store_find(store, "bad", path));
    }
    guard_uninstall();
    guard_thread_leave();
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_true(summary.bad == 0 && summary.rows == 3);
}

/* ---- A full disk ---- */

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void test_full_disk(void **state)
{
    enum { PIECE = 300 << 10 };
    char digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    ArtifactSummary summary;
    (void)state;
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", room.root, "tmpfs", 0, "size=2m,nr_inodes=300") != 0) {
        print_message("skipped: a small file system needs root and mount (%s)\n", strerror(errno));
        skip();
    }
    artifact_store_close(&store);
    store = artifact_store_open(room.root);
    uint32_t kept = 0, refused = 0;
    for (uint64_t i = 0; i < 20; i++) {
        size_t size = i % 3 == 2 ? 900 << 10 : PIECE; /* both ways to write */
        uint8_t *bytes = room_bytes(i + 1, size);
        char name[32];
        snprintf(name, sizeof name, "piece %llu", (unsigned long long)i);
        log_capture_reset();
        double begun = now_sec();
        bool put = artifact_store_put(store, name, bytes, size, i, digest);
        assert_true(now_sec() - begun < 30.0); /* it does not hang; not a measure of speed */
        free(bytes);
        kept += put;
        refused += !put;
        assert_int_equal(log_capture.of_item[LOG_ARTIFACT_FAILED], put ? 0 : 1);
        if (!put)
            assert_non_null(strstr(log_capture.text, "No space left on device"));
        assert_int_equal(artifact_store_find(store, name, path), put);
        assert_int_equal(room_count_temporaries(&room), 0);
    }
    print_message("%u kept, %u refused\n", kept, refused);
    assert_true(kept >= 3 && refused >= 10);
    assert_int_equal(room_count_blobs(&room), kept);
    assert_true(room_blobs_are_whole(&room));
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_true(summary.bad == 0 && summary.rows == kept && summary.damaged_lines == 0);
    /* Down to the last byte: lines that do not fit leave no half ones. */
    for (int i = 0; i < 2000; i++) {
        char name[300];
        memset(name, 'n', sizeof name);
        snprintf(name + 280, 20, "%d", i);
        kept += artifact_store_put(store, name, "tiny", 4, 0, digest);
    }
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_true(summary.bad == 0 && summary.rows == kept && summary.damaged_lines == 0);
    /* When there is room again it goes on. */
    assert_int_equal(mount("tmpfs", room.root, "tmpfs", MS_REMOUNT, "size=8m,nr_inodes=300"), 0);
    uint8_t *bytes = room_bytes(99, PIECE);
    assert_true(artifact_store_put(store, "room again", bytes, PIECE, 0, digest));
    free(bytes);
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_true(summary.bad == 0 && summary.rows == kept + 1 && summary.temporaries == 0);
    artifact_store_close(&store);
    umount2(room.root, MNT_DETACH);
}

/* A data root that may not be written: reading works, a put is refused with one line. */
static void test_read_only(void **state)
{
    char digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    ArtifactSummary summary;
    (void)state;
    assert_true(artifact_store_put(store, "old", "old", 3, 1, old_digest));
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(room.root, room.root, NULL, MS_BIND, NULL) != 0 ||
        mount(NULL, room.root, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0) {
        print_message("skipped: a read-only mount needs root (%s)\n", strerror(errno));
        skip();
    }
    artifact_store_close(&store);
    store = artifact_store_open(room.root);
    log_capture_reset();
    assert_true(artifact_store_find(store, "old", path));
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_int_equal(summary.bad, 0);
    assert_int_equal(log_capture.lines, 0);
    assert_false(artifact_store_put(store, "new", "new", 3, 0, digest));
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_FAILED], 1);
    assert_int_equal(log_capture.lines, 1);
    artifact_store_close(&store);
    umount2(room.root, MNT_DETACH);
}

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_call_in_turn, begin, end),
        cmocka_unit_test_setup_teardown(test_every_library_call_in_turn, begin, end),
        cmocka_unit_test_setup_teardown(test_a_site_that_stays_broken, begin, end),
        cmocka_unit_test_setup_teardown(test_reading_under_failures, begin, end),
        cmocka_unit_test_setup_teardown(test_bytes_that_fault, begin, end),
        cmocka_unit_test_setup_teardown(test_full_disk, begin, end),
        cmocka_unit_test_setup_teardown(test_read_only, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
