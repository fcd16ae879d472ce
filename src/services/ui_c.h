/* services/ui_c.h: the house's C headers as the toolkit layer's C++ needs them: with C linkage.
 * Included first by services/ui_internal.h. */
#ifndef CALIPER_SERVICES_UI_C_H
#define CALIPER_SERVICES_UI_C_H

extern "C" {
#include "bridge/bridge.h"
#include "core/caller.h"
#include "core/log.h"
#include "kernels/kernels.h"
#include "render/renderer.h"
}

#endif
