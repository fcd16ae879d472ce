/* An applet with three jobs, for tests of the tray: each says when it was asked to end; frame()
 * says when the arrow keys reach it. With TRAY_APPLET_DEAF no job hears. */
#include <caliper/caliper.h>
#include <stdlib.h>
#include <time.h>

static const char *const labels[] = {"one", "two", "three"};
enum { JOBS = 3 };

typedef struct Tray {
    const CaliperJobsV1 *jobs;
    const CaliperLogV1 *log;
    const CaliperWidgetsV1 *ui;
    uint64_t ids[JOBS];
} Tray;

static const CaliperLogV1 *the_log;

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int running(const Tray *tray)
{
    int count = 0;
    for (int i = 0; i < JOBS; i++)
        count += tray->jobs->is_running(tray->ids[i]) ? 1 : 0;
    return count;
}

static void job(void *user, const CaliperJobControl *control)
{
    char line[64];
    control->progress(control, 0.25f, "waits");
    bool is_deaf = getenv("TRAY_APPLET_DEAF") != NULL;
    while (is_deaf || !control->cancelled(control))
        nap();
    snprintf(line, sizeof line, "cancelled %s", (const char *)user);
    the_log->log(CALIPER_LOG_INFO, line);
}

static void *create(void)
{
    return calloc(1, sizeof(Tray));
}

static void destroy(void *self)
{
    free(self);
}

static bool initialize(void *self, const CaliperHost *host)
{
    Tray *tray = self;
    tray->jobs = host->get_service(host, CALIPER_JOBS_V1);
    tray->log = host->get_service(host, CALIPER_LOG_V1);
    tray->ui = host->get_service(host, CALIPER_WIDGETS_V1);
    the_log = tray->log;
    for (int i = 0; i < JOBS; i++)
        tray->ids[i] = tray->jobs->submit(labels[i], job, (void *)(uintptr_t)labels[i]);
    return true;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    Tray *tray = self;
    (void)info;
    tray->ui->text("Three jobs.");
    if (!tray->ui->shortcut(CALIPER_KEY_DOWN, 0))
        return;
    /* Whoever was cancelled says so first. */
    while (running(tray) == JOBS)
        nap();
    tray->log->log(CALIPER_LOG_INFO, "the applet got a key");
}

static void cleanup(void *self)
{
    (void)self;
    the_log->log(CALIPER_LOG_INFO, "cleanup");
}

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.tray",
                                                   .version = "1.0.0",
                                                   .name = "Tray",
                                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                                           .create = create,
                                                           .destroy = destroy,
                                                           .initialize = initialize,
                                                           .frame = frame,
                                                           .cleanup = cleanup}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return &descriptor;
}
