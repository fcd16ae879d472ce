// An applet that lets a C++ exception leave frame().
#include <caliper/abi.h>
#include <stdexcept>

static int the_self;

static void *create()
{
    return &the_self;
}

static void take_self(void *) {}

static bool initialize(void *, const CaliperHost *)
{
    return true;
}

static void frame(void *, const CaliperFrameInfo *)
{
    throw std::runtime_error("nobody catches this");
}

static const CaliperAppletDescriptor descriptor = {
    sizeof(CaliperAppletDescriptor),
    CALIPER_ABI_EPOCH,
    "org.caliper.test.throwing",
    "1.0.0",
    "Throwing",
    "Throws",
    "test",
    nullptr,
    {sizeof(CaliperAppletAPI), create, take_self, initialize, frame, take_self}};

extern "C" CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor()
{
    return &descriptor;
}
