/* store/metrics/run_ids.h: numbers for runs, reserved in blocks.
 *
 * For src/store/metrics/ alone. <data root>/metrics.ids holds the next number that no process has
 * reserved; a block is taken durably, under a lock, before any number of it is given out, so that
 * giving one out is no I/O and none is ever given out twice. The writer thread; waits for the disk.
 */
#ifndef CALIPER_STORE_METRICS_RUN_IDS_H
#define CALIPER_STORE_METRICS_RUN_IDS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct RunIdBlock {
    uint64_t first, end; /* end is the first that is not in it */
} RunIdBlock;

/* Makes the file where there is none, and takes no number: to be called before there is a database,
 * which tells a data root that is new from one whose file was lost. It makes the first reservation
 * quick, too: the place of both slots is on the disk. False after one line. */
bool run_ids_prepare(const char *data_root);
/* Reserves `count` numbers, none below `at_least`. False after one line. A file that is lost or
 * damaged while there is a database begins again at the time in microseconds, which is above any
 * number that was counted. */
bool run_ids_reserve(const char *data_root, uint64_t at_least, uint64_t count, RunIdBlock *out);
/* Makes sure that no number below `at_least` is reserved any more; *raised: the file was behind, so
 * that what was reserved before may be taken. False after one line. */
bool run_ids_raise(const char *data_root, uint64_t at_least, bool *raised);
/* Gives back what was not given out, if nobody reserved since. Silent. */
void run_ids_return(const char *data_root, RunIdBlock unused);

#endif
