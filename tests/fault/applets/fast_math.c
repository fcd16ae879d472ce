/* An applet built and linked with -ffast-math: its constructor switches flushing on for the thread
 * that opens it. Otherwise it behaves. */
#include <caliper/abi.h>

static int the_self;

static void *create(void)
{
    return &the_self;
}

static void take_self(void *self)
{
    (void)self;
}

static bool initialize(void *self, const CaliperHost *host)
{
    (void)self;
    return host->applet_data_dir != 0;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    (void)self;
    (void)info;
}

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.fast_math",
                                                   .version = "1.0.0",
                                                   .name = "Fast math",
                                                   .summary = "Flushes denormals when opened",
                                                   .tag = "test",
                                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                                           .create = create,
                                                           .destroy = take_self,
                                                           .initialize = initialize,
                                                           .frame = frame,
                                                           .cleanup = take_self}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return &descriptor;
}
