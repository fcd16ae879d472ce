/* tests/unit/tensorscope_host.h: a host of the tests' own for the whole applet: widgets that record
 * the texts and put pointer, keys, buttons and typed words where a test wants them, a bridge that
 * counts textures, a log that counts errors. One frame at a time, on the calling thread; included
 * once a program. */
#ifndef TENSORSCOPE_HOST_H
#define TENSORSCOPE_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <caliper/caliper.h>

#include <caliper/services/texture_read_v1.h>

#include "formats/array_file.h"
#include "formats/array_write.h"

const CaliperAppletDescriptor *caliper_applet_descriptor(void);

/* ---- The host ---- */

static struct {
    char text[65536]; /* of the frame, a line each */
    const char *dropped;
    bool points;
    int64_t col, row, img_w, img_h;
    uint32_t key; /* pressed in this frame */
    float width;
    int live, draws, errors;
    int depth[32]; /* open scopes by kind */
    CaliperTextureId last;
    bool popup;
    int32_t radio;      /* what a person picks */
    const char *button; /* pressed in this frame */
    const char *path;   /* typed into a field of a path */
    const char *combo;  /* a list, and what is chosen in it */
    int32_t choice;
    uint32_t pointer;
    char clipboard[256];
    const char *shape; /* typed into the field of a shape */
    int64_t offset;
    const char *filter; /* typed into the field above the list of arrays */
    int64_t rows;       /* of a list, as many as it was asked for */
    double sight[2];    /* cells of a picture in sight, across and down; 0: 300 x 200 */
} host;

static void say(const char *text)
{
    size_t used = strlen(host.text);
    snprintf(host.text + used, sizeof(host.text) - used, "%s\n", text);
}

static bool open_scope(uint32_t kind)
{
    host.depth[kind]++;
    return true;
}

static void w_end(uint32_t kind)
{
    host.depth[kind]--;
    assert_true(host.depth[kind] >= 0);
}
static bool w_child(const char *id, float w, float h, uint32_t f)
{
    (void)id, (void)w, (void)h, (void)f;
    return open_scope(CALIPER_SCOPE_CHILD);
}
static bool w_split(const char *id, uint32_t axis, float *first, float a, float b)
{
    (void)id, (void)axis, (void)a, (void)b;
    assert_true(*first > 0.0f);
    return open_scope(CALIPER_SCOPE_SPLIT);
}
static void w_nothing(void) {}
static void w_indent(float w)
{
    (void)w;
    open_scope(CALIPER_SCOPE_INDENT);
}
static void w_push_id_int(uint64_t id)
{
    (void)id;
    open_scope(CALIPER_SCOPE_ID);
}
static void w_push_width(float w)
{
    (void)w;
    open_scope(CALIPER_SCOPE_WIDTH);
}
static void w_push_text(uint32_t rgba, uint32_t f)
{
    (void)rgba, (void)f;
    open_scope(CALIPER_SCOPE_TEXT);
}
static void w_disabled(bool on)
{
    (void)on;
    open_scope(CALIPER_SCOPE_DISABLED);
}
static void w_next_id(uint64_t id)
{
    (void)id;
}
static void w_float(float w)
{
    (void)w;
}
static void w_floats(float a, float b)
{
    (void)a, (void)b;
}
static void w_remaining(float *w, float *h)
{
    *w = host.width;
    *h = 600.0f;
}
static float w_metric(uint32_t which)
{
    (void)which;
    return 16.0f;
}
static uint32_t w_color(uint32_t which)
{
    (void)which;
    return 0xff808080u;
}
static void w_text_ex(const char *text, int64_t len, uint32_t rgba, uint32_t f)
{
    (void)len, (void)rgba, (void)f;
    say(text);
}
static void w_field(const char *label, const char *value)
{
    char line[1024];
    snprintf(line, sizeof(line), "%s: %s", label, value);
    say(line);
}
static bool w_button(const char *label, float w, float h, uint32_t f)
{
    (void)w, (void)h, (void)f;
    return host.button != NULL && strcmp(host.button, label) == 0;
}
static bool w_checkbox(const char *label, bool *v)
{
    (void)label, (void)v;
    return false;
}
static bool w_selectable(const char *label, bool on, float w, float h, uint32_t f)
{
    (void)on, (void)w, (void)h, (void)f;
    say(label);
    return false;
}
static bool w_slider_int(const char *label, int64_t *v, int64_t min, int64_t max, const char *unit,
                         uint32_t f)
{
    (void)label, (void)unit, (void)f;
    assert_true(min <= *v && *v <= max);
    return false;
}
static bool w_drag_range(const char *label, double *lo, double *hi, double speed, double min,
                         double max, int32_t digits, const char *unit, uint32_t f)
{
    (void)label, (void)lo, (void)hi, (void)speed, (void)min, (void)max, (void)digits, (void)unit,
        (void)f;
    return false;
}
static bool w_input_text(const char *label, const char *hint, char *buf, uint64_t bytes, float h,
                         uint32_t f)
{
    (void)hint, (void)h, (void)f;
    assert_non_null(memchr(buf, 0, bytes));
    const char *typed = strcmp(label, "##save path") == 0 ? host.path
                        : strcmp(label, "shape") == 0     ? host.shape
                        : strcmp(label, "##filter") == 0  ? host.filter
                                                          : NULL;
    if (typed != NULL) {
        snprintf(buf, bytes, "%s", typed);
    }
    return false;
}
static bool w_combo(const char *label, int32_t *index, const char *const *items, int32_t count,
                    uint32_t f)
{
    (void)f;
    assert_in_range(*index, 0, count - 1);
    assert_non_null(items[count - 1]);
    if (host.combo == NULL || strcmp(host.combo, label) != 0) {
        return false;
    }
    *index = host.choice;
    return true;
}
static bool w_combo_list(const char *label, const char *preview, uint32_t f)
{
    (void)label, (void)f;
    say(preview);
    return open_scope(CALIPER_SCOPE_COMBO);
}
static void w_progress(double part, const char *overlay, float w, float h)
{
    (void)part, (void)overlay, (void)w, (void)h;
}
static bool w_table(const char *id, int32_t columns, float w, float h, uint32_t f)
{
    (void)id, (void)columns, (void)w, (void)h, (void)f;
    return open_scope(CALIPER_SCOPE_TABLE);
}
static void w_table_column(const char *label, float w, uint32_t f)
{
    (void)label, (void)w, (void)f;
}
static void w_table_row(float h, uint32_t rgba)
{
    (void)h, (void)rgba;
}
static bool w_table_cell(int32_t column, uint32_t rgba)
{
    (void)column, (void)rgba;
    return true;
}
static bool w_rows(int64_t count, float h, int64_t *first, int64_t *end)
{
    static bool given;
    (void)h;
    given = !given;
    *first = 0;
    *end = count < 100 ? count : 100;
    host.rows = count;
    return given;
}
static bool w_image_view(const char *id, CaliperTextureId texture, int64_t w, int64_t h, float a,
                         float b, double *view3, uint32_t f)
{
    (void)id, (void)texture, (void)a, (void)b, (void)view3, (void)f;
    host.img_w = w;
    host.img_h = h;
    return open_scope(CALIPER_SCOPE_IMAGE);
}
static bool w_canvas(const char *id, float w, float h, uint32_t f)
{
    (void)id, (void)w, (void)h, (void)f;
    return open_scope(CALIPER_SCOPE_CANVAS);
}
static bool w_texel(int64_t *col, int64_t *row)
{
    if (host.points) {
        *col = host.col;
        *row = host.row;
    }
    return host.points;
}
static void w_visible(double *x0, double *y0, double *x1, double *y1)
{
    *x0 = *y0 = 0.0;
    *x1 = host.sight[0] > 0.0 ? host.sight[0] : 300.0;
    *y1 = host.sight[1] > 0.0 ? host.sight[1] : 200.0;
}
static uint32_t w_pointer(double *x, double *y, float *wheel)
{
    (void)wheel;
    *x = *y = 0.0;
    return host.pointer;
}
static void w_draw_line(double a, double b, double c, double d, uint32_t rgba, float w)
{
    (void)a, (void)b, (void)c, (void)d, (void)rgba, (void)w;
    host.draws++;
    assert_true(host.draws < 100000);
}
static void w_draw_circle(double x, double y, float r, uint32_t rgba, float w)
{
    (void)x, (void)y, (void)r, (void)rgba, (void)w;
}
static void w_draw_text(double x, double y, const char *text, int64_t len, uint32_t rgba,
                        uint32_t f)
{
    (void)x, (void)y, (void)len, (void)rgba, (void)f;
    say(text);
}
static void w_draw_image(CaliperTextureId texture, double a, double b, double c, double d,
                         uint32_t f)
{
    (void)a, (void)b, (void)c, (void)d, (void)f;
    assert_int_not_equal(texture, 0);
}
static bool w_shortcut(uint32_t chord, uint32_t f)
{
    (void)f;
    return chord == host.key;
}
static const char *w_dropped(int32_t index)
{
    return index == 0 ? host.dropped : NULL;
}

static bool w_tree(const char *label, uint32_t f)
{
    (void)f;
    say(label);
    return open_scope(CALIPER_SCOPE_TREE);
}
static void w_next_open(bool open, uint32_t when)
{
    (void)open, (void)when;
}
static bool w_input_int(const char *label, int64_t *v, int64_t step, uint32_t f)
{
    (void)step, (void)f;
    if (strcmp(label, "offset") == 0 && host.offset != 0) {
        *v = host.offset;
    }
    return false;
}
static bool w_radio(const char *label, int32_t *v, int32_t value)
{
    (void)label;
    bool picked = host.radio == value && *v != value;
    *v = picked ? value : *v;
    return picked;
}
static void w_popup_open(const char *id)
{
    (void)id;
    host.popup = true;
}
static bool w_popup(const char *id, uint32_t f)
{
    (void)id, (void)f;
    open_scope(CALIPER_SCOPE_POPUP);
    return host.popup;
}
static void w_popup_close(void)
{
    host.popup = false;
}
static uint32_t w_item(void)
{
    return 0;
}
static void w_text_size(const char *text, int64_t len, float wrap, uint32_t f, float *w, float *h)
{
    (void)text, (void)len, (void)wrap, (void)f;
    *w = 20.0f;
    *h = 10.0f;
}
static void w_set_clipboard(const char *text)
{
    snprintf(host.clipboard, sizeof(host.clipboard), "%s", text);
}

static const CaliperWidgetsV1 widgets = {.struct_size = sizeof(CaliperWidgetsV1),
                                         .end = w_end,
                                         .child = w_child,
                                         .split = w_split,
                                         .split_next = w_nothing,
                                         .indent = w_indent,
                                         .push_id_int = w_push_id_int,
                                         .push_width = w_push_width,
                                         .push_text = w_push_text,
                                         .disabled = w_disabled,
                                         .next_id = w_next_id,
                                         .next_width = w_float,
                                         .same_line = w_floats,
                                         .separator = say,
                                         .space = w_floats,
                                         .remaining = w_remaining,
                                         .metric = w_metric,
                                         .color = w_color,
                                         .text = say,
                                         .text_ex = w_text_ex,
                                         .field = w_field,
                                         .button = w_button,
                                         .checkbox = w_checkbox,
                                         .selectable = w_selectable,
                                         .slider_int = w_slider_int,
                                         .drag_range = w_drag_range,
                                         .input_text = w_input_text,
                                         .combo = w_combo,
                                         .combo_list = w_combo_list,
                                         .progress = w_progress,
                                         .tooltip = say,
                                         .table = w_table,
                                         .table_column = w_table_column,
                                         .table_row = w_table_row,
                                         .table_cell = w_table_cell,
                                         .rows = w_rows,
                                         .image_view = w_image_view,
                                         .canvas = w_canvas,
                                         .texel = w_texel,
                                         .visible = w_visible,
                                         .pointer = w_pointer,
                                         .draw_line = w_draw_line,
                                         .draw_rect = w_draw_line,
                                         .draw_circle = w_draw_circle,
                                         .draw_text = w_draw_text,
                                         .draw_image = w_draw_image,
                                         .shortcut = w_shortcut,
                                         .tree = w_tree,
                                         .next_open = w_next_open,
                                         .input_int = w_input_int,
                                         .radio = w_radio,
                                         .popup_open = w_popup_open,
                                         .popup = w_popup,
                                         .popup_close = w_popup_close,
                                         .item = w_item,
                                         .text_size = w_text_size,
                                         .set_clipboard = w_set_clipboard,
                                         .dropped = w_dropped};

static CaliperTextureId made(void)
{
    host.live++;
    return ++host.last;
}
static CaliperTextureId b_direct(const CaliperTensor *t, uint32_t f)
{
    (void)t, (void)f;
    return made();
}
static CaliperTextureId b_mapped(const CaliperTensor *t, int32_t map, float lo, float hi,
                                 uint32_t f)
{
    (void)t, (void)map, (void)lo, (void)hi, (void)f;
    return made();
}
static bool b_update(CaliperTextureId id, const CaliperTensor *t)
{
    (void)id, (void)t;
    return true;
}
static void b_release(CaliperTextureId id)
{
    (void)id;
    host.live--;
}
static bool b_alloc(CaliperDType dtype, int32_t ndim, const int64_t *shape, CaliperTensor *tensor,
                    CaliperTextureId *texture)
{
    (void)dtype, (void)ndim, (void)shape, (void)tensor, (void)texture;
    return false;
}
static const CaliperTensorBridgeV1 bridge = {
    sizeof(CaliperTensorBridgeV1), b_direct, b_update, b_release, b_mapped, b_alloc, b_release};

static void l_log(CaliperLogLevel level, const char *message)
{
    (void)message;
    host.errors += level == CALIPER_LOG_ERROR;
}
static const CaliperLogV1 logger = {sizeof(CaliperLogV1), l_log};

/* A picture whose pixels say where they are. */
enum { READ_W = 9, READ_H = 7 };
static bool r_size(CaliperTextureId id, int32_t *w, int32_t *h)
{
    (void)id;
    *w = READ_W;
    *h = READ_H;
    return true;
}
static bool r_read(CaliperTextureId id, uint8_t *dst, uint64_t bytes)
{
    (void)id;
    assert_true(bytes >= READ_W * READ_H * 4);
    for (int i = 0; i < READ_W * READ_H; i++) {
        dst[4 * i] = (uint8_t)(i % READ_W);
        dst[4 * i + 1] = (uint8_t)(i / READ_W);
        dst[4 * i + 2] = 77;
        dst[4 * i + 3] = 255;
    }
    return true;
}
static const CaliperTextureReadV1 reader = {sizeof(CaliperTextureReadV1), r_size, r_read};
static bool has_bridge = true;

static const void *get_service(const CaliperHost *self, const char *id)
{
    (void)self;
    return strcmp(id, CALIPER_WIDGETS_V1) == 0                       ? &widgets
           : strcmp(id, CALIPER_TEXTURE_READ_V1) == 0                ? &reader
           : strcmp(id, CALIPER_LOG_V1) == 0                         ? (const void *)&logger
           : strcmp(id, CALIPER_TENSOR_BRIDGE_V1) == 0 && has_bridge ? (const void *)&bridge
                                                                     : NULL;
}

static const CaliperHost host_table = {
    .struct_size = sizeof(CaliperHost), .abi_epoch = CALIPER_ABI_EPOCH, .get_service = get_service};

/* ---- Frames ---- */

static void *start(const char *path)
{
    const CaliperAppletAPI *api = &caliper_applet_descriptor()->api;
    memset(&host, 0, sizeof(host));
    host.width = 1200.0f;
    host.dropped = path;
    void *self = api->create();
    assert_true(api->initialize(self, &host_table));
    return self;
}

static void (*around_frame)(bool begins); /* NULL, or told of each frame's begin and end */

static void frame(void *self)
{
    const CaliperFrameInfo info = {sizeof(info), 1280, 800, 1.0f, 0.5, 0.016};
    host.text[0] = '\0';
    host.draws = 0;
    if (around_frame != NULL) {
        around_frame(true);
    }
    caliper_applet_descriptor()->api.frame(self, &info);
    if (around_frame != NULL) {
        around_frame(false);
    }
    host.dropped = NULL;
    host.key = 0;
    host.button = NULL;
    host.combo = NULL;
    host.pointer = 0;
    for (int kind = 0; kind < 32; kind++) {
        assert_int_equal(host.depth[kind], 0);
    }
}

static void stop(void *self)
{
    caliper_applet_descriptor()->api.cleanup(self);
    caliper_applet_descriptor()->api.destroy(self);
    assert_int_equal(host.live, 0);
}

/* Frames until the text is there: the machine may be slow. */
static void wait_for(void *self, const char *text)
{
    for (int i = 0; i < 20000; i++) {
        frame(self);
        if (strstr(host.text, text) != NULL) {
            return;
        }
        usleep(500);
    }
    fail_msg("'%s' is not in\n%s", text, host.text);
}

static char folder[64], path[128];

static void write_array(ArrayDtype dtype, uint32_t rank, const uint64_t *shape,
                        const void *elements)
{
    ArrayError error;
    snprintf(path, sizeof(path), "%s/array.npy", folder);
    assert_true(array_write_npy(path, dtype, rank, shape, elements, &error));
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tensorscope_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

#endif
