/* store/metrics/run_table.h: the runs that this process began.
 *
 * For src/store/metrics/ alone. Finding one takes no lock: a call that logs a value does it every
 * time. Runs are never taken out, so a pointer lives as long as the table. */
#ifndef CALIPER_STORE_METRICS_RUN_TABLE_H
#define CALIPER_STORE_METRICS_RUN_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct MetricsRun {
    uint64_t id;
    atomic_bool ended;
    atomic_bool end_waits;    /* it ended while the queue was full: the writer writes that */
    _Atomic int64_t ended_us; /* microseconds since 1970 */
    atomic_bool said_dropped;
    _Atomic uint64_t dropped;  /* rows that found the queue full */
    uint64_t dropped_recorded; /* of those, in the store; the writer's (notes.h) */
    struct MetricsRun *next;   /* all runs, newest first */
} MetricsRun;

typedef struct RunSlots {
    uint64_t capacity;      /* a power of two */
    struct RunSlots *older; /* kept: somebody may still look into it */
    _Atomic(MetricsRun *) slots[];
} RunSlots;

typedef struct RunTable {
    _Atomic(RunSlots *) slots;
    _Atomic(MetricsRun *) newest;
    uint64_t count; /* with the mutex held, as is adding */
    pthread_mutex_t mutex;
    /* Unknown runs that were spoken of: a line a run, and an end to that. */
    uint64_t *unknown;
    uint32_t unknown_count;
} RunTable;

enum { RUN_TABLE_UNKNOWN_MAX = 1024 };

bool run_table_init(RunTable *table);
void run_table_finish(RunTable *table);

/* NULL: it was not begun here. [any] */
MetricsRun *run_table_find(RunTable *table, uint64_t id);
/* A new run; NULL without memory. [any] */
MetricsRun *run_table_add(RunTable *table, uint64_t id);

typedef enum RunTableSay {
    RUN_TABLE_SAY_NOTHING,
    RUN_TABLE_SAY_IT,
    RUN_TABLE_SAY_LAST
} RunTableSay;
/* Whether a line is due about an unknown run; the last one says that more will be silent. [any] */
RunTableSay run_table_say_unknown(RunTable *table, uint64_t id);

#endif
