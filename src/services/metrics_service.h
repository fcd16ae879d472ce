/* services/metrics_service.h: caliper.metrics.v1 and v1_1 over the store of metrics.
 *
 * For services.c and the shell. The tables go to the store of the host that registered last;
 * without one a call does nothing. */
#ifndef CALIPER_SERVICES_METRICS_SERVICE_H
#define CALIPER_SERVICES_METRICS_SERVICE_H

#include <caliper/services/metrics_v1.h>
#include <caliper/services/metrics_v1_1.h>
#include <stdbool.h>

#include "core/host.h"
#include "store/metrics/metrics_store.h"

/* Registers both tables over <data root>/metrics.duckdb, which is opened by a thread of its own
 * when something is logged or read, and closed when the host ends. `start_now`: applets will run
 * here, so numbers for runs are got ready. Frame thread. False after one line. */
bool metrics_service_register(Host *host, bool start_now);

/* The store, for the dashboards; NULL: there is none. Lives until the host ends. Frame thread. */
MetricsStore *metrics_service_store(void);
/* False: there is no store. Cheap enough for every frame. */
bool metrics_service_status(MetricsStatus *out);

const CaliperMetricsV1 *metrics_service_table(void);
const CaliperMetricsV1_1 *metrics_service_table_v1_1(void);

#endif
