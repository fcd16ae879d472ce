/* caliper/services/draft/plot.h: caliper.plot.draft, the first slots of what becomes
 * caliper.plot.v1.
 *
 * A draft that holds only what a host of this build really draws: the colour bar, and the colour a
 * value gets. Plots follow before the id is released. Rules as in widgets_v1.h, with which it
 * shares the scope stack: [frame] for every slot. */
#ifndef CALIPER_SERVICES_DRAFT_PLOT_H
#define CALIPER_SERVICES_DRAFT_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/plot_v1.h>

#define CALIPER_PLOT_DRAFT "caliper.plot.draft"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperPlotDraft {
    uint32_t struct_size;

    /* A bar of one of the colormaps CALIPER_CMAP_*, with its range below it (VERTICAL: beside it).
     * w 0: all that is left, h 0: one control high (VERTICAL: the other way round). With DRAG the
     * ends can be moved: true while *vmin or *vmax changes. vmin > vmax shows it reversed; a NULL
     * or not finite end draws nothing. [frame] */
    bool (*color_bar)(const char *label, int32_t colormap, double *vmin, double *vmax, float w,
                      float h, uint32_t flags);

    /* 0xAABBGGRR: the colour that the bridge gives that value, by the same rule; 0 for an unknown
     * colormap or a range that the bridge refuses. [frame] */
    uint32_t (*colormap)(int32_t colormap, float v, float vmin, float vmax);
} CaliperPlotDraft;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperPlotDraft, 24);
CALIPER_LAYOUT_AT(CaliperPlotDraft, color_bar, 8);
CALIPER_LAYOUT_AT(CaliperPlotDraft, colormap, 16);

#endif
