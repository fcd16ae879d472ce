/* caliper.metrics.v1: what a training run says about itself, kept.
 *
 * Frozen. Every slot is [any]: it copies its arguments, queues the row and returns without touching
 * the disk. If the queue is full (the disk does not keep up) a call waits a little, then rows are
 * dropped, counted and shown; a training loop is never stopped. Tags are UTF-8, by custom
 * "group/name", e.g. "train/loss". Steps are the applet's own count: duplicates and steps back are
 * kept, in order of arrival. On a run that is unknown a call does nothing, and one line a run says
 * so. Thread tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_METRICS_V1_H
#define CALIPER_SERVICES_METRICS_V1_H

#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/tensor.h>

#define CALIPER_METRICS_V1 "caliper.metrics.v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperMetricsV1 {
    uint32_t struct_size;

    /* Starts a run. Names are UTF-8; NULL is "". Returns the run's id, which grows and is never
     * reused; 0 and one log line on error. [any] */
    uint64_t (*begin_run)(const char *experiment, const char *run_name);

    /* Marks the run as done, and makes its rows durable. [any] */
    void (*end_run)(uint64_t run);

    /* One value. NaN and infinities are values. [any] */
    void (*scalar)(uint64_t run, const char *tag, int64_t step, double value);

    /* `count` raw values, not bins. 0 is kept as an empty row; a negative count, or NULL values
     * with a count, is refused with one line. [any] */
    void (*histogram)(uint64_t run, const char *tag, int64_t step, const float *values,
                      int64_t count);

    /* A picture: (H, W, C) u8, C 1..4, row-major without gaps, device CPU; anything else is refused
     * with one line. Row 0 is the top. [any] */
    void (*image)(uint64_t run, const char *tag, int64_t step, const CaliperTensor *hwc_u8);

    /* The run's settings as one JSON text, kept as it is given; later calls replace it. Text that
     * is not JSON is refused with one line. [any] */
    void (*hparams_json)(uint64_t run, const char *json);
} CaliperMetricsV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperMetricsV1, 56);
CALIPER_LAYOUT_AT(CaliperMetricsV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperMetricsV1, begin_run, 8);
CALIPER_LAYOUT_AT(CaliperMetricsV1, end_run, 16);
CALIPER_LAYOUT_AT(CaliperMetricsV1, scalar, 24);
CALIPER_LAYOUT_AT(CaliperMetricsV1, histogram, 32);
CALIPER_LAYOUT_AT(CaliperMetricsV1, image, 40);
CALIPER_LAYOUT_AT(CaliperMetricsV1, hparams_json, 48);

#endif
