/* caliper.jobs.v1: jobs belong to the applet that submits them. Any thread. */
#include "services/jobs_service.h"

#include "jobs/jobs.h"

/* On a thread that the applet made itself the return address tells whose job it is; where that is
 * in another library, as a thread pool's, the job's function does. */
static CallerId owner_of(const void *return_address, CaliperJobFn fn)
{
    CallerId owner = caller_current();
    if (owner == 0)
        owner = caller_of_address(return_address);
    return owner != 0 ? owner : caller_of_address((const void *)(uintptr_t)fn);
}

static uint64_t service_submit(const char *label, CaliperJobFn fn, void *user)
{
    CallerId owner = owner_of(__builtin_return_address(0), fn);
    CallerId before = caller_enter(owner); /* for the line of a refusal */
    uint64_t id = jobs_submit(label, fn, user, owner);
    caller_leave(before);
    return id;
}

static const CaliperJobsV1 table = {.struct_size = sizeof table,
                                    .submit = service_submit,
                                    .request_cancel = jobs_request_cancel,
                                    .is_running = jobs_is_running,
                                    .progress_of = jobs_progress_of};

const CaliperJobsV1 *jobs_service_table(void)
{
    return &table;
}

static bool quiesce(void *user, CallerId owner)
{
    (void)user;
    return jobs_quiesce(owner);
}

static void reclaim(void *user, CallerId owner, bool leaked)
{
    (void)user;
    (void)leaked;
    jobs_owner_gone(owner);
}

bool jobs_service_register(Host *host)
{
    return host_service_register(host, CALIPER_JOBS_V1, &table) &&
           host_on_quiesce(host, quiesce, NULL) && host_on_reclaim(host, reclaim, NULL);
}
