/* services/ui_icons.cpp: the icons of the widgets table, drawn into the font atlas as glyphs:
 * strokes and shapes on a grid of 16, sharp at every scale. Frame thread. */
#include <caliper/services/widgets_v1.h>

#include "services/ui_internal.h"

#include <cmath>
#include <cstdlib>

/* Shapes, each a letter and its numbers: l x0 y0 x1 y1 a stroke; r x0 y0 x1 y1 a rectangle's
 * outline; c x y r a circle's outline; d x y r a disc; t x0 y0 x1 y1 x2 y2 a filled triangle. */
static const char *const shapes[UI_ICONS] = {
    /* FILE */ "l 4 2 9.5 2 l 9.5 2 12.5 5 l 12.5 5 12.5 14 l 12.5 14 4 14 l 4 14 4 2 l 9.3 2.4 "
               "9.3 5.2 l 9.3 5.2 12.2 5.2",
    /* FOLDER */ "l 2 4 6 4 l 6 4 7.5 5.7 l 7.5 5.7 14 5.7 l 14 5.7 14 13 l 14 13 2 13 l 2 13 2 4",
    /* SAVE */
    "r 2.5 2.5 13.5 13.5 r 5 9 11 13.5 l 5.5 2.5 5.5 5.8 l 5.5 5.8 10.5 5.8 l 10.5 5.8 10.5 2.5",
    /* COPY */
    "r 5.5 5.5 13.5 13.5 l 10.5 5 10.5 2.5 l 10.5 2.5 2.5 2.5 l 2.5 2.5 2.5 10.5 l 2.5 10.5 5 10.5",
    /* SEARCH */ "c 7 7 4.3 l 10.2 10.2 14 14",
    /* SETTINGS */ "l 2 4.5 14 4.5 l 2 11.5 14 11.5 d 10 4.5 2.2 d 6 11.5 2.2",
    /* PLAY */ "t 4.5 2.5 13.5 8 4.5 13.5",
    /* PAUSE */ "t 4 3 7 3 7 13 t 4 3 7 13 4 13 t 9 3 12 3 12 13 t 9 3 12 13 9 13",
    /* STOP */ "t 3.5 3.5 12.5 3.5 12.5 12.5 t 3.5 3.5 12.5 12.5 3.5 12.5",
    /* STEP */ "t 3.5 3 10.5 8 3.5 13 l 12.3 3.2 12.3 12.8",
    /* REFRESH */
    "l 13 8 12.4 10.4 l 12.4 10.4 10.6 12.3 l 10.6 12.3 8 13 l 8 13 5.4 12.3 l 5.4 12.3 3.6 10.5 l "
    "3.6 10.5 3 8 l 3 8 3.7 5.5 l 3.7 5.5 5.5 3.7 l 5.5 3.7 8 3 l 8 3 10.6 3.8 l 10.6 3.8 12.2 5.4 "
    "t 13.8 2.4 13.8 6.6 9.6 6.6",
    /* ADD */ "l 8 3 8 13 l 3 8 13 8",
    /* REMOVE */ "l 3 8 13 8",
    /* CLOSE */ "l 4 4 12 12 l 12 4 4 12",
    /* CHECK */ "l 3 8.5 6.5 12 l 6.5 12 13 4.5",
    /* WARNING */
    "l 8 2.5 14.2 13.5 l 14.2 13.5 1.8 13.5 l 1.8 13.5 8 2.5 l 8 6.5 8 9.5 d 8 11.6 0.9",
    /* ERROR */ "c 8 8 6 l 5.8 5.8 10.2 10.2 l 10.2 5.8 5.8 10.2",
    /* INFO */ "c 8 8 6 l 8 7.5 8 11.2 d 8 5 0.9",
    /* ZOOM_IN */ "c 7 7 4.5 l 10.4 10.4 14 14 l 5 7 9 7 l 7 5 7 9",
    /* ZOOM_OUT */ "c 7 7 4.5 l 10.4 10.4 14 14 l 5 7 9 7",
    /* FIT */
    "l 2.5 6 2.5 2.5 l 2.5 2.5 6 2.5 l 10 2.5 13.5 2.5 l 13.5 2.5 13.5 6 l 13.5 10 13.5 13.5 l "
    "13.5 13.5 10 13.5 l 6 13.5 2.5 13.5 l 2.5 13.5 2.5 10",
    /* LINK */ "c 5 8 2.8 c 11 8 2.8 l 6.5 8 9.5 8",
    /* LOCK */
    "r 3.5 7.5 12.5 13.5 l 5.5 7.3 5.5 5 l 5.5 5 6.5 3.2 l 6.5 3.2 8 2.6 l 8 2.6 9.5 3.2 l 9.5 3.2 "
    "10.5 5 l 10.5 5 10.5 7.3",
    /* IMAGE */
    "r 2.5 3 13.5 13 d 6 6.4 1.2 l 3 12 6.8 8.6 l 6.8 8.6 9 10.6 l 9 10.6 10.8 9 l 10.8 9 13 11",
    /* CHART */ "l 2.5 2.5 2.5 13.5 l 2.5 13.5 13.5 13.5 l 5 10.5 7.5 7 l 7.5 7 10 9 l 10 9 13 4",
};

/* Before the atlas is built only its configurations know. */
static float size_of(const Ui *ui, const ImFont *font)
{
    for (const ImFontConfig &config : ui->atlas->ConfigData) {
        if (config.DstFont == font && !config.MergeMode)
            return config.SizePixels;
    }
    return 16.0f;
}

void ui_icons_reserve(Ui *ui)
{
    for (int font = 0; font < UI_FONT_COUNT; font++) {
        const float height = size_of(ui, ui->fonts[font]);
        const int side = static_cast<int>(height * 0.84f + 0.5f);
        const float top = std::floor((height - static_cast<float>(side)) * 0.5f + 0.5f);
        /* Titles and small print carry none. */
        const bool none = font == UI_FONT_TITLE || font == UI_FONT_MONO_SMALL;
        for (int icon = 0; icon < UI_ICONS; icon++) {
            ui->icon_rects[font][icon] = -1;
            if (none)
                continue;
            ui->icon_rects[font][icon] = ui->atlas->AddCustomRectFontGlyph(
                ui->fonts[font], static_cast<ImWchar>(UI_ICON_FIRST + static_cast<unsigned>(icon)),
                side, side, static_cast<float>(side) + 1.0f, ImVec2(0.0f, top));
        }
    }
}

/* ---- Drawing: the nearest shape's distance decides how much of a pixel is covered ---- */

static float to_segment(float x, float y, const float *n)
{
    const float dx = n[2] - n[0], dy = n[3] - n[1];
    const float length = dx * dx + dy * dy;
    float t = length > 0.0f ? ((x - n[0]) * dx + (y - n[1]) * dy) / length : 0.0f;
    t = ImClamp(t, 0.0f, 1.0f);
    return std::hypot(x - n[0] - t * dx, y - n[1] - t * dy);
}

static float to_rectangle(float x, float y, const float *n)
{
    const float sides[4][4] = {{n[0], n[1], n[2], n[1]},
                               {n[2], n[1], n[2], n[3]},
                               {n[2], n[3], n[0], n[3]},
                               {n[0], n[3], n[0], n[1]}};
    float nearest = FLT_MAX;
    for (const auto &side : sides)
        nearest = ImMin(nearest, to_segment(x, y, side));
    return nearest;
}

/* Below 0 inside. */
static float to_triangle(float x, float y, const float *n)
{
    const float sides[3][4] = {
        {n[0], n[1], n[2], n[3]}, {n[2], n[3], n[4], n[5]}, {n[4], n[5], n[0], n[1]}};
    float nearest = FLT_MAX;
    int left = 0;
    for (const auto &side : sides) {
        nearest = ImMin(nearest, to_segment(x, y, side));
        left += (side[2] - side[0]) * (y - side[1]) - (side[3] - side[1]) * (x - side[0]) > 0.0f;
    }
    return left == 0 || left == 3 ? -nearest : nearest;
}

struct Shape {
    char kind;
    float n[6];
};

enum { SHAPES_MAX = 24 };

static int read_shapes(const char *text, Shape *out)
{
    int count = 0;
    while (*text != '\0' && count < SHAPES_MAX) {
        Shape *const shape = &out[count++];
        shape->kind = *text++;
        const int numbers = shape->kind == 't'                         ? 6
                            : shape->kind == 'l' || shape->kind == 'r' ? 4
                                                                       : 3;
        for (int i = 0; i < numbers; i++) {
            char *end = nullptr;
            shape->n[i] = std::strtof(text, &end);
            text = end;
        }
        while (*text == ' ')
            text++;
    }
    return count;
}

/* How far a point is from the ink of an icon, in grid units; below 0 inside. */
static float to_ink(const Shape *all, int count, float x, float y)
{
    constexpr float half_stroke = 0.68f;
    float nearest = FLT_MAX;
    for (int i = 0; i < count; i++) {
        const float *const n = all[i].n;
        float distance;
        switch (all[i].kind) {
        case 'l':
            distance = to_segment(x, y, n) - half_stroke;
            break;
        case 'r':
            distance = to_rectangle(x, y, n) - half_stroke;
            break;
        case 'c':
            distance = std::fabs(std::hypot(x - n[0], y - n[1]) - n[2]) - half_stroke;
            break;
        case 'd':
            distance = std::hypot(x - n[0], y - n[1]) - n[2];
            break;
        default:
            distance = to_triangle(x, y, n) - 0.3f;
            break;
        }
        nearest = ImMin(nearest, distance);
    }
    return nearest;
}

static void draw_icon(const Shape *all, int count, const ImFontAtlasCustomRect *rect,
                      unsigned char *pixels, int width_px)
{
    const float unit = 16.0f / static_cast<float>(rect->Width);
    for (int y = 0; y < rect->Height; y++) {
        for (int x = 0; x < rect->Width; x++) {
            const float distance = to_ink(all, count, (static_cast<float>(x) + 0.5f) * unit,
                                          (static_cast<float>(y) + 0.5f) * unit);
            const float cover = ImClamp(0.5f - distance / unit, 0.0f, 1.0f);
            pixels[(rect->Y + y) * width_px + rect->X + x] =
                static_cast<unsigned char>(cover * 255.0f + 0.5f);
        }
    }
}

void ui_icons_draw(Ui *ui)
{
    unsigned char *pixels = nullptr;
    int width_px = 0, height_px = 0;
    ui->atlas->GetTexDataAsAlpha8(&pixels, &width_px, &height_px);
    for (int icon = 0; icon < UI_ICONS; icon++) {
        Shape all[SHAPES_MAX];
        const int count = read_shapes(shapes[icon], all);
        for (int font = 0; font < UI_FONT_COUNT; font++) {
            const int index = ui->icon_rects[font][icon];
            const ImFontAtlasCustomRect *const rect =
                index >= 0 ? ui->atlas->GetCustomRectByIndex(index) : nullptr;
            if (rect != nullptr && rect->IsPacked())
                draw_icon(all, count, rect, pixels, width_px);
        }
    }
}
