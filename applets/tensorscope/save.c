/* tensorscope/save.c: see save.h. run_* are the task's thread, the rest the frame thread. */
#include "save.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/array_save.h"
#include "formats/printable.h"
#include "formats/raw_layout.h"

enum {
    BAND_BYTES = 4 << 20, /* in memory at once */
    /* The same where rows lie across the file's order: every column of a band is a read of its own,
     * so that a band of many rows reads the file fewer times. */
    WIDE_BAND_BYTES = 64 << 20,
    PIECE_BYTES = 256 << 10, /* written between two looks at cancel */
    PATH_BYTES = 4096
};

typedef struct Job {
    char path[PATH_BYTES];
    bool replace;
    /* .npy */
    SliceData *data; /* held */
    char *address;
    Stamp stamp;
    /* PNG */
    uint8_t *rgba;
    uint32_t width, height;
    Tiles tiles;
    bool done;
    ArrayError error;
} Job;

struct Save {
    Task *task;
    Job *job;
    SaveState state;
    ArrayError error;
    char path[PATH_BYTES];
};

/* ---- The task's thread ---- */

static bool is_sampled(const SliceData *data)
{
    return data->request.area.row_step > 1 || data->request.area.col_step > 1;
}

/* What the slice is as an array: its extents in the file, not the samples'. */
static ArraySaveItem item_of(const SliceData *data, const ArraySliceShape *whole)
{
    ArraySaveItem item = {.name = "", .dtype = data->dtype};
    const AxisChoice *axes = &data->request.axes;
    if (data->tiles.count > 0) {
        item.shape[item.rank++] = data->tiles.count;
    }
    if (axes->row != ARRAY_AXIS_NONE) {
        item.shape[item.rank++] = whole->rows;
    }
    if (axes->col != ARRAY_AXIS_NONE) {
        item.shape[item.rank++] = whole->cols;
    }
    if (axes->colour != ARRAY_AXIS_NONE) {
        item.shape[item.rank++] = whole->channels;
    }
    return item;
}

/* In pieces, since the disk may be slow. */
static bool append_pieces(Task *task, Job *job, ArraySave *save, const uint8_t *elements,
                          uint64_t count)
{
    size_t element = array_dtype_size_bytes(job->data->dtype);
    uint64_t step = PIECE_BYTES / element;
    for (uint64_t done = 0; done < count; done += step) {
        uint64_t now = count - done < step ? count - done : step;
        if (task_is_cancelled(task) ||
            !array_save_append(save, elements + done * element, (size_t)now, &job->error)) {
            return false;
        }
    }
    return true;
}

static bool append_memory(Task *task, Job *job, ArraySave *save, uint64_t count)
{
    size_t element = array_dtype_size_bytes(job->data->dtype);
    uint64_t step = BAND_BYTES / element;
    for (uint64_t done = 0; done < count; done += step) {
        uint64_t now = count - done < step ? count - done : step;
        if (!append_pieces(task, job, save, job->data->stored + done * element, now)) {
            return false;
        }
        task_tell(task, (double)(done + now) / (double)count);
    }
    return true;
}

/* Memory for the rows of the file between two writes. */
typedef struct Band {
    uint8_t *bytes;
    size_t size_bytes;
} Band;

/* One slice of the file, row by row in bands. */
static bool append_slice(Task *task, Job *job, ArrayFile *file, ArraySlice slice, Band band,
                         ArraySave *save, double from, double share)
{
    ArraySliceShape shape;
    if (!array_file_slice_shape(file, job->data->request.array, &slice, &shape, &job->error)) {
        return false;
    }
    uint64_t cell = shape.channels * array_dtype_size_bytes(job->data->dtype);
    uint64_t cols = shape.cols * cell <= band.size_bytes ? shape.cols : band.size_bytes / cell;
    uint64_t rows = cols < shape.cols ? 1 : band.size_bytes / (cols * cell);
    for (uint64_t row = 0; row < shape.rows; row += rows) {
        slice.row_begin = row;
        slice.row_count = shape.rows - row < rows ? shape.rows - row : rows;
        for (uint64_t col = 0; col < shape.cols; col += cols) {
            slice.col_begin = col;
            slice.col_count = shape.cols - col < cols ? shape.cols - col : cols;
            uint64_t cells = slice.row_count * slice.col_count;
            if (!array_file_read_slice(file, job->data->request.array, &slice, band.bytes,
                                       (size_t)(cells * cell), &job->error) ||
                !append_pieces(task, job, save, band.bytes, cells * shape.channels)) {
                return false;
            }
        }
        task_tell(task, from + share * (double)(row + slice.row_count) / (double)shape.rows);
    }
    return true;
}

static bool append_file(Task *task, Job *job, ArrayFile *file, ArraySave *save)
{
    const AxisChoice *axes = &job->data->request.axes;
    const ArrayInfo *info = array_file_info(file, job->data->request.array);
    uint32_t count = job->data->tiles.count > 0 ? job->data->tiles.count : 1;
    bool across = !info->compressed && axes_runs_down(axes, info->fortran_order);
    Band band = {.size_bytes = across ? WIDE_BAND_BYTES : BAND_BYTES};
    band.bytes = malloc(band.size_bytes);
    bool good = band.bytes != NULL;
    if (!good) {
        job->error.fault = ARRAY_FAULT_MEMORY;
        strcpy(job->error.message, "there is not enough memory to write this slice");
    }
    for (uint32_t i = 0; good && i < count; i++) {
        ArraySlice slice;
        axes_to_slice(axes, &slice);
        if (job->data->tiles.count > 0) {
            slice.index[axes->tile] += i;
        }
        good = append_slice(task, job, file, slice, band, save, (double)i / count, 1.0 / count);
    }
    free(band.bytes);
    Stamp now = stamp_take(array_raw_path(job->address));
    if (good && !stamp_same(&now, &job->stamp)) {
        job->error.fault = ARRAY_FAULT_READ;
        strcpy(job->error.message, "the file changed while its slice was written");
        good = false;
    }
    return good;
}

/* To the disk piece by piece first: the flush at the end, which cannot be stopped, is then short.
 */
static bool commit(Task *task, Job *job, ArraySave **save)
{
    const ArrayControl control = task_control(task);
    return array_save_flush(*save, &control, &job->error) && array_save_commit(save, &job->error);
}

static bool run_npy(Task *task, Job *job)
{
    const SliceData *data = job->data;
    ArraySliceShape whole = {data->rows, data->cols, data->channels, 0};
    ArrayFile *file = NULL;
    ArraySave *save = NULL;
    bool good = true, sampled = is_sampled(data);
    if (sampled) {
        ArraySlice slice;
        axes_to_slice(&data->request.axes, &slice);
        const ArrayOpenOptions options = task_open_options(task);
        file = array_file_open_address(job->address, &options, &job->error);
        good = file != NULL &&
               array_file_slice_shape(file, data->request.array, &slice, &whole, &job->error);
    }
    if (good) {
        ArraySaveItem item = item_of(data, &whole);
        save = array_save_begin(job->path, ARRAY_FORMAT_NPY, &item, 1, job->replace, &job->error);
        good = save != NULL;
    }
    if (good && sampled) {
        good = append_file(task, job, file, save);
    } else if (good) {
        uint64_t count = data->rows * data->cols * (data->channels > 0 ? data->channels : 1) *
                         (data->tiles.count > 0 ? data->tiles.count : 1);
        good = append_memory(task, job, save, count);
    }
    good = good && commit(task, job, &save);
    array_save_cancel(&save);
    array_file_close(&file);
    return good;
}

/* What is between the tiles has no value: transparent, where the colormap's first entry was. */
static void clear_gaps(Task *task, Job *job)
{
    uint32_t tile;
    uint64_t tile_row, tile_col;
    for (uint64_t row = 0; row < job->height && !task_is_cancelled(task); row++) {
        for (uint64_t col = 0; col < job->width; col++) {
            if (!tiles_at(&job->tiles, row, col, &tile, &tile_row, &tile_col)) {
                memset(job->rgba + (row * job->width + col) * 4, 0, 4);
            }
        }
    }
}

static bool run_png(Task *task, Job *job)
{
    const ArraySaveItem item = {
        .name = "", .dtype = ARRAY_DTYPE_U8, .rank = 3, .shape = {job->height, job->width, 4}};
    if (job->tiles.count > 0) {
        clear_gaps(task, job);
    }
    ArraySave *save =
        array_save_begin(job->path, ARRAY_FORMAT_PNG, &item, 1, job->replace, &job->error);
    bool good = save != NULL;
    for (uint32_t row = 0; good && row < job->height; row++) {
        size_t bytes = (size_t)job->width * 4;
        good = !task_is_cancelled(task) &&
               array_save_append(save, job->rgba + row * bytes, bytes, &job->error);
        task_tell(task, (double)(row + 1) / (double)job->height);
    }
    good = good && commit(task, job, &save);
    array_save_cancel(&save);
    return good;
}

static void run(Task *task, void *user)
{
    Job *job = user;
    job->done = job->rgba != NULL ? run_png(task, job) : run_npy(task, job);
    bool cancelled = job->error.fault == ARRAY_FAULT_CANCELLED;
    if (!job->done && (job->error.fault == ARRAY_FAULT_NONE || cancelled)) {
        job->error.fault = ARRAY_FAULT_CANCELLED;
        strcpy(job->error.message, "stopped; nothing was written");
    }
    /* Given back here: hundreds of megabytes take the frame thread too long. */
    slice_data_destroy(&job->data);
    free(job->rgba);
    job->rgba = NULL;
}

/* ---- The frame thread ---- */

static void free_job(Job **job)
{
    if (*job != NULL) {
        slice_data_destroy(&(*job)->data);
        free((*job)->address);
        free((*job)->rgba);
        free(*job);
        *job = NULL;
    }
}

Save *save_create(void)
{
    return calloc(1, sizeof(Save));
}

void save_destroy(Save **save)
{
    if (save == NULL || *save == NULL) {
        return;
    }
    task_destroy(&(*save)->task);
    free_job(&(*save)->job);
    free(*save);
    *save = NULL;
}

static Job *new_job(Save *save, const char *path, bool replace)
{
    Job *job = save->task == NULL ? calloc(1, sizeof(*job)) : NULL;
    if (job != NULL) {
        snprintf(job->path, sizeof(job->path), "%s", path);
        snprintf(save->path, sizeof(save->path), "%s", path);
        job->replace = replace;
    }
    return job;
}

static bool begin(Save *save, Job *job)
{
    save->job = job;
    save->error.fault = ARRAY_FAULT_NONE;
    save->task = task_start(run, job);
    if (save->task == NULL) {
        free_job(&save->job);
        return false;
    }
    save->state = SAVE_STATE_WRITING;
    return true;
}

bool save_npy(Save *save, const char *path, bool replace, SliceData *data, const char *address,
              const Stamp *stamp)
{
    Job *job = new_job(save, path, replace);
    if (job == NULL) {
        return false;
    }
    job->data = slice_data_hold(data);
    job->address = strdup(address);
    job->stamp = *stamp;
    if (job->address == NULL) {
        free_job(&job);
        return false;
    }
    return begin(save, job);
}

bool save_png(Save *save, const char *path, bool replace, uint8_t *rgba, uint32_t width,
              uint32_t height, const Tiles *tiles)
{
    Job *job = new_job(save, path, replace);
    if (job == NULL) {
        free(rgba);
        return false;
    }
    job->rgba = rgba;
    job->width = width;
    job->height = height;
    job->tiles = *tiles;
    return begin(save, job);
}

void save_cancel(Save *save)
{
    if (save->task != NULL) {
        task_cancel(save->task);
    }
}

bool save_update(Save *save)
{
    if (save->task == NULL || !task_is_done(save->task)) {
        return false;
    }
    save->state = save->job->done ? SAVE_STATE_DONE : SAVE_STATE_FAILED;
    save->error = save->job->error;
    task_destroy(&save->task);
    free_job(&save->job);
    return true;
}

void save_wait(Save *save, double seconds)
{
    const struct timespec step = {0, 1000000};
    for (int left_ms = (int)(seconds * 1e3); left_ms > 0 && save->task != NULL; left_ms--) {
        if (task_is_done(save->task)) {
            return;
        }
        nanosleep(&step, NULL);
    }
}

void save_forget(Save *save)
{
    if (save->state != SAVE_STATE_WRITING) {
        save->state = SAVE_STATE_NONE;
    }
}

SaveState save_state(const Save *save)
{
    return save->state;
}

double save_progress(const Save *save)
{
    return save->task != NULL ? task_progress(save->task) : 0.0;
}

const ArrayError *save_error(const Save *save)
{
    return &save->error;
}

const char *save_path(const Save *save)
{
    return save->path;
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || (unsigned char)c >= 0x80;
}

void save_default_path(const Source *source, const SourceArray *array, const AxisChoice *axes,
                       const char *ending, char *path, size_t size)
{
    const char *name = source_file_name(source->path);
    const char *file = source->folder_is_writable ? array_raw_path(source->path) : name;
    const char *point = strrchr(name, '.');
    int stem = point != NULL && point != name ? (int)(point - name) : (int)strlen(name);
    size_t used = (size_t)snprintf(path, size, "%.*s%.*s", (int)(name - file), file, stem, name);
    char piece[32];
    if (array->name[0] != '\0' && used + 1 < size) {
        char within[101];
        used += (size_t)snprintf(path + used, size - used, "_%s",
                                 printable_text(array->name, within, sizeof(within)));
    }
    for (uint32_t axis = 0; axis < array->rank && used + sizeof(piece) < size; axis++) {
        bool runs = (int)axis == axes->row || (int)axis == axes->col || (int)axis == axes->colour;
        if (!runs) {
            used += (size_t)snprintf(path + used, size - used, "_%" PRIu64, axes->index[axis]);
        }
    }
    /* A name of the array may have slashes and worse in it. */
    for (char *c = path + (name - file); *c != '\0' && c < path + size; c++) {
        *c = is_plain(*c) ? *c : '-';
    }
    if (used < size) {
        snprintf(path + used, size - used, "%s", ending);
    }
}
