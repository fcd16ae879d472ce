/* tensorscope/panel_raw.c: opening bytes without a header: type, shape, offset, byte order. Frame
 * thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "text.h"

static const char *const type_names[] = {"f64", "f32", "f16", "bf16", "i64", "i32", "i16",
                                         "i8",  "u64", "u32", "u16",  "u8",  "bool"};
enum { TYPE_COUNT = sizeof(type_names) / sizeof(type_names[0]) };

/* Puts the layout of a raw file that is open into the fields. */
static void take_open_file(App *app)
{
    RawForm *form = &app->raw;
    const Source *source = app->session.source;
    if (source == NULL || source->format != ARRAY_FORMAT_RAW || source->count == 0 ||
        strcmp(form->of, source->path) == 0) {
        return;
    }
    const SourceArray *array = &source->arrays[0];
    const char *path = array_raw_path(source->path);
    ArrayRawLayout layout;
    size_t prefix = strlen(ARRAY_RAW_PREFIX);
    snprintf(form->of, sizeof(form->of), "%s", source->path);
    if (path == source->path ||
        !array_raw_layout_read(source->path + prefix, (size_t)(path - source->path) - prefix - 1,
                               &layout)) {
        return;
    }
    form->type = (int32_t)layout.dtype - 1; /* the names are in the enum's order, without NONE */
    form->offset = (int64_t)layout.offset_bytes;
    form->big_endian = layout.big_endian;
    form->shape[0] = '\0';
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        size_t used = strlen(form->shape);
        snprintf(form->shape + used, sizeof(form->shape) - used, "%s%" PRIu64, axis > 0 ? "x" : "",
                 array->shape[axis]);
    }
    form->open = true;
}

/* The path to open: what was typed, else the file that is open or could not be. */
static const char *path_of(const App *app)
{
    const Session *session = &app->session;
    if (app->path[0] != '\0') {
        return array_raw_path(app->path);
    }
    if (session->refused[0] != '\0') {
        return array_raw_path(session->refused);
    }
    return session->source != NULL && !session->shows_demo ? array_raw_path(session->source->path)
                                                           : "";
}

static bool make_layout(const RawForm *form, char *text, size_t size)
{
    ArrayRawLayout layout;
    snprintf(text, size, "%s:%s:%" PRId64 ":%s", type_names[form->type], form->shape,
             form->offset > 0 ? form->offset : 0, form->big_endian ? "big" : "little");
    return array_raw_layout_read(text, strlen(text), &layout);
}

void panel_raw(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    RawForm *form = &app->raw;
    char layout[512], address[SESSION_PATH_BYTES];
    const Session *session = &app->session;
    take_open_file(app);
    bool refused = session->refused[0] != '\0';
    bool raw = session->source != NULL && session->source->format == ARRAY_FORMAT_RAW;
    if (!session->shows_demo && !refused && !raw) {
        return; /* the file says itself what it is */
    }
    if (form->type == 0 && form->shape[0] == '\0') {
        form->type = ARRAY_DTYPE_F32 - 1;
    }
    if (refused && strcmp(form->of, session->refused) != 0) {
        snprintf(form->of, sizeof(form->of), "%s", session->refused); /* offered once */
        form->open = true;
    }
    ui->next_open(form->open, CALIPER_WHEN_ALWAYS);
    form->open = ui->tree("bytes without a header", 0);
    if (form->open) {
        ui->push_width(-70.0f);
        ui->combo("type##raw", &form->type, type_names, TYPE_COUNT, 0);
        ui->input_text("shape", "480x640, or ?x640", form->shape, sizeof(form->shape), 0.0f, 0);
        ui->tooltip("Extents, the outermost first; ? for as many as the file holds");
        ui->input_int("offset", &form->offset, 0, 0);
        ui->tooltip("Bytes before the first element");
        ui->end(CALIPER_SCOPE_WIDTH);
        ui->checkbox("big-endian", &form->big_endian);
        const char *path = path_of(app);
        bool good = make_layout(form, layout, sizeof(layout)) && path[0] != '\0';
        ui->disabled(!good);
        if (ui->button("Open as these bytes", 0.0f, 0.0f, 0) && good) {
            snprintf(address, sizeof(address), ARRAY_RAW_PREFIX "%s=%.3500s", layout, path);
            session_open(&app->session, address);
        }
        ui->end(CALIPER_SCOPE_DISABLED);
        if (!good) {
            ui->text_ex(path[0] == '\0' ? "type a path above" : "wanted extents, as in 480x640", -1,
                        0, CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
        }
    }
    ui->end(CALIPER_SCOPE_TREE);
}
