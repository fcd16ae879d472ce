/* The services that libcaliper_fixture gives an applet under test: the test's own, the host's, jobs
 * in every mode, and metrics read back. */
#include "kit_fixture.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A service of the test's own, one that is not there, and one that the applet requires. */
static uint64_t my_runs;

static uint64_t my_begin_run(const char *experiment, const char *run_name)
{
    my_runs += strcmp(experiment, "kit") == 0 && strcmp(run_name, "first") == 0;
    return 5;
}

static void my_end_run(uint64_t run)
{
    my_runs += run == 5 ? 10 : 100;
}

static void my_scalar(uint64_t run, const char *tag, int64_t step, double value)
{
    (void)run, (void)tag, (void)step, (void)value;
}

static void my_hparams(uint64_t run, const char *json)
{
    (void)run, (void)json;
}

static void test_services(void **state)
{
    (void)state;
    static const CaliperMetricsV1 mine = {.struct_size = sizeof mine,
                                          .begin_run = my_begin_run,
                                          .end_run = my_end_run,
                                          .scalar = my_scalar,
                                          .hparams_json = my_hparams};
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    assert_true(caliper_fixture_replace(fixture, CALIPER_METRICS_V1, &mine));
    assert_true(caliper_fixture_without(fixture, CALIPER_JOBS_V1));
    assert_true(caliper_fixture_replace(fixture, "org.example.new.v1", &mine));
    assert_false(caliper_fixture_replace(fixture, "org.example.new.v1", NULL));
    assert_false(caliper_fixture_without(fixture, NULL));
    caliper_fixture_load_linked(fixture, caliper_applet_descriptor);
    assert_false(caliper_fixture_without(fixture, CALIPER_LOG_V1)); /* too late */
    assert_non_null(caliper_fixture_service(fixture, CALIPER_LOG_V1));
    assert_true(caliper_fixture_open(fixture));
    const KitApplet *applet = caliper_fixture_self(fixture);
    assert_ptr_equal(applet->metrics, &mine);
    assert_null(applet->jobs);
    assert_ptr_equal(applet->host->get_service(applet->host, "org.example.new.v1"), &mine);
    assert_null(applet->host->get_service(applet->host, CALIPER_JOBS_V1));
    assert_true(caliper_fixture_frame(fixture));
    assert_true(caliper_fixture_close(fixture));
    assert_int_equal(my_runs, 11);
    caliper_fixture_destroy(&fixture);

    fixture = caliper_fixture_create(NULL);
    caliper_fixture_without(fixture, CALIPER_TENSOR_BRIDGE_V1);
    assert_false(caliper_fixture_load_linked(fixture, caliper_applet_descriptor));
    assert_int_equal(caliper_fixture_state(fixture), CALIPER_FIXTURE_FAILED);
    assert_non_null(strstr(caliper_fixture_reason(fixture), CALIPER_TENSOR_BRIDGE_V1));
    assert_false(caliper_fixture_open(fixture));
    caliper_fixture_destroy(&fixture);
}

/* The host's own services, on the fixture's data root. The digest is FIPS 180-4's for "abc". */
static void test_host_services(void **state)
{
    (void)state;
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    char digest[65] = "";
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    assert_true(caliper_fixture_use_host(fixture, CALIPER_JOBS_V1));
    assert_true(caliper_fixture_use_host(fixture, CALIPER_DEVICE_V1));
    assert_true(caliper_fixture_use_host(fixture, CALIPER_METRICS_V1));
    assert_false(caliper_fixture_use_host(fixture, CALIPER_LOG_V1)); /* it is the host's */
    assert_false(caliper_fixture_use_host(fixture, NULL));
    assert_null(caliper_fixture_service(fixture, CALIPER_JOBS_V1));
    assert_true(caliper_fixture_load_linked(fixture, caliper_applet_descriptor));
    assert_true(caliper_fixture_open(fixture));
    const KitApplet *applet = caliper_fixture_self(fixture);
    while (applet->jobs->is_running(applet->job))
        usleep(1000);
    assert_int_equal(caliper_fixture_jobs(fixture), 0);
    assert_true(applet->jobs->progress_of(applet->job) == 1.0f);
    const CaliperDeviceV1 *device = caliper_fixture_service(fixture, CALIPER_DEVICE_V1);
    assert_string_not_equal(device->name(), "Fixture CPU");
    const CaliperArtifactsV1 *artifacts = caliper_fixture_service(fixture, CALIPER_ARTIFACTS_V1);
    assert_true(artifacts->put("first", "abc", 3, 0, digest));
    assert_string_equal(digest, abc);
    const char *path = artifacts->path_of("first");
    assert_non_null(path);
    assert_non_null(strstr(path, abc));
    assert_int_equal(access(path, R_OK), 0);
    /* data.v1 is vended where DuckDB's library is, and only there: what the log says. */
    const CaliperDataV1 *data = caliper_fixture_service(fixture, CALIPER_DATA_V1);
    struct ArrowArrayStream stream = {0};
    const CaliperMetricsV1_1 *metrics = caliper_fixture_service(fixture, CALIPER_METRICS_V1_1);
    if (data != NULL) {
        struct ArrowArray rows = {0};
        assert_true(data->query("SELECT 42", &stream));
        stream.release(&stream);
        assert_true(metrics->query("SELECT value FROM scalars WHERE tag = 'job/done'", &stream));
        assert_int_equal(stream.get_next(&stream, &rows), 0);
        assert_int_equal(rows.length, 1);
        assert_true(((const double *)rows.children[0]->buffers[1])[0] == 0.25);
        rows.release(&rows);
        stream.release(&stream);
    }
    assert_int_equal(caliper_fixture_rows(fixture), 0);
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_DEBUG, "libduckdb.so) is missing") >
                         0,
                     data == NULL);
    assert_true(caliper_fixture_close(fixture));
    caliper_fixture_destroy(&fixture);
}

static void check_job(CaliperFixture *fixture, bool ended)
{
    CaliperFixtureJob job;
    assert_int_equal(caliper_fixture_jobs(fixture), 1);
    assert_true(caliper_fixture_job(fixture, 0, &job));
    assert_false(caliper_fixture_job(fixture, 1, &job));
    assert_int_equal(job.id, 1);
    assert_string_equal(job.label, "work");
    assert_true(job.ended == ended && job.started == ended);
    assert_string_equal(job.message, ended ? "done" : "");
    assert_true(job.progress == (ended ? 1.0f : 0.0f));
}

static void test_jobs_inline(void **state)
{
    (void)state;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    const KitApplet *applet = caliper_fixture_self(fixture);
    check_job(fixture, true);
    assert_false(applet->jobs->is_running(1));
    assert_true(applet->jobs->progress_of(1) == 1.0f);
    assert_true(applet->jobs->progress_of(2) == 0.0f && applet->jobs->progress_of(0) == 0.0f);
    assert_false(applet->jobs->is_running(0));
    applet->jobs->request_cancel(99);
    assert_int_equal(applet->jobs->submit("none", NULL, NULL), 0);
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_WARN, "jobs.submit"), 1);
    caliper_fixture_destroy(&fixture);
}

static void test_jobs_on_call(void **state)
{
    (void)state;
    CaliperFixtureJob job;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_ON_CALL);
    const KitApplet *applet = caliper_fixture_self(fixture);
    caliper_fixture_frame(fixture);
    check_job(fixture, false);
    assert_true(applet->jobs->is_running(1));
    assert_int_equal(caliper_fixture_run_jobs(fixture), 1);
    check_job(fixture, true);
    assert_int_equal(caliper_fixture_run_jobs(fixture), 0);
    assert_true(caliper_fixture_close(fixture));
    /* One that never ran does not keep the applet from closing. */
    assert_true(caliper_fixture_open(fixture));
    assert_true(caliper_fixture_close(fixture));
    assert_true(caliper_fixture_job(fixture, 1, &job));
    assert_true(job.cancel_asked && !job.started);
    caliper_fixture_destroy(&fixture);
}

static void wait_for_cancel(void *user, const CaliperJobControl *control)
{
    while (!control->cancelled(control))
        usleep(1000);
    *(bool *)user = true;
}

static void test_jobs_threads(void **state)
{
    (void)state;
    bool cancelled = false;
    CaliperFixtureJob job;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_THREADS);
    const KitApplet *applet = caliper_fixture_self(fixture);
    assert_int_equal(caliper_fixture_run_jobs(fixture), 1);
    check_job(fixture, true);
    assert_int_equal(applet->jobs->submit(NULL, wait_for_cancel, &cancelled), 2);
    assert_true(applet->jobs->is_running(2));
    assert_true(caliper_fixture_frame(fixture));
    assert_true(caliper_fixture_close(fixture)); /* cancels it and waits */
    assert_true(cancelled);
    assert_true(caliper_fixture_job(fixture, 1, &job));
    assert_true(job.ended && job.cancel_asked);
    assert_string_equal(job.label, "(job)");
    caliper_fixture_destroy(&fixture);
}

static atomic_bool stubborn_may_end;

static void stubborn(void *user, const CaliperJobControl *control)
{
    (void)user, (void)control;
    while (!atomic_load(&stubborn_may_end))
        usleep(1000);
}

/* A job that does not heed its cancel: the close says so, a new life is not touched by it, and the
 * old one is cleaned up when the job has ended. */
static void test_job_that_goes_on(void **state)
{
    (void)state;
    bool cancelled = false;
    CaliperFixtureJob job;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_THREADS);
    const KitApplet *applet = caliper_fixture_self(fixture);
    assert_int_equal(caliper_fixture_run_jobs(fixture), 1);
    assert_int_equal(applet->jobs->submit("stubborn", stubborn, NULL), 2);
    assert_false(caliper_fixture_close(fixture));
    assert_non_null(strstr(caliper_fixture_reason(fixture), "job"));
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 2); /* no cleanup yet */
    assert_true(caliper_fixture_open(fixture));
    applet = caliper_fixture_self(fixture);
    assert_int_equal(applet->jobs->submit("new", wait_for_cancel, &cancelled), 4);
    assert_true(caliper_fixture_frames(fixture, 3));
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 4);
    assert_true(caliper_fixture_job(fixture, 3, &job));
    assert_false(job.cancel_asked);
    assert_true(caliper_fixture_job(fixture, 1, &job));
    assert_true(job.cancel_asked && !job.ended);
    atomic_store(&stubborn_may_end, true);
    while (caliper_fixture_textures(fixture, NULL, 0) > 2) {
        assert_true(caliper_fixture_frame(fixture));
        usleep(1000);
    }
    assert_true(caliper_fixture_close(fixture));
    assert_true(cancelled);
    assert_int_equal(caliper_fixture_leaks(fixture), 0);
    caliper_fixture_destroy(&fixture);
}

static void test_metrics(void **state)
{
    (void)state;
    static const struct {
        CaliperFixtureRowKind kind;
        const char *tag, *text;
        int64_t step;
    } wanted[] = {{CALIPER_FIXTURE_ROW_BEGIN, "kit", "first", 0},
                  {CALIPER_FIXTURE_ROW_HPARAMS, "", "{\"lr\": 0.1}", 0},
                  {CALIPER_FIXTURE_ROW_SCALAR, "job/done", "", 7},
                  {CALIPER_FIXTURE_ROW_SCALAR, "frame", "", 1},
                  {CALIPER_FIXTURE_ROW_HISTOGRAM, "h", "", 3},
                  {CALIPER_FIXTURE_ROW_IMAGE, "i", "", 4},
                  {CALIPER_FIXTURE_ROW_END, "", "", 0}};
    float values[] = {1.0f, NAN, 3.0f};
    uint8_t pixels[2 * 3 * 4] = {9, 8, 7};
    CaliperFixtureRow row;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    const KitApplet *applet = caliper_fixture_self(fixture);
    caliper_fixture_frame(fixture);
    applet->metrics->histogram(applet->run, "h", 3, values, 3);
    CaliperTensor image = caliper_tensor_u8_3d(pixels, 2, 3, 4);
    applet->metrics->image(applet->run, "i", 4, &image);
    values[0] = 99.0f; /* it was copied */
    pixels[0] = 99;
    /* Refused, each with one line. */
    caliper_fixture_clear_lines(fixture);
    applet->metrics->histogram(applet->run, "h", 3, NULL, 1);
    applet->metrics->histogram(applet->run, "h", 3, values, -1);
    image.strides[0]++;
    applet->metrics->image(applet->run, "i", 4, &image);
    applet->metrics->image(applet->run, "i", 4, NULL);
    applet->metrics->scalar(77, "x", 0, 0.0);
    applet->metrics->hparams_json(applet->run, NULL);
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_WARN, "metrics."), 6);
    caliper_fixture_close(fixture);
    assert_int_equal(caliper_fixture_rows(fixture), 7);
    for (int i = 0; i < 7; i++) {
        assert_true(caliper_fixture_row(fixture, i, &row));
        assert_int_equal(row.kind, wanted[i].kind);
        assert_int_equal(row.run, 1);
        assert_string_equal(row.tag, wanted[i].tag);
        assert_string_equal(row.text, wanted[i].text);
        assert_int_equal(row.step, wanted[i].step);
    }
    caliper_fixture_row(fixture, 2, &row);
    assert_true(row.value == 0.25);
    caliper_fixture_row(fixture, 4, &row);
    assert_int_equal(row.count, 3);
    assert_true(row.values[0] == 1.0f && isnan(row.values[1]) && row.values[2] == 3.0f);
    caliper_fixture_row(fixture, 5, &row);
    assert_true(row.height == 2 && row.width == 3 && row.channels == 4);
    assert_memory_equal(row.pixels, "\x09\x08\x07", 4);
    assert_false(caliper_fixture_row(fixture, 7, &row));
    caliper_fixture_destroy(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_TEAR_DOWN(test_services),     WITH_TEAR_DOWN(test_host_services),
        WITH_TEAR_DOWN(test_jobs_inline),  WITH_TEAR_DOWN(test_jobs_on_call),
        WITH_TEAR_DOWN(test_jobs_threads), WITH_TEAR_DOWN(test_job_that_goes_on),
        WITH_TEAR_DOWN(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
