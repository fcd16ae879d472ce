/* caliper.metrics.v1 and v1_1: the frozen tables over store/metrics. Any thread.
 *
 * A call says that it is inside before it reads which store there is, in one of several counters so
 * that threads do not meet there; the end of a store waits for all of them. A call that faulted in
 * its applet's memory never leaves: such a store is closed and its memory kept. */
#include "services/metrics_service.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "core/rescue.h"

enum { COUNTERS = 16, LINE_BYTES = 64, LEAVE_WAIT_MS = 3000, QUEUE_MIB_MAX = 16384 };

typedef struct Counter {
    _Alignas(LINE_BYTES) atomic_int inside;
} Counter;

typedef struct Bound { /* one host's */
    MetricsStore *store;
    int rescue;
    struct Bound *next_kept;
} Bound;

static Counter counters[COUNTERS];
static atomic_uint next_counter;
static _Thread_local Counter *own_counter;
static _Atomic(MetricsStore *) bound;
static Bound *kept; /* stores that somebody never came out of; frame thread */

/* NULL: there is no store. leave() follows in any case. */
static MetricsStore *enter(void)
{
    if (own_counter == NULL)
        own_counter = &counters[atomic_fetch_add(&next_counter, 1) % COUNTERS];
    atomic_fetch_add(&own_counter->inside, 1);
    return atomic_load(&bound);
}

static void leave(void)
{
    atomic_fetch_sub(&own_counter->inside, 1);
}

static uint64_t service_begin_run(const char *experiment, const char *run_name)
{
    MetricsStore *store = enter();
    uint64_t run = store != NULL ? metrics_store_begin_run(store, experiment, run_name) : 0;
    leave();
    if (store == NULL)
        log_item(METRICS_NO_RUN, "the host has ended");
    return run;
}

static void service_end_run(uint64_t run)
{
    MetricsStore *store = enter();
    if (store != NULL)
        metrics_store_end_run(store, run);
    leave();
}

static void service_scalar(uint64_t run, const char *tag, int64_t step, double value)
{
    MetricsStore *store = enter();
    if (store != NULL)
        metrics_store_scalar(store, run, tag, step, value);
    leave();
}

static void service_histogram(uint64_t run, const char *tag, int64_t step, const float *values,
                              int64_t count)
{
    MetricsStore *store = enter();
    if (store != NULL)
        metrics_store_histogram(store, run, tag, step, values, count);
    leave();
}

static void service_image(uint64_t run, const char *tag, int64_t step, const CaliperTensor *hwc_u8)
{
    MetricsStore *store = enter();
    if (store != NULL)
        metrics_store_image(store, run, tag, step, hwc_u8);
    leave();
}

static void service_hparams_json(uint64_t run, const char *json)
{
    MetricsStore *store = enter();
    if (store != NULL)
        metrics_store_hparams(store, run, json);
    leave();
}

static bool service_query(const char *sql, struct ArrowArrayStream *out)
{
    MetricsStore *store = enter();
    bool ok = metrics_store_query(store, sql, out);
    leave();
    return ok;
}

static const char *service_last_error(void)
{
    return metrics_store_last_error();
}

static const CaliperMetricsV1 table = {.struct_size = sizeof table,
                                       .begin_run = service_begin_run,
                                       .end_run = service_end_run,
                                       .scalar = service_scalar,
                                       .histogram = service_histogram,
                                       .image = service_image,
                                       .hparams_json = service_hparams_json};

static const CaliperMetricsV1_1 table_v1_1 = {.struct_size = sizeof table_v1_1,
                                              .begin_run = service_begin_run,
                                              .end_run = service_end_run,
                                              .scalar = service_scalar,
                                              .histogram = service_histogram,
                                              .image = service_image,
                                              .hparams_json = service_hparams_json,
                                              .query = service_query,
                                              .last_error = service_last_error};

const CaliperMetricsV1 *metrics_service_table(void)
{
    return &table;
}

const CaliperMetricsV1_1 *metrics_service_table_v1_1(void)
{
    return &table_v1_1;
}

MetricsStore *metrics_service_store(void)
{
    return atomic_load(&bound);
}

bool metrics_service_status(MetricsStatus *out)
{
    MetricsStore *store = enter();
    if (store != NULL)
        metrics_store_status(store, out);
    leave();
    return store != NULL;
}

/* ---- The host's life ---- */

static bool all_left(void)
{
    for (int waited_ms = 0; waited_ms < LEAVE_WAIT_MS; waited_ms++) {
        int inside = 0;
        for (int i = 0; i < COUNTERS; i++)
            inside += atomic_load(&counters[i].inside);
        if (inside == 0)
            return true;
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    return false;
}

static void host_ends(void *user)
{
    Bound *ended = user;
    MetricsStore *mine = ended->store;
    atomic_compare_exchange_strong(&bound, &mine, NULL);
    rescue_unregister(ended->rescue);
    metrics_store_close(ended->store);
    if (all_left()) {
        metrics_store_destroy(&ended->store);
        free(ended);
    } else {
        ended->next_kept = kept;
        kept = ended;
    }
}

static void rescue(void *user, uint64_t deadline_ns)
{
    metrics_store_rescue(user, deadline_ns);
}

static uint64_t wanted_queue_bytes(void)
{
    const char *text = getenv("CALIPER_METRICS_QUEUE_MIB");
    if (text == NULL || text[0] == '\0')
        return 0;
    char *end = NULL;
    unsigned long long mib = strtoull(text, &end, 10);
    if (*end == '\0' && text[0] >= '0' && text[0] <= '9' && mib >= 1 && mib <= QUEUE_MIB_MAX)
        return (uint64_t)mib << 20;
    log_item(VARIABLE_REFUSED, "CALIPER_METRICS_QUEUE_MIB", text, "MiB, 1 to 16384");
    return 0;
}

bool metrics_service_register(Host *host, bool start_now)
{
    MetricsParams params = {.struct_size = sizeof params,
                            .data_root = host_data_dir(host),
                            .queue_bytes = wanted_queue_bytes(),
                            .start_now = start_now};
    Bound *made = calloc(1, sizeof *made);
    if (made == NULL) {
        log_item(OUT_OF_MEMORY, "metrics_service_register", (unsigned long long)sizeof *made);
        return false;
    }
    made->store = metrics_store_create(&params);
    if (made->store == NULL)
        goto failed;
    if (!host_on_end(host, host_ends, made))
        goto failed;
    made->rescue = rescue_register(rescue, made->store);
    atomic_store(&bound, made->store);
    return host_service_register(host, CALIPER_METRICS_V1, &table) &&
           host_service_register(host, CALIPER_METRICS_V1_1, &table_v1_1);
failed:
    metrics_store_destroy(&made->store);
    free(made);
    return false;
}
