/* applets/gallery/gallery.c: every widget and every plot in every state, page by page. Page Down
 * and Page Up turn the pages, A to Q go to one. */
#include "gallery.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const GalleryPage pages[] = {
    {"Text", "Kinds of text, read-only fields, icons.", gallery_text},
    {"Any text", "Long, mixed and broken strings are shown, never trusted.", gallery_text_extremes},
    {"Buttons", "Buttons, ticks, choices, rows; enabled and disabled.", gallery_buttons},
    {"Numbers", "Sliders, drags and typed numbers.", gallery_numbers},
    {"Entries", "Text fields, lists, colours, progress.", gallery_entries},
    {"Layout", "Splits, children, groups, indents.", gallery_layout},
    {"Trees and tabs", "What opens and what takes turns.", gallery_trees},
    {"Menus and popups", "A menu bar, popups, a window beside the panel.", gallery_menus},
    {"Tables", "A thousand rows, of which only those in sight are drawn.", gallery_table},
    {"Images", "A tensor at any scale, near and smooth; ids that are none.", gallery_images},
    {"Drawing", "Lines, shapes and texts on a canvas.", gallery_drawing},
    {"Lines", "Lines, steps, areas, stems, bands, whiskers; gaps where values are not finite.",
     gallery_lines},
    {"Points and bars", "Scatter, bars, histograms.", gallery_points},
    {"Axes", "Logarithms, time, two y axes, own ticks, long labels.", gallery_axes},
    {"Plot marks", "Pictures, lines to drag, spans, notes, colour bars, sparks.", gallery_marks},
    {"Long series", "A million points, with every extreme.", gallery_long},
    {"Misuse", "What is called wrongly is repaired and logged once.", gallery_misuse},
};

enum { PAGES = sizeof pages / sizeof pages[0] };

CaliperPlotData gallery_data(const double *y, int64_t count, double x0, double dx)
{
    CaliperPlotData data = {.struct_size = sizeof data};
    data.y = y;
    data.count = count;
    data.x0 = x0;
    data.dx = dx;
    return data;
}

/* ---- What is shown ---- */

/* The same numbers on every machine. */
static uint32_t noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static double uniform(uint32_t *state)
{
    return (double)noise(state) / (double)(1u << 24);
}

static double normal(uint32_t *state)
{
    double sum = 0.0;
    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum - 6.0;
}

static void fill_series(Gallery *gallery)
{
    uint32_t seed = 20240;
    for (int i = 0; i < GALLERY_SAMPLES; i++) {
        double t = (double)i / (GALLERY_SAMPLES - 1);
        gallery->waves[0][i] = 2.2 * exp(-3.0 * t) + 0.25 + 0.05 * normal(&seed);
        gallery->waves[1][i] = 2.3 * exp(-2.4 * t) + 0.42 + 0.03 * normal(&seed);
        gallery->waves[2][i] = sin(14.0 * t) * (0.3 + t);
        gallery->spread[i] = 0.08 + 0.2 * t;
    }
    for (int i = 0; i < GALLERY_SCATTER; i++) {
        int cluster = i % 3;
        gallery->scatter_x[i] = (float)(normal(&seed) * 0.8 + 3.0 * cluster);
        gallery->scatter_y[i] = (float)(normal(&seed) * (0.5 + 0.4 * cluster) + cluster * cluster);
        gallery->scatter_rgba[i] =
            gallery->plot->colormap(CALIPER_CMAP_MAGMA, gallery->scatter_y[i], -2.0f, 6.0f);
    }
    for (int i = 0; i < GALLERY_POINTS; i++) {
        double t = (double)i / GALLERY_POINTS;
        gallery->points[i] = (float)(sin(40.0 * t) * (1.0 - t) + 0.1 * (uniform(&seed) - 0.5) +
                                     0.3 * sin(900.0 * t * t));
    }
    gallery->points[GALLERY_POINTS / 3] = 2.5f; /* one sample each: they have to be seen */
    gallery->points[GALLERY_POINTS / 2] = -3.0f;
}

static bool make_picture(Gallery *gallery)
{
    for (int row = 0; row < GALLERY_SIDE; row++) {
        for (int column = 0; column < GALLERY_SIDE; column++)
            gallery->pixels[row][column] = (float)(0.5 + 0.5 * sin(0.55 * row) * cos(0.4 * column));
    }
    CaliperTensor tensor =
        caliper_tensor_f32_2d(&gallery->pixels[0][0], GALLERY_SIDE, GALLERY_SIDE);
    gallery->picture =
        gallery->bridge->texture_from_tensor_mapped(&tensor, CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f, 0);
    gallery->released =
        gallery->bridge->texture_from_tensor_mapped(&tensor, CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f, 0);
    gallery->bridge->release_texture(gallery->released);
    return gallery->picture != 0;
}

static bool make_items(Gallery *gallery)
{
    enum { BYTES = 24 };
    gallery->item_text = malloc((size_t)GALLERY_ITEMS * BYTES);
    gallery->items = malloc((size_t)GALLERY_ITEMS * sizeof *gallery->items);
    gallery->points = malloc((size_t)GALLERY_POINTS * sizeof *gallery->points);
    if (gallery->item_text == NULL || gallery->items == NULL || gallery->points == NULL)
        return false;
    for (int i = 0; i < GALLERY_ITEMS; i++) {
        char *text = gallery->item_text + (size_t)i * BYTES;
        snprintf(text, BYTES, "layer.%d.weight", i);
        gallery->items[i] = text;
    }
    return true;
}

/* ---- The life of an applet ---- */

static void *create(void)
{
    return calloc(1, sizeof(Gallery));
}

static void destroy(void *self)
{
    Gallery *gallery = self;
    free(gallery->item_text);
    free(gallery->items);
    free(gallery->points);
    free(gallery);
}

static void set_defaults(Gallery *gallery)
{
    static const double numbers[12] = {0.35, 1e-3, 42.0, 250.0, (double)NAN, 0.5,
                                       0.25, 0.75, 1.0,  0.1,   0.9,         3.14159265358979};
    memcpy(gallery->numbers, numbers, sizeof numbers);
    gallery->whole[0] = 7;
    gallery->whole[1] = INT64_C(9007199254740993); /* 2^53 + 1 */
    gallery->whole[2] = -3;
    gallery->ticks[0] = gallery->open = gallery->tab_open[0] = gallery->tab_open[1] = true;
    gallery->chosen_long = 41;
    gallery->colors[0] = 0xffe0a030u;
    gallery->colors[1] = 0x8030a0e0u;
    gallery->colors[2] = 0xff5cc98du;
    gallery->low = 0.1;
    gallery->high = 0.9;
    gallery->lines[0] = 0.3;
    gallery->lines[1] = 0.8;
    gallery->sorted_by = -1;
    for (int i = 0; i < GALLERY_ROWS; i++)
        gallery->order[i] = i;
    gallery->selected[2] = gallery->selected[3] = true;
    strcpy(gallery->name, "Zürich");
    strcpy(gallery->secret, "secret");
    strcpy(gallery->note, "Two lines,\nkept as they are.");
    strcpy(gallery->bad, "not \xff UTF-8 \xc3");
}

static bool initialize(void *self, const CaliperHost *host)
{
    Gallery *gallery = self;
    gallery->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    gallery->plot = CALIPER_SERVICE(host, CaliperPlotV1, CALIPER_PLOT_V1);
    gallery->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1, CALIPER_TENSOR_BRIDGE_V1);
    if (gallery->ui == NULL || gallery->plot == NULL || gallery->bridge == NULL)
        return false;
    set_defaults(gallery);
    return make_items(gallery) && make_picture(gallery);
}

static void cleanup(void *self)
{
    Gallery *gallery = self;
    gallery->bridge->release_texture(gallery->picture);
}

static void draw_list(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    for (int32_t i = 0; i < PAGES; i++) {
        if (ui->selectable(pages[i].name, i == gallery->page, 0, 0, 0))
            gallery->page = i;
    }
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    Gallery *gallery = self;
    const CaliperWidgetsV1 *ui = gallery->ui;
    if (gallery->time_sec == 0.0)
        fill_series(gallery); /* here, where a value's colour can be asked for */
    gallery->time_sec += info->delta_sec;
    if (ui->shortcut(CALIPER_KEY_PAGE_DOWN, 0))
        gallery->page = (gallery->page + 1) % PAGES;
    if (ui->shortcut(CALIPER_KEY_PAGE_UP, 0))
        gallery->page = (gallery->page + PAGES - 1) % PAGES;
    for (int32_t i = 0; i < PAGES; i++) { /* A, B, C ... */
        if (ui->shortcut('A' + (uint32_t)i, 0))
            gallery->page = i;
    }
    if (gallery->side == 0.0f)
        gallery->side = 170.0f;
    ui->split("pages", CALIPER_SPLIT_LEFT_RIGHT, &gallery->side, 120, 200);
    draw_list(gallery);
    ui->split_next();
    const GalleryPage *page = &pages[gallery->page];
    ui->push_id(page->name);
    ui->indent(8);
    ui->text_ex(page->name, -1, 0, CALIPER_TEXT_HEADING);
    ui->text_ex(page->about, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
    ui->space(0, 0);
    page->draw(gallery);
    ui->end(CALIPER_SCOPE_INDENT);
    ui->end(CALIPER_SCOPE_ID);
    ui->end(CALIPER_SCOPE_SPLIT);
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const services[] = {CALIPER_TENSOR_BRIDGE_V1, CALIPER_WIDGETS_V1,
                                           CALIPER_PLOT_V1, NULL};
    static const CaliperAppletDescriptor descriptor = {
        .struct_size = sizeof descriptor,
        .abi_epoch = CALIPER_ABI_EPOCH,
        .id = "org.caliper.gallery",
        .version = "1.0.0",
        .name = "Gallery",
        .summary = "Every widget and every plot, in every state.",
        .tag = "example",
        .required_services = services,
        .api = {.struct_size = sizeof descriptor.api,
                .create = create,
                .destroy = destroy,
                .initialize = initialize,
                .frame = frame,
                .cleanup = cleanup},
    };
    return &descriptor;
}
