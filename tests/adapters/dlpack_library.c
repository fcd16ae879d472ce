/* caliper/adapters/dlpack.h behind plain exported functions, for test_dlpack_numpy.py. */
#include <caliper/adapters/dlpack.h>

#define EXPORTED __attribute__((visibility("default")))

static int released;

static void count_release(void *owner)
{
    (void)owner;
    released++;
}

EXPORTED int dlpack_released(void);
EXPORTED void *dlpack_hold(CaliperDLManagedTensor *managed, CaliperTensor *out, const char **why);
EXPORTED void dlpack_release(void *hold);
EXPORTED void *dlpack_export(const CaliperTensor *from);

int dlpack_released(void)
{
    return released;
}

void *dlpack_hold(CaliperDLManagedTensor *managed, CaliperTensor *out, const char **why)
{
    CaliperDLHold *hold = malloc(sizeof *hold);
    if (hold == NULL || !caliper_dl_hold(managed, NULL, hold, why)) {
        free(hold);
        return NULL;
    }
    *out = hold->tensor;
    return hold;
}

void dlpack_release(void *hold)
{
    caliper_dl_release(hold);
    free(hold);
}

void *dlpack_export(const CaliperTensor *from)
{
    return caliper_to_dlpack(from, NULL, count_release, NULL);
}
