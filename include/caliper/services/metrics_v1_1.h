/* caliper.metrics.v1_1: metrics, and reading them back with SQL.
 *
 * Frozen. The first six slots are those of metrics_v1.h, with the same meaning and the same run
 * ids; read that header first. Every slot is [any]. Tables to read:
 *   runs(id, experiment, name, done, hparams, started_at, ended_at)
 *   scalars(run, tag, step, value, seq, wall_time)
 *   histograms(run, tag, step, count, data, seq, wall_time)       data: f32, machine byte order
 *   images(run, tag, step, w, h, c, data, seq, wall_time)         data: u8, (h, w, c) */
#ifndef CALIPER_SERVICES_METRICS_V1_1_H
#define CALIPER_SERVICES_METRICS_V1_1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/arrow_c.h>
#include <caliper/layout.h>
#include <caliper/services/metrics_v1.h>
#include <caliper/tensor.h>

#define CALIPER_METRICS_V1_1 "caliper.metrics.v1_1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperMetricsV1_1 {
    uint32_t struct_size;
    uint64_t (*begin_run)(const char *experiment, const char *run_name);
    void (*end_run)(uint64_t run);
    void (*scalar)(uint64_t run, const char *tag, int64_t step, double value);
    void (*histogram)(uint64_t run, const char *tag, int64_t step, const float *values,
                      int64_t count);
    void (*image)(uint64_t run, const char *tag, int64_t step, const CaliperTensor *hwc_u8);
    void (*hparams_json)(uint64_t run, const char *json);

    /* Runs one read-only SELECT over all rows logged before the call, and waits for it; not for
     * every frame. Fills *out with a stream that the caller releases and that later writes do not
     * disturb. false when refused or failed: *out is untouched, last_error says why. [any] */
    bool (*query)(const char *sql, struct ArrowArrayStream *out);

    /* Why this thread's last query failed, UTF-8; "" if it did not. Never NULL. Host-owned, valid
     * until this thread's next call of this service. [any] */
    const char *(*last_error)(void);
} CaliperMetricsV1_1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperMetricsV1_1, 72);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, begin_run, 8);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, end_run, 16);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, scalar, 24);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, histogram, 32);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, image, 40);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, hparams_json, 48);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, query, 56);
CALIPER_LAYOUT_AT(CaliperMetricsV1_1, last_error, 64);

#endif
