/* core/trace.h: what happened when, for Chrome's trace viewer and Perfetto.
 *
 * Any folder of src/ may include it (C only). CALIPER_TRACE=FILE starts it; the file is a JSON
 * array of trace events, the form whose closing bracket may be missing, so that the trace of a
 * process that was killed can still be read. Events go into one of two buffers of fixed size; a
 * thread writes the other one out. No lock is held across I/O; an event that finds its buffer full
 * is counted, and the count is written as an event "dropped". Off: one relaxed atomic load. Any
 * thread. */
#ifndef CALIPER_CORE_TRACE_H
#define CALIPER_CORE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TRACE_VALUES_MAX = 5, TRACE_LABEL_BYTES = 48 };

typedef struct TraceValue {
    const char *name; /* a literal */
    uint64_t value;
} TraceValue;

/* `category`, `name`, `kind` and the names of values are literals: they are kept by address and
 * written as they are. `label` is copied, cut at TRACE_LABEL_BYTES - 1, and may hold anything. */
typedef struct TraceEvent {
    const char *category, *name;
    const char *kind;  /* argument "kind"; NULL: none */
    const char *label; /* argument "label"; NULL: none */
    TraceValue values[TRACE_VALUES_MAX];
    uint32_t value_count;
} TraceEvent;

extern atomic_bool trace_is_on; /* read through trace_begin alone */

/* Starts the trace into `path`; what is there is replaced. False with one log line when the file
 * cannot be opened, no memory or thread is to be had, or a trace runs. Stopped at exit at the
 * latest. Start and stop are for one thread at a time. */
bool trace_start(const char *path);
/* Writes what is left and the closing bracket. Harmless without a trace. */
void trace_stop(void);
/* CALIPER_TRACE, if it is set and not empty. */
void trace_start_from_environment(void);

uint64_t trace_now_ns(void); /* monotonic */

/* The start of a span; 0 when there is no trace, and then the span is not to be ended. */
static inline uint64_t trace_begin(void)
{
    return atomic_load_explicit(&trace_is_on, memory_order_relaxed) ? trace_now_ns() : 0;
}

/* A span from `started_ns` until now on the calling thread. */
void trace_span(uint64_t started_ns, const TraceEvent *event);
/* Values over time, drawn as a stacked chart. */
void trace_counter(const TraceEvent *event);

#endif
