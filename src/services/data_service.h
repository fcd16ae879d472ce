/* services/data_service.h: caliper.data.v1 over store/data/. Included by services.c and tests. */
#ifndef CALIPER_SERVICES_DATA_SERVICE_H
#define CALIPER_SERVICES_DATA_SERVICE_H

#include <caliper/services/data_v1.h>

#include "core/host.h"

/* Any thread; lives for the process, also after the host, when its calls are refused. */
const CaliperDataV1 *data_service_table(void);

/* Registers the table for the host's data root, and closes the store when the host ends. Where
 * DuckDB's library is not there, the id is registered as absent. Opens and loads nothing. One host
 * a process at a time is served. Frame thread. False after one line. */
bool data_service_register(Host *host);

#endif
