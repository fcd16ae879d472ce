/* hpp_bare.cpp: the least applet: no required service, nothing overridden but frame(). */
#include <caliper/caliper.hpp>

namespace
{
class Bare final : public caliper::Applet
{
    void frame(const CaliperFrameInfo &) override {}
};
} // namespace

CALIPER_APPLET(Bare, "org.caliper.tests.bare", "0.0.1", "Bare", "Does nothing", "test");
