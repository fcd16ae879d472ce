/* tensorscope/app.h: the applet's whole state: services, the session, and what the panel keeps.
 *
 * Included by app.c and panel*.c. Frame thread only. */
#ifndef TENSORSCOPE_APP_H
#define TENSORSCOPE_APP_H

#include <caliper/caliper.h>
#include <caliper/services/texture_read_v1.h>

#include "formats/raw_layout.h"
#include "name_filter.h"
#include "save.h"
#include "session.h"

/* The fields of a file without a header. */
typedef struct RawForm {
    bool open;
    int32_t type; /* in the enum's order, from 0 */
    char shape[256];
    int64_t offset;
    bool big_endian;
    char of[SESSION_PATH_BYTES]; /* the open file whose layout the fields have */
} RawForm;

typedef struct App {
    const CaliperWidgetsV1 *ui;
    const CaliperPlotV1 *plot; /* NULL: colours of single values are not shown */
    const CaliperTensorBridgeV1 *bridge;
    const CaliperTextureReadV1 *read; /* NULL: no pictures are saved */
    const CaliperLogV1 *log;
    CaliperDeviceSnapshot device;
    Session session;
    Save *save;

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
    NameFilter filter; /* of the list of arrays */
    RawForm raw;
    double seen[4]; /* x0, y0, x1, y1 of the picture in sight, and how wide that is drawn */
    float seen_width;

    /* The window that saves. */
    int32_t save_kind;
    char save_path[SESSION_PATH_BYTES];
    bool save_finished; /* to be closed */

    /* What was just done, for the line below the picture, and for how long it is still told. */
    char said[SESSION_PATH_BYTES + 64];
    double said_for_sec;
    bool copies; /* the value under the pointer was asked for */

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
/* panel_image.c: the picture and all around it. */
void panel_image(App *app);
/* panel_tools.c: the line above: what it is, the tools and their keys; `view3` and the picture's
 * size in cells as image_view has them. */
void panel_title(App *app);
void panel_tools(App *app, double view3[3], int64_t width, int64_t height);
/* panel_fit.c: shortens a text wider than `width` by its beginning, which files and arrays of one
 * kind share. */
void panel_fit_text(const CaliperWidgetsV1 *ui, char *text, float width, uint32_t flags);
/* panel_nan.c: inside the picture's scope, crosses over NaN; the picture's size in cells, and what
 * a cell takes in the view. */
void panel_nan(const App *app, uint64_t rows, uint64_t cols, double down, double across);
/* panel_tiles.c: a grid of slices, in place of the one picture. */
void panel_tiles(App *app, float width, float height);
/* panel_bar.c: the strip from low (bottom) to high (top), with a value marked. */
/* How wide the bar is with its labels. */
float panel_bar_width(const App *app, float height, double low, double high);
void panel_bar(App *app, float width, float height, int32_t colormap, double low, double high,
               bool marked, double mark);
/* panel_foot.c: the line below: the value under the pointer, else what is shown. Inside the
 * picture's scope panel_take_copy notices a right click; the value as a number is for the bar. */
void panel_foot(App *app);
void panel_take_copy(App *app);
float panel_hovered_value(const App *app);
/* panel_save.c: the button and the window that save. */
void panel_save(App *app);
/* panel_raw.c: the fields for a file without a header. */
void panel_raw(App *app);

#endif
