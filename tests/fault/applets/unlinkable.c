/* An applet that needs a function which nobody has. */
#include <caliper/abi.h>

const CaliperAppletDescriptor *nobody_has_this(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return nobody_has_this();
}
