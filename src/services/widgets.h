/* services/widgets.h: the tables caliper.widgets.v1 and caliper.plot.v1 for the shell.
 *
 * The shell brackets every applet's frame() with widgets_begin and widgets_end, and its own pages
 * too, which draw through the same table. C; frame thread only. */
#ifndef CALIPER_SERVICES_WIDGETS_H
#define CALIPER_SERVICES_WIDGETS_H

#include <caliper/services/plot_v1.h>
#include <caliper/services/widgets_v1.h>
#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "core/caller.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread becomes the tables' frame thread; `bridge` stays the caller's. */
void widgets_start(Bridge *bridge);
void widgets_stop(void);

const CaliperWidgetsV1 *widgets_table(void);
const CaliperPlotV1 *plot_table(void);

/* What was dropped on the panel that is drawn next: `count` paths that live until widgets_end. */
void widgets_set_dropped(const char *const *paths, int32_t count);

/* Around one owner's drawing, inside an open panel or region; never nested. widgets_end closes what
 * was left open, also after a fault. */
void widgets_begin(CallerId owner);
void widgets_end(void);

#ifdef __cplusplus
}
#endif

#endif
