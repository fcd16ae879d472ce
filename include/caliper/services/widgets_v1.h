/* caliper.widgets.v1: the UI of an applet as plain C calls.
 *
 * Frozen. An applet draws its whole panel through these calls, from any language with a C FFI, and
 * links no toolkit. Plots: plot_v1.h, which shares the scopes.
 *
 *  1. Immediate mode: what frame() calls is what is shown. The host keeps, by id, only what the
 *     person did to the view (scroll, open, focus, column widths, zoom). Data stays the applet's.
 *  2. Every call that opens a scope is matched by end(kind), whatever it returned. `true` says that
 *     content will be seen, `false` that it may be skipped; content under a false scope is
 *     discarded. An end stands beside its opener, so open no second scope after `&&`.
 *  3. Ids are hashed from applet, open scopes and label. In a label, text after `##` is not shown
 *     but counts for the id; after `###` only what follows counts. With next_id the label is pure
 *     content, shown whole: use it for names that come from files.
 *  4. Zero, NULL and NaN mean the default everywhere (colour 0: the theme's; size 0: natural or all
 *     that is left, as said; negative size: all but that much; digits 0: as many as needed, < 0:
 *     none). Any out_ pointer may be NULL.
 *  5. Sizes are logical units, colours 0xAABBGGRR, strings NUL-terminated UTF-8 that the host
 *     copies before the call returns (`len` < 0: up to NUL). Strings that the host returns live
 *     until frame() returns.
 *  6. Frame thread, inside frame(), after initialize: [frame] for every slot. Elsewhere a call does
 *     nothing, returns 0 and logs once.
 *  7. No value can crash the host: bad arguments draw a sensible thing or nothing, and give one log
 *     line per place and reason. A flag bit unknown to a host is ignored and logged once.
 *
 * What is left open is closed by an outer end or when frame() returns, and logged; a surplus end is
 * ignored and logged. Thread tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_WIDGETS_V1_H
#define CALIPER_SERVICES_WIDGETS_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/tensor_bridge_v1.h>

#define CALIPER_WIDGETS_V1 "caliper.widgets.v1"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CALIPER_SCOPE_WINDOW = 1,
    CALIPER_SCOPE_CHILD = 2,
    CALIPER_SCOPE_SPLIT = 3,
    CALIPER_SCOPE_GROUP = 4,
    CALIPER_SCOPE_INDENT = 5,
    CALIPER_SCOPE_ID = 6,
    CALIPER_SCOPE_WIDTH = 7,
    CALIPER_SCOPE_TEXT = 8,
    CALIPER_SCOPE_DISABLED = 9,
    CALIPER_SCOPE_COMBO = 10,
    CALIPER_SCOPE_TREE = 11,
    CALIPER_SCOPE_TAB_BAR = 12,
    CALIPER_SCOPE_TAB = 13,
    CALIPER_SCOPE_MENU_BAR = 14,
    CALIPER_SCOPE_MENU = 15,
    CALIPER_SCOPE_POPUP = 16,
    CALIPER_SCOPE_TOOLTIP = 17,
    CALIPER_SCOPE_TABLE = 18,
    CALIPER_SCOPE_IMAGE = 19,
    CALIPER_SCOPE_CANVAS = 20,
    CALIPER_SCOPE_PLOT = 21
};

enum {
    CALIPER_WHEN_ONCE = 0, /* the first frame the id is seen */
    CALIPER_WHEN_ALWAYS = 1
};

enum { CALIPER_WINDOW_NO_RESIZE = 1, CALIPER_WINDOW_AUTO_SIZE = 2, CALIPER_WINDOW_MENU = 4 };

enum {
    CALIPER_CHILD_BORDER = 1,
    CALIPER_CHILD_SCROLL_X = 2,
    CALIPER_CHILD_AUTO_HEIGHT = 4,
    CALIPER_CHILD_NO_SCROLL = 8
};

enum { CALIPER_SPLIT_LEFT_RIGHT = 0, CALIPER_SPLIT_TOP_BOTTOM = 1 };

enum {
    CALIPER_TEXT_WRAP = 1,
    CALIPER_TEXT_MONO = 2,
    CALIPER_TEXT_DIM = 4,
    CALIPER_TEXT_BULLET = 8,
    CALIPER_TEXT_HEADING = 16,
    CALIPER_TEXT_SMALL = 32,
    CALIPER_TEXT_RIGHT = 64,
    CALIPER_TEXT_CENTER = 128
};

enum {
    CALIPER_BUTTON_SMALL = 1,
    CALIPER_BUTTON_PRIMARY = 2,
    CALIPER_BUTTON_DANGER = 4,
    CALIPER_BUTTON_FLAT = 8,
    CALIPER_BUTTON_REPEAT = 16
};

enum {
    CALIPER_SELECT_ALL_COLUMNS = 1,
    CALIPER_SELECT_KEEP_POPUP = 2,
    CALIPER_SELECT_OVERLAP = 4 /* later items may lie on it */
};

enum {
    CALIPER_NUMBER_LOG = 1,
    CALIPER_NUMBER_NO_CLAMP = 2, /* typed values may leave min..max */
    CALIPER_NUMBER_VERTICAL = 4,
    CALIPER_NUMBER_ON_ENTER = 8
};

enum {
    CALIPER_INPUT_ON_ENTER = 1,
    CALIPER_INPUT_READ_ONLY = 2,
    CALIPER_INPUT_PASSWORD = 4,
    CALIPER_INPUT_SELECT_ALL = 8,
    CALIPER_INPUT_NO_NEWLINE_TAB = 16
};

enum {
    CALIPER_COLOR_NO_ALPHA = 1,
    CALIPER_COLOR_SWATCH = 2 /* small square that opens the picker */
};

enum {
    CALIPER_TREE_LEAF = 1,
    CALIPER_TREE_OPEN = 2,
    CALIPER_TREE_SELECTED = 4,
    CALIPER_TREE_HEADER = 8, /* framed, no indent */
    CALIPER_TREE_ARROW_ONLY = 16,
    CALIPER_TREE_ALL_COLUMNS = 32
};

enum {
    CALIPER_TAB_REORDER = 1, /* bar */
    CALIPER_TAB_UNSAVED = 2,
    CALIPER_TAB_SELECT = 4 /* tab: make it current now */
};

enum {
    CALIPER_POPUP_MODAL = 1,
    CALIPER_POPUP_ON_ITEM = 2, /* right click on the last item */
    CALIPER_POPUP_ON_PANEL = 4 /* right click on empty space */
};

enum {
    CALIPER_TABLE_HEADER = 1,
    CALIPER_TABLE_STRIPES = 2,
    CALIPER_TABLE_LINES = 4,
    CALIPER_TABLE_RESIZE = 8,
    CALIPER_TABLE_REORDER = 16,
    CALIPER_TABLE_HIDE = 32,
    CALIPER_TABLE_SORT = 64,
    CALIPER_TABLE_SCROLL = 128,
    CALIPER_TABLE_SCROLL_X = 256
};

enum {
    CALIPER_COLUMN_SORTED = 1,
    CALIPER_COLUMN_SORTED_DOWN = 2,
    CALIPER_COLUMN_NO_SORT = 4,
    CALIPER_COLUMN_NO_HIDE = 8,
    CALIPER_COLUMN_HIDDEN = 16,
    CALIPER_COLUMN_FROZEN = 32
};

enum {
    CALIPER_IMAGE_LINEAR = 1,  /* default nearest */
    CALIPER_IMAGE_CHECKER = 2, /* under alpha */
    CALIPER_IMAGE_BORDER = 4,
    CALIPER_IMAGE_FLIP_Y = 8,
    CALIPER_IMAGE_GRID = 16,      /* cell lines when a texel is 8 units or more */
    CALIPER_IMAGE_LEFT_FREE = 32, /* left drag is the applet's */
    CALIPER_IMAGE_NO_ZOOM = 64
};

enum {
    CALIPER_PATH_CLOSED = 1,
    CALIPER_PATH_FILLED = 2 /* convex */
};

enum {
    CALIPER_ITEM_HOVERED = 1,
    CALIPER_ITEM_ACTIVE = 2,
    CALIPER_ITEM_FOCUSED = 4,
    CALIPER_ITEM_CLICKED = 8,
    CALIPER_ITEM_CLICKED_RIGHT = 16,
    CALIPER_ITEM_CLICKED_TWICE = 32,
    CALIPER_ITEM_EDITED = 64,
    CALIPER_ITEM_EDIT_DONE = 128,
    CALIPER_ITEM_VISIBLE = 256,
    CALIPER_ITEM_TOGGLED = 512
};

enum {
    CALIPER_POINTER_HOVERED = 1,
    CALIPER_POINTER_DOWN = 1 << 4,
    CALIPER_POINTER_PRESSED = 1 << 8,
    CALIPER_POINTER_RELEASED = 1 << 12,
    CALIPER_POINTER_TWICE = 1 << 16,
    CALIPER_POINTER_DRAG = 1 << 20, /* of the left button; << 1 right, << 2 middle */
    CALIPER_POINTER_CTRL = 1 << 24,
    CALIPER_POINTER_SHIFT = 1 << 25,
    CALIPER_POINTER_ALT = 1 << 26
};

enum {
    CALIPER_PANEL_FOCUSED = 1,
    CALIPER_PANEL_HOVERED = 2,
    CALIPER_PANEL_APPEARING = 4,
    CALIPER_PANEL_TYPING = 8 /* a text field has the keys */
};

enum {
    CALIPER_METRIC_DPI_SCALE = 0,
    CALIPER_METRIC_FONT = 1,
    CALIPER_METRIC_LINE = 2,
    CALIPER_METRIC_CONTROL = 3,
    CALIPER_METRIC_MONO_CHAR = 4,
    CALIPER_METRIC_GAP_X = 5,
    CALIPER_METRIC_GAP_Y = 6,
    CALIPER_METRIC_INDENT = 7
};

enum {
    CALIPER_THEME_TEXT = 0,
    CALIPER_THEME_TEXT_DIM = 1,
    CALIPER_THEME_BACKGROUND = 2,
    CALIPER_THEME_CONTROL = 3,
    CALIPER_THEME_ACCENT = 4,
    CALIPER_THEME_BORDER = 5,
    CALIPER_THEME_GOOD = 6,
    CALIPER_THEME_WARN = 7,
    CALIPER_THEME_BAD = 8,
    CALIPER_THEME_SERIES = 16 /* to 25, repeating */
};

enum {
    CALIPER_ICON_FILE = 0,
    CALIPER_ICON_FOLDER,
    CALIPER_ICON_SAVE,
    CALIPER_ICON_COPY,
    CALIPER_ICON_SEARCH,
    CALIPER_ICON_SETTINGS,
    CALIPER_ICON_PLAY,
    CALIPER_ICON_PAUSE,
    CALIPER_ICON_STOP,
    CALIPER_ICON_STEP,
    CALIPER_ICON_REFRESH,
    CALIPER_ICON_ADD,
    CALIPER_ICON_REMOVE,
    CALIPER_ICON_CLOSE,
    CALIPER_ICON_CHECK,
    CALIPER_ICON_WARNING,
    CALIPER_ICON_ERROR,
    CALIPER_ICON_INFO,
    CALIPER_ICON_ZOOM_IN,
    CALIPER_ICON_ZOOM_OUT,
    CALIPER_ICON_FIT,
    CALIPER_ICON_LINK,
    CALIPER_ICON_LOCK,
    CALIPER_ICON_IMAGE,
    CALIPER_ICON_CHART
};

/* A chord is one key or'ed with modifiers. Keys that print are their upper-case ASCII code by
 * the person's layout. */
enum {
    CALIPER_KEY_ESCAPE = 0x100,
    CALIPER_KEY_ENTER,
    CALIPER_KEY_TAB,
    CALIPER_KEY_BACKSPACE,
    CALIPER_KEY_INSERT,
    CALIPER_KEY_DELETE,
    CALIPER_KEY_LEFT,
    CALIPER_KEY_RIGHT,
    CALIPER_KEY_UP,
    CALIPER_KEY_DOWN,
    CALIPER_KEY_PAGE_UP,
    CALIPER_KEY_PAGE_DOWN,
    CALIPER_KEY_HOME,
    CALIPER_KEY_END,
    CALIPER_KEY_F1 = 0x120, /* F12 = 0x12B */
    CALIPER_MOD_CTRL = 1 << 16,
    CALIPER_MOD_SHIFT = 1 << 17,
    CALIPER_MOD_ALT = 1 << 18,
    CALIPER_MOD_SUPER = 1 << 19,
    CALIPER_MOD_MAIN = 1 << 20 /* Command on macOS, else Ctrl */
};

enum { CALIPER_SHORTCUT_REPEAT = 1, CALIPER_SHORTCUT_WHILE_TYPING = 2 };

/* Labelled controls show the label at their right, return true in the frame in which the person
 * changed the value (or pressed), and write `*v` only then. A NULL value pointer draws nothing. */
typedef struct CaliperWidgetsV1 {
    uint32_t struct_size;

    /* ---- Scopes: all closed by end(kind). ---- */

    /* Closes the innermost open scope of that kind and, logged, all inside it; none open:
     * logged, ignored. [frame] */
    void (*end)(uint32_t scope);

    /* A window beside the panel; w, h are its first size; open NULL: no close button; *open
     * false: not shown, returns false. CALIPER_WINDOW_*. [frame] */
    bool (*window)(const char *title, float w, float h, bool *open, uint32_t flags);

    /* A scrolling region; w, h 0: all that is left. CALIPER_CHILD_*. [frame] */
    bool (*child)(const char *id, float w, float h, uint32_t flags);

    /* Two regions and a handle (CALIPER_SPLIT_*), filling what is left; *first is the first
     * one's size, written on drag; 0 or NaN: half; minima 0: 40. [frame] */
    bool (*split)(const char *id, uint32_t axis, float *first, float min_first, float min_second);

    /* Goes on to the second region. [frame] */
    void (*split_next)(void);

    /* What is inside counts as one item for same_line and item. [frame] */
    void (*group)(void);

    /* Moves right by w; 0: one step. [frame] */
    void (*indent)(float w);

    /* Ids below are under this one; no ## rule here. [frame] */
    void (*push_id)(const char *id);

    /* The same, for rows of a loop. [frame] */
    void (*push_id_int)(uint64_t id);

    /* Width of the labelled controls inside; 0: default; negative: leave that much at the
     * right. [frame] */
    void (*push_width)(float w);

    /* Colour and CALIPER_TEXT_* (WRAP, MONO, DIM, SMALL) of everything inside. [frame] */
    void (*push_text)(uint32_t rgba, uint32_t flags);

    /* True: inside is grey and inert; false: no change; cannot enable within a disabled scope.
     * [frame] */
    void (*disabled)(bool on);

    /* ---- The next item only. ---- */

    /* Its id; its label is then content only. [frame] */
    void (*next_id)(uint64_t id);

    /* As push_width, for one control. [frame] */
    void (*next_width)(float w);

    /* Of a tree or window: CALIPER_WHEN_*. [frame] */
    void (*next_open)(bool open, uint32_t when);

    /* Gives the next item the keyboard and scrolls to it; once for each call. [frame] */
    void (*next_focus)(void);

    /* ---- Layout. ---- */

    /* The next item goes right of the last; x > 0: at x from the region's left; gap 0: the
     * theme's, negative: none. [frame] */
    void (*same_line)(float x, float gap);

    /* A rule across; title NULL: plain. [frame] */
    void (*separator)(const char *title);

    /* An empty item; 0, 0: one gap. [frame] */
    void (*space)(float w, float h);

    /* Room from here to the region's right and bottom edges, never below 0. [frame] */
    void (*remaining)(float *out_w, float *out_h);

    /* Where the next item goes, from the region's content corner. [frame] */
    void (*cursor)(float *out_x, float *out_y);

    /* Places the next item; a number that is not finite: ignored. [frame] */
    void (*set_cursor)(float x, float y);

    /* Where the current region is scrolled to; y == max_y: at its end. [frame] */
    void (*scroll)(float *out_y, float *out_max_y);

    /* Scrolls the current region; clamped. [frame] */
    void (*set_scroll)(float y);

    /* Brings the last item to 0 top .. 1 bottom. [frame] */
    void (*scroll_here)(float ratio);

    /* CALIPER_METRIC_*; unknown: 0. [frame] */
    float (*metric)(uint32_t which);

    /* The theme's CALIPER_THEME_*; unknown: text colour. [frame] */
    uint32_t (*color)(uint32_t which);

    /* How large a text would be drawn; wrap_w 0: not wrapped. CALIPER_TEXT_*. [frame] */
    void (*text_size)(const char *text, int64_t len, float wrap_w, uint32_t flags, float *out_w,
                      float *out_h);

    /* ---- Text: shown as it is, no ## rule. ---- */

    /* Plain, new lines kept. [frame] */
    void (*text)(const char *text);

    /* Any length, colour, CALIPER_TEXT_*. [frame] */
    void (*text_ex)(const char *text, int64_t len, uint32_t rgba, uint32_t flags);

    /* A read-only row; right click copies the value. [frame] */
    void (*field)(const char *label, const char *value);

    /* UTF-8 to put into any label; "" without an icon font. [frame] */
    const char *(*icon)(uint32_t which);

    /* ---- Controls. ---- */

    /* True when pressed. w, h 0: as large as the label. CALIPER_BUTTON_*. [frame] */
    bool (*button)(const char *label, float w, float h, uint32_t flags);

    /* A tick for *v. [frame] */
    bool (*checkbox)(const char *label, bool *v);

    /* On while *v == value; sets it. [frame] */
    bool (*radio)(const char *label, int32_t *v, int32_t value);

    /* A row; true when clicked; the applet keeps the selection. w 0: all that is left.
     * CALIPER_SELECT_*. [frame] */
    bool (*selectable)(const char *label, bool selected, float w, float h, uint32_t flags);

    /* Needs finite min <= max, neither beyond 8e307; LOG needs both above or both below 0. A
     * value outside is shown and left alone. CALIPER_NUMBER_*. [frame] */
    bool (*slider)(const char *label, double *v, double min, double max, int32_t digits,
                   const char *unit, uint32_t flags);

    /* -2^62 <= min <= max < 2^62. CALIPER_NUMBER_*. [frame] */
    bool (*slider_int)(const char *label, int64_t *v, int64_t min, int64_t max, const char *unit,
                       uint32_t flags);

    /* n, 1 to 4, numbers in a row; speed per unit dragged, 0: from the range or 1 % of the
     * value; min >= max or NaN: no limit; Ctrl-click types. CALIPER_NUMBER_*. [frame] */
    bool (*drag)(const char *label, double *v, int32_t n, double speed, double min, double max,
                 int32_t digits, const char *unit, uint32_t flags);

    /* The same for whole numbers. [frame] */
    bool (*drag_int)(const char *label, int64_t *v, int32_t n, double speed, int64_t min,
                     int64_t max, const char *unit, uint32_t flags);

    /* Two numbers that keep lo <= hi. CALIPER_NUMBER_*. [frame] */
    bool (*drag_range)(const char *label, double *lo, double *hi, double speed, double min,
                       double max, int32_t digits, const char *unit, uint32_t flags);

    /* A typed number; step 0: no +/- buttons; accepts nan, inf, 1e-3. CALIPER_NUMBER_*. [frame] */
    bool (*input_number)(const char *label, double *v, double step, int32_t digits,
                         const char *unit, uint32_t flags);

    /* A typed whole number; step 0: no buttons. CALIPER_NUMBER_*. [frame] */
    bool (*input_int)(const char *label, int64_t *v, int64_t step, uint32_t flags);

    /* Edits the caller's buffer, always left NUL-terminated valid UTF-8, cut at a code point
     * when full; h > 0: many lines. True when edited, with ON_ENTER when Enter was pressed.
     * CALIPER_INPUT_*. [frame] */
    bool (*input_text)(const char *label, const char *hint, char *buf, uint64_t buf_bytes, float h,
                       uint32_t flags);

    /* A list of texts, of which only those in sight are drawn; index out of range: nothing is
     * chosen; from 13 on a filter line. flags 0. [frame] */
    bool (*combo)(const char *label, int32_t *index, const char *const *items, int32_t count,
                  uint32_t flags);

    /* Scope COMBO: fill with selectable, rows, anything; flags 0. [frame] */
    bool (*combo_list)(const char *label, const char *preview, uint32_t flags);

    /* A colour as numbers and a picker. CALIPER_COLOR_*. [frame] */
    bool (*color_edit)(const char *label, uint32_t *rgba, uint32_t flags);

    /* Clamped 0..1; NaN: busy; overlay NULL: percent; w 0: all. [frame] */
    void (*progress)(double fraction, const char *overlay, float w, float h);

    /* ---- Trees, tabs, menus, popups. ---- */

    /* Scope TREE; true while open. CALIPER_TREE_*. [frame] */
    bool (*tree)(const char *label, uint32_t flags);

    /* Scope TAB_BAR. CALIPER_TAB_REORDER. [frame] */
    bool (*tab_bar)(const char *id, uint32_t flags);

    /* Scope TAB, directly in a tab_bar; true for the current one; open as in window.
     * CALIPER_TAB_UNSAVED, SELECT. [frame] */
    bool (*tab)(const char *label, bool *open, uint32_t flags);

    /* Scope MENU_BAR of the panel or of a window with WINDOW_MENU; in a child: logged, false.
     * [frame] */
    bool (*menu_bar)(void);

    /* Scope MENU, in a menu bar, popup or menu. [frame] */
    bool (*menu)(const char *label);

    /* Chord 0: none; shown, not obeyed: see shortcut; selected NULL: no tick; toggled by the
     * host. [frame] */
    bool (*menu_item)(const char *label, uint32_t chord, bool *selected);

    /* Opens it from now on; id as in popup, in the same scope. [frame] */
    void (*popup_open)(const char *id);

    /* Scope POPUP; MODAL shows id as its title; Escape and a click outside close others.
     * CALIPER_POPUP_*. [frame] */
    bool (*popup)(const char *id, uint32_t flags);

    /* Closes the popup being drawn. [frame] */
    void (*popup_close)(void);

    /* For the last item (as in item) while hovered, also when disabled. [frame] */
    void (*tooltip)(const char *text);

    /* Scope TOOLTIP at the pointer; true if the last item, or the image, canvas or plot being
     * drawn, is hovered. [frame] */
    bool (*tooltip_box)(void);

    /* ---- Tables, virtual rows. ---- */

    /* Scope TABLE; 1 to 64 columns; flags 0: bare layout columns; h 0: fits, or all that is
     * left with SCROLL. CALIPER_TABLE_*. [frame] */
    bool (*table)(const char *id, int32_t columns, float w, float h, uint32_t flags);

    /* Before the rows; width > 0 fixed, < 0 weight, 0 weight 1; fewer than columns: the rest is
     * unnamed. CALIPER_COLUMN_*. [frame] */
    void (*table_column)(const char *label, float width, uint32_t flags);

    /* True when it changed since the last call of this id, and at first; -1: unsorted. Sort
     * stably and earlier clicks remain as second keys. [frame] */
    bool (*table_sort)(int32_t *out_column, bool *out_descending);

    /* Starts a row; rgba its background. [frame] */
    void (*table_row)(float min_h, uint32_t rgba);

    /* -1: next (wraps into a new row); false: out of sight, skip. [frame] */
    bool (*table_cell)(int32_t column, uint32_t rgba);

    /* While (rows(n, 0, &a, &b)) draw a..b-1: only those in sight, in a table, child, combo or
     * tree; equal heights, 0: one line; to 2^53. [frame] */
    bool (*rows)(int64_t count, float row_h, int64_t *out_first, int64_t *out_end);

    /* ---- Images, drawing. Coordinates are texels in an image view, units from the corner in a
     * canvas, x1/y1 values in a plot; widths are logical units, 0: 1; rect and circle width < 0:
     * filled. ---- */

    /* w and h 0: one unit a texel; one of them 0: keeps the shape; bad id: a marked
     * placeholder. CALIPER_IMAGE_*. [frame] */
    void (*image)(CaliperTextureId tex, float w, float h, uint32_t flags);

    /* Scope IMAGE; wheel zooms at the pointer, drag pans, double click fits; view3 = {centre x,
     * centre y, units a texel}, the caller's, all 0: fit; two views with one array move
     * together; img 0, 0: the texture's size; tex 0: draw tiles with draw_image.
     * CALIPER_IMAGE_*. [frame] */
    bool (*image_view)(const char *id, CaliperTextureId tex, int64_t img_w, int64_t img_h, float w,
                       float h, double *view3, uint32_t flags);

    /* Scope CANVAS: an area that takes pointer and wheel; 0: all that is left; flags 0. [frame] */
    bool (*canvas)(const char *id, float w, float h, uint32_t flags);

    /* In an image view: the cell under the pointer; false and untouched outside the image.
     * [frame] */
    bool (*texel)(int64_t *out_col, int64_t *out_row);

    /* The part in sight, in the scope's coordinates. [frame] */
    void (*visible)(double *out_x0, double *out_y0, double *out_x1, double *out_y1);

    /* Position in the scope's coordinates and CALIPER_POINTER_*; outside such a scope: region
     * units. [frame] */
    uint32_t (*pointer)(double *out_x, double *out_y, float *out_wheel);

    /* A stroke; width 0: 1. [frame] */
    void (*draw_line)(double x0, double y0, double x1, double y1, uint32_t rgba, float width);

    /* width < 0: filled. [frame] */
    void (*draw_rect)(double x0, double y0, double x1, double y1, uint32_t rgba, float width);

    /* radius in logical units; width < 0: filled. [frame] */
    void (*draw_circle)(double x, double y, float radius, uint32_t rgba, float width);

    /* count points, x and y in turn; a point that is not finite breaks the line.
     * CALIPER_PATH_*. [frame] */
    void (*draw_path)(const double *xy, int64_t count, uint32_t rgba, float width, uint32_t flags);

    /* Top left at x, y; CALIPER_TEXT_* MONO, SMALL, CENTER (both ways), RIGHT. [frame] */
    void (*draw_text)(double x, double y, const char *text, int64_t len, uint32_t rgba,
                      uint32_t flags);

    /* A texture between two corners. CALIPER_IMAGE_*. [frame] */
    void (*draw_image)(CaliperTextureId tex, double x0, double y0, double x1, double y1,
                       uint32_t flags);

    /* ---- Asking. ---- */

    /* CALIPER_ITEM_* of the last item; inside a tree that is closed, of the tree. [frame] */
    uint32_t (*item)(void);

    /* Of the last item (as in item), as cursor. [frame] */
    void (*item_rect)(float *out_x, float *out_y, float *out_w, float *out_h);

    /* CALIPER_PANEL_* and size of the current window or panel. [frame] */
    uint32_t (*panel)(float *out_w, float *out_h);

    /* Pressed this frame while this panel has focus and, unless WHILE_TYPING, no text field
     * does; exact modifiers; the first caller gets it. Arrows, Space, Enter, Tab and Escape
     * without modifiers belong to the focus while an item shows it. CALIPER_SHORTCUT_*. [frame] */
    bool (*shortcut)(uint32_t chord, uint32_t flags);

    /* Held, under the same condition. [frame] */
    bool (*key_down)(uint32_t key);

    /* ---- Desktop. ---- */

    /* Path dropped on this panel this frame; NULL past the last. [frame] */
    const char *(*dropped)(int32_t index);

    /* The text of the clipboard, never NULL. [frame] */
    const char *(*clipboard)(void);

    /* Puts a text there; NULL: nothing. [frame] */
    void (*set_clipboard)(const char *text);
} CaliperWidgetsV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperWidgetsV1, 688);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, end, 8);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, window, 16);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, child, 24);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, split, 32);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, split_next, 40);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, group, 48);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, indent, 56);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, push_id, 64);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, push_id_int, 72);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, push_width, 80);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, push_text, 88);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, disabled, 96);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, next_id, 104);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, next_width, 112);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, next_open, 120);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, next_focus, 128);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, same_line, 136);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, separator, 144);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, space, 152);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, remaining, 160);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, cursor, 168);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, set_cursor, 176);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, scroll, 184);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, set_scroll, 192);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, scroll_here, 200);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, metric, 208);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, color, 216);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, text_size, 224);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, text, 232);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, text_ex, 240);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, field, 248);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, icon, 256);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, button, 264);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, checkbox, 272);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, radio, 280);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, selectable, 288);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, slider, 296);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, slider_int, 304);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, drag, 312);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, drag_int, 320);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, drag_range, 328);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, input_number, 336);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, input_int, 344);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, input_text, 352);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, combo, 360);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, combo_list, 368);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, color_edit, 376);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, progress, 384);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, tree, 392);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, tab_bar, 400);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, tab, 408);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, menu_bar, 416);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, menu, 424);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, menu_item, 432);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, popup_open, 440);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, popup, 448);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, popup_close, 456);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, tooltip, 464);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, tooltip_box, 472);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, table, 480);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, table_column, 488);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, table_sort, 496);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, table_row, 504);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, table_cell, 512);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, rows, 520);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, image, 528);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, image_view, 536);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, canvas, 544);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, texel, 552);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, visible, 560);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, pointer, 568);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, draw_line, 576);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, draw_rect, 584);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, draw_circle, 592);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, draw_path, 600);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, draw_text, 608);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, draw_image, 616);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, item, 624);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, item_rect, 632);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, panel, 640);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, shortcut, 648);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, key_down, 656);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, dropped, 664);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, clipboard, 672);
CALIPER_LAYOUT_AT(CaliperWidgetsV1, set_clipboard, 680);

#endif
