/* The calls that log: checks, then one copy into the queue. No I/O, no lock on the usual path, no
 * allocation but for a new run. Any thread. */
#include <limits.h>
#include <string.h>
#include <time.h>

#include "core/frame_thread.h"
#include "core/guard.h"
#include "core/log.h"
#include "store/metrics/disk.h"
#include "store/metrics/json_check.h"
#include "store/metrics/store_impl.h"

enum { NS_PER_MS = 1000000, FULL_PAUSE_NS = 500000, RUN_IDS_WAIT_MS = 2000 };
_Static_assert((int)METRICS_FULL_WAIT_MS <= (int)FRAME_THREAD_WAIT_MS, "rows are for any thread");

/* ---- Room in the queue ---- */

static void tell_writer(MetricsStore *store, uint64_t used_bytes)
{
    if (atomic_load(&store->sleeping) ||
        (used_bytes > store->queue.capacity_bytes / 2 &&
         !atomic_load_explicit(&store->pressure, memory_order_relaxed) &&
         !atomic_exchange(&store->pressure, true)))
        metrics_wake(store);
}

/* The queue is full. All waits together end METRICS_FULL_WAIT_MS after the first, until the writer
 * has made half of the queue free again: each asks for a piece of what is left, and the pieces are
 * added up (without what the system took longer to give the thread its processor back). On success
 * the guard's lock is held, as in reserve. */
static Row *wait_for_room(MetricsStore *store, uint64_t size_bytes, QueueClass class,
                          uint64_t *used_bytes)
{
    int64_t now_ns = metrics_monotonic_ns();
    int64_t since_ns = 0;
    if (atomic_compare_exchange_strong(&store->full_since_ns, &since_ns, now_ns)) {
        since_ns = now_ns;
        atomic_fetch_add(&store->full_periods, 1);
    }
    int64_t end_ns = since_ns + (int64_t)METRICS_FULL_WAIT_MS * NS_PER_MS;
    metrics_wake(store);
    while (now_ns < end_ns) {
        int64_t pause_ns = end_ns - now_ns < FULL_PAUSE_NS ? end_ns - now_ns : FULL_PAUSE_NS;
        struct timespec until = metrics_timespec(now_ns + pause_ns);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        int64_t waited_ns = metrics_monotonic_ns() - now_ns;
        atomic_fetch_add(&store->waited_ns, waited_ns < pause_ns ? waited_ns : pause_ns);
        guard_lock_enter();
        Row *row = queue_reserve(&store->queue, size_bytes, class, used_bytes);
        if (row != NULL)
            return row;
        guard_lock_leave();
        now_ns = metrics_monotonic_ns();
    }
    return NULL;
}

/* Room for a row; from here to publish() nothing may fault or leave. */
static Row *reserve(MetricsStore *store, uint64_t size_bytes, QueueClass class,
                    uint64_t *used_bytes)
{
    guard_lock_enter();
    Row *row = queue_reserve(&store->queue, size_bytes, class, used_bytes);
    if (row != NULL)
        return row;
    guard_lock_leave();
    return wait_for_room(store, size_bytes, class, used_bytes);
}

static void publish(MetricsStore *store, Row *row, uint64_t used_bytes)
{
    queue_publish(&store->queue, row);
    guard_lock_leave();
    tell_writer(store, used_bytes);
}

static void drop(MetricsStore *store, MetricsRun *run)
{
    atomic_fetch_add(&run->dropped, 1);
    atomic_fetch_add(&store->rows_dropped, 1);
    atomic_store(&store->notes_pending, true);
    if (!atomic_load_explicit(&run->said_dropped, memory_order_relaxed) &&
        !atomic_exchange(&run->said_dropped, true))
        log_item(METRICS_DROPPING, (unsigned long long)run->id,
                 (unsigned long long)store->queue.capacity_bytes);
}

static MetricsRun *known_run(MetricsStore *store, uint64_t id, const char *call)
{
    MetricsRun *run = run_table_find(&store->runs, id);
    if (run != NULL)
        return run;
    RunTableSay say = run_table_say_unknown(&store->runs, id);
    if (say != RUN_TABLE_SAY_NOTHING)
        log_item(METRICS_UNKNOWN_RUN, call, (unsigned long long)id);
    if (say == RUN_TABLE_SAY_LAST)
        log_item(METRICS_UNKNOWN_RUNS_MUTED, (int)RUN_TABLE_UNKNOWN_MAX);
    return NULL;
}

/* Reads a byte of each page: a bad pointer of the caller faults here, where nothing is half-way. */
static void touch(const void *bytes, uint64_t length)
{
    enum { PAGE_BYTES = 4096 };
    const volatile unsigned char *at = bytes;
    for (uint64_t i = 0; i < length; i += PAGE_BYTES)
        (void)at[i];
    if (length > 0)
        (void)at[length - 1];
}

static void fill(Row *row, RowKind kind, uint64_t run, int64_t step, int64_t wall_us,
                 const char *text, size_t text_bytes)
{
    row->kind = (uint8_t)kind;
    row->run = run;
    row->step = step;
    row->wall_us = wall_us;
    row->text_bytes = (uint32_t)text_bytes;
    if (text_bytes > 0)
        memcpy(row_text(row), text, text_bytes);
}

/* False after one line. */
static bool fits(const MetricsStore *store, const char *call, uint64_t size_bytes)
{
    uint64_t most = queue_row_max_bytes(&store->queue);
    if (size_bytes != 0 && size_bytes <= most)
        return true;
    log_item(METRICS_TOO_LARGE, call, (unsigned long long)size_bytes, (unsigned long long)most);
    return false;
}

/* ---- Values ---- */

void metrics_store_scalar_at(MetricsStore *store, uint64_t id, const char *tag, int64_t step,
                             double value, int64_t wall_us)
{
    MetricsRun *run = known_run(store, id, "scalar");
    if (run == NULL)
        return;
    size_t tag_bytes = tag != NULL ? strlen(tag) : 0;
    uint64_t size_bytes = row_size_bytes(tag_bytes, 0);
    uint64_t used_bytes = 0;
    /* Only a tag can make it too large. */
    if (size_bytes != ROW_HEADER_BYTES && !fits(store, "scalar", size_bytes))
        return;
    Row *row = reserve(store, size_bytes, QUEUE_CLASS_ROW, &used_bytes);
    if (row == NULL) {
        drop(store, run);
        return;
    }
    fill(row, ROW_KIND_SCALAR, id, step, wall_us, tag, tag_bytes);
    row->value.number = value;
    publish(store, row, used_bytes);
}

void metrics_store_scalar(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                          double value)
{
    metrics_store_scalar_at(store, run, tag, step, value, disk_wall_us());
}

void metrics_store_histogram_at(MetricsStore *store, uint64_t id, const char *tag, int64_t step,
                                const float *values, int64_t count, int64_t wall_us)
{
    MetricsRun *run = known_run(store, id, "histogram");
    if (run == NULL)
        return;
    if (count < 0 || (values == NULL && count > 0)) {
        log_item(METRICS_HISTOGRAM_REFUSED, (unsigned long long)id, (long long)count,
                 values == NULL ? "no values" : "values");
        return;
    }
    size_t tag_bytes = tag != NULL ? strlen(tag) : 0;
    uint64_t payload_bytes = (uint64_t)count > UINT64_MAX / sizeof(float) / 2
                                 ? UINT64_MAX
                                 : (uint64_t)count * sizeof(float);
    uint64_t size_bytes = row_size_bytes(tag_bytes, payload_bytes);
    uint64_t used_bytes = 0;
    if (!fits(store, "histogram", size_bytes))
        return;
    touch(values, payload_bytes);
    Row *row = reserve(store, size_bytes, QUEUE_CLASS_ROW, &used_bytes);
    if (row == NULL) {
        drop(store, run);
        return;
    }
    fill(row, ROW_KIND_HISTOGRAM, id, step, wall_us, tag, tag_bytes);
    row->value.count = count;
    if (payload_bytes > 0)
        memcpy(row_payload(row), values, (size_t)payload_bytes);
    publish(store, row, used_bytes);
}

void metrics_store_histogram(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                             const float *values, int64_t count)
{
    metrics_store_histogram_at(store, run, tag, step, values, count, disk_wall_us());
}

/* Why a tensor is no picture; NULL: it is one. */
static const char *image_reason(const CaliperTensor *tensor)
{
    if (tensor == NULL)
        return "no tensor";
    if (tensor->struct_size < sizeof *tensor)
        return "a struct_size below that of CaliperTensor";
    if (tensor->data == NULL)
        return "no data";
    if (tensor->dtype != CALIPER_DT_U8)
        return "a dtype that is not U8";
    if (tensor->device != CALIPER_DEV_CPU)
        return "a tensor that is not on the CPU";
    if (tensor->ndim != 3)
        return "a number of dimensions that is not 3";
    for (int i = 0; i < 3; i++)
        if (tensor->shape[i] < 1 || tensor->shape[i] > INT32_MAX)
            return "an extent outside 1..2147483647";
    if (tensor->shape[2] > 4)
        return "more than 4 channels";
    int64_t stride = 1; /* at most 2^33 * 2^31 below: no overflow */
    for (int i = 2; i >= 0; i--) {
        if (tensor->shape[i] > 1 && tensor->strides[i] != stride)
            return "strides with gaps or another order";
        if (i > 0)
            stride *= tensor->shape[i];
    }
    return NULL;
}

void metrics_store_image_at(MetricsStore *store, uint64_t id, const char *tag, int64_t step,
                            const CaliperTensor *hwc_u8, int64_t wall_us)
{
    MetricsRun *run = known_run(store, id, "image");
    if (run == NULL)
        return;
    const char *reason = image_reason(hwc_u8);
    if (reason != NULL) {
        log_item(METRICS_IMAGE_REFUSED, (unsigned long long)id, reason);
        return;
    }
    size_t tag_bytes = tag != NULL ? strlen(tag) : 0;
    uint64_t height = (uint64_t)hwc_u8->shape[0];
    uint64_t row_bytes = (uint64_t)hwc_u8->shape[1] * (uint64_t)hwc_u8->shape[2];
    uint64_t payload_bytes = height > UINT64_MAX / 4 / row_bytes ? UINT64_MAX : height * row_bytes;
    uint64_t size_bytes = row_size_bytes(tag_bytes, payload_bytes);
    uint64_t used_bytes = 0;
    if (!fits(store, "image", size_bytes))
        return;
    touch(hwc_u8->data, payload_bytes);
    CaliperTensor given = *hwc_u8;
    Row *row = reserve(store, size_bytes, QUEUE_CLASS_ROW, &used_bytes);
    if (row == NULL) {
        drop(store, run);
        return;
    }
    fill(row, ROW_KIND_IMAGE, id, step, wall_us, tag, tag_bytes);
    row->channels = (uint8_t)given.shape[2];
    row->value.image.width = (uint32_t)given.shape[1];
    row->value.image.height = (uint32_t)given.shape[0];
    memcpy(row_payload(row), given.data, (size_t)payload_bytes);
    publish(store, row, used_bytes);
}

void metrics_store_image(MetricsStore *store, uint64_t run, const char *tag, int64_t step,
                         const CaliperTensor *hwc_u8)
{
    metrics_store_image_at(store, run, tag, step, hwc_u8, disk_wall_us());
}

void metrics_store_text_at(MetricsStore *store, uint64_t id, const char *tag, int64_t step,
                           const char *text, size_t text_bytes, int64_t wall_us)
{
    MetricsRun *run = known_run(store, id, "text");
    if (run == NULL)
        return;
    size_t tag_bytes = tag != NULL ? strlen(tag) : 0;
    uint64_t size_bytes = row_size_bytes(tag_bytes, text_bytes);
    uint64_t used_bytes = 0;
    if (!fits(store, "text", size_bytes))
        return;
    touch(text, text_bytes);
    Row *row = reserve(store, size_bytes, QUEUE_CLASS_ROW, &used_bytes);
    if (row == NULL) {
        drop(store, run);
        return;
    }
    fill(row, ROW_KIND_TEXT, id, step, wall_us, tag, tag_bytes);
    row->value.count = (int64_t)text_bytes;
    if (text_bytes > 0)
        memcpy(row_payload(row), text, text_bytes);
    publish(store, row, used_bytes);
}

void metrics_store_hparams(MetricsStore *store, uint64_t id, const char *json)
{
    MetricsRun *run = known_run(store, id, "hparams_json");
    if (run == NULL)
        return;
    const char *why = "no text";
    size_t at = 0;
    size_t length = json != NULL ? strlen(json) : 0;
    if (json == NULL || !json_check(json, length, &why, &at)) {
        log_item(METRICS_HPARAMS_REFUSED, (unsigned long long)id, why, (unsigned long long)at);
        return;
    }
    uint64_t size_bytes = row_size_bytes(length, 0);
    uint64_t used_bytes = 0;
    if (!fits(store, "hparams_json", size_bytes))
        return;
    Row *row = reserve(store, size_bytes, QUEUE_CLASS_ROW, &used_bytes);
    if (row == NULL) {
        drop(store, run);
        return;
    }
    fill(row, ROW_KIND_HPARAMS, id, 0, disk_wall_us(), json, length);
    publish(store, row, used_bytes);
}

/* ---- Runs ---- */

/* The next number; 0 after one line. Waits for the writer to reserve numbers before the first run,
 * and when a block is spent before the next one is there. */
static uint64_t take_id(MetricsStore *store)
{
    int64_t wait_ms = frame_thread_is_current() ? FRAME_THREAD_WAIT_MS : RUN_IDS_WAIT_MS;
    struct timespec deadline = metrics_timespec(metrics_monotonic_ns() + wait_ms * NS_PER_MS);
    uint64_t id = 0;
    if (!metrics_lock_soon(store)) {
        log_item(METRICS_NO_RUN, METRICS_LOST_TEXT);
        return 0;
    }
    bool ok = metrics_start_locked(store);
    store->ids_failed = false;
    store->ids_wanted = true;
    while (ok && id == 0 && !store->ended) {
        if (store->ids.first == store->ids.end) {
            store->ids = store->spare_ids;
            store->spare_ids = (RunIdBlock){0};
        }
        if (store->ids.first < store->ids.end)
            id = store->ids.first++;
        if (metrics_ids_due(store)) {
            atomic_store(&store->sleeping, false);
            pthread_cond_signal(&store->wake);
        }
        if (id == 0)
            ok = !store->ids_failed &&
                 pthread_cond_timedwait(&store->done, &store->mutex, &deadline) == 0;
    }
    metrics_unlock(store);
    if (id == 0)
        log_item(METRICS_NO_RUN, "there is no number for it yet; try again");
    return id;
}

uint64_t metrics_store_begin_run_at(MetricsStore *store, const char *experiment, const char *name,
                                    int64_t wall_us)
{
    size_t experiment_bytes = experiment != NULL ? strlen(experiment) : 0;
    size_t name_bytes = name != NULL ? strlen(name) : 0;
    uint64_t size_bytes = row_size_bytes(experiment_bytes, name_bytes);
    uint64_t used_bytes = 0;
    if (!fits(store, "begin_run", size_bytes))
        return 0;
    uint64_t id = take_id(store);
    if (id == 0)
        return 0;
    if (run_table_add(&store->runs, id) == NULL) {
        log_item(METRICS_NO_RUN, "there is no memory for it");
        return 0;
    }
    Row *row = reserve(store, size_bytes, QUEUE_CLASS_CONTROL, &used_bytes);
    if (row == NULL) {
        log_item(METRICS_NO_RUN, "the queue is full");
        return 0;
    }
    fill(row, ROW_KIND_BEGIN, id, 0, wall_us, experiment, experiment_bytes);
    row->value.count = (int64_t)name_bytes;
    if (name_bytes > 0)
        memcpy(row_payload(row), name, name_bytes);
    publish(store, row, used_bytes);
    return id;
}

uint64_t metrics_store_begin_run(MetricsStore *store, const char *experiment, const char *name)
{
    return metrics_store_begin_run_at(store, experiment, name, disk_wall_us());
}

/* Its rows are durable when end_run returns; but the frame thread never waits for a disk, and
 * nobody for one that fails. */
static void wait_for_end(MetricsStore *store)
{
    uint64_t position = atomic_load(&store->queue.head);
    int64_t wait_ns = frame_thread_is_current() ? 0 : (int64_t)METRICS_END_WAIT_MS * 1000000;
    if (!metrics_lock_soon(store))
        return;
    metrics_flush_locked(store, position, metrics_monotonic_ns() + wait_ns, false);
    metrics_unlock(store);
}

void metrics_store_end_run_at(MetricsStore *store, uint64_t id, int64_t wall_us)
{
    MetricsRun *run = known_run(store, id, "end_run");
    if (run == NULL || atomic_exchange(&run->ended, true))
        return;
    atomic_store(&run->ended_us, wall_us);
    uint64_t used_bytes = 0;
    Row *row = reserve(store, row_size_bytes(0, 0), QUEUE_CLASS_CONTROL, &used_bytes);
    if (row == NULL) {
        /* The writer tells of it when there is room again. */
        atomic_store(&run->end_waits, true);
        atomic_store(&store->notes_pending, true);
        metrics_wake(store);
        return;
    }
    fill(row, ROW_KIND_END, id, 0, wall_us, NULL, 0);
    publish(store, row, used_bytes);
    wait_for_end(store);
}

void metrics_store_end_run(MetricsStore *store, uint64_t run)
{
    metrics_store_end_run_at(store, run, disk_wall_us());
}
