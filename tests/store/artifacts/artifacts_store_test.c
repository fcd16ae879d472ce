/* Putting, finding, lineage: the contract of caliper.artifacts.v1, by the store and by the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../unit/log_capture.h"
#include "artifact_room.h"
#include "services/artifacts_service.h"
#include "store/artifacts/artifact_store.h"

static ArtifactRoom room;
static ArtifactStore *store;

static const char abc_digest[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char empty_digest[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

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

static void assert_file_is(const char *path, const void *bytes, size_t size)
{
    size_t found = 0;
    char *content = room_read(path, &found);
    assert_non_null(content);
    assert_int_equal(found, size);
    assert_memory_equal(content, bytes, size);
    free(content);
}

static void put_text(const char *name, const char *text, uint64_t run, char digest[65])
{
    assert_true(artifact_store_put(store, name, text, strlen(text), run, digest));
}

static void test_put_and_find(void **state)
{
    char digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    (void)state;
    assert_int_equal(access(room_path(&room, "artifacts"), F_OK), -1); /* opening makes nothing */
    assert_false(artifact_store_find(store, "model", path));
    put_text("model", "abc", 0, digest);
    assert_string_equal(digest, abc_digest);
    assert_file_is(room_blob(&room, abc_digest), "abc", 3);
    assert_true(artifact_store_find(store, "model", path));
    assert_string_equal(path, room_blob(&room, abc_digest));
    assert_true(artifact_store_find(store, abc_digest, path));
    assert_string_equal(path, room_blob(&room, abc_digest));
    assert_false(artifact_store_find(store, "mode", path));
    assert_false(artifact_store_find(store, "", path));
    assert_false(artifact_store_find(store, empty_digest, path));
    assert_int_equal(room_count_temporaries(&room), 0);
    assert_int_equal(log_capture.lines, 0);
    /* Readable, and by nobody to be written by accident. */
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0222, 0);
    assert_true((status.st_mode & 0400) != 0);
}

static void test_the_log_is_as_documented(void **state)
{
    char digest[65], form[256];
    int used = 0;
    (void)state;
    put_text("a\tb", "abc", 12, digest);
    char *log = room_read(room_path(&room, "artifacts/index.log"), NULL);
    snprintf(form, sizeof form, "%s\ta\\tb\t12\t3\t%%*4d-%%*2d-%%*2dT%%*2d:%%*2d:%%*2d.%%*6dZ\n%%n",
             abc_digest);
    assert_int_equal(sscanf(log, form, &used), 0);
    assert_int_equal(used, strlen(log));
    free(log);
}

static void test_empty_blob(void **state)
{
    char digest[65] = "untouched", path[ARTIFACT_STORE_PATH_BYTES];
    (void)state;
    assert_true(artifact_store_put(store, "nothing", NULL, 0, 0, digest));
    assert_string_equal(digest, empty_digest);
    assert_true(artifact_store_find(store, "nothing", path));
    assert_file_is(path, "", 0);
    assert_true(artifact_store_put(store, "", "", 0, 0, digest)); /* "" is a name */
    assert_true(artifact_store_find(store, "", path));
    assert_int_equal(room_count_blobs(&room), 1);
}

static void test_refusals(void **state)
{
    static char long_name[4098];
    char digest[65] = "untouched", path[ARTIFACT_STORE_PATH_BYTES];
    (void)state;
    memset(long_name, 'n', 4097);
    assert_false(artifact_store_put(store, NULL, "abc", 3, 0, digest));
    assert_false(artifact_store_put(store, "n", "abc", 3, 0, NULL));
    assert_false(artifact_store_put(store, "n", NULL, 3, 0, digest));
    assert_false(artifact_store_put(store, "n", NULL, UINT64_MAX, 0, digest));
    assert_false(artifact_store_put(store, "n", "abc", UINT64_MAX, 0, digest));
    assert_false(artifact_store_put(store, long_name, "abc", 3, 0, digest));
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_REFUSED], 6);
    assert_int_equal(log_capture.lines, 6);
    assert_string_equal(digest, "untouched");
    assert_int_equal(access(room_path(&room, "artifacts"), F_OK), -1);
    long_name[4096] = '\0';
    assert_true(artifact_store_put(store, long_name, "abc", 3, 0, digest));
    assert_true(artifact_store_find(store, long_name, path));
    assert_null(artifact_store_open(NULL));
    assert_null(artifact_store_open(""));
    assert_null(artifact_store_open(long_name));
}

static void test_names(void **state)
{
    static const char *const names[] = {
        "tab\t",          "line\n",        "quote\"",  "back\\slash", "\x01",
        "\xff not utf-8", "Z\xc3\xbcrich", "a/b/../c", " ",           "\r\n"};
    enum { NAMES = sizeof names / sizeof names[0] };
    char digests[NAMES][65], path[ARTIFACT_STORE_PATH_BYTES];
    (void)state;
    for (size_t i = 0; i < NAMES; i++)
        put_text(names[i], names[(i + 3) % NAMES], i, digests[i]);
    for (int reopened = 0; reopened < 2; reopened++) {
        for (size_t i = 0; i < NAMES; i++) {
            assert_true(artifact_store_find(store, names[i], path));
            assert_string_equal(strrchr(path, '/') + 1, digests[i]);
        }
        artifact_store_close(&store);
        store = artifact_store_open(room.root);
    }
    ArtifactList list;
    assert_true(artifact_store_list(store, NULL, &list));
    assert_int_equal(list.count, NAMES);
    for (size_t i = 0; i < NAMES; i++)
        assert_string_equal(list.rows[i].name, names[i]);
    artifact_list_free(&list);
}

static void test_newest_of_a_name(void **state)
{
    char first[65], second[65], path[ARTIFACT_STORE_PATH_BYTES];
    (void)state;
    put_text("last", "one", 0, first);
    put_text("last", "two", 0, second);
    assert_true(artifact_store_find(store, "last", path));
    assert_string_equal(strrchr(path, '/') + 1, second);
    assert_true(artifact_store_find(store, first, path)); /* the older one by its digest */
    put_text("last", "one", 0, first);
    assert_true(artifact_store_find(store, "last", path));
    assert_string_equal(strrchr(path, '/') + 1, first);
    assert_int_equal(room_count_blobs(&room), 2);
}

/* A name may look like another blob's digest: the digest wins where there is such a blob. */
static void test_name_like_a_digest(void **state)
{
    char digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    (void)state;
    put_text(abc_digest, "not abc", 0, digest);
    assert_true(artifact_store_find(store, abc_digest, path));
    assert_string_equal(strrchr(path, '/') + 1, digest);
    put_text("x", "abc", 0, digest);
    assert_true(artifact_store_find(store, abc_digest, path));
    assert_string_equal(strrchr(path, '/') + 1, abc_digest);
}

static void test_same_bytes_one_file(void **state)
{
    static const size_t sizes[] = {3, 512 << 10, (512 << 10) + 1, 3 << 20};
    struct stat before, after;
    char first[65], second[65];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint8_t *bytes = room_bytes(i + 1, sizes[i]);
        assert_true(artifact_store_put(store, "one", bytes, sizes[i], 1, first));
        assert_int_equal(stat(room_blob(&room, first), &before), 0);
        assert_true(artifact_store_put(store, "two", bytes, sizes[i], 2, second));
        assert_string_equal(first, second);
        assert_int_equal(stat(room_blob(&room, first), &after), 0);
        assert_true(before.st_ino == after.st_ino);
        assert_true(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
        assert_file_is(room_blob(&room, first), bytes, sizes[i]);
        free(bytes);
    }
    assert_int_equal(room_count_blobs(&room), 4);
    assert_int_equal(room_count_temporaries(&room), 0);
}

/* Sizes about the borders of pieces and of the two ways to write, against sha256sum. */
static void test_sizes_against_sha256sum(void **state)
{
    static const size_t sizes[] = {1,
                                   4095,
                                   (256 << 10) - 1,
                                   256 << 10,
                                   (512 << 10) - 1,
                                   512 << 10,
                                   (512 << 10) + 1,
                                   (768 << 10) + 5,
                                   (9 << 20) + 13};
    char digest[65], theirs[65];
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint8_t *bytes = room_bytes(100 + i, sizes[i]);
        assert_true(artifact_store_put(store, "sized", bytes, sizes[i], 0, digest));
        assert_file_is(room_blob(&room, digest), bytes, sizes[i]);
        if (room_sha256sum(room_blob(&room, digest), theirs))
            assert_string_equal(digest, theirs);
        free(bytes);
    }
    assert_true(room_blobs_are_whole(&room));
}

/* What another store, as in another process, put is seen by the next call. */
static void test_others_rows_are_seen(void **state)
{
    ArtifactStore *other = artifact_store_open(room.root);
    char digest[65], path[ARTIFACT_STORE_PATH_BYTES], name[32];
    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "name %d", i);
        assert_false(artifact_store_find(store, name, path));
        assert_true(artifact_store_put(other, name, name, strlen(name), 0, digest));
        assert_true(artifact_store_find(store, name, path));
        assert_string_equal(strrchr(path, '/') + 1, digest);
    }
    artifact_store_close(&other);
    assert_int_equal(log_capture.lines, 0);
}

static void test_lineage(void **state)
{
    char model[65], log[65], other[65];
    uint64_t runs[4];
    ArtifactList list;
    (void)state;
    put_text("model", "m1", 5, model);
    put_text("log", "l", 5, log);
    put_text("model", "m2", 6, other);
    put_text("copy of m1", "m1", 7, model);
    put_text("model", "m1", 5, model);
    put_text("nobody's", "m1", 0, model);
    ArtifactQuery query = {.filter = ARTIFACT_FILTER_RUN, .run = 5};
    assert_true(artifact_store_list(store, &query, &list));
    assert_int_equal(list.count, 3);
    assert_string_equal(list.rows[0].digest, model);
    assert_string_equal(list.rows[1].name, "log");
    assert_int_equal(list.rows[1].size_bytes, 1);
    assert_string_equal(list.rows[2].digest, model);
    assert_true(list.rows[0].created_us <= list.rows[2].created_us);
    artifact_list_free(&list);
    query = (ArtifactQuery){.filter = ARTIFACT_FILTER_NAME, .text = "model"};
    assert_true(artifact_store_list(store, &query, &list));
    assert_int_equal(list.count, 3);
    assert_string_equal(list.rows[1].digest, other);
    artifact_list_free(&list);
    query = (ArtifactQuery){.filter = ARTIFACT_FILTER_DIGEST, .text = model};
    assert_true(artifact_store_list(store, &query, &list));
    assert_int_equal(list.count, 4);
    artifact_list_free(&list);
    query = (ArtifactQuery){.filter = ARTIFACT_FILTER_RUN, .run = 99};
    assert_true(artifact_store_list(store, &query, &list));
    assert_int_equal(list.count, 0);
    artifact_list_free(&list);
    assert_int_equal(artifact_store_runs_of(store, model, runs, 4), 2);
    assert_true(runs[0] == 5 && runs[1] == 7);
    assert_int_equal(artifact_store_runs_of(store, "copy of m1", runs, 1), 2);
    assert_int_equal(runs[0], 5);
    assert_int_equal(artifact_store_runs_of(store, other, runs, 4), 1);
    assert_int_equal(runs[0], 6);
    assert_int_equal(artifact_store_runs_of(store, "no such", runs, 4), 0);
}

/* ---- The frozen table ---- */

static const CaliperArtifactsV1 *table;

static void *ask_on_thread(void *argument)
{
    const char *path = table->path_of("beta");
    (void)argument;
    return path != NULL ? strdup(path) : NULL;
}

static void test_table(void **state)
{
    char alpha[65], beta[65];
    (void)state;
    table = artifacts_service_table();
    assert_int_equal(table->struct_size, sizeof *table);
    assert_true(artifacts_service_bind(&room, room.root));
    assert_null(table->path_of("alpha"));
    assert_false(table->exists("alpha"));
    assert_true(table->put("alpha", "a", 1, 3, alpha));
    assert_true(table->put("beta", "b", 1, 3, beta));
    const char *path = table->path_of("alpha");
    assert_string_equal(path, room_blob(&room, alpha));
    /* Another thread's answer leaves this one's alone. */
    pthread_t thread;
    void *other = NULL;
    assert_int_equal(pthread_create(&thread, NULL, ask_on_thread, NULL), 0);
    pthread_join(thread, &other);
    assert_string_equal(other, room_blob(&room, beta));
    assert_string_equal(path, room_blob(&room, alpha));
    free(other);
    /* An answer may be asked about: it is no name, and the question stays readable. */
    assert_false(table->exists(table->path_of("alpha")));
    assert_null(table->path_of(table->path_of("alpha")));
    assert_true(table->exists(beta));
    log_capture_reset();
    assert_null(table->path_of(NULL));
    assert_false(table->exists(NULL));
    assert_int_equal(log_capture.of_item[LOG_ARTIFACT_REFUSED], 2);
    assert_int_equal(log_capture.lines, 2);
    ArtifactStore *held = artifacts_service_acquire();
    artifacts_service_unbind(&table); /* not whose it is */
    assert_true(table->exists(beta));
    artifacts_service_unbind(&room); /* the store lives on for who is in it */
    assert_true(artifact_store_put(held, "late", "l", 1, 0, alpha));
    artifacts_service_release(held);
    log_capture_reset();
    assert_false(table->put("x", "x", 1, 0, alpha));
    assert_int_equal(log_capture.lines, 1);
}

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_put_and_find, begin, end),
        cmocka_unit_test_setup_teardown(test_the_log_is_as_documented, begin, end),
        cmocka_unit_test_setup_teardown(test_empty_blob, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
        cmocka_unit_test_setup_teardown(test_names, begin, end),
        cmocka_unit_test_setup_teardown(test_newest_of_a_name, begin, end),
        cmocka_unit_test_setup_teardown(test_name_like_a_digest, begin, end),
        cmocka_unit_test_setup_teardown(test_same_bytes_one_file, begin, end),
        cmocka_unit_test_setup_teardown(test_sizes_against_sha256sum, begin, end),
        cmocka_unit_test_setup_teardown(test_others_rows_are_seen, begin, end),
        cmocka_unit_test_setup_teardown(test_lineage, begin, end),
        cmocka_unit_test_setup_teardown(test_table, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
