/* Many threads, many processes, and processes that are killed at random moments: nothing that a put
 * answered true for is lost, and every blob is whole. CALIPER_TEST_LONG=1: 300 kills, else 30. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../unit/log_capture.h"
#include "artifact_room.h"
#include "store/artifacts/artifact_store.h"

static ArtifactRoom room;

static int begin(void **state)
{
    (void)state;
    log_capture_reset();
    return room_make(&room, false) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    room_remove(&room);
    return 0;
}

/* ---- Threads ---- */

enum { THREADS = 16, PUTS_A_THREAD = 40, SHARED_CONTENTS = 7 };
static ArtifactStore *shared_store;

/* What put `i` of worker `who` holds: some contents are the same for all. */
static uint8_t *content_of(int who, int i, size_t *size)
{
    uint64_t seed =
        i % 2 == 0 ? (uint64_t)(i / 2 % SHARED_CONTENTS) : (uint64_t)(1000 + who * 1000 + i);
    *size = i % 10 == 9 ? 600 << 10 : 100 + (size_t)(seed % 5000);
    return room_bytes(seed + 1, *size);
}

static void *put_many(void *argument)
{
    int who = (int)(intptr_t)argument;
    intptr_t bad = 0;
    char name[64], digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    for (int i = 0; i < PUTS_A_THREAD; i++) {
        size_t size;
        uint8_t *bytes = content_of(who, i, &size);
        snprintf(name, sizeof name, "thread %d put %d", who, i);
        bad += !artifact_store_put(shared_store, name, bytes, size, (uint64_t)who, digest);
        free(bytes);
        bad += !artifact_store_find(shared_store, name, path);
        bad += strcmp(strrchr(path, '/') + 1, digest) != 0;
        bad += !artifact_store_find(shared_store, digest, path);
        snprintf(name, sizeof name, "thread %d put %d", (who + 1) % THREADS, i / 2);
        artifact_store_find(shared_store, name, path);
        if (i % 16 == 5) {
            ArtifactList list;
            bad += !artifact_store_list(shared_store, NULL, &list);
            artifact_list_free(&list);
        }
    }
    return (void *)bad;
}

/* Each row once, each blob whole, nothing left over. */
static void assert_store_holds(uint64_t rows)
{
    ArtifactSummary summary;
    ArtifactStore *store = artifact_store_open(room.root);
    assert_non_null(store);
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_int_equal(summary.bad, 0);
    assert_int_equal(summary.damaged_lines, 0);
    assert_int_equal(summary.rows, rows);
    assert_int_equal(summary.unnamed, 0);
    assert_int_equal(summary.temporaries, 0);
    assert_int_equal(summary.blobs, room_count_blobs(&room));
    assert_true(room_blobs_are_whole(&room));
    artifact_store_close(&store);
}

static void test_sixteen_threads(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    shared_store = artifact_store_open(room.root);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_many, (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad = NULL;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    for (int who = 0; who < THREADS; who++) {
        ArtifactList list;
        ArtifactQuery query = {.filter = ARTIFACT_FILTER_RUN, .run = (uint64_t)who};
        assert_true(artifact_store_list(shared_store, &query, &list));
        assert_int_equal(list.count, PUTS_A_THREAD);
        artifact_list_free(&list);
    }
    artifact_store_close(&shared_store);
    assert_store_holds(THREADS * PUTS_A_THREAD);
    assert_int_equal(log_capture.lines, 0);
}

/* ---- Processes: this program again, as `PROGRAM put ROOT WHO COUNT` ---- */

static const char *program;

static pid_t start(const char *what, int who, int count, int output)
{
    char who_text[16], count_text[16];
    snprintf(who_text, sizeof who_text, "%d", who);
    snprintf(count_text, sizeof count_text, "%d", count);
    pid_t child = fork();
    if (child == 0) {
        if (output >= 0)
            dup2(output, STDOUT_FILENO);
        execl(program, program, what, room.root, who_text, count_text, (char *)NULL);
        _exit(127);
    }
    return child;
}

/* Puts `count` blobs, or for ever; after each says so with one write: its name and digest. */
static int child_put(const char *root, int who, int count)
{
    ArtifactStore *store = artifact_store_open(root);
    char name[64], digest[65], line[160], path[ARTIFACT_STORE_PATH_BYTES];
    for (int i = 0; store != NULL && (count < 0 || i < count); i++) {
        size_t size;
        uint8_t *bytes = content_of(who, i % 200, &size);
        snprintf(name, sizeof name, "process-%d-put-%d", who, i);
        bool done = artifact_store_put(store, name, bytes, size, (uint64_t)who, digest);
        free(bytes);
        if (!done || !artifact_store_find(store, name, path))
            return 1;
        int length = snprintf(line, sizeof line, "%s %s\n", name, digest);
        if (write(STDOUT_FILENO, line, (size_t)length) != length)
            return 1;
    }
    artifact_store_close(&store);
    return 0;
}

/* Removes what is left over, again and again, while others put. */
static int child_gc(const char *root)
{
    for (;;) {
        ArtifactSummary summary;
        ArtifactStore *store = artifact_store_open(root);
        if (store == NULL || !artifact_store_gc(store, false, NULL, &summary))
            return 1;
        artifact_store_close(&store);
        usleep(100);
    }
}

static void test_thirty_two_processes(void **state)
{
    enum { PROCESSES = 32, PUTS = 10 };
    pid_t children[PROCESSES];
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)state;
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start("put", i, PUTS, null);
    pid_t cleaner = start("gc", 0, 0, null);
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    kill(cleaner, SIGKILL);
    waitpid(cleaner, NULL, 0);
    close(null);
    assert_store_holds(PROCESSES * PUTS);
}

/* ---- Kills ---- */

/* Whatever a child said it had put is there, with the bytes that it had. */
static void assert_nothing_lost(FILE *said)
{
    char name[64], digest[65], path[ARTIFACT_STORE_PATH_BYTES];
    ArtifactStore *store = artifact_store_open(room.root);
    uint32_t lines = 0;
    assert_non_null(store);
    rewind(said);
    while (fscanf(said, "%63s %64s\n", name, digest) == 2) {
        if (strlen(digest) != 64)
            continue; /* the child was killed in that write */
        assert_true(artifact_store_find(store, name, path));
        assert_string_equal(strrchr(path, '/') + 1, digest);
        lines++;
    }
    print_message("%u puts were said to be done\n", lines);
    artifact_store_close(&store);
}

static void sleep_random_us(unsigned limit)
{
    static uint64_t random = 88172645463325252;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    usleep((useconds_t)(random % limit));
}

static void test_kills(void **state)
{
    enum { AT_ONCE = 3 };
    const char *is_long = getenv("CALIPER_TEST_LONG");
    int kills = is_long != NULL && strcmp(is_long, "1") == 0 ? 300 : 30;
    char said_path[] = "/tmp/caliper-kills-XXXXXX";
    int said = mkostemp(said_path, O_APPEND | O_CLOEXEC);
    ArtifactSummary summary;
    pid_t children[AT_ONCE];
    int next = 0;
    (void)state;
    unlink(said_path);
    for (int i = 0; i < AT_ONCE; i++)
        children[i] = start("put", next++, -1, said);
    for (int killed = 0; killed < kills; killed++) {
        int status = 0;
        sleep_random_us(60000);
        pid_t *victim = &children[killed % AT_ONCE];
        kill(*victim, SIGKILL);
        assert_int_equal(waitpid(*victim, &status, 0), *victim);
        assert_true(WIFSIGNALED(status)); /* it had not ended by itself */
        if (killed % 10 == 9) {
            /* While the others go on: the index reads, and blobs are whole or absent. */
            ArtifactStore *store = artifact_store_open(room.root);
            assert_true(artifact_store_verify(store, NULL, &summary));
            assert_int_equal(summary.bad, 0);
            assert_int_equal(summary.damaged_lines, 0);
            assert_true(artifact_store_gc(store, false, NULL, &summary));
            artifact_store_close(&store);
        }
        *victim = start("put", next++, -1, said);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    FILE *file = fdopen(said, "r");
    assert_nothing_lost(file);
    assert_true(room_blobs_are_whole(&room));
    ArtifactStore *store = artifact_store_open(room.root);
    assert_true(artifact_store_gc(store, false, NULL, &summary));
    print_message("%llu leftovers removed after %d kills\n", (unsigned long long)summary.removed,
                  kills);
    char digest[65];
    assert_true(artifact_store_put(store, "after", "after", 5, 0, digest));
    artifact_store_close(&store);
    assert_nothing_lost(file);
    fclose(file);
    store = artifact_store_open(room.root);
    assert_true(artifact_store_verify(store, NULL, &summary));
    assert_true(summary.bad == 0 && summary.damaged_lines == 0 && summary.unnamed == 0 &&
                summary.temporaries == 0);
    artifact_store_close(&store);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "put") == 0)
        return child_put(argv[2], atoi(argv[3]), atoi(argv[4]));
    if (argc == 5 && strcmp(argv[1], "gc") == 0)
        return child_gc(argv[2]);
    program = "/proc/self/exe";
    log_capture_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sixteen_threads, begin, end),
        cmocka_unit_test_setup_teardown(test_thirty_two_processes, begin, end),
        cmocka_unit_test_setup_teardown(test_kills, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
