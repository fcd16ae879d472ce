/* services/services.h: everything that the host vends without a UI, registered in one call.
 *
 * For the shell and the tests of a whole host. Frame thread. */
#ifndef CALIPER_SERVICES_SERVICES_H
#define CALIPER_SERVICES_SERVICES_H

#include <stdbool.h>

#include "bridge/bridge.h"
#include "core/host.h"

/* Registers caliper.log.v1, caliper.artifacts.v1, caliper.jobs.v1, caliper.data.v1,
 * caliper.device.v1 (detecting the device unless that is done), the bridge's tables and
 * caliper.texture_read.v1; takes an applet's textures back when its life ends, and closes what was
 * opened when the host ends. The host is destroyed before the bridge. With a NULL bridge none of
 * those that need one. False after one line. */
bool services_register_all(Host *host, Bridge *bridge);

#endif
