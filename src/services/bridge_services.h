/* services/bridge_services.h: caliper.tensor_bridge.v1, v1_1, v1_2 and caliper.texture_read.v1.
 *
 * The frozen tables carry no context, so the bridge behind them is one per process: the bound one.
 * For the shell and for tests. Frame thread; the tables' own calls may come from any thread and are
 * refused by the bridge there. */
#ifndef CALIPER_SERVICES_BRIDGE_SERVICES_H
#define CALIPER_SERVICES_BRIDGE_SERVICES_H

#include <stdbool.h>

#include "bridge/bridge.h"
#include "core/host.h"

/* Binds the bridge and registers the four tables. False, after one line, if one was there before.
 */
bool bridge_services_register(Host *host, Bridge *bridge);
/* Another bridge, or NULL before the bridge is destroyed: calls are then refused. */
void bridge_services_bind(Bridge *bridge);

#endif
