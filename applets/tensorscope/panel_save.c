/* tensorscope/panel_save.c: the window that asks where to save, and as what. Frame thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "text.h"

static const char title[] = "Save what is shown";
static const float field_width = 460.0f;
enum { KIND_NPY = 0, KIND_PNG = 1 };
static const uint64_t pixels_max_bytes = UINT64_C(1) << 30;

static void fill_path(App *app)
{
    const Session *session = &app->session;
    save_default_path(
        session->source, session_array(session), &session->view.whole.data->request.axes,
        app->save_kind == KIND_PNG ? ".png" : ".npy", app->save_path, sizeof(app->save_path));
}

/* The pixels as the host shows them, one a cell. */
static bool write_png(App *app, bool replace)
{
    const SliceTexture *whole = &app->session.view.whole;
    int32_t width = 0, height = 0;
    if (!app->read->size(whole->texture, &width, &height) || width < 1 || height < 1 ||
        (uint64_t)width * (uint64_t)height * 4 > pixels_max_bytes) {
        return false;
    }
    size_t bytes = (size_t)width * (size_t)height * 4;
    uint8_t *rgba = malloc(bytes);
    if (rgba == NULL || !app->read->read_rgba8(whole->texture, rgba, bytes)) {
        free(rgba);
        return false;
    }
    return save_png(app->save, app->save_path, replace, rgba, (uint32_t)width, (uint32_t)height,
                    &whole->data->tiles);
}

static void write(App *app, bool replace)
{
    const Session *session = &app->session;
    bool begun = app->save_kind == KIND_PNG
                     ? write_png(app, replace)
                     : save_npy(app->save, app->save_path, replace, session->view.whole.data,
                                session->source->path, &session->stamp);
    if (!begun && CALIPER_HAS(app->log, CaliperLogV1, log)) {
        app->log->log(CALIPER_LOG_ERROR, "TensorScope: this picture could not be saved");
    }
}

/* "float32, 480 x 640": what the file will hold. */
static void describe(const App *app, char *text, size_t size)
{
    const Session *session = &app->session;
    const SliceData *data = session->view.whole.data;
    const SourceArray *array = session_array(session);
    const AxisChoice *axes = &data->request.axes;
    if (app->save_kind == KIND_PNG) {
        bool sampled = data->request.area.row_step > 1 || data->request.area.col_step > 1;
        snprintf(text, size, "%" PRIu64 " \u00d7 %" PRIu64 " pixels, one a cell%s", data->height,
                 data->width, sampled ? " of the overview" : "");
        return;
    }
    size_t used =
        (size_t)snprintf(text, size, "every element as %s%s, ", array_dtype_name(data->dtype),
                         data->dtype == ARRAY_DTYPE_BF16 ? " in f32, exactly" : "");
    if (data->tiles.count > 0 && used < size) {
        used +=
            (size_t)snprintf(text + used, size - used, "%u \u00d7 ", (unsigned)data->tiles.count);
    }
    if (used < size) {
        used += (size_t)snprintf(text + used, size - used, "%" PRIu64 " \u00d7 %" PRIu64,
                                 axes_rows(array, axes), axes_cols(array, axes));
    }
    if (axes->colour != ARRAY_AXIS_NONE && used < size) {
        snprintf(text + used, size - used, " \u00d7 %" PRIu64, array->shape[axes->colour]);
    }
}

static void draw_outcome(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    if (save_state(app->save) == SAVE_STATE_WRITING) {
        ui->progress(save_progress(app->save), NULL, field_width, 0.0f);
    } else if (save_state(app->save) == SAVE_STATE_FAILED) {
        ui->push_width(field_width);
        ui->text_ex(save_error(app->save)->message, -1, ui->color(CALIPER_THEME_BAD),
                    CALIPER_TEXT_WRAP);
        ui->end(CALIPER_SCOPE_WIDTH);
    }
}

static void draw_form(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    char text[TEXT_BYTES];
    int32_t kind = app->save_kind;
    bool writing = save_state(app->save) == SAVE_STATE_WRITING;
    ui->radio("values (.npy)", &kind, KIND_NPY);
    ui->same_line(0.0f, 16.0f);
    ui->disabled(app->read == NULL);
    ui->radio("picture (.png)", &kind, KIND_PNG);
    ui->end(CALIPER_SCOPE_DISABLED);
    if (kind != app->save_kind) {
        app->save_kind = kind;
        fill_path(app);
        save_forget(app->save);
    }
    describe(app, text, sizeof(text));
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM);
    ui->next_width(field_width);
    bool go = ui->input_text("##save path", "path", app->save_path, sizeof(app->save_path), 0.0f,
                             CALIPER_INPUT_ON_ENTER);
    if ((ui->item() & CALIPER_ITEM_EDITED) != 0) {
        save_forget(app->save);
    }
    draw_outcome(app);
    bool exists = save_state(app->save) == SAVE_STATE_FAILED &&
                  save_error(app->save)->fault == ARRAY_FAULT_EXISTS;
    bool ready = !writing && app->save_path[0] != '\0';
    bool replace =
        ui->shortcut(CALIPER_MOD_MAIN | CALIPER_KEY_ENTER, CALIPER_SHORTCUT_WHILE_TYPING) && ready;
    go |= ui->shortcut(CALIPER_KEY_ENTER, 0);
    go = go && ready;
    ui->disabled(!ready);
    if (exists) {
        if (ui->button("Replace", 90.0f, 0.0f, CALIPER_BUTTON_DANGER) || replace) {
            write(app, true);
        }
    } else if (ui->button("Save", 90.0f, 0.0f, CALIPER_BUTTON_PRIMARY) || go) {
        write(app, false);
    }
    ui->tooltip(exists ? "Ctrl Enter" : "Enter");
    ui->end(CALIPER_SCOPE_DISABLED);
    ui->same_line(0.0f, 8.0f);
    if (ui->button(writing ? "Stop" : "Cancel", 90.0f, 0.0f, 0) ||
        ui->shortcut(CALIPER_KEY_ESCAPE, CALIPER_SHORTCUT_WHILE_TYPING)) {
        if (writing) {
            save_cancel(app->save);
        } else {
            ui->popup_close();
        }
    }
    if (app->save_finished) {
        app->save_finished = false;
        ui->popup_close();
    }
}

void panel_save(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    bool possible = app->session.view.whole.data != NULL && app->session.source != NULL;
    ui->disabled(!possible);
    bool open = ui->button("Save", 0.0f, 0.0f, CALIPER_BUTTON_SMALL);
    ui->tooltip("The stored values as .npy, or the picture as PNG (Ctrl S)");
    ui->end(CALIPER_SCOPE_DISABLED);
    open |= ui->shortcut(CALIPER_MOD_MAIN | 'S', 0);
    if (open && possible) {
        save_forget(app->save);
        fill_path(app);
        ui->popup_open(title);
    }
    if (ui->popup(title, CALIPER_POPUP_MODAL) && possible) {
        draw_form(app);
    }
    ui->end(CALIPER_SCOPE_POPUP);
}
