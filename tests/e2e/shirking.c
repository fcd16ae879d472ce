/* An applet with one fault at a time, each for one row of `caliper check`: TEST_SHIRK names it.
 * Built without sanitizers, which would end the process before the host can. */
#include <caliper/caliper.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const CaliperHost *kept_host;
static const CaliperLogV1 *kept_log;
static int lives, frames;
static bool running;

static bool is(const char *name)
{
    const char *wanted = getenv("TEST_SHIRK");
    return wanted != NULL && strcmp(wanted, name) == 0;
}

static void fault(void)
{
    *(volatile int *)(uintptr_t)16 = 1;
}

static void *create(void)
{
    return &lives;
}

static void destroy(void *self)
{
    (void)self;
    if (is("destroy without initialize") && lives == 0)
        fault();
}

static void *crash(void *unused)
{
    fault();
    return unused;
}

static void start(void *(*run)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_detach(thread);
}

static bool initialize(void *self, const CaliperHost *host)
{
    (void)self;
    lives++;
    frames = 0;
    running = true;
    kept_host = host;
    kept_log = host->get_service(host, CALIPER_LOG_V1);
    if (is("takes the log for granted"))
        kept_log->log(CALIPER_LOG_INFO, "here");
    if (is("second life in one load") && lives == 2)
        fault();
    if (is("leaves a thread"))
        start((void *(*)(void *))(void (*)(void))pause); /* whose code is never unloaded */
    if (is("leaves a file") && fopen("/dev/null", "r") == NULL)
        return false;
    if (is("asks for more"))
        host->get_service(host, "org.caliper.test.unnamed");
    return kept_log != NULL || is("takes the log for granted later");
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    (void)self;
    frames++;
    if (is("takes the log for granted later"))
        kept_log->log(CALIPER_LOG_INFO, "still here");
    if (is("whole scales") && info->dpi_scale != (float)(int)info->dpi_scale)
        fault();
    if (is("no tiny frames") && info->fb_width < 2)
        fault();
    if (is("no huge frames") && info->fb_width > 8192)
        fault();
    if (is("slow") && frames == 3)
        usleep(300000);
    if (is("ends the process") && frames == 2)
        exit(0);
    if (is("ends the process at once") && frames == 2)
        _exit(0);
    if (is("crashes on a thread") && frames == 2) {
        start(crash);
        sleep(10);
    }
    if (is("hangs") && frames == 2) {
        for (volatile int turn = 0;; turn++)
            ;
    }
}

static void cleanup(void *self)
{
    (void)self;
    running = false;
    if (is("cleanup without a frame") && frames == 0)
        fault();
}

__attribute__((destructor)) static void unload(void)
{
    if (is("exit while it runs") && running)
        fault();
}

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.shirking",
                                                   .version = "0.1.0",
                                                   .name = "Shirking",
                                                   .summary = "Leaves out what it should do",
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
