/* applets/gallery/pages_images.c: textures and free drawing. */
#include "gallery.h"

#include <math.h>
#include <stdio.h>

static void draw_views(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    int64_t column = 0, row = 0;
    char text[64];
    if (ui->image_view("nearest", gallery->picture, GALLERY_SIDE, GALLERY_SIDE, 260, 220,
                       gallery->view, CALIPER_IMAGE_GRID | CALIPER_IMAGE_BORDER)) {
        ui->draw_rect(3, 2, 6, 4, ui->color(CALIPER_THEME_BAD), 2);
        ui->draw_rect(3, 2, 5.3, 2.95, GALLERY_NOTE_GROUND, -1);
        ui->draw_text(3.15, 2.05, "a box", -1, GALLERY_NOTE_INK, CALIPER_TEXT_SMALL);
        if (ui->texel(&column, &row)) {
            snprintf(text, sizeof text, "[%d, %d] = %.6f", (int)row, (int)column,
                     (double)gallery->pixels[row][column]);
            ui->tooltip(text);
        }
    }
    ui->end(CALIPER_SCOPE_IMAGE);
    ui->same_line(0, 0);
    ui->image_view("smooth", gallery->picture, GALLERY_SIDE, GALLERY_SIDE, 260, 220,
                   gallery->view_linear, CALIPER_IMAGE_LINEAR | CALIPER_IMAGE_BORDER);
    if (ui->tooltip_box()) {
        ui->text_ex("The same, near", -1, 0, CALIPER_TEXT_DIM);
        ui->image(gallery->picture, 96, 96, 0);
        ui->text("12 \u00d7 12 values");
    }
    ui->end(CALIPER_SCOPE_TOOLTIP);
    ui->end(CALIPER_SCOPE_IMAGE);
}

void gallery_images(Gallery *gallery)
{
    const CaliperWidgetsV1 *ui = gallery->ui;
    draw_views(gallery);
    ui->separator("Images, and ids that are none");
    ui->image(gallery->picture, 0, 0, 0);
    ui->same_line(0, 0);
    ui->image(gallery->picture, 96, 0, CALIPER_IMAGE_BORDER);
    ui->same_line(0, 0);
    ui->image(gallery->picture, 96, 96, CALIPER_IMAGE_LINEAR | CALIPER_IMAGE_FLIP_Y);
    ui->same_line(0, 0);
    ui->image(gallery->released, 96, 96, CALIPER_IMAGE_CHECKER);
    ui->same_line(0, 0);
    ui->image(UINT64_C(0x123456789), 96, 96, 0);
    ui->same_line(0, 0);
    ui->image(0, NAN, NAN, 0);
}

static void draw_star(const CaliperWidgetsV1 *ui, double x, double y, double radius)
{
    double points[10];
    for (int i = 0; i < 5; i++) {
        double angle = 2.51327412287 * i - 1.57079632679;
        points[2 * i] = x + radius * cos(angle);
        points[2 * i + 1] = y + radius * sin(angle);
    }
    ui->draw_path(points, 5, ui->color(CALIPER_THEME_SERIES + 5), 2, CALIPER_PATH_CLOSED);
}

void gallery_drawing(Gallery *gallery)
{
    static const double filled[] = {310, 40, 380, 60, 360, 120, 300, 110};
    static const double broken[] = {430, 40, 460, 110, NAN, NAN, 480, 40, 510, 110, 540, 50};
    const CaliperWidgetsV1 *ui = gallery->ui;
    if (ui->canvas("canvas", 0, 0, 0)) {
        double x0 = 0, y0 = 0, x1 = 0, y1 = 0, x = 0, y = 0;
        ui->visible(&x0, &y0, &x1, &y1);
        ui->draw_rect(x0, y0, x1, y1, ui->color(CALIPER_THEME_BACKGROUND), -1);
        for (int i = 0; i < 8; i++)
            ui->draw_line(20, 20 + 12 * i, 120, 20 + 4 * i * i,
                          ui->color(CALIPER_THEME_SERIES + (uint32_t)i), 1.0f + 0.5f * (float)i);
        ui->draw_rect(150, 30, 210, 80, 0, 2);
        ui->draw_rect(150, 95, 210, 125, ui->color(CALIPER_THEME_GOOD), -1);
        ui->draw_circle(255, 55, 26, ui->color(CALIPER_THEME_WARN), 3);
        ui->draw_circle(255, 115, 18, ui->color(CALIPER_THEME_BAD), -1);
        ui->draw_path(filled, 4, ui->color(CALIPER_THEME_SERIES + 4), 0, CALIPER_PATH_FILLED);
        ui->draw_path(broken, 6, ui->color(CALIPER_THEME_ACCENT), 2, 0);
        draw_star(ui, 80, 220, 50);
        ui->draw_text(160, 180, "top left", -1, 0, 0);
        ui->draw_text(300, 220, "in the middle", -1, ui->color(CALIPER_THEME_ACCENT),
                      CALIPER_TEXT_CENTER | CALIPER_TEXT_MONO);
        ui->draw_text(540, 280, "to the right", -1, 0, CALIPER_TEXT_RIGHT | CALIPER_TEXT_SMALL);
        ui->draw_image(gallery->picture, 420, 170, 500, 250, 0);
        if ((ui->pointer(&x, &y, NULL) & CALIPER_POINTER_HOVERED) != 0)
            ui->draw_circle(x, y, 12, ui->color(CALIPER_THEME_ACCENT), 1);
    }
    ui->end(CALIPER_SCOPE_CANVAS);
}
