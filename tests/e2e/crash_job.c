/* An applet whose job logs rows and then faults, for the test of what is on the disk afterwards.
 * Built without sanitizers. */
#include <caliper/caliper.h>

enum { ROWS = 5000 };

static const CaliperMetricsV1 *metrics;
static int state;

static void job(void *user, const CaliperJobControl *control)
{
    (void)user;
    (void)control;
    uint64_t run = metrics->begin_run("crash", "in a job");
    for (int i = 0; i < ROWS; i++)
        metrics->scalar(run, "row", i, (double)i);
    *(volatile int *)(uintptr_t)16 = 1;
}

static void *create(void)
{
    return &state;
}

static void nothing(void *self)
{
    (void)self;
}

static bool initialize(void *self, const CaliperHost *host)
{
    (void)self;
    const CaliperJobsV1 *jobs = host->get_service(host, CALIPER_JOBS_V1);
    metrics = host->get_service(host, CALIPER_METRICS_V1);
    return jobs != NULL && metrics != NULL && jobs->submit("Log and fault", job, NULL) != 0;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    (void)self;
    (void)info;
}

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.crash_job",
                                                   .version = "1.0.0",
                                                   .name = "Crash in a job",
                                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                                           .create = create,
                                                           .destroy = nothing,
                                                           .initialize = initialize,
                                                           .frame = frame,
                                                           .cleanup = nothing}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return &descriptor;
}
