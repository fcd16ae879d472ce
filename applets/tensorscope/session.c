/* tensorscope/session.c: opening, choosing, ranging. Frame thread. session_view.c has what depends
 * on where a person looks. */
#include "session.h"

#include <caliper/caliper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEMO_SIDE = 512,
    SIDE_MAX = 8192,      /* samples a side of the overview, where the host allows */
    CELLS_MAX = 1 << 24,  /* in all */
    REPEATABLE_ROUNDS = 8 /* an answer may ask again: open, slice, smaller slice */
};

/* All rounds together stay under what the host lets a frame take. */
static const double repeatable_wait_sec = 1.0;

bool session_start(Session *session, const CaliperTensorBridgeV1 *bridge, const CaliperLogV1 *log)
{
    session->bridge = bridge;
    session->log = log;
    session->view.bridge = bridge;
    session->side_max = SIDE_MAX;
    session->shows_demo = true;
    session->repeatable = getenv("CALIPER_FIXED_CLOCK") != NULL;
    session->loader = loader_create();
    return session->loader != NULL;
}

void session_stop(Session *session)
{
    loader_destroy(&session->loader);
    demo_destroy(&session->demo);
    slice_view_clear(&session->view);
    source_destroy(&session->source);
    for (int i = 0; i < SESSION_RECENT_MAX; i++) {
        free(session->recent[i]);
        session->recent[i] = NULL;
    }
}

/* One log line, and the text that the panel shows. */
static void fail(Session *session, const ArrayError *error)
{
    session->error = *error;
    if (CALIPER_HAS(session->log, CaliperLogV1, log)) {
        session->log->log(CALIPER_LOG_ERROR, error->message);
    }
}

/* Moves a path to `place` in the list of recent files; the oldest falls out. */
static void remember(Session *session, const char *path, int place)
{
    int at = place;
    while (at < SESSION_RECENT_MAX - 1 && session->recent[at] != NULL &&
           strcmp(session->recent[at], path) != 0) {
        at++;
    }
    char *kept = session->recent[at];
    if (kept == NULL || strcmp(kept, path) != 0) {
        kept = strdup(path);
        if (kept == NULL) {
            return;
        }
        free(session->recent[at]);
    }
    memmove(&session->recent[place + 1], &session->recent[place],
            (size_t)(at - place) * sizeof(session->recent[0]));
    session->recent[place] = kept;
}

void session_offer(Session *session, const char *path)
{
    for (int at = 0; at < SESSION_RECENT_MAX; at++) {
        if (session->recent[at] == NULL) {
            remember(session, path, at);
            return;
        }
        if (strcmp(session->recent[at], path) == 0) {
            return;
        }
    }
}

void session_open(Session *session, const char *path)
{
    const char *home = getenv("HOME");
    if (path[0] == '\0') {
        return;
    }
    if (path[0] == '~' && path[1] == '/' && home != NULL) {
        snprintf(session->opening, sizeof(session->opening), "%s%s", home, path + 1);
    } else {
        snprintf(session->opening, sizeof(session->opening), "%s", path);
    }
    session->error.fault = ARRAY_FAULT_NONE;
    loader_open(session->loader, session->opening);
}

void session_show_demo(Session *session)
{
    session->shows_demo = true;
}

void session_show_file(Session *session)
{
    session->shows_demo = session->source == NULL;
}

void session_forget_error(Session *session)
{
    session->error.fault = ARRAY_FAULT_NONE;
}

const SourceArray *session_array(const Session *session)
{
    return session->source != NULL && session->array < session->source->count
               ? &session->source->arrays[session->array]
               : NULL;
}

void session_axes_changed(Session *session, bool reshaped)
{
    const SourceArray *array = session_array(session);
    SliceRequest request = {.array = session->array, .axes = session->axes, .summarise = true};
    if (array == NULL || array->problem != NULL || array->element_count == 0) {
        return;
    }
    request.area =
        slice_area_overview(axes_rows(array, &session->axes), axes_cols(array, &session->axes),
                            session->side_max, CELLS_MAX);
    session->element_asked = false;
    session->element.known = false;
    memset(&session->detail_area, 0, sizeof(session->detail_area));
    if (reshaped) {
        memset(session->view3, 0, sizeof(session->view3));
    }
    loader_slice(session->loader, &request);
}

void session_select_array(Session *session, uint32_t array)
{
    if (session->source == NULL || array >= session->source->count) {
        return;
    }
    session->array = array;
    session->slice_failed = false;
    axes_default(&session->source->arrays[array], &session->axes);
    slice_view_clear(&session->view);
    session_axes_changed(session, true);
}

bool session_step(Session *session, uint32_t slider, int64_t delta)
{
    const SourceArray *array = session_array(session);
    int axes[ARRAY_RANK_MAX];
    if (array == NULL || session->shows_demo ||
        slider >= axes_sliders(array, &session->axes, axes) ||
        !axes_step(array, &session->axes, axes[slider], delta)) {
        return false;
    }
    session_axes_changed(session, false);
    return true;
}

/* ---- Range and colormap ---- */

static Range current_range(const Session *session, const SliceData *data)
{
    return range_resolve(session->mode, data->dtype, &data->summary, session->hand_low,
                         session->hand_high);
}

static void apply_range(Session *session)
{
    const SliceData *data = session->view.whole.data;
    if (data != NULL) {
        slice_view_set_range(&session->view, current_range(session, data), session->colormap);
    }
}

void session_set_mode(Session *session, RangeMode mode)
{
    if (mode == RANGE_MODE_BY_HAND && session->mode != mode) {
        session->hand_low = (double)session->view.whole.range.low;
        session->hand_high = (double)session->view.whole.range.high;
    }
    session->mode = mode;
    apply_range(session);
}

void session_set_hand(Session *session, double low, double high)
{
    session->mode = RANGE_MODE_BY_HAND;
    session->hand_low = low;
    session->hand_high = high;
    apply_range(session);
}

void session_set_colormap(Session *session, int32_t colormap)
{
    session->colormap = colormap;
    apply_range(session);
}

/* ---- Answers ---- */

static void take_source(Session *session, LoaderResult *result)
{
    session->opening[0] = '\0';
    if (!result->done) {
        fail(session, &result->error);
        if (!session->slice_failed) {
            session_axes_changed(session, false); /* opening dropped what was being read for it */
        }
        return;
    }
    bool again = session->source != NULL &&
                 strcmp(session->source->path, result->source->path) == 0 &&
                 session->array < result->source->count;
    uint32_t array = again ? session->array : source_first_readable(result->source);
    source_destroy(&session->source);
    session->source = result->source;
    result->source = NULL;
    session->shows_demo = false;
    session->error.fault = ARRAY_FAULT_NONE;
    remember(session, session->source->path, 0);
    if (session->source->count > 0) {
        session_select_array(session, array);
    } else {
        slice_view_clear(&session->view);
    }
}

static void take_slice(Session *session, LoaderResult *result)
{
    session->slice_failed = !result->done;
    if (!result->done) {
        slice_view_clear(&session->view);
        fail(session, &result->error);
        return;
    }
    SliceData *data = result->data;
    if (data->request.array != session->array) {
        return; /* another array was chosen that needs no reading */
    }
    result->data = NULL;
    if (slice_view_set_whole(&session->view, data, current_range(session, data),
                             session->colormap)) {
        return;
    }
    /* Larger than a texture of this host can be, most likely: half as many samples a side. */
    uint64_t side = data->rows > data->cols ? data->rows : data->cols;
    if (side > 256) {
        session->side_max = side / 2;
        session_axes_changed(session, false);
        return;
    }
    ArrayError refused = {ARRAY_FAULT_ARGUMENT, "TensorScope: the host refused to show this slice"};
    session->slice_failed = true;
    fail(session, &refused);
}

static void take(Session *session, LoaderResult *result)
{
    switch (result->kind) {
    case LOADER_KIND_OPEN:
        take_source(session, result);
        break;
    case LOADER_KIND_SLICE:
        take_slice(session, result);
        break;
    case LOADER_KIND_DETAIL:
        if (!result->done) {
            fail(session, &result->error);
        } else if (session->view.whole.texture != 0) {
            slice_view_set_detail(&session->view, result->data);
            result->data = NULL;
        }
        break;
    case LOADER_KIND_ELEMENT:
        session->element.known = result->done;
        session->element.count = result->element_count;
        memcpy(session->element.elements, result->elements, sizeof(result->elements));
        if (!result->done) {
            fail(session, &result->error);
        }
        break;
    default:
        break;
    }
    loader_result_clear(result);
}

static void take_answers(Session *session)
{
    LoaderResult result;
    for (int round = 0; round < REPEATABLE_ROUNDS; round++) {
        bool idle = !session->repeatable || loader_wait(session->loader, repeatable_wait_sec);
        bool any = false;
        while (loader_take(session->loader, &result)) {
            take(session, &result);
            any = true;
        }
        if (!any || !idle || !session->repeatable) {
            return; /* what takes longer comes in a later frame */
        }
    }
}

static void update_demo(Session *session, double time_sec, double delta_sec)
{
    session->demo_texture = 0;
    if (!session->shows_demo || session->demo_failed) {
        return;
    }
    if (session->demo == NULL) {
        if (session->opening[0] != '\0') {
            return; /* a file comes first: no field flashes up before it */
        }
        session->demo = demo_create(session->bridge, DEMO_SIDE);
        session->demo_failed = session->demo == NULL;
        session->demo_time_sec = time_sec;
        if (session->demo_failed) {
            return;
        }
    } else if (!session->demo_paused) {
        session->demo_time_sec += delta_sec;
    }
    session->demo_texture = demo_frame(session->demo, session->demo_time_sec, session->repeatable);
}

void session_update(Session *session, double time_sec, double delta_sec)
{
    take_answers(session);
    update_demo(session, time_sec, delta_sec);
}
