/* tests/unit/tensorscope_applet.c: the whole applet through its descriptor, over a host of the
 * test's own whose widgets record the texts and put the pointer where the test wants it: what is
 * said of the cell under the pointer is the stored element. The calling thread is the frame thread.
 */
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
    if (host.path != NULL && strcmp(label, "##save path") == 0) {
        snprintf(buf, bytes, "%s", host.path);
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
    *end = count;
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
    *x1 = 300.0;
    *y1 = 200.0;
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
    (void)label, (void)v, (void)step, (void)f;
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
static bool has_bridge = true;

static const void *get_service(const CaliperHost *self, const char *id)
{
    (void)self;
    return strcmp(id, CALIPER_WIDGETS_V1) == 0                       ? &widgets
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

static void frame(void *self)
{
    const CaliperFrameInfo info = {sizeof(info), 1280, 800, 1.0f, 0.5, 0.016};
    host.text[0] = '\0';
    host.draws = 0;
    caliper_applet_descriptor()->api.frame(self, &info);
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

/* ---- What is said ---- */

/* 2^62 + i, all the same number in binary32: the texts tell them apart. */
static void test_the_value_is_the_stored_one(void **state)
{
    const uint64_t shape[3] = {2, 3, 4};
    int64_t values[24];
    char wanted[128];
    (void)state;
    for (int i = 0; i < 24; i++) {
        values[i] = (INT64_C(1) << 62) + i;
    }
    write_array(ARRAY_DTYPE_I64, 3, shape, values);
    void *self = start(path);
    wait_for(self, "minimum: 4611686018427387904");
    assert_non_null(strstr(host.text, "maximum: 4611686018427387915"));
    assert_non_null(strstr(host.text, "i64 \xe2\x86\x92 f32 (nearest), exact value under"));
    host.points = true;
    for (int64_t row = 0; row < 3; row++) {
        for (int64_t col = 0; col < 4; col++) {
            host.row = row;
            host.col = col;
            frame(self);
            snprintf(wanted, sizeof(wanted), "[0, %d, %d] = %lld\n", (int)row, (int)col,
                     (long long)values[row * 4 + col]);
            assert_non_null(strstr(host.text, wanted));
        }
    }
    host.key = CALIPER_KEY_RIGHT; /* steps the first slider */
    wait_for(self, "[1, 2, 3] = 4611686018427387927\n");
    stop(self);
}

/* A vector is drawn taller; the pointer still names its element. */
static void test_a_vector_is_stretched(void **state)
{
    const uint64_t shape[1] = {400};
    double values[400];
    (void)state;
    for (int i = 0; i < 400; i++) {
        values[i] = i / 7.0;
    }
    write_array(ARRAY_DTYPE_F64, 1, shape, values);
    void *self = start(path);
    wait_for(self, "drawn 50 times taller");
    assert_int_equal(host.img_w, 400);
    assert_int_equal(host.img_h, 50);
    host.points = true;
    host.row = 49;
    host.col = 300;
    wait_for(self, "[300] = 42.857142857142854\n"); /* repr(300 / 7) in Python */
    stop(self);
}

static void test_colour_channels_are_all_said(void **state)
{
    const uint64_t shape[3] = {2, 2, 3};
    const uint8_t values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
    (void)state;
    write_array(ARRAY_DTYPE_U8, 3, shape, values);
    void *self = start(path);
    host.points = true;
    host.row = host.col = 1;
    wait_for(self, "[1, 1, 0] = 10, 11, 255\n");
    assert_non_null(strstr(host.text, "3 channels"));
    stop(self);
}

static void test_what_is_not_finite_is_counted(void **state)
{
    const uint64_t shape[2] = {2, 3};
    const double values[6] = {1.0, 1e300, -1e300, 0.0 / 0.0 /* NaN */, 1.0 / 0.0, -1.0 / 0.0};
    (void)state;
    write_array(ARRAY_DTYPE_F64, 2, shape, values);
    void *self = start(path);
    wait_for(self, "not finite: 1 NaN, 2 infinite");
    assert_non_null(strstr(host.text, "2 finite values are beyond f32"));
    assert_non_null(strstr(host.text, "maximum: 1.0000000000000001e+300"));
    stop(self);
}

static void test_nothing_to_show_is_said(void **state)
{
    const uint64_t shape[2] = {0, 3};
    (void)state;
    write_array(ARRAY_DTYPE_F32, 2, shape, "");
    void *self = start(path);
    wait_for(self, "holds no element to show");
    assert_int_equal(host.errors, 0);
    host.dropped = "/no such file.npy";
    wait_for(self, "This could not be shown");
    assert_non_null(strstr(host.text, "/no such file.npy"));
    assert_non_null(strstr(host.text, "Look at the path"));
    assert_int_equal(host.errors, 1);
    stop(self);
}

/* Every file of the readers' tests, wide and narrow, with the pointer on it and every key. */
static void test_every_file_every_key(void **state)
{
    static const char *const names[] = {"mixed.npz",     "model.safetensors",   "idx_u8",
                                        "png_rgb16.png", "scalar.npy",          "rank32.npy",
                                        "rank8.npy",     "refused_complex.npy", "pack.npz"};
    static const uint32_t keys[] = {CALIPER_KEY_RIGHT,
                                    CALIPER_KEY_LEFT,
                                    CALIPER_KEY_DOWN,
                                    CALIPER_KEY_UP,
                                    'G',
                                    'M',
                                    'F',
                                    '1',
                                    ' ',
                                    '-',
                                    '=',
                                    CALIPER_MOD_SHIFT | CALIPER_KEY_LEFT,
                                    CALIPER_MOD_SHIFT | CALIPER_KEY_DOWN,
                                    CALIPER_MOD_MAIN | 'S',
                                    CALIPER_MOD_MAIN | 'R'};
    char file[512];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(file, sizeof(file), "%s/%s", FORMATS_DATA_DIR, names[i]);
        void *self = start(file);
        host.points = true;
        for (size_t k = 0; k < 4 * sizeof(keys) / sizeof(keys[0]); k++) {
            host.key = keys[k % (sizeof(keys) / sizeof(keys[0]))];
            host.width = k % 3 == 0 ? 400.0f : 1200.0f;
            frame(self);
            usleep(300);
        }
        stop(self);
    }
}

/* By key and by pointer; what is copied is the exact value. */
static void test_a_value_is_copied(void **state)
{
    const uint64_t shape[2] = {2, 2};
    const double values[4] = {0.1, 1.0 / 3.0, -2.5, 1e300};
    (void)state;
    write_array(ARRAY_DTYPE_F64, 2, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    host.key = 'C'; /* nothing is under the pointer */
    frame(self);
    assert_string_equal(host.clipboard, "");
    host.points = true;
    host.col = 1;
    host.key = 'C';
    frame(self);
    assert_string_equal(host.clipboard, "0.33333333333333331");
    assert_non_null(strstr(host.text, "copied [0, 1] = 0.33333333333333331"));
    host.row = 1;
    host.col = 0;
    host.pointer = CALIPER_POINTER_PRESSED << 1;
    frame(self);
    assert_string_equal(host.clipboard, "-2.5");
    host.row = host.col = 1;
    host.key = CALIPER_MOD_MAIN | 'C';
    frame(self);
    assert_string_equal(host.clipboard, "1.0000000000000001e+300");
    stop(self);
}

/* The grid along the first axis: every element of every slice is named right, gaps name nothing. */
static void test_a_grid_of_slices(void **state)
{
    enum { N = 7, R = 3, C = 4 };
    const uint64_t shape[3] = {N, R, C};
    int32_t values[N * R * C];
    char wanted[64];
    (void)state;
    for (int i = 0; i < N * R * C; i++) {
        values[i] = 1000000 + i;
    }
    write_array(ARRAY_DTYPE_I32, 3, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    host.combo = "grid";
    host.choice = 1; /* axis 0 */
    frame(self);
    wait_for(self, "7 slices of 3 \xc3\x97 4 cells");
    int64_t width = host.img_w, height = host.img_h;
    int named = 0;
    host.points = true;
    for (host.row = 0; host.row < height; host.row++) {
        for (host.col = 0; host.col < width; host.col++) {
            frame(self);
            /* Tiles of 3 x 4 with gaps of 1, from left to right, then down. */
            int64_t across = (width + 1) / (C + 1);
            int64_t tile = host.row / (R + 1) * across + host.col / (C + 1);
            int64_t r = host.row % (R + 1), c = host.col % (C + 1);
            if (r < R && c < C && tile < N) {
                snprintf(wanted, sizeof(wanted), "[%d, %d, %d] = %d\n", (int)tile, (int)r, (int)c,
                         values[(tile * R + r) * C + c]);
                assert_non_null(strstr(host.text, wanted));
                named++;
            } else {
                assert_null(strstr(host.text, "] = "));
            }
        }
    }
    assert_int_equal(named, N * R * C);
    host.combo = "grid";
    host.choice = 0;
    frame(self);
    host.points = false;
    wait_for(self, "3 \xc3\x97 4 cells, every element");
    stop(self);
}

static bool file_holds(const char *file, const void *bytes, size_t size)
{
    uint8_t found[4096];
    FILE *stream = fopen(file, "rb");
    size_t got = stream != NULL ? fread(found, 1, sizeof(found), stream) : 0;
    if (stream != NULL) {
        fclose(stream);
    }
    return got >= size && memcmp(found + got - size, bytes, size) == 0;
}

/* The window is opened by its key and by its button; what is there is replaced only when that is
 * said; the written elements are the shown ones. */
static void test_a_slice_is_saved(void **state)
{
    const uint64_t shape[3] = {2, 2, 3};
    const uint16_t values[12] = {1, 2, 3, 40000, 5, 6, 7, 8, 9, 10, 11, 65535};
    char out[256];
    (void)state;
    snprintf(out, sizeof(out), "%s/saved.npy", folder);
    unlink(out);
    write_array(ARRAY_DTYPE_U16, 3, shape, values);
    void *self = start(path);
    wait_for(self, "every element");
    host.key = CALIPER_KEY_RIGHT;
    wait_for(self, "[1, :, :]");
    wait_for(self, "maximum: 65535");
    host.key = CALIPER_MOD_MAIN | 'S';
    frame(self);
    assert_true(host.popup);
    assert_non_null(strstr(host.text, "every element as u16, 2 \xc3\x97 3"));
    host.path = out;
    frame(self);
    host.button = "Save";
    wait_for(self, "saved ");
    assert_false(host.popup);
    assert_true(file_holds(out, values + 6, 12));
    assert_int_equal(host.errors, 0);

    host.button = "Save"; /* the one in the tools opens the window */
    frame(self);
    assert_true(host.popup);
    host.key = CALIPER_KEY_LEFT;
    frame(self);
    wait_for(self, "maximum: 40000");
    host.button = "Save";
    wait_for(self, "is there already");
    assert_true(file_holds(out, values + 6, 12)); /* untouched */
    host.button = "Replace";
    for (int i = 0; i < 20000 && !file_holds(out, values, 12); i++) {
        frame(self);
        usleep(500);
    }
    assert_true(file_holds(out, values, 12));
    host.button = "Cancel";
    frame(self);
    unlink(out);
    stop(self);
}

static void test_a_host_without_a_bridge(void **state)
{
    const CaliperAppletAPI *api = &caliper_applet_descriptor()->api;
    (void)state;
    memset(&host, 0, sizeof(host));
    has_bridge = false;
    void *self = api->create();
    assert_false(api->initialize(self, &host_table));
    assert_int_equal(host.errors, 1);
    api->destroy(self);
    has_bridge = true;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_value_is_the_stored_one),
        cmocka_unit_test(test_a_vector_is_stretched),
        cmocka_unit_test(test_colour_channels_are_all_said),
        cmocka_unit_test(test_what_is_not_finite_is_counted),
        cmocka_unit_test(test_nothing_to_show_is_said),
        cmocka_unit_test(test_every_file_every_key),
        cmocka_unit_test(test_a_value_is_copied),
        cmocka_unit_test(test_a_grid_of_slices),
        cmocka_unit_test(test_a_slice_is_saved),
        cmocka_unit_test(test_a_host_without_a_bridge),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
