/* services/ui_paint.h: shapes, texts and hit areas for the shell's own pages, in C.
 *
 * Used by src/shell/ inside a ui_frame, on the frame thread. Positions are logical units of the
 * window, colours 0xAABBGGRR. Calls outside a region draw nothing. */
#ifndef CALIPER_SERVICES_UI_PAINT_H
#define CALIPER_SERVICES_UI_PAINT_H

#include <caliper/services/tensor_bridge_v1.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Ui Ui;

typedef enum UiFont {
    UI_FONT_BODY = 0,
    UI_FONT_STRONG,
    UI_FONT_SMALL,
    UI_FONT_HEADING,
    UI_FONT_TITLE,
    UI_FONT_MONO,
    UI_FONT_MONO_SMALL,
    UI_FONT_COUNT
} UiFont;

enum { /* ui_region_begin */
       UI_REGION_SCROLL = 1,
       UI_REGION_BEHIND = 2, /* drawn first, takes no input */
       UI_REGION_PADDED = 4, /* the theme's padding, for widgets */
       UI_REGION_FILLED = 8, /* the theme's background behind it */
       UI_REGION_FOCUS = 16  /* takes the keyboard in this frame */
};

/* A fixed rectangle of the window with its own clip and scroll; ui_region_end always follows. */
void ui_region_begin(const char *name, float x, float y, float w, float h, uint32_t flags);
void ui_region_end(void);
/* Whether the region, or panel, that is being drawn has the keyboard. */
bool ui_region_focused(void);
/* In a scrolling region: how far it is scrolled, and how high its content is (set before the end).
 */
float ui_region_scroll(void);
void ui_region_set_scroll(float y);
void ui_region_content(float height);

void ui_rect(float x, float y, float w, float h, float rounding, uint32_t rgba);
void ui_frame_rect(float x, float y, float w, float h, float rounding, float width, uint32_t rgba);
void ui_gradient(float x, float y, float w, float h, uint32_t top_rgba, uint32_t bottom_rgba);
void ui_line(float x0, float y0, float x1, float y1, float width, uint32_t rgba);
void ui_disc(float x, float y, float radius, uint32_t rgba);
/* A soft shadow below a rounded rectangle. */
void ui_shadow(float x, float y, float w, float h, float rounding, float spread, uint32_t rgba);
void ui_picture(CaliperTextureId texture, float x, float y, float w, float h, bool linear,
                uint32_t tint_rgba);

/* Whether the font has a glyph for the character; what it has none for is drawn as U+FFFD. */
bool ui_font_has(const Ui *ui, UiFont font, uint32_t code);
float ui_text_width(UiFont font, const char *text);
float ui_text_height(UiFont font);
/* Top left at x, y; cut with an ellipsis at max_w when that is > 0. Returns the width drawn. */
float ui_text_at(UiFont font, float x, float y, float max_w, uint32_t rgba, const char *text);
/* Wrapped at max_w, at most max_lines lines; returns the height used. */
float ui_text_block(UiFont font, float x, float y, float max_w, int32_t max_lines, uint32_t rgba,
                    const char *text);

typedef enum UiHit {
    UI_HIT_NONE = 0,
    UI_HIT_HOVERED = 1,
    UI_HIT_HELD = 2,
    UI_HIT_CLICKED = 4
} UiHit;
/* An area that takes clicks; UI_HIT_* bits. `hand` shows the hand cursor. */
uint32_t ui_hit(const char *id, float x, float y, float w, float h, bool hand);
/* For the area just hit. */
void ui_hit_tooltip(const char *text);

/* A colour between two, alpha included; 0: a, 1: b. And a colour with another alpha (0..1). */
uint32_t ui_mix(uint32_t a, uint32_t b, float t);
uint32_t ui_fade(uint32_t rgba, float alpha);

#ifdef __cplusplus
}
#endif

#endif
