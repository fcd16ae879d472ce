/* See the header. */
#include "data_room.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"

extern char **environ;

void data_room_make(char out[64])
{
    assert_true(store_folder_make(out, 64, "data", false));
}

bool data_room_lost_a_file(const char *root)
{
    return store_folder_count(root, "data.duckdb.damaged") > 0;
}

bool data_room_run(DataStore *store, const char *sql, DatabaseError *error)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int result = 0;
    *error = (DatabaseError){.text = ""};
    if (!data_store_query(store, "", sql, &stream, error))
        return false;
    while ((result = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL)
        batch.release(&batch);
    if (result != 0)
        snprintf(error->text, sizeof error->text, "%s", stream.get_last_error(&stream));
    stream.release(&stream);
    return result == 0;
}

int64_t data_room_number(DataStore *store, const char *sql)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    DatabaseError error;
    if (!data_store_query(store, "", sql, &stream, &error))
        fail_msg("%s: %s", sql, error.text);
    if (stream.get_next(&stream, &batch) != 0)
        fail_msg("%s: %s", sql, stream.get_last_error(&stream));
    assert_non_null(batch.release);
    int64_t number = ((const int64_t *)batch.children[0]->buffers[1])[0];
    batch.release(&batch);
    stream.release(&stream);
    return number;
}

pid_t data_room_start(const char *mode, const char *root, int number)
{
    static char self_path[512];
    char text[16];
    if (readlink("/proc/self/exe", self_path, sizeof self_path - 1) <= 0)
        fail();
    snprintf(text, sizeof text, "%d", number);
    char *arguments[] = {self_path, "child", (char *)(uintptr_t)mode, (char *)(uintptr_t)root,
                         text,      NULL};
    pid_t child = 0;
    assert_int_equal(posix_spawn(&child, self_path, NULL, NULL, arguments, environ), 0);
    return child;
}

void data_room_child(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    log_stderr_enable(getenv("TEST_VERBOSE") != NULL);
}

bool data_room_long(void)
{
    const char *text = getenv("CALIPER_TEST_LONG");
    return text != NULL && strcmp(text, "1") == 0;
}

int64_t data_room_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

uint64_t data_room_random(uint64_t limit)
{
    static uint64_t seed = 0x9e3779b97f4a7c15u; /* xorshift64 */
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed % limit;
}
