/* services/services.h: everything that the host vends without a UI, registered in one call.
 *
 * For the shell and the tests of a whole host. Frame thread. */
#ifndef CALIPER_SERVICES_SERVICES_H
#define CALIPER_SERVICES_SERVICES_H

#include <stdbool.h>

#include "bridge/bridge.h"
#include "core/host.h"

/* Registers caliper.log.v1, caliper.device.v1 (detecting the device unless that is done),
 * caliper.jobs.v1, the
 * bridge's tables and caliper.texture_read.v1, and takes an applet's textures back when its life
 * ends. The host is destroyed before the bridge. With a NULL bridge only log, device and jobs.
 * False after one line. */
bool services_register_all(Host *host, Bridge *bridge);

#endif
