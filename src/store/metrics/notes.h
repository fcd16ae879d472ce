/* store/metrics/notes.h: what runs did that no row in the queue tells of: rows that found the queue
 * full, and ends that did.
 *
 * For src/store/metrics/ alone. The writer thread. Notes are gathered as rows, a bounded number at
 * a time, and are recorded when those rows are safe; until then the same rows can be written again.
 */
#ifndef CALIPER_STORE_METRICS_NOTES_H
#define CALIPER_STORE_METRICS_NOTES_H

#include "store/metrics/row.h"
#include "store/metrics/run_table.h"

enum { NOTES_MOST = 128 };

typedef struct Notes {
    Row rows[NOTES_MOST];
    struct NoteOf {
        MetricsRun *run;
        uint64_t dropped; /* of the run, when this row is safe */
    } of[NOTES_MOST];
    uint32_t count;
    bool more;  /* there was no room for all */
    bool again; /* they may lie in a spool file: nothing else is written there before they do */
} Notes;

/* Takes what is to be told now in the place of what was gathered before. */
void notes_gather(Notes *notes, RunTable *runs);
/* The rows are durable: they are not told of again. Empties `notes`, but for `more`. */
void notes_are_safe(Notes *notes);

#endif
