/* tests/unit/tensorscope_session.h: a session over the bridge of tensorscope_bridge.h, its log
 * counted, with files of the test's own. Only tests/unit/tensorscope_session.c and
 * tensorscope_demo.c include it. The calling thread is the frame thread. */
#ifndef TESTS_TENSORSCOPE_SESSION_H
#define TESTS_TENSORSCOPE_SESSION_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/array_write.h"
#include "session.h"
#include "tensorscope_bridge.h"

static int log_lines, warnings;

static void log_line(CaliperLogLevel level, const char *message)
{
    assert_true(message[0] != '\0');
    assert_true(level == CALIPER_LOG_ERROR || level == CALIPER_LOG_WARN);
    log_lines += level == CALIPER_LOG_ERROR;
    warnings += level == CALIPER_LOG_WARN;
}

static const CaliperLogV1 logger = {sizeof(CaliperLogV1), log_line};

/* ---- Files ---- */

static char folder[64], small_path[128], wide_path[128], rgb_path[128], bad_path[128];

static void write_file(char *path, const char *name, ArrayDtype dtype, uint32_t rank,
                       const uint64_t *shape, const void *elements)
{
    ArrayError error;
    snprintf(path, 128, "%s/%s", folder, name);
    assert_true(array_write_npy(path, dtype, rank, shape, elements, &error));
}

static int make_files(void **state)
{
    const uint64_t small[3] = {4, 6, 8}, wide[2] = {3, 3000}, rgb[4] = {2, 5, 6, 3};
    float values[9000];
    uint8_t bytes[180];
    (void)state;
    strcpy(folder, "/tmp/tensorscope_XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    for (int i = 0; i < 9000; i++) {
        values[i] = (float)i;
    }
    for (int i = 0; i < 180; i++) {
        bytes[i] = (uint8_t)i;
    }
    write_file(small_path, "small.npy", ARRAY_DTYPE_F32, 3, small, values);
    write_file(wide_path, "wide.npy", ARRAY_DTYPE_F32, 2, wide, values);
    write_file(rgb_path, "rgb.npy", ARRAY_DTYPE_U8, 4, rgb, bytes);
    snprintf(bad_path, sizeof(bad_path), "%s/bad.npy", folder);
    FILE *file = fopen(bad_path, "wb");
    fputs("\x93NUMPY damaged", file);
    return fclose(file);
}

static int remove_files(void **state)
{
    (void)state;
    unlink(small_path);
    unlink(wide_path);
    unlink(rgb_path);
    unlink(bad_path);
    return rmdir(folder);
}

static Session *start(bool repeatable)
{
    memset(&fake, 0, sizeof(fake));
    fake.max_px = 16384;
    log_lines = warnings = 0;
    Session *session = calloc(1, sizeof(*session));
    assert_true(session_start(session, &bridge, &logger));
    session->repeatable = repeatable;
    return session;
}

static void stop(Session *session)
{
    session_stop(session);
    assert_int_equal(live_count(), 0);
    session_stop(session);
    free(session);
}

static bool is_busy(const Session *session)
{
    bool busy = false;
    for (int kind = 0; kind < LOADER_KIND_COUNT; kind++) {
        busy |= loader_is_busy(session->loader, (LoaderKind)kind);
    }
    return busy;
}

/* A frame; with repeatable sessions all answers are in afterwards, however slow the machine is: the
 * last update began and ended with nothing asked. */
static void frame(Session *session)
{
    bool busy;
    do {
        busy = session->repeatable && is_busy(session);
        session_update(session, 0.5, 0.016);
    } while (busy || (session->repeatable && is_busy(session)));
}

#endif
