/* An applet that behaves, writes down the calls it gets and hands the list over when destroyed.
 * RECORDER_VERSION is given by the build. */
#include <caliper/abi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probe.h"

typedef struct Recorder {
    char calls[512];
    const TestProbe *probe;
} Recorder;

static Recorder *the_only;

static void record(Recorder *recorder, const char *call)
{
    size_t used = strlen(recorder->calls);
    snprintf(recorder->calls + used, sizeof recorder->calls - used, "%s ",
             recorder == the_only ? call : "stranger");
}

static void *create(void)
{
    the_only = calloc(1, sizeof *the_only);
    record(the_only, "create");
    return the_only;
}

static void destroy(void *self)
{
    Recorder *recorder = self;
    record(recorder, "destroy");
    recorder->probe->note(recorder->calls);
    free(recorder);
    the_only = NULL;
}

/* What a host must be like; the name of the first thing that is not. */
static const char *host_problem(const CaliperHost *host)
{
    struct stat status;
    const void *log = host->get_service(host, "caliper.log.v1");
    if (host->struct_size != 32)
        return "struct_size";
    if (host->abi_epoch != 2)
        return "abi_epoch";
    if (host->host_version != RECORDER_HOST_VERSION)
        return "host_version";
    if (host->applet_data_dir == NULL || stat(host->applet_data_dir, &status) != 0 ||
        !S_ISDIR(status.st_mode))
        return "applet_data_dir";
    if (strstr(host->applet_data_dir, "/data/org.caliper.test.recorder") == NULL)
        return "applet_data_dir's name";
    if (log == NULL || log != host->get_service(host, "caliper.log.v1"))
        return "get_service of the log";
    if (host->get_service(host, NULL) != NULL || host->get_service(host, "") != NULL ||
        host->get_service(host, "caliper.log.v2") != NULL ||
        host->get_service(host, "caliper.log.v") != NULL)
        return "get_service of what is not there";
    return NULL;
}

static bool initialize(void *self, const CaliperHost *host)
{
    Recorder *recorder = self;
    recorder->probe = host->get_service(host, TEST_PROBE);
    const char *problem = host_problem(host);
    record(recorder, problem != NULL ? problem : "initialize");
    return true;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    record(self, info->struct_size == 32 && info->fb_width == 1280 && info->fb_height == 800 &&
                         info->dpi_scale == 1.0f && info->delta_sec > 0.0
                     ? "frame"
                     : "wrong info");
}

static void cleanup(void *self)
{
    record(self, "cleanup");
}

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.recorder",
                                                   .version = RECORDER_VERSION,
                                                   .name = "Recorder " RECORDER_VERSION,
                                                   .summary = "Writes down its calls",
                                                   .tag = "test",
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
