/* tensorscope/exact.c: see exact.h. run_* are the task's thread, the rest the frame thread. */
#include "exact.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/raw_layout.h"

enum {
    BAND_BYTES = 4 << 20,     /* in memory at once */
    PIECE_ELEMENTS = 1 << 16, /* counted between two looks at cancel */
    RETIRED_MAX = 4,
    VALUES_AT_ONCE = 4096
};

typedef struct Job {
    char *address;
    Stamp stamp;
    uint32_t array;
    AxisChoice axes;
    bool done; /* else `error` */
    ArrayStats stats;
    Summary summary;
    ArrayError error;
} Job;

typedef struct Work {
    Task *task; /* NULL: none */
    Job *job;
} Work;

struct Exact {
    Work now;
    Work retired[RETIRED_MAX]; /* cancelled, ending in their own time */
    ExactState state;
    ArrayStats stats;
    Summary summary;
    ArrayError error;
};

/* ---- The task's thread ---- */

static bool memory_error(Job *job)
{
    job->error.fault = ARRAY_FAULT_MEMORY;
    strcpy(job->error.message, "there is not enough memory to count this slice");
    return false;
}

/* Counts a piece of a band; the first pass has the statistics of the stored type too. */
static void count_piece(Job *job, ArrayDtype dtype, const uint8_t *piece, size_t count, bool second,
                        SummaryCount *counts)
{
    float values[VALUES_AT_ONCE];
    size_t element = array_dtype_size_bytes(dtype);
    if (!second) {
        array_stats_add(&job->stats, dtype, piece, count);
    }
    for (size_t done = 0; done < count; done += VALUES_AT_ONCE) {
        size_t now = count - done < VALUES_AT_ONCE ? count - done : VALUES_AT_ONCE;
        array_convert_to_f32(dtype, piece + done * element, values, now);
        (second ? summary_second : summary_first)(counts, values, now);
    }
}

static bool count_band(Task *task, Job *job, ArrayDtype dtype, const uint8_t *band, size_t count,
                       bool second, SummaryCount *counts)
{
    size_t element = array_dtype_size_bytes(dtype);
    for (size_t done = 0; done < count; done += PIECE_ELEMENTS) {
        if (task_is_cancelled(task)) {
            return false;
        }
        size_t now = count - done < PIECE_ELEMENTS ? count - done : PIECE_ELEMENTS;
        count_piece(job, dtype, band + done * element, now, second, counts);
    }
    return true;
}

/* All elements once, in bands of whole rows; of a row longer than a band, pieces. Rows are here
 * what lies along the file: the order does not matter to a count. */
static bool run_pass(Task *task, ArrayFile *file, Job *job, uint8_t *band, bool second,
                     SummaryCount *counts)
{
    ArraySlice slice;
    ArraySliceShape shape;
    ArrayDtype dtype = array_file_info(file, job->array)->dtype;
    axes_to_slice(&job->axes, &slice);
    if (axes_runs_down(&job->axes, array_file_info(file, job->array)->fortran_order)) {
        int row_axis = slice.row_axis;
        slice.row_axis = slice.col_axis;
        slice.col_axis = row_axis;
    }
    if (!array_file_slice_shape(file, job->array, &slice, &shape, &job->error)) {
        return false;
    }
    uint64_t cell = shape.channels * array_dtype_size_bytes(dtype);
    uint64_t cols = shape.cols * cell <= BAND_BYTES ? shape.cols : BAND_BYTES / cell;
    uint64_t rows = cols < shape.cols ? 1 : BAND_BYTES / (cols * cell);
    for (uint64_t row = 0; row < shape.rows; row += rows) {
        slice.row_begin = row;
        slice.row_count = shape.rows - row < rows ? shape.rows - row : rows;
        for (uint64_t col = 0; col < shape.cols; col += cols) {
            slice.col_begin = col;
            slice.col_count = shape.cols - col < cols ? shape.cols - col : cols;
            uint64_t count = slice.row_count * slice.col_count;
            if (!array_file_read_slice(file, job->array, &slice, band, (size_t)(count * cell),
                                       &job->error) ||
                !count_band(task, job, dtype, band, (size_t)(count * shape.channels), second,
                            counts)) {
                return false;
            }
        }
        double share = (double)(row + slice.row_count) / (double)shape.rows;
        task_tell(task, (second ? 0.5 : 0.0) + 0.5 * share);
    }
    return true;
}

static bool run_slice(Task *task, ArrayFile *file, Job *job)
{
    const ArrayControl control = task_control(task);
    ArrayDtype dtype = array_file_info(file, job->array)->dtype;
    bool whole_numbers = dtype != ARRAY_DTYPE_F64 && dtype != ARRAY_DTYPE_F32 &&
                         dtype != ARRAY_DTYPE_F16 && dtype != ARRAY_DTYPE_BF16;
    if (!array_file_prepare(file, job->array, &control, &job->error)) {
        return false;
    }
    uint8_t *band = malloc(BAND_BYTES);
    SummaryCount *counts = summary_count_create(whole_numbers);
    bool good = band != NULL && counts != NULL ? run_pass(task, file, job, band, false, counts)
                                               : memory_error(job);
    if (good) {
        summary_turn(counts);
        good = run_pass(task, file, job, band, true, counts);
    }
    summary_count_end(&counts, good ? &job->summary : NULL);
    free(band);
    return good;
}

static void run(Task *task, void *user)
{
    Job *job = user;
    const ArrayOpenOptions options = task_open_options(task);
    ArrayFile *file = array_file_open_address(job->address, &options, &job->error);
    if (file == NULL) {
        return;
    }
    bool good = job->array < array_file_count(file) && run_slice(task, file, job);
    array_file_close(&file);
    /* Looked at last: whatever was read, it was of the content that is shown. */
    Stamp now = stamp_take(array_raw_path(job->address));
    if (good && !stamp_same(&now, &job->stamp)) {
        job->error.fault = ARRAY_FAULT_READ;
        strcpy(job->error.message, "the file changed while its elements were counted");
        good = false;
    }
    job->done = good;
}

/* ---- The frame thread ---- */

static void end_work(Work *work)
{
    task_destroy(&work->task);
    if (work->job != NULL) {
        free(work->job->address);
        free(work->job);
    }
    memset(work, 0, sizeof(*work));
}

Exact *exact_create(void)
{
    return calloc(1, sizeof(Exact));
}

void exact_destroy(Exact **exact)
{
    if (exact == NULL || *exact == NULL) {
        return;
    }
    end_work(&(*exact)->now);
    for (int i = 0; i < RETIRED_MAX; i++) {
        end_work(&(*exact)->retired[i]);
    }
    free(*exact);
    *exact = NULL;
}

/* Cancelled work ends within one read; the frame thread does not wait for it. With all places
 * taken, which takes that many changes within one read, the oldest is waited for. */
static void retire(Exact *exact)
{
    if (exact->now.task == NULL) {
        return;
    }
    task_cancel(exact->now.task);
    int place = 0;
    while (place < RETIRED_MAX - 1 && exact->retired[place].task != NULL) {
        place++;
    }
    if (exact->retired[place].task != NULL) {
        end_work(&exact->retired[0]);
        place = 0;
    }
    exact->retired[place] = exact->now;
    memset(&exact->now, 0, sizeof(exact->now));
}

void exact_drop(Exact *exact)
{
    retire(exact);
    exact->state = EXACT_STATE_NONE;
}

void exact_stop(Exact *exact)
{
    if (exact->state == EXACT_STATE_COUNTING) {
        retire(exact);
        exact->state = EXACT_STATE_STOPPED;
    }
}

void exact_ask(Exact *exact, const char *address, const Stamp *stamp, uint32_t array,
               const AxisChoice *axes)
{
    retire(exact);
    exact->state = EXACT_STATE_FAILED;
    exact->error.fault = ARRAY_FAULT_MEMORY;
    strcpy(exact->error.message, "there is not enough memory to count this slice");
    Job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        return;
    }
    job->address = strdup(address);
    job->stamp = *stamp;
    job->array = array;
    job->axes = *axes;
    exact->now.job = job;
    exact->now.task = job->address != NULL ? task_start(run, job) : NULL;
    if (exact->now.task == NULL) {
        end_work(&exact->now);
        return;
    }
    exact->state = EXACT_STATE_COUNTING;
}

bool exact_update(Exact *exact)
{
    for (int i = 0; i < RETIRED_MAX; i++) {
        if (exact->retired[i].task != NULL && task_is_done(exact->retired[i].task)) {
            end_work(&exact->retired[i]);
        }
    }
    if (exact->now.task == NULL || !task_is_done(exact->now.task)) {
        return false;
    }
    bool known = exact->now.job->done;
    exact->stats = exact->now.job->stats;
    exact->summary = exact->now.job->summary;
    exact->error = exact->now.job->error;
    exact->state = known ? EXACT_STATE_KNOWN : EXACT_STATE_FAILED;
    end_work(&exact->now);
    return known;
}

void exact_wait(Exact *exact, double seconds)
{
    const struct timespec step = {0, 1000000};
    for (int left_ms = (int)(seconds * 1e3); left_ms > 0 && exact->now.task != NULL; left_ms--) {
        if (task_is_done(exact->now.task)) {
            return;
        }
        nanosleep(&step, NULL);
    }
}

ExactState exact_state(const Exact *exact)
{
    return exact->state;
}

double exact_progress(const Exact *exact)
{
    return exact->now.task != NULL ? task_progress(exact->now.task) : 0.0;
}

const ArrayStats *exact_stats(const Exact *exact)
{
    return &exact->stats;
}

const Summary *exact_summary(const Exact *exact)
{
    return &exact->summary;
}

const ArrayError *exact_error(const Exact *exact)
{
    return &exact->error;
}
