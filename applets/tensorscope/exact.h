/* tensorscope/exact.h: the statistics of every element of a slice that is shown by samples, counted
 * in the background.
 *
 * All calls are the frame thread's and none waits. The file is opened anew by the work, so that the
 * picture's own reads go on meanwhile. */
#ifndef TENSORSCOPE_EXACT_H
#define TENSORSCOPE_EXACT_H

#include "axes.h"
#include "formats/array_values.h"
#include "stamp.h"
#include "summary.h"
#include "task.h"

typedef enum ExactState {
    EXACT_STATE_NONE = 0, /* nothing was asked */
    EXACT_STATE_COUNTING,
    EXACT_STATE_KNOWN,   /* `stats` is of every element */
    EXACT_STATE_STOPPED, /* by hand */
    EXACT_STATE_FAILED   /* `error` says why */
} ExactState;

typedef struct Exact Exact;

/* NULL when there is no memory. */
Exact *exact_create(void);
/* Cancels and waits for at most one read of a MiB; NULLs, accepts NULL. */
void exact_destroy(Exact **exact);

/* Counts a slice of the content that `stamp` is of; what was counted before is dropped. */
void exact_ask(Exact *exact, const char *address, const Stamp *stamp, uint32_t array,
               const AxisChoice *axes);
void exact_drop(Exact *exact); /* nothing is asked any more */
void exact_stop(Exact *exact); /* by hand */

/* Takes what is done; true once, in the call that finds the statistics known. */
bool exact_update(Exact *exact);
/* Waits at most so long for what is asked. For repeatable pictures alone. */
void exact_wait(Exact *exact, double seconds);

ExactState exact_state(const Exact *exact);
double exact_progress(const Exact *exact);
const ArrayStats *exact_stats(const Exact *exact); /* valid while KNOWN, as the next */
const Summary *exact_summary(const Exact *exact);
const ArrayError *exact_error(const Exact *exact);

#endif
