/* tensorscope/session.c: opening, choosing, ranging. Frame thread. session_view.c has what depends
 * on where a person looks. */
#include "session.h"

#include <caliper/caliper.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEMO_SIDE = 512,
    SIDE_MAX = 8192,     /* samples a side of the overview, where the host allows */
    CELLS_MAX = 1 << 24, /* in all */
    FIRST_SIDE_MAX = 512,
    FIRST_CELLS_MAX = 1 << 16,
    FIRST_LOOK_BYTES = 128 << 20,
    REPEATABLE_ROUNDS = 8 /* an answer may ask again: open, slice, smaller slice */
};

/* All rounds together stay under what the host lets a frame take. */
static const double repeatable_wait_sec = 1.0;
static const double repeatable_count_sec = 0.03;

bool session_start(Session *session, const CaliperTensorBridgeV1 *bridge, const CaliperLogV1 *log)
{
    session->bridge = bridge;
    session->log = log;
    session->view.bridge = bridge;
    session->side_max = SIDE_MAX;
    session->shows_demo = true;
    session->follows = true;
    session->repeatable = getenv("CALIPER_FIXED_CLOCK") != NULL;
    session->exact = exact_create();
    session->loader = session->exact != NULL ? loader_create() : NULL;
    session->view.loader = session->loader;
    return session->loader != NULL;
}

static void discard_source(Session *session)
{
    SliceData *none = NULL;
    loader_discard(session->loader, &session->source, &none);
}

void session_stop(Session *session)
{
    slice_view_clear(&session->view);
    discard_source(session);
    if (session->exact != NULL) {
        exact_drop(session->exact); /* it ends while the loader does */
    }
    loader_destroy(&session->loader);
    session->view.loader = NULL;
    exact_destroy(&session->exact);
    demo_destroy(&session->demo);
    for (int i = 0; i < SESSION_RECENT_MAX; i++) {
        free(session->recent[i]);
        session->recent[i] = NULL;
    }
}

/* One log line, and the text that the panel shows. */
static void fail(Session *session, const ArrayError *error)
{
    session->error = *error;
    session->error_is_of_content = false;
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

void session_follow(Session *session, bool follow)
{
    session->follows = follow;
    loader_set_watch(session->loader, follow);
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

/* About how many bytes a read of these samples takes from the disk, which gives pages. */
static uint64_t touched_bytes(const SourceArray *array, const SliceArea *area, uint64_t cols)
{
    const uint64_t page = 4096;
    uint64_t element = array_dtype_size_bytes(array->dtype);
    uint64_t row_bytes = cols * element;
    uint64_t pages = area->col_count * page;
    return area->row_count * (row_bytes < pages ? row_bytes : pages);
}

/* The samples of one tile, so that all of them fit into one texture with their gaps. */
static SliceArea tile_area(const Session *session, uint32_t count, uint64_t rows, uint64_t cols)
{
    Tiles tiles = {.count = count, .across = tiles_across(count, rows, cols)};
    uint32_t most = tiles_down(&tiles) > tiles.across ? tiles_down(&tiles) : tiles.across;
    uint64_t side = session->side_max / most * 9 / 10;
    return slice_area_overview(rows, cols, side > 0 ? side : 1, CELLS_MAX / 2 / count);
}

static void ask_for_slice(Session *session)
{
    const SourceArray *array = session_array(session);
    SliceRequest request = {.array = session->array, .axes = session->axes, .summarise = true};
    uint64_t rows = axes_rows(array, &session->axes), cols = axes_cols(array, &session->axes);
    request.tile_count = session_tile_count(session);
    if (request.tile_count > 0) {
        request.area = tile_area(session, request.tile_count, rows, cols);
    } else if (session->first_look) {
        request.area = slice_area_overview(rows, cols, FIRST_SIDE_MAX, FIRST_CELLS_MAX);
    } else {
        request.area = slice_area_overview(rows, cols, session->side_max, CELLS_MAX);
    }
    exact_drop(session->exact);
    loader_slice(session->loader, &request);
}

void session_axes_changed(Session *session, bool reshaped)
{
    const SourceArray *array = session_array(session);
    if (array == NULL || array->problem != NULL || array->element_count == 0) {
        return;
    }
    uint64_t rows = axes_rows(array, &session->axes), cols = axes_cols(array, &session->axes);
    SliceArea area = slice_area_overview(rows, cols, session->side_max, CELLS_MAX);
    session->first_look = !array->compressed && !session->axes.tiled &&
                          touched_bytes(array, &area, cols) > FIRST_LOOK_BYTES;
    session->element_asked = false;
    session->element.known = false;
    memset(&session->detail_area, 0, sizeof(session->detail_area));
    if (reshaped) {
        memset(session->view3, 0, sizeof(session->view3));
    }
    ask_for_slice(session);
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
        slider >= axes_sliders(array, &session->axes, axes)) {
        return false;
    }
    if (session->axes.tiled && session->axes.tile == axes[slider]) {
        delta *= (int64_t)session_tile_count(session); /* a page */
    }
    if (!axes_step(array, &session->axes, axes[slider], delta)) {
        return false;
    }
    session_axes_changed(session, false);
    return true;
}

/* ---- Range and colormap ---- */

/* What the range follows: every element where they were counted. */
static Range current_range(const Session *session, const SliceData *data)
{
    bool shown = data == session->view.whole.data;
    const Summary *summary = shown ? session_summary(session) : &data->summary;
    Range range =
        range_resolve(session->mode, data->dtype, summary, session->hand_low, session->hand_high);
    range_note_stored(&range, shown ? session_stats(session) : &data->stats);
    return range;
}

static bool is_sampled(const SliceData *data)
{
    return data->request.area.row_step > 1 || data->request.area.col_step > 1;
}

void session_count(Session *session)
{
    const SliceData *data = session->view.whole.data;
    if (data != NULL && session->source != NULL && is_sampled(data) && data->tiles.count == 0) {
        exact_ask(session->exact, session->source->path, &session->stamp, data->request.array,
                  &data->request.axes);
    }
}

const Summary *session_summary(const Session *session)
{
    return exact_state(session->exact) == EXACT_STATE_KNOWN ? exact_summary(session->exact)
                                                            : &session->view.whole.data->summary;
}

const ArrayStats *session_stats(const Session *session)
{
    return exact_state(session->exact) == EXACT_STATE_KNOWN ? exact_stats(session->exact)
                                                            : &session->view.whole.data->stats;
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

/* The array of the new source that stands where the shown one stood: of the same name, else in the
 * same place, else the first that can be read. */
static uint32_t same_array(const Source *from, uint32_t array, const Source *to)
{
    if (array >= from->count) {
        return source_first_readable(to);
    }
    for (uint32_t i = 0; i < to->count; i++) {
        if (strcmp(to->arrays[i].name, from->arrays[array].name) == 0) {
            return i;
        }
    }
    return array < to->count && to->arrays[array].problem == NULL ? array
                                                                  : source_first_readable(to);
}

/* Takes a new content of the file that is shown: axes, places of the sliders, range, colormap and
 * zoom stay where the new array lets them. */
static void keep_view(Session *session, Source *source)
{
    const SourceArray *before = session_array(session);
    uint32_t array = same_array(session->source, session->array, source);
    const SourceArray *after = array < source->count ? &source->arrays[array] : NULL;
    bool shown = after != NULL && after->problem == NULL && after->element_count > 0;
    bool same_axes = before != NULL && shown && axes_fit(before, after, &session->axes);
    bool same_shape = same_axes && before->dtype == after->dtype &&
                      axes_rows(before, &session->axes) == axes_rows(after, &session->axes) &&
                      axes_cols(before, &session->axes) == axes_cols(after, &session->axes);
    if (same_axes) {
        axes_clamp(after, &session->axes);
    } else if (after != NULL) {
        axes_default(after, &session->axes);
    }
    if (!same_shape) {
        slice_view_clear(&session->view);
    }
    discard_source(session);
    session->source = source;
    session->array = array;
    session->slice_failed = false;
    session->refreshing = shown && same_shape;
    session_axes_changed(session, !same_shape);
}

static void take_source(Session *session, LoaderResult *result)
{
    bool unknown = !result->done && result->error.fault == ARRAY_FAULT_FORMAT;
    snprintf(session->refused, sizeof(session->refused), "%s", unknown ? session->opening : "");
    session->opening[0] = '\0';
    if (!result->done) {
        fail(session, &result->error);
        if (!session->slice_failed) {
            session_axes_changed(session, false); /* opening dropped what was being read for it */
        }
        return;
    }
    Source *source = result->source;
    session->stamp = result->stamp;
    bool again = session->source != NULL && strcmp(session->source->path, source->path) == 0;
    result->source = NULL;
    session->shows_demo = false;
    session->error.fault = ARRAY_FAULT_NONE;
    session->stale.fault = ARRAY_FAULT_NONE;
    remember(session, source->path, 0);
    if (again) {
        keep_view(session, source);
        return;
    }
    discard_source(session);
    session->source = source;
    session->file_number++;
    session->refresh_count = 0;
    session->refreshing = false;
    if (source->count > 0) {
        session_select_array(session, source_first_readable(source));
    } else {
        slice_view_clear(&session->view);
    }
}

/* The newest content cannot be shown: said once, however often it is tried. */
static void become_stale(Session *session, const ArrayError *error)
{
    if (session->stale.fault == ARRAY_FAULT_NONE && CALIPER_HAS(session->log, CaliperLogV1, log)) {
        session->log->log(CALIPER_LOG_WARN, error->message);
    }
    session->stale = *error;
}

/* The watched file changed. One that was never shown is opened as if it were asked for. */
static void take_refresh(Session *session, LoaderResult *result)
{
    if (session->source == NULL) {
        if (result->done) {
            take_source(session, result);
        }
        return;
    }
    if (!result->done) {
        become_stale(session, &result->error);
        return;
    }
    Source *source = result->source;
    session->stamp = result->stamp;
    result->source = NULL;
    session->refresh_count += result->second_look ? 0 : 1;
    keep_view(session, source);
    if (!session->refreshing) {
        session->stale.fault = ARRAY_FAULT_NONE; /* nothing is left that could be out of date */
    }
}

/* A part that was asked for beside a coarser picture, and comes when a finer one is shown, would
 * cover it: it is let go, and asked for anew where it is still looked at. */
static void take_detail(Session *session, LoaderResult *result)
{
    const SliceArea *part = &result->data->request.area;
    const SliceArea *whole = &session->view.whole.data->request.area;
    if (part->row_step >= whole->row_step && part->col_step >= whole->col_step) {
        memset(&session->detail_area, 0, sizeof(session->detail_area));
        return;
    }
    slice_view_set_detail(&session->view, result->data);
    result->data = NULL;
}

static void take_slice(Session *session, LoaderResult *result)
{
    bool refreshing = session->refreshing;
    session->refreshing = false;
    if (!result->done && refreshing && session->view.whole.data != NULL) {
        become_stale(session, &result->error);
        return;
    }
    session->slice_failed = !result->done;
    if (!result->done) {
        slice_view_clear(&session->view);
        fail(session, &result->error);
        session->error_is_of_content = true;
        return;
    }
    session->stale.fault = ARRAY_FAULT_NONE;
    if (session->error_is_of_content) {
        session->error.fault = ARRAY_FAULT_NONE; /* what is shown now could be read */
        session->error_is_of_content = false;
    }
    SliceData *data = result->data;
    if (data->request.array != session->array) {
        return; /* another array was chosen that needs no reading */
    }
    result->data = NULL;
    if (slice_view_set_whole(&session->view, data, current_range(session, data),
                             session->colormap)) {
        if (session->first_look) {
            session->first_look = false;
            ask_for_slice(session);
        } else {
            session_count(session);
        }
        return;
    }
    /* Larger than a texture of this host can be, most likely: half as many samples a side. */
    uint64_t side = data->height > data->width ? data->height : data->width;
    if (side > 256) {
        session->side_max = side / 2;
        session_axes_changed(session, false);
        return;
    }
    ArrayError refused = {ARRAY_FAULT_ARGUMENT, "TensorScope: the host refused to show this slice"};
    session->slice_failed = true;
    fail(session, &refused);
}

/* A part that could not be read beside a picture that stays: where the file is being written, that
 * is told already, or will be as soon as it is looked at. */
static void fail_beside(Session *session, const ArrayError *error)
{
    if (session->follows &&
        (error->fault == ARRAY_FAULT_TRUNCATED || session->stale.fault != ARRAY_FAULT_NONE)) {
        become_stale(session, error);
    } else {
        fail(session, error);
    }
}

static void take(Session *session, LoaderResult *result)
{
    switch (result->kind) {
    case LOADER_KIND_OPEN:
        take_source(session, result);
        break;
    case LOADER_KIND_REFRESH:
        take_refresh(session, result);
        break;
    case LOADER_KIND_SLICE:
        take_slice(session, result);
        break;
    case LOADER_KIND_DETAIL:
        if (!result->done) {
            fail_beside(session, &result->error);
        } else if (session->view.whole.texture != 0) {
            take_detail(session, result);
        }
        break;
    case LOADER_KIND_ELEMENT:
        session->element.known = result->done;
        session->element.count = result->element_count;
        memcpy(session->element.elements, result->elements, sizeof(result->elements));
        if (!result->done) {
            fail_beside(session, &result->error);
        }
        break;
    default:
        break;
    }
    loader_discard(session->loader, &result->source, &result->data);
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
    if (session->repeatable) {
        exact_wait(session->exact, repeatable_count_sec);
    }
    if (exact_update(session->exact)) {
        apply_range(session);
    }
    update_demo(session, time_sec, delta_sec);
}
