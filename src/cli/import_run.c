/* One folder of event files into one run; see the header. First thread. */
#include "cli/import_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <caliper/caliper.h>

#include "cli/artifacts_report.h"
#include "core/log.h"
#include "formats/array_file.h"
#include "formats/tfevents.h"

/* A metrics row that finds its queue full is dropped: this waits before it can be. */
enum { FLUSH_WAIT_MS = 60000 };
static const uint64_t image_bytes_max = UINT64_C(64) << 20;

/* ---- Reading a folder ---- */

/* Answers false to end the reading. */
typedef bool (*Take)(void *user, const TfeventsItem *item);

static void add_counts(const TfeventsReader *reader, ImportCounts *counts)
{
    TfeventsCounts of_file;
    tfevents_counts(reader, &of_file);
    counts->records += of_file.records;
    counts->damaged_records += of_file.damaged_records;
    counts->damaged_bytes += of_file.damaged_bytes;
    counts->undecoded += of_file.undecoded;
    counts->too_large += of_file.too_large;
    counts->pending_bytes += of_file.pending_bytes;
    counts->other += of_file.other;
}

/* False after one line when a file cannot be read; also, without one, when `take` ended it. */
static bool read_files(const FoundRun *found, Take take, void *user, ImportCounts *counts)
{
    const TfeventsOptions options = {.is_final = true};
    for (size_t i = 0; i < found->file_count; i++) {
        ArrayError error = {0};
        TfeventsItem item;
        bool going = true;
        TfeventsReader *reader = tfevents_open(found->files[i], &options, &error);
        while (reader != NULL && going && tfevents_next(reader, &item, &error))
            going = take(user, &item);
        if (reader != NULL)
            add_counts(reader, counts);
        tfevents_close(&reader);
        if (error.fault != ARRAY_FAULT_NONE)
            log_item(IMPORT_FAILED, error.message);
        if (error.fault != ARRAY_FAULT_NONE || !going)
            return false;
    }
    return true;
}

/* Microseconds since 1970, in the range that dates have; a time that is none is left to the caller.
 */
static bool time_of(double wall_time_sec, int64_t *out)
{
    if (!(wall_time_sec >= 0.0 && wall_time_sec < 253402300800.0))
        return false;
    *out = llrint(wall_time_sec * 1e6);
    return true;
}

static bool look_at(void *user, const TfeventsItem *item)
{
    ImportSpan *span = user;
    int64_t us;
    span->items++;
    if (item->kind != TFEVENTS_HPARAMS_END && time_of(item->wall_time_sec, &us)) {
        span->first_us = span->first_us < 0 || us < span->first_us ? us : span->first_us;
        span->last_us = us > span->last_us ? us : span->last_us;
    }
    return !artifacts_report_interrupted();
}

bool import_look(const FoundRun *found, ImportSpan *span, ImportCounts *counts)
{
    *span = (ImportSpan){.first_us = -1, .last_us = -1};
    memset(counts, 0, sizeof *counts);
    bool read = read_files(found, look_at, span, counts);
    if (span->first_us < 0)
        span->first_us = span->last_us = 0;
    return read;
}

/* ---- Histograms ---- */

/* The value below which the share `wanted` of the total lies, taken as even inside each bucket. */
static double quantile(const TfeventsItem *item, double wanted, size_t *bucket, double *before)
{
    while (*bucket + 1 < item->bucket_count && *before + item->buckets[*bucket].count < wanted)
        *before += item->buckets[(*bucket)++].count;
    const TfeventsBucket *at = &item->buckets[*bucket];
    double share = at->count > 0 ? (wanted - *before) / at->count : 0.5;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return at->left + (at->right - at->left) * share;
}

size_t import_histogram_values(const TfeventsItem *item, float *out)
{
    double total = 0, before = 0;
    size_t bucket = 0;
    for (size_t i = 0; i < item->bucket_count; i++)
        total += item->buckets[i].count > 0 ? item->buckets[i].count : 0;
    if (!(total >= 0.5) || !isfinite(total))
        return 0;
    size_t count =
        total < IMPORT_HISTOGRAM_VALUES ? (size_t)(total + 0.5) : IMPORT_HISTOGRAM_VALUES;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)quantile(item, total * ((double)i + 0.5) / (double)count, &bucket, &before);
    return count;
}

/* ---- Images ---- */

/* 16 bits a channel become their upper eight; malloc'ed. NULL when it is no picture that is read.
 */
static uint8_t *decode(const TfeventsItem *item, uint64_t shape[3])
{
    ArrayOpenOptions options = {.max_unpacked_bytes = image_bytes_max};
    ArrayFile *file =
        array_file_open_memory(item->bytes, item->size_bytes, "image", &options, NULL);
    uint8_t *pixels = NULL;
    ArraySlice slice;
    if (file == NULL || array_file_format(file) != ARRAY_FORMAT_PNG)
        goto done;
    const ArrayInfo *info = array_file_info(file, 0);
    size_t size = array_dtype_size_bytes(info->dtype);
    if (info->rank != 3 || size < 1 || size > 2 || info->size_bytes > image_bytes_max)
        goto done;
    memcpy(shape, info->shape, 3 * sizeof *shape);
    array_slice_default(info, &slice);
    pixels = malloc(info->size_bytes > 0 ? (size_t)info->size_bytes : 1);
    if (pixels != NULL &&
        !array_file_read_slice(file, 0, &slice, pixels, (size_t)info->size_bytes, NULL)) {
        free(pixels);
        pixels = NULL;
    }
    for (uint64_t i = 0; pixels != NULL && size == 2 && i < info->element_count; i++) {
        uint16_t wide;
        memcpy(&wide, pixels + 2 * i, sizeof wide);
        pixels[i] = (uint8_t)(wide >> 8);
    }
done:
    array_file_close(&file);
    return pixels;
}

/* ---- Logging ---- */

typedef struct Import {
    MetricsStore *store;
    uint64_t run;
    const ImportSpan *span;
    ImportCounts *counts;
    float *values; /* IMPORT_HISTOGRAM_VALUES */
    bool stuck;    /* the disk took nothing for FLUSH_WAIT_MS */
} Import;

/* Leaves half of the queue free, so that nothing is dropped. */
static bool wait_for_room(Import *import)
{
    MetricsStatus status;
    metrics_store_status(import->store, &status);
    if (status.queue_used_bytes < status.queue_bytes / 2)
        return true;
    import->stuck = !metrics_store_flush(import->store, FLUSH_WAIT_MS);
    return !import->stuck;
}

static void log_image(Import *import, const TfeventsItem *item, int64_t wall_us)
{
    uint64_t shape[3];
    uint8_t *pixels = decode(item, shape);
    if (pixels == NULL) {
        import->counts->images_unread++;
        return;
    }
    CaliperTensor tensor =
        caliper_tensor_u8_3d(pixels, (int64_t)shape[0], (int64_t)shape[1], (int64_t)shape[2]);
    metrics_store_image_at(import->store, import->run, item->tag, item->step, &tensor, wall_us);
    import->counts->images++;
    free(pixels);
}

static bool log_one(void *user, const TfeventsItem *item)
{
    Import *import = user;
    ImportCounts *counts = import->counts;
    int64_t wall_us;
    if (!time_of(item->wall_time_sec, &wall_us))
        wall_us = import->span->first_us;
    switch (item->kind) {
    case TFEVENTS_SCALAR:
        metrics_store_scalar_at(import->store, import->run, item->tag, item->step, item->scalar,
                                wall_us);
        counts->scalars++;
        break;
    case TFEVENTS_HISTOGRAM:
        metrics_store_histogram_at(import->store, import->run, item->tag, item->step,
                                   import->values,
                                   (int64_t)import_histogram_values(item, import->values), wall_us);
        counts->histograms++;
        break;
    case TFEVENTS_IMAGE:
        log_image(import, item, wall_us);
        break;
    case TFEVENTS_HPARAMS:
        metrics_store_hparams(import->store, import->run, item->bytes);
        counts->hparams++;
        break;
    case TFEVENTS_TEXT:
        metrics_store_text_at(import->store, import->run, item->tag, item->step, item->bytes,
                              item->size_bytes, wall_us);
        counts->texts++;
        break;
    default:
        break;
    }
    return !artifacts_report_interrupted() && wait_for_room(import);
}

uint64_t import_run(MetricsStore *store, const char *experiment, const FoundRun *found,
                    const ImportSpan *span, ImportCounts *counts, bool *whole)
{
    Import import = {.store = store, .span = span, .counts = counts};
    *whole = false;
    memset(counts, 0, sizeof *counts);
    import.values = malloc(IMPORT_HISTOGRAM_VALUES * sizeof *import.values);
    if (import.values == NULL) {
        log_item(OUT_OF_MEMORY, "import",
                 (unsigned long long)(IMPORT_HISTOGRAM_VALUES * sizeof *import.values));
        return 0;
    }
    import.run = metrics_store_begin_run_at(store, experiment, found->name, span->first_us);
    if (import.run != 0) {
        *whole = read_files(found, log_one, &import, counts);
        if (import.stuck)
            log_item(IMPORT_FAILED, "the disk takes no rows");
        metrics_store_end_run_at(store, import.run, span->last_us);
        *whole = metrics_store_flush(store, FLUSH_WAIT_MS) && *whole;
    }
    free(import.values);
    return import.run;
}
