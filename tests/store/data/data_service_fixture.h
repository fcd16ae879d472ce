/* What the tests of caliper.data.v1 through its table share: a host in a folder of its own,
 * statements, numbers, and refusals with one line each.
 *
 * Included by those tests alone. The statics are each program's own. */
#ifndef CALIPER_TESTS_DATA_SERVICE_FIXTURE_H
#define CALIPER_TESTS_DATA_SERVICE_FIXTURE_H

#include "database_fixture.h"

#include <stdatomic.h>

#include "core/caller_register.h"
#include "core/host.h"
#include "core/log.h"
#include "services/data_service.h"

static char root[64];
static Host *host;
static const CaliperDataV1 *data;
static atomic_int refusals;
static atomic_int warnings;
static char refusal[4096];
static char warning[4096];

static inline void capture(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->level >= LOG_LEVEL_WARN) {
        atomic_fetch_add(&warnings, 1);
        snprintf(warning, sizeof warning, "%s", entry->text);
    }
    if (entry->item == LOG_DATA_REFUSED) {
        atomic_fetch_add(&refusals, 1);
        snprintf(refusal, sizeof refusal, "%s", entry->text);
    }
}

static inline void start_host(void)
{
    HostParams params = {.struct_size = sizeof params, .data_dir = root};
    host = host_create(&params);
    assert_non_null(host);
    assert_true(data_service_register(host));
    data = host_service(host, CALIPER_DATA_V1);
    assert_non_null(data);
}

static inline int begin(void **state)
{
    (void)state;
    fixture_folder(root);
    log_stderr_enable(false);
    start_host();
    atomic_store(&refusals, 0);
    atomic_store(&warnings, 0);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    caller_leave(0);
    if (host != NULL)
        host_destroy(&host);
    fixture_remove(root);
    return 0;
}

/* A statement without rows of interest; drains, so that it runs whole. */
static inline void run(const char *sql)
{
    struct ArrowArrayStream stream;
    if (!data->query(sql, &stream))
        fail_msg("%s: %s", sql, data->last_error());
    assert_string_equal(data->last_error(), "");
    struct ArrowArray batch;
    for (;;) {
        if (stream.get_next(&stream, &batch) != 0)
            fail_msg("%s: %s", sql, stream.get_last_error(&stream));
        if (batch.release == NULL)
            break;
        batch.release(&batch);
    }
    stream.release(&stream);
}

/* The BIGINT in the first column of the only row. */
static inline int64_t number_of(struct ArrowArrayStream *stream)
{
    struct ArrowArray batch;
    assert_int_equal(stream->get_next(stream, &batch), 0);
    assert_non_null(batch.release);
    int64_t value = ((const int64_t *)batch.children[0]->buffers[1])[0];
    batch.release(&batch);
    stream->release(stream);
    return value;
}

static inline int64_t number(const char *sql)
{
    struct ArrowArrayStream stream;
    if (!data->query(sql, &stream))
        fail_msg("%s: %s", sql, data->last_error());
    return number_of(&stream);
}

/* Refused: false, *out untouched, a reason with `words` in it, exactly one line. */
static inline void check_refused(const char *sql, const char *words)
{
    struct ArrowArrayStream stream;
    const char *shown = sql != NULL ? sql : "NULL";
    memset(&stream, 0x5a, sizeof stream);
    struct ArrowArrayStream before = stream;
    int lines = atomic_load(&refusals);
    if (data->query(sql, &stream))
        fail_msg("not refused: %s", shown);
    assert_memory_equal(&stream, &before, sizeof stream);
    assert_int_equal(atomic_load(&refusals), lines + 1);
    if (strstr(data->last_error(), words) == NULL)
        fail_msg("%s: %s", shown, data->last_error());
    assert_true(number("SELECT 7::BIGINT") == 7);
    assert_string_equal(data->last_error(), "");
}

static inline void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
