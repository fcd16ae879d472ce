/* tensorscope/app.h: the applet's whole state: services, the session, and what the panel keeps.
 *
 * Included by app.c and panel*.c. Frame thread only. */
#ifndef TENSORSCOPE_APP_H
#define TENSORSCOPE_APP_H

#include <caliper/caliper.h>
#include <caliper/services/draft/plot.h>

#include "session.h"

typedef struct App {
    const CaliperWidgetsV1 *ui;
    const CaliperPlotDraft *plot; /* NULL: colours of single values are not shown */
    const CaliperTensorBridgeV1 *bridge;
    const CaliperLogV1 *log;
    CaliperDeviceSnapshot device;
    Session session;

    /* The colour bar's texture: the 256 entries from the top down. */
    CaliperTextureId bar_texture;
    int32_t bar_colormap;

    /* The panel. */
    float dpi_scale;
    float side;   /* width of the controls */
    float narrow; /* height of the picture where panel is too narrow for both */
    bool grid;
    bool log_counts;
    char path[SESSION_PATH_BYTES];
    char filter[128]; /* of the list of arrays */

    /* What the pointer is on, for the colour bar and the line below the picture. */
    Hover hover;
} App;

/* panel.c: one frame of the whole panel. */
void panel_draw(App *app);

/* panel_source.c: opening, the file, the list of its arrays; failures. */
void panel_source(App *app);
void panel_failure(App *app);
/* panel_slice.c: axes and sliders. */
void panel_slice(App *app);
/* panel_display.c: colormap, range, counts. */
void panel_display(App *app);
void panel_values(App *app);
/* panel_histogram.c */
void panel_histogram(App *app);
/* panel_demo.c: what the live source is, and how to open a file. */
void panel_demo(App *app);
/* panel_image.c: the picture with its title, colour bar and the value under the pointer. */
void panel_image(App *app);

#endif
