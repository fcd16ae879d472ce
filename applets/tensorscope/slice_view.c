/* tensorscope/slice_view.c: making, filling and releasing the picture's textures. Frame thread. */
#include "slice_view.h"

#include <caliper/caliper.h>
#include <string.h>

static CaliperTensor tensor_of(const SliceData *data)
{
    if (data->channels > 0) {
        return caliper_tensor_u8_3d(data->colour, (int64_t)data->height, (int64_t)data->width,
                                    (int64_t)data->channels);
    }
    return caliper_tensor_f32_2d(data->values, (int64_t)data->height, (int64_t)data->width);
}

static bool fits(const SliceTexture *picture, const SliceData *data, Range range, int32_t colormap)
{
    bool same_shape = picture->rows == data->height && picture->cols == data->width &&
                      picture->channels == data->channels;
    bool same_map =
        data->channels > 0 || (picture->range.low == range.low &&
                               picture->range.high == range.high && picture->colormap == colormap);
    return picture->texture != 0 && same_shape && same_map;
}

static void release(SliceView *view, SliceTexture *picture)
{
    if (picture->texture != 0) {
        view->bridge->release_texture(picture->texture);
        picture->texture = 0;
    }
}

/* Puts the data's pixels into the picture's texture, making it anew where it must be. */
static bool fill(SliceView *view, SliceTexture *picture, Range range, int32_t colormap)
{
    const SliceData *data = picture->data;
    CaliperTensor tensor = tensor_of(data);
    if (fits(picture, data, range, colormap)) {
        picture->range.note =
            range.note; /* the same ends can have been chosen for another reason */
        return view->bridge->update_texture(picture->texture, &tensor);
    }
    if (picture->texture != 0) {
        view->recreated_count++;
        release(view, picture);
    }
    picture->rows = data->height;
    picture->cols = data->width;
    picture->channels = data->channels;
    picture->range = range;
    picture->colormap = colormap;
    picture->texture =
        data->channels > 0
            ? view->bridge->texture_from_tensor(&tensor, 0)
            : view->bridge->texture_from_tensor_mapped(&tensor, colormap, range.low, range.high, 0);
    return picture->texture != 0;
}

static void discard(const SliceView *view, SliceTexture *picture)
{
    Source *none = NULL;
    loader_discard(view->loader, &none, &picture->data);
}

static void drop(SliceView *view, SliceTexture *picture)
{
    release(view, picture);
    discard(view, picture);
    memset(picture, 0, sizeof(*picture));
}

bool slice_view_set_whole(SliceView *view, SliceData *data, Range range, int32_t colormap)
{
    slice_view_drop_detail(view);
    discard(view, &view->whole);
    view->whole.data = data;
    view->refused = !fill(view, &view->whole, range, colormap);
    if (view->refused) {
        release(view, &view->whole);
    }
    return !view->refused;
}

bool slice_view_set_detail(SliceView *view, SliceData *data)
{
    discard(view, &view->detail);
    view->detail.data = data;
    if (!fill(view, &view->detail, view->whole.range, view->whole.colormap)) {
        slice_view_drop_detail(view);
        return false;
    }
    return true;
}

bool slice_view_set_range(SliceView *view, Range range, int32_t colormap)
{
    if (view->whole.data == NULL || view->whole.data->channels > 0) {
        return true;
    }
    view->whole.range.note = range.note;
    if (fits(&view->whole, view->whole.data, range, colormap)) {
        return true;
    }
    view->refused = !fill(view, &view->whole, range, colormap);
    if (view->detail.data != NULL && !fill(view, &view->detail, range, colormap)) {
        slice_view_drop_detail(view);
    }
    return !view->refused;
}

void slice_view_drop_detail(SliceView *view)
{
    drop(view, &view->detail);
}

void slice_view_clear(SliceView *view)
{
    drop(view, &view->detail);
    drop(view, &view->whole);
    view->refused = false;
}

const void *slice_view_element(const SliceView *view, uint64_t row, uint64_t col, uint64_t channel)
{
    const void *element = NULL;
    if (view->whole.data != NULL && view->whole.data->tiles.count > 0) {
        return NULL; /* slice_data_tile_element has them */
    }
    if (view->whole.data != NULL) {
        element = slice_data_element(view->whole.data, row, col, channel);
    }
    if (element == NULL && view->detail.data != NULL) {
        element = slice_data_element(view->detail.data, row, col, channel);
    }
    return element;
}
