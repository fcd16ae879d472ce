/* Registers the services that need no UI; see services.h. Frame thread. */
#include "services/services.h"

#include "services/artifacts_service.h"
#include "services/bridge_services.h"
#include "services/data_service.h"
#include "services/device_service.h"
#include "services/jobs_service.h"
#include "services/log_service.h"
#include "services/metrics_service.h"

static void reclaim_textures(void *user, CallerId owner, bool leaked)
{
    bridge_reclaim(user, owner, leaked);
}

static void close_artifacts(void *user)
{
    artifacts_service_unbind(user);
}

bool services_register_all(Host *host, Bridge *bridge)
{
    return host_service_register(host, CALIPER_LOG_V1, log_service_table()) &&
           host_service_register(host, CALIPER_DEVICE_V1, device_service_table()) &&
           artifacts_service_bind(host, host_data_dir(host)) &&
           host_on_end(host, close_artifacts, host) &&
           host_service_register(host, CALIPER_ARTIFACTS_V1, artifacts_service_table()) &&
           jobs_service_register(host) && data_service_register(host) &&
           metrics_service_register(host, bridge != NULL) &&
           (bridge == NULL || (bridge_services_register(host, bridge) &&
                               host_on_reclaim(host, reclaim_textures, bridge)));
}
