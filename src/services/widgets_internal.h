/* services/widgets_internal.h: what the files of the widgets table share: the scope stack, the
 * labels, the one log line per place. C++; included by services/widgets*.cpp only. Frame thread. */
#ifndef CALIPER_SERVICES_WIDGETS_INTERNAL_H
#define CALIPER_SERVICES_WIDGETS_INTERNAL_H

#include <cmath>
#include <cstdint>

#include "services/ui_internal.h"
#include "services/widgets.h"

enum {
    WIDGETS_SCOPES_MAX = 256,
    WIDGETS_LABEL_BYTES = 4096,
    WIDGETS_SEEN_MAX = 4096, /* ids of one panel and frame, for the ordinal rule */
    WIDGETS_SAID_MAX = 1024, /* log lines already given */
    WIDGETS_VERTICES_MAX = 1 << 20
};

struct WidgetsPoint { /* the window's units, in double until it is cut */
    double x, y;
};

/* The mapping from a drawing scope's coordinates to the window's units. On a logarithmic axis the
 * coordinate is the value's common logarithm. */
struct DrawingSpace {
    double origin_x, origin_y; /* window units at the base */
    double base_x, base_y;
    double scale_x, scale_y; /* window units per coordinate unit */
    bool log_x, log_y;
    ImRect area; /* window units that may be drawn on */
    bool hovered, active;
    float wheel;
    int64_t width, height; /* of an image; 0 for a canvas */
};

struct RowsState { /* of the loop while (rows(...)) */
    bool running;
    int64_t count;
    double start_y, row_h;
    int64_t drawn_first, drawn_end;
    bool capped;
};

struct Scope {
    uint32_t kind;
    bool live;                    /* false: its content is discarded */
    bool region_off;              /* a split whose current region is out of sight */
    uint8_t fonts, colors, wraps; /* pushed by a TEXT scope */
    bool second;                  /* a split past split_next */
    bool begun;                   /* a table's first row was prepared */
    bool pushed_id;               /* a tree header's id */
    bool auto_height;
    uint32_t flags;
    int32_t columns, declared, frozen;
    ImGuiID id;
    ImVec2 pos, first_size, second_size, total_size;
    char label[48];
    DrawingSpace space;
    RowsState rows;
};

struct WidgetsNext { /* for the next item only */
    bool has_id, has_width, has_open, open, focus;
    uint64_t id;
    float width;
    uint32_t open_when;
};

struct WidgetsState {
    Bridge *bridge;
    bool inside;
    CallerId owner;
    ImGuiWindow *panel;
    Scope root;
    Scope scopes[WIDGETS_SCOPES_MAX];
    int32_t depth;
    uint32_t overflow;  /* openers past the stack's end, all discarded */
    uint32_t discarded; /* open scopes (and regions) whose content is dropped */
    WidgetsNext next;
    uint32_t positional; /* items without a label so far */
    bool next_pushed_width;

    ImGuiID seen_ids[WIDGETS_SEEN_MAX];
    uint32_t seen_stamps[WIDGETS_SEEN_MAX];
    uint16_t seen_counts[WIDGETS_SEEN_MAX];
    uint32_t stamp;

    uint64_t said[WIDGETS_SAID_MAX];

    ImGuiID held; /* the item that the arrows steer; 0: none */

    const char *const *dropped;
    int32_t dropped_count;

    char label[WIDGETS_LABEL_BYTES + 64];
    char *scratch; /* grows, kept */
    size_t scratch_bytes;
};

extern WidgetsState widgets;

/* The right thread, inside frame(): for slots that answer also where content is discarded. */
bool widgets_may_call(const char *slot);
/* Opens a slot: false means return at once (wrong thread, outside frame(), or discarded). */
bool widgets_enter(const char *slot);
/* The same for slots that ask about the last item: in a closed tree that is the tree itself. */
bool widgets_enter_asking(const char *slot);
/* The same for openers: pushes a discarded scope of `kind` where that is what happens. */
bool widgets_enter_scope(const char *slot, uint32_t kind, const char *label);

Scope *widgets_push(uint32_t kind, bool live, const char *label);
void widgets_end_scope(uint32_t kind);
/* The innermost scope; the root outside all. */
Scope *widgets_top(void);
/* The innermost scope of one kind that can still take children: only scopes that do not change the
 * region (ID, WIDTH, TEXT, DISABLED, INDENT) may lie between. nullptr: none. */
Scope *widgets_parent(uint32_t kind);
/* The innermost image, canvas or plot being drawn, or nullptr; settles a plot. */
Scope *widgets_drawing(void);
void widgets_discard_begin(Scope *scope);

/* One log line per place and reason. `given` and `wanted` are shown. */
void widgets_refuse(const char *slot, const char *given, const char *wanted);
void widgets_unknown_flags(const char *slot, uint32_t flags, uint32_t known);

/* The label as Dear ImGui is to see it: copied, never empty, unique in this frame; takes next_id.
 * Lives until the next call. */
const char *widgets_label(const char *label);
/* The same without the ordinal rule (popups, which are named twice). */
const char *widgets_plain_label(const char *label);
/* Takes next_focus and next_width; every control calls it right before its ImGui call. */
void widgets_item(float default_width);
void widgets_item_done(void);

/* A text's end; reads every byte, so that a bad pointer faults here and not inside the toolkit.
 * *text becomes a copy when it holds NUL bytes. */
const char *widgets_text_end(const char **text, int64_t len);
/* Text as it flows here. A draw list holds 65536 vertices between two commands, so a long text that
 * is wrapped is drawn line by line, those in sight alone. */
void widgets_flow(const char *text, const char *end);
char *widgets_scratch(size_t bytes);
/* Copies as much as fits, cut at a code point; NULL is empty. */
void widgets_copy_text(char *to, size_t to_bytes, const char *from);

/* Notes the item just submitted in the list of what the person can reach (ui_items). */
void widgets_listed(const char *kind, const char *label);

/* Whether the keyboard has taken hold of an item that is there in this frame; once a frame for
 * each. While it has, widgets_hold keeps the arrows and Escape for it and shows that. */
bool widgets_held(ImGuiID id);
void widgets_hold(ImGuiID id, const ImRect &shown);
bool widgets_key(uint32_t key, bool repeats);

const ImFont *widgets_font(uint32_t text_flags);
float widgets_size_or(float value, float fallback);
inline float widgets_font_size(const ImFont *font)
{
    return font->FontSize / ui_current->scale;
}
inline ImU32 widgets_color_or(uint32_t rgba, uint32_t theme)
{
    return rgba != 0 ? rgba : ui_theme_color(theme);
}

/* The space of the innermost drawing scope, or the region itself. */
DrawingSpace widgets_space(void);
/* NaN where a value has no place. */
WidgetsPoint widgets_to_window(const DrawingSpace *space, double x, double y);
WidgetsPoint widgets_from_window(const DrawingSpace *space, ImVec2 at);
/* Cuts a segment to the area and a margin (Liang and Barsky). False: nothing is left. */
bool widgets_clip_segment(const ImRect &area, double margin, WidgetsPoint *a, WidgetsPoint *b);
/* How many vertices of this frame's share a list has left; at 0 one line says so. */
int widgets_vertices_left(const ImDrawList *list);
/* Gives back what the open combo kept (widgets_control.cpp). */
void widgets_control_stop(void);
/* Prepares a table for its first row: frozen parts, header. */
void widgets_table_begin_rows(Scope *table);
void widgets_draw_image_clipped(ImDrawList *list, CaliperTextureId texture, double x0, double y0,
                                double x1, double y1, const ImRect *clip, uint32_t flags);

#endif
