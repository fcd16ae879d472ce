/* shell/services_known.h: the services of this build, for hosts that only look at applets.
 * Included by cli/. */
#ifndef CALIPER_SHELL_SERVICES_KNOWN_H
#define CALIPER_SHELL_SERVICES_KNOWN_H

#include <stdbool.h>

#include "bridge/bridge.h"
#include "core/host.h"

/* Registers every table; without a bridge (NULL) they refuse to work. False and a line when one is
 * taken. */
bool services_register_known(Host *host, Bridge *bridge);

#endif
