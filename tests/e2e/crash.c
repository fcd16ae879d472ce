/* tests/e2e/crash.c: an applet that writes to address 8 in its second frame, with scopes of the
 * widgets table open. Its panel and its neighbours have to live on. */
#include <caliper/caliper.h>
#include <stdlib.h>

typedef struct Crash {
    const CaliperWidgetsV1 *ui;
    int frames;
} Crash;

static void *create(void)
{
    return calloc(1, sizeof(Crash));
}

static void destroy(void *self)
{
    free(self);
}

static bool initialize(void *self, const CaliperHost *host)
{
    Crash *crash = self;
    crash->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    return crash->ui != NULL;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    Crash *crash = self;
    (void)info;
    crash->ui->child("c", 0, 0, 0);
    crash->ui->push_text(0, CALIPER_TEXT_MONO);
    crash->ui->table("t", 2, 0, 0, 0);
    crash->ui->table_cell(-1, 0);
    crash->ui->disabled(true);
    volatile uintptr_t nowhere = 8; /* the compiler is not to know */
    if (crash->frames++ == 1)
        *(volatile int *)nowhere = 1;
    crash->ui->end(CALIPER_SCOPE_CHILD);
}

static void cleanup(void *self)
{
    (void)self;
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const CaliperAppletDescriptor descriptor = {
        .struct_size = sizeof descriptor,
        .abi_epoch = CALIPER_ABI_EPOCH,
        .id = "org.caliper.test.crash",
        .version = "1.0.0",
        .name = "Crash",
        .summary = "Writes to address 8.",
        .tag = "test",
        .api = {.struct_size = sizeof descriptor.api,
                .create = create,
                .destroy = destroy,
                .initialize = initialize,
                .frame = frame,
                .cleanup = cleanup},
    };
    return &descriptor;
}
