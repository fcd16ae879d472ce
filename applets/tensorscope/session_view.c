/* tensorscope/session_view.c: what is in sight and under the pointer. Frame thread. */
#include <math.h>
#include <string.h>

#include "session.h"

enum {
    STRETCH_SHAPE = 8,      /* a picture flatter than 1:8 is stretched to it */
    DETAIL_SIDE_MAX = 4096, /* samples */
    DETAIL_CELLS_MAX = 1 << 23,
    TILES_FIRST = 60
};

void session_stretch(const Session *session, uint64_t *rows, uint64_t *cols)
{
    const SourceArray *array = session_array(session);
    *rows = *cols = 1;
    if (array == NULL || array->element_count == 0 || session->axes.tiled) {
        return;
    }
    uint64_t down = axes_rows(array, &session->axes), across = axes_cols(array, &session->axes);
    if (across / STRETCH_SHAPE > down) {
        *rows = across / STRETCH_SHAPE / down;
    } else if (down / STRETCH_SHAPE > across) {
        *cols = down / STRETCH_SHAPE / across;
    }
}

/* One axis of the finer part: what is in sight and a quarter more on each side, on multiples of the
 * step, which is the largest that still gives every physical pixel a sample of its own. */
static void detail_axis(double from, double to, double cell_px, uint64_t extent,
                        uint64_t whole_step, uint64_t *begin, uint64_t *count, uint64_t *step)
{
    double wanted = cell_px > 0.0 ? floor(1.0 / cell_px) : 1.0;
    uint64_t by = wanted < 1.0 ? 1 : wanted > (double)whole_step ? whole_step : (uint64_t)wanted;
    double margin = (to - from) * 0.25;
    double low = fmin(fmax(from - margin, 0.0), (double)extent);
    double high = fmin(to + margin, (double)extent);
    uint64_t first = (uint64_t)low / by * by;
    uint64_t last = (uint64_t)ceil(fmax(high, low));
    last = last > extent ? extent : last;
    while (last > first && (last - first + by - 1) / by > DETAIL_SIDE_MAX) {
        by += 1 + by / 16;
        first = (uint64_t)low / by * by;
    }
    *begin = first;
    *step = by;
    *count = last > first ? (last - first + by - 1) / by : 0;
}

static bool covers(uint64_t begin, uint64_t count, uint64_t step, double from, double to,
                   uint64_t extent)
{
    double low = fmax(from, 0.0), high = fmin(to, (double)extent);
    return (double)begin <= low && (double)(begin + count * step) >= high;
}

void session_look(Session *session, double row0, double col0, double row1, double col1,
                  double row_px, double col_px)
{
    const SourceArray *array = session_array(session);
    const SliceData *whole = session->view.whole.data;
    if (array == NULL || whole == NULL || whole->tiles.count > 0 || !(row1 > row0) ||
        !(col1 > col0)) {
        return;
    }
    const SliceArea *coarse = &whole->request.area;
    if (coarse->row_step == 1 && coarse->col_step == 1) {
        return;
    }
    uint64_t rows = axes_rows(array, &session->axes), cols = axes_cols(array, &session->axes);
    SliceArea area;
    detail_axis(row0, row1, row_px, rows, coarse->row_step, &area.row_begin, &area.row_count,
                &area.row_step);
    detail_axis(col0, col1, col_px, cols, coarse->col_step, &area.col_begin, &area.col_count,
                &area.col_step);
    bool finer = area.row_step < coarse->row_step || area.col_step < coarse->col_step;
    bool empty = area.row_count == 0 || area.col_count == 0;
    if (!finer || empty || area.row_count > DETAIL_CELLS_MAX / area.col_count) {
        return;
    }
    const SliceArea *have = &session->detail_area;
    if (have->row_count > 0 && have->row_step <= area.row_step && have->col_step <= area.col_step &&
        covers(have->row_begin, have->row_count, have->row_step, row0, row1, rows) &&
        covers(have->col_begin, have->col_count, have->col_step, col0, col1, cols)) {
        return;
    }
    SliceRequest request = {.array = session->array, .axes = session->axes, .area = area};
    session->detail_area = area;
    loader_detail(session->loader, &request);
}

Hover session_hover(Session *session, uint64_t row, uint64_t col)
{
    const SliceData *whole = session->view.whole.data;
    Hover hover = {.inside = whole != NULL, .row = row, .col = col};
    if (whole == NULL) {
        return hover;
    }
    /* The picture that is asked for may have another shape than the one that is still shown. */
    const SourceArray *array = session_array(session);
    if (array == NULL || row >= axes_rows(array, &whole->request.axes) ||
        col >= axes_cols(array, &whole->request.axes)) {
        hover.inside = false;
        return hover;
    }
    size_t size = array_dtype_size_bytes(whole->dtype);
    uint64_t channels = whole->channels > 0 ? whole->channels : 1;
    for (uint64_t i = 0; i < channels && i < LOADER_ELEMENTS_MAX; i++) {
        const void *element = slice_view_element(&session->view, row, col, i);
        if (element != NULL) {
            memcpy(&hover.elements[i], element, size);
            hover.count++;
        }
    }
    hover.known = hover.count == channels;
    if (hover.known || session->refreshing) {
        return hover; /* what is read anew must not be named as the content that is shown */
    }
    if (!session->element_asked || session->element_row != row || session->element_col != col) {
        session->element_asked = true;
        session->element_row = row;
        session->element_col = col;
        session->element.known = false;
        loader_element(session->loader, session->array, &whole->request.axes, row, col);
        return hover;
    }
    hover.known = session->element.known;
    hover.count = session->element.count;
    memcpy(hover.elements, session->element.elements, sizeof(hover.elements));
    return hover;
}

uint32_t session_tile_count(const Session *session)
{
    const SourceArray *array = session_array(session);
    const AxisChoice *axes = &session->axes;
    if (array == NULL || !axes->tiled || array->element_count == 0) {
        return 0;
    }
    uint64_t left = array->shape[axes->tile] - axes->index[axes->tile];
    uint64_t wanted = session->tiles_wanted > 0 ? session->tiles_wanted : TILES_FIRST;
    wanted = wanted < TILES_MAX ? wanted : TILES_MAX;
    return (uint32_t)(left < wanted ? left : wanted);
}

Hover session_hover_tile(const Session *session, uint64_t row, uint64_t col)
{
    const SliceData *data = session->view.whole.data;
    Hover hover = {.inside = false};
    uint64_t sample_row, sample_col;
    if (data == NULL || data->tiles.count == 0 ||
        !tiles_at(&data->tiles, row, col, &hover.tile, &sample_row, &sample_col)) {
        return hover;
    }
    uint64_t channels = data->channels > 0 ? data->channels : 1;
    for (uint64_t i = 0; i < channels && i < LOADER_ELEMENTS_MAX; i++) {
        memcpy(&hover.elements[i],
               slice_data_tile_element(data, hover.tile, sample_row, sample_col, i),
               array_dtype_size_bytes(data->dtype));
        hover.count++;
    }
    hover.inside = hover.known = true;
    hover.row = data->request.area.row_begin + sample_row * data->request.area.row_step;
    hover.col = data->request.area.col_begin + sample_col * data->request.area.col_step;
    return hover;
}
