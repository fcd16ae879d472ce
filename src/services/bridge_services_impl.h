/* services/bridge_services_impl.h: what tensor_bridge.c and texture_read.c share. Any thread. */
#ifndef CALIPER_SERVICES_BRIDGE_SERVICES_IMPL_H
#define CALIPER_SERVICES_BRIDGE_SERVICES_IMPL_H

#include <caliper/services/texture_read_v1.h>

#include "services/bridge_services.h"

/* The bound bridge; NULL when none is. */
Bridge *bridge_services_current(void);

extern const CaliperTextureReadV1 texture_read_table;

#endif
