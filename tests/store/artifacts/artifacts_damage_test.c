/* Damage of every kind: torn and broken index lines, a lost index, blobs that were cut, changed or
 * removed; what verify, gc, rebuild and the next put make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../unit/log_capture.h"
#include "artifact_room.h"
#include "store/artifacts/artifact_store.h"

static ArtifactRoom room;
static ArtifactStore *store;
static char digests[8][65]; /* of "blob 0" ... as put_blobs made them */

static int begin(void **state)
{
    (void)state;
    if (!room_make(&room, false))
        return -1;
    store = artifact_store_open(room.root);
    log_capture_reset();
    return store != NULL ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    artifact_store_close(&store);
    room_remove(&room);
    return 0;
}

static void put_blobs(int count)
{
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "blob %d", i);
        assert_true(artifact_store_put(store, name, name, strlen(name), (uint64_t)i, digests[i]));
    }
}

static void reopen(void)
{
    artifact_store_close(&store);
    store = artifact_store_open(room.root);
    assert_non_null(store);
}

static void assert_all_found(int count)
{
    char path[ARTIFACT_STORE_PATH_BYTES], name[16];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "blob %d", i);
        assert_true(artifact_store_find(store, name, path));
        assert_string_equal(strrchr(path, '/') + 1, digests[i]);
        assert_true(artifact_store_find(store, digests[i], path));
    }
}

static const char *log_path(void)
{
    return room_path(&room, "artifacts/index.log");
}

static void append_to_log(const char *bytes, size_t size)
{
    int fd = open(log_path(), O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* ---- The log ---- */

/* The last line cut at every byte: what was before it stays, the next put mends the log, and
 * nothing but the cut line is missing. */
static void test_torn_at_every_byte(void **state)
{
    char path[ARTIFACT_STORE_PATH_BYTES], digest[65];
    size_t size = 0;
    (void)state;
    put_blobs(3);
    char *whole = room_read(log_path(), &size);
    size_t last = size - 1;
    while (whole[last - 1] != '\n')
        last--;
    for (size_t cut = last; cut < size; cut++) {
        assert_true(room_write(log_path(), whole, cut));
        log_capture_reset();
        assert_all_found(2);
        assert_false(artifact_store_find(store, "blob 2", path)); /* no newline, no line yet */
        assert_true(artifact_store_put(store, "after", "after", 5, 0, digest));
        assert_int_equal(log_capture.of_item[LOG_ARTIFACT_LINE_MENDED], cut == last ? 0 : 1);
        /* Whole but for the newline: it counts. */
        assert_int_equal(artifact_store_find(store, "blob 2", path), cut == size - 1);
        assert_all_found(2);
        assert_true(artifact_store_find(store, "after", path));
        reopen();
        assert_int_equal(log_capture.of_item[LOG_ARTIFACT_LINES_DAMAGED], 0);
        assert_true(artifact_store_find(store, "after", path));
    }
    free(whole);
}

/* What lies in the index's place is no empty index: everything says so, and nothing goes. */
static void test_an_index_that_is_no_file(void **state)
{
    char path[4096];
    ArtifactSummary summary;
    (void)state;
    put_blobs(1);
    snprintf(path, sizeof path, "%s/artifacts/index.log", room.root);
    assert_int_equal(unlink(path), 0);
    for (int kind = 0; kind < 2; kind++) {
        assert_int_equal(kind == 0 ? mkdir(path, 0700) : mkfifo(path, 0600), 0);
        reopen();
        assert_false(artifact_store_verify(store, NULL, &summary));
        assert_false(artifact_store_gc(store, false, NULL, &summary));
        assert_false(artifact_store_rebuild(store, NULL, &summary));
        assert_int_equal(kind == 0 ? rmdir(path) : unlink(path), 0);
    }
    reopen();
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_int_equal(summary.rows, 1);
}

/* As a copy of the folder that left out what was empty brings it back. */
static void test_rebuild_makes_its_folder(void **state)
{
    char path[4096], digest[65];
    ArtifactSummary summary;
    (void)state;
    put_blobs(3);
    append_to_log("garbage\n", 8);
    snprintf(path, sizeof path, "%s/artifacts/tmp", room.root);
    assert_int_equal(rmdir(path), 0);
    reopen();
    assert_true(artifact_store_rebuild(store, NULL, &summary));
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_LOG_KEPT], 1);
    assert_all_found(3);
    assert_int_equal(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/artifacts/index.log", room.root);
    assert_int_equal(unlink(path), 0);
    reopen();
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_LOG_REBUILT], 1);
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_FAILED], 0);
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_int_equal(summary.rows, 3);
    assert_true(artifact_store_put(store, "after", "after", 5, 0, digest));
}

static void test_damaged_lines_are_passed_over(void **state)
{
    char path[ARTIFACT_STORE_PATH_BYTES], digest[65];
    ArtifactSummary summary;
    (void)state;
    put_blobs(3);
    append_to_log("garbage\n\0\0\0\n", 12);
    assert_true(artifact_store_put(store, "after", "after", 5, 0, digest));
    log_capture_reset();
    reopen();
    assert_all_found(3);
    assert_true(artifact_store_find(store, "after", path));
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_LINES_DAMAGED], 1); /* once, not each time */
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_int_equal(summary.damaged_lines, 2);
    assert_int_equal(summary.at_line, 4);
    assert_int_equal(summary.bad, 0);
    assert_true(artifact_store_rebuild(store, NULL, &summary));
    assert_int_equal(summary.added, 0);
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_LOG_KEPT], 1);
    assert_all_found(3);
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_int_equal(summary.damaged_lines, 0);
    assert_int_equal(summary.rows, 4);
}

/* Another process takes its line back (a flush that failed) and a third one appends as many bytes:
 * a reader that saw the first notices. */
static void test_cut_and_written_over(void **state)
{
    char path[ARTIFACT_STORE_PATH_BYTES], digest[65];
    size_t two = 0, three = 0;
    (void)state;
    put_blobs(2);
    free(room_read(log_path(), &two));
    put_blobs(3);
    free(room_read(log_path(), &three));
    assert_all_found(3);
    ArtifactStore *other = artifact_store_open(room.root);
    assert_int_equal(truncate(log_path(), (off_t)two), 0);
    assert_true(artifact_store_put(other, "bulb 2", "blob 2", 6, 2, digest));
    size_t again = 0;
    free(room_read(log_path(), &again));
    assert_true(again < three);
    assert_false(artifact_store_find(store, "blob 2", path));
    assert_true(artifact_store_find(store, "bulb 2", path));
    artifact_store_close(&other);
}

/* The log goes missing, before and after it was read; also emptied. */
static void test_lost_log_is_rebuilt(void **state)
{
    char path[ARTIFACT_STORE_PATH_BYTES], digest[65], name[96];
    ArtifactSummary summary;
    (void)state;
    put_blobs(4);
    for (int way = 0; way < 4; way++) {
        log_capture_reset();
        if (way % 2 == 0)
            assert_int_equal(unlink(log_path()), 0);
        else
            assert_int_equal(truncate(log_path(), 0), 0);
        if (way < 2)
            reopen();
        else /* a put finds it lost */
            assert_true(artifact_store_put(store, "new", "new", 3, 0, digest));
        assert_int_equal(log_capture.of_item[LOG_ARTIFACT_LOG_REBUILT], 1);
        for (int i = 0; i < 4; i++) {
            snprintf(name, sizeof name, "recovered/%.64s", digests[i]);
            assert_true(artifact_store_find(store, digests[i], path));
            assert_true(artifact_store_find(store, name, path));
        }
        assert_int_equal(artifact_store_find(store, "new", path), way >= 2);
        assert_true(artifact_store_gc(store, false, NULL, &summary));
        assert_int_equal(summary.removed, 0);
    }
    /* gc itself finds it lost: nothing goes. */
    assert_int_equal(unlink(log_path()), 0);
    assert_true(artifact_store_gc(store, false, NULL, &summary));
    assert_int_equal(summary.removed, 0);
    assert_int_equal(room_count_blobs(&room), 5);
}

/* ---- Blobs ---- */

static void test_missing_and_short_blobs_are_absent(void **state)
{
    char older[65], newer[65], path[ARTIFACT_STORE_PATH_BYTES];
    (void)state;
    assert_true(artifact_store_put(store, "last", "older", 5, 0, older));
    assert_true(artifact_store_put(store, "last", "newer!", 6, 0, newer));
    assert_true(room_write(room_blob(&room, newer), "new", 3));
    log_capture_reset();
    for (int i = 0; i < 3; i++) {
        assert_false(artifact_store_find(store, newer, path));
        assert_true(artifact_store_find(store, "last", path));
        assert_string_equal(strrchr(path, '/') + 1, older);
    }
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_BLOB_MISSING], 1);
    assert_int_equal(unlink(room_blob(&room, older)), 0);
    assert_int_equal(mkdir(room_blob(&room, older), 0700), 0); /* no file either */
    assert_false(artifact_store_find(store, "last", path));
    assert_false(artifact_store_find(store, older, path));
}

typedef struct Findings {
    uint32_t of_kind[6];
    char digest[6][65];
    char name[6][32];
    uint64_t last_progress, total;
    uint32_t asked, stop_after; /* stop_after 0: never */
} Findings;

static void keep_finding(void *user, const ArtifactFinding *finding)
{
    Findings *findings = user;
    findings->of_kind[finding->kind]++;
    snprintf(findings->digest[finding->kind], 65, "%s", finding->digest);
    snprintf(findings->name[finding->kind], 32, "%s", finding->name);
    assert_true(finding->detail[0] != '\0');
    assert_true(finding->path[0] == '/');
}

static void keep_progress(void *user, uint64_t done, uint64_t total)
{
    Findings *findings = user;
    assert_true(done >= findings->last_progress);
    findings->last_progress = done;
    findings->total = total;
}

static bool ask_stop(void *user)
{
    Findings *findings = user;
    return ++findings->asked > findings->stop_after && findings->stop_after > 0;
}

static ArtifactWork work_of(Findings *findings)
{
    memset(findings, 0, sizeof *findings);
    return (ArtifactWork){
        .finding = keep_finding, .progress = keep_progress, .stop = ask_stop, .user = findings};
}

static void test_verify_names_each(void **state)
{
    Findings findings;
    ArtifactWork work = work_of(&findings);
    ArtifactSummary summary;
    (void)state;
    put_blobs(8);
    assert_true(artifact_store_verify(store, &work, &summary));
    assert_int_equal(summary.bad, 0);
    assert_int_equal(summary.blobs, 8);
    assert_int_equal(summary.checked_bytes, 8 * 6);
    assert_true(findings.last_progress == findings.total && findings.total == 48);
    assert_true(room_write(room_blob(&room, digests[1]), "blub 1", 6));
    assert_true(room_write(room_blob(&room, digests[2]), "blob 2 and more", 15));
    assert_int_equal(unlink(room_blob(&room, digests[3])), 0);
    assert_int_equal(rename(room_blob(&room, digests[4]), room_path(&room, "aside")), 0);
    assert_int_equal(symlink("/proc/self/mem", room_blob(&room, digests[4])), 0); /* EIO at 0 */
    work = work_of(&findings);
    assert_true(artifact_store_verify(store, &work, &summary));
    assert_int_equal(summary.bad, 4);
    assert_int_equal(findings.of_kind[ARTIFACT_FINDING_DAMAGED], 1);
    assert_string_equal(findings.digest[ARTIFACT_FINDING_DAMAGED], digests[1]);
    assert_string_equal(findings.name[ARTIFACT_FINDING_DAMAGED], "blob 1");
    assert_int_equal(findings.of_kind[ARTIFACT_FINDING_LENGTH], 1);
    assert_string_equal(findings.digest[ARTIFACT_FINDING_LENGTH], digests[2]);
    assert_int_equal(findings.of_kind[ARTIFACT_FINDING_MISSING], 1);
    assert_string_equal(findings.digest[ARTIFACT_FINDING_MISSING], digests[3]);
    assert_int_equal(findings.of_kind[ARTIFACT_FINDING_UNREADABLE], 1);
    assert_string_equal(findings.digest[ARTIFACT_FINDING_UNREADABLE], digests[4]);
    /* Stopped: a part, and it says so. */
    work = work_of(&findings);
    findings.stop_after = 3;
    assert_true(artifact_store_verify(store, &work, &summary));
    assert_true(summary.stopped);
    assert_true(summary.blobs < 8);
}

/* A put of the right bytes mends a blob of any damage. */
static void test_put_mends(void **state)
{
    static const char *const wrong[] = {"blub 0", "blob", "blob 0 and more", ""};
    ArtifactSummary summary;
    char digest[65];
    (void)state;
    put_blobs(1);
    for (size_t i = 0; i < 4; i++) {
        assert_true(room_write(room_blob(&room, digests[0]), wrong[i], strlen(wrong[i])));
        log_capture_reset();
        assert_true(artifact_store_put(store, "again", "blob 0", 6, 0, digest));
        assert_string_equal(digest, digests[0]);
        assert_int_equal(log_capture.of_item[LOG_ARTIFACT_BLOB_REPLACED], 1);
        assert_true(artifact_store_verify(store, NULL, &summary));
        assert_int_equal(summary.bad, 0);
    }
    uint8_t *bytes = room_bytes(1, 2 << 20);
    assert_true(artifact_store_put(store, "large", bytes, 2 << 20, 0, digest));
    bytes[(2 << 20) - 1] ^= 1;
    assert_true(room_write(room_blob(&room, digest), bytes, 2 << 20));
    bytes[(2 << 20) - 1] ^= 1;
    assert_true(artifact_store_put(store, "large", bytes, 2 << 20, 0, digest));
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_int_equal(summary.bad, 0);
    assert_int_equal(room_count_temporaries(&room), 0);
    free(bytes);
}

/* ---- gc ---- */

static void test_gc(void **state)
{
    Findings findings;
    ArtifactWork work = work_of(&findings);
    ArtifactSummary summary;
    char unnamed[65], path[256];
    (void)state;
    put_blobs(3);
    /* A blob without a line, as a kill between the two leaves it. */
    size_t size = 0;
    char *before = room_read(log_path(), &size);
    assert_true(artifact_store_put(store, "lost", "lost", 4, 0, unnamed));
    assert_true(room_write(log_path(), before, size));
    free(before);
    /* Temporaries of a dead and of a living process. */
    assert_true(room_write(room_path(&room, "artifacts/tmp/dead"), "12345", 5));
    snprintf(path, sizeof path, "%s", room_path(&room, "artifacts/tmp/living"));
    int living = open(path, O_RDWR | O_CREAT, 0444);
    assert_int_equal(flock(living, LOCK_EX), 0);
    /* What is nobody's business. */
    assert_true(room_write(room_path(&room, "artifacts/README"), "mine", 4));
    for (int dry = 1; dry >= 0; dry--) {
        work = work_of(&findings);
        assert_true(artifact_store_gc(store, dry == 1, &work, &summary));
        assert_int_equal(summary.removed, 2);
        assert_int_equal(summary.removed_bytes, 9);
        assert_int_equal(summary.live, 1);
        assert_int_equal(findings.of_kind[ARTIFACT_FINDING_UNNAMED], 1);
        assert_string_equal(findings.digest[ARTIFACT_FINDING_UNNAMED], unnamed);
        assert_int_equal(findings.of_kind[ARTIFACT_FINDING_TEMPORARY], 1);
        assert_int_equal(access(room_blob(&room, unnamed), F_OK), dry == 1 ? 0 : -1);
        assert_int_equal(access(room_path(&room, "artifacts/tmp/dead"), F_OK), dry == 1 ? 0 : -1);
        assert_int_equal(access(path, F_OK), 0);
    }
    assert_all_found(3);
    assert_int_equal(access(room_path(&room, "artifacts/README"), F_OK), 0);
    close(living);
    assert_true(artifact_store_gc(store, false, NULL, &summary));
    assert_int_equal(summary.removed, 1);
    assert_int_equal(access(path, F_OK), -1);
}

/* A damaged line may have named a blob: it is kept, and rebuild gives it a line again. */
static void test_gc_keeps_what_damage_may_name(void **state)
{
    ArtifactSummary summary;
    char path[ARTIFACT_STORE_PATH_BYTES], name[96];
    size_t size = 0;
    (void)state;
    put_blobs(3);
    char *log = room_read(log_path(), &size);
    memcpy(strstr(log, "blob 1") - 8, "????", 4); /* in the digest of the second line */
    assert_true(room_write(log_path(), log, size));
    free(log);
    assert_true(artifact_store_gc(store, false, NULL, &summary));
    assert_int_equal(summary.removed, 0);
    assert_int_equal(summary.unnamed, 1);
    assert_int_equal(summary.damaged_lines, 1);
    assert_int_equal(room_count_blobs(&room), 3);
    assert_true(artifact_store_rebuild(store, NULL, &summary));
    assert_int_equal(summary.added, 1);
    snprintf(name, sizeof name, "recovered/%.64s", digests[1]);
    assert_true(artifact_store_find(store, name, path));
    assert_true(artifact_store_find(store, "blob 2", path));
    assert_true(artifact_store_gc(store, false, NULL, &summary));
    assert_true(summary.removed == 0 && summary.unnamed == 0 && summary.damaged_lines == 0);
    /* A blob that is not what its name says gets no line. */
    assert_true(room_write(room_blob(&room, digests[0]), "blub 0", 6));
    assert_true(room_write(log_path(), "x\n", 2));
    assert_true(artifact_store_rebuild(store, NULL, &summary));
    assert_int_equal(summary.added, 2);
    assert_int_equal(summary.bad, 1);
}

static bool take_bytes(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return true;
}

static void test_read(void **state)
{
    ArtifactRow row;
    size_t taken = 0;
    (void)state;
    put_blobs(2);
    assert_true(artifact_store_read(store, "blob 1", take_bytes, &taken, NULL, &row));
    assert_int_equal(taken, 6);
    assert_string_equal(row.digest, digests[1]);
    assert_int_equal(row.size_bytes, 6);
    assert_true(room_write(room_blob(&room, digests[1]), "blub 1", 6));
    log_capture_reset();
    assert_false(artifact_store_read(store, "blob 1", take_bytes, &taken, NULL, &row));
    assert_int_equal(log_capture.lines, 1);
    assert_false(artifact_store_read(store, "no such", take_bytes, &taken, NULL, &row));
    assert_int_equal(log_capture.lines, 2);
}

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_torn_at_every_byte, begin, end),
        cmocka_unit_test_setup_teardown(test_damaged_lines_are_passed_over, begin, end),
        cmocka_unit_test_setup_teardown(test_cut_and_written_over, begin, end),
        cmocka_unit_test_setup_teardown(test_lost_log_is_rebuilt, begin, end),
        cmocka_unit_test_setup_teardown(test_missing_and_short_blobs_are_absent, begin, end),
        cmocka_unit_test_setup_teardown(test_rebuild_makes_its_folder, begin, end),
        cmocka_unit_test_setup_teardown(test_an_index_that_is_no_file, begin, end),
        cmocka_unit_test_setup_teardown(test_verify_names_each, begin, end),
        cmocka_unit_test_setup_teardown(test_put_mends, begin, end),
        cmocka_unit_test_setup_teardown(test_gc, begin, end),
        cmocka_unit_test_setup_teardown(test_gc_keeps_what_damage_may_name, begin, end),
        cmocka_unit_test_setup_teardown(test_read, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
