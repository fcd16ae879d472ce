/* export_two.c: a module that exports one symbol too many, to try check_exports on. */
#include <stddef.h>

#include <caliper/abi.h>

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT int one_too_many(void);

const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return NULL;
}

int one_too_many(void)
{
    return 1;
}
