/* applets/gallery/gallery.h: the gallery's state and its pages. Included by applets/gallery only;
 * frame thread. */
#ifndef CALIPER_GALLERY_H
#define CALIPER_GALLERY_H

#include <caliper/caliper.h>
#include <stdbool.h>

enum {
    GALLERY_ROWS = 1000,      /* of the table */
    GALLERY_ITEMS = 100000,   /* of the long combo */
    GALLERY_POINTS = 1 << 20, /* of the long line */
    GALLERY_SAMPLES = 400,    /* of the others */
    GALLERY_SCATTER = 600,
    GALLERY_SIDE = 12 /* of the picture */
};

/* Words on a picture of any colour: white on a dark ground. */
static const uint32_t GALLERY_NOTE_INK = 0xffffffffu, GALLERY_NOTE_GROUND = 0xc0101010u;

typedef struct Gallery {
    const CaliperWidgetsV1 *ui;
    const CaliperPlotV1 *plot;
    const CaliperTensorBridgeV1 *bridge;
    int32_t page;
    double time_sec;

    /* What the person may change. */
    bool ticks[4], open, modal_wanted, tab_open[2];
    int32_t choice, chosen, chosen_long, sorted_by, clicks;
    bool sorted_down;
    bool selected[GALLERY_ROWS];
    int32_t order[GALLERY_ROWS];
    double numbers[12];
    int64_t whole[4];
    char name[32], secret[32], note[256], bad[32], filter[32];
    uint32_t colors[3];
    float side;
    double view[3], view_linear[3];

    /* What is shown. */
    CaliperTextureId picture, released;
    float pixels[GALLERY_SIDE][GALLERY_SIDE];
    char *item_text;    /* of the long combo */
    const char **items; /* into it */
    float *points;
    double waves[3][GALLERY_SAMPLES], spread[GALLERY_SAMPLES];
    float scatter_x[GALLERY_SCATTER], scatter_y[GALLERY_SCATTER];
    uint32_t scatter_rgba[GALLERY_SCATTER];
    double low, high, lines[2];
} Gallery;

typedef struct GalleryPage {
    const char *name, *about;
    void (*draw)(Gallery *gallery);
} GalleryPage;

/* A CaliperPlotData of doubles over x0 + i * dx. */
CaliperPlotData gallery_data(const double *y, int64_t count, double x0, double dx);

void gallery_text(Gallery *gallery);
void gallery_text_extremes(Gallery *gallery);
void gallery_buttons(Gallery *gallery);
void gallery_numbers(Gallery *gallery);
void gallery_entries(Gallery *gallery);
void gallery_layout(Gallery *gallery);
void gallery_trees(Gallery *gallery);
void gallery_menus(Gallery *gallery);
void gallery_table(Gallery *gallery);
void gallery_images(Gallery *gallery);
void gallery_drawing(Gallery *gallery);
void gallery_lines(Gallery *gallery);
void gallery_points(Gallery *gallery);
void gallery_axes(Gallery *gallery);
void gallery_marks(Gallery *gallery);
void gallery_long(Gallery *gallery);
void gallery_misuse(Gallery *gallery);

#endif
