/* services/jobs_service.h: caliper.jobs.v1 over src/jobs/. Included by services.c and tests. */
#ifndef CALIPER_SERVICES_JOBS_SERVICE_H
#define CALIPER_SERVICES_JOBS_SERVICE_H

#include <caliper/services/jobs_v1.h>

#include "core/host.h"

/* Any thread; lives for the process, also after the host. */
const CaliperJobsV1 *jobs_service_table(void);

/* Registers the table, and cancels an applet's jobs when it closes. Frame thread. False after one
 * line. */
bool jobs_service_register(Host *host);

#endif
