/* An applet that faults while it is being opened: the one place where nothing can be contained. */
#include <caliper/abi.h>
#include <stddef.h>

__attribute__((constructor)) static void fault(void)
{
    int *volatile nowhere = (int *)(uintptr_t)16;
    *nowhere = 1;
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return NULL;
}
