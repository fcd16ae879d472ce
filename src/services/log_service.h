/* services/log_service.h: caliper.log.v1.
 *
 * src/services/ holds one file per vended table, each thin: it maps a frozen struct onto the part
 * that does the work. Included by services.c and tests. */
#ifndef CALIPER_SERVICES_LOG_SERVICE_H
#define CALIPER_SERVICES_LOG_SERVICE_H

#include <caliper/services/log_v1.h>

/* Any thread; lives for the process. */
const CaliperLogV1 *log_service_table(void);

#endif
