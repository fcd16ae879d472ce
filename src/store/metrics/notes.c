/* Gathering notes: see notes.h. */
#include "store/metrics/notes.h"

#include "core/log.h"
#include "store/metrics/disk.h"

static void add(Notes *notes, MetricsRun *run, RowKind kind, int64_t wall_us)
{
    Row *row = &notes->rows[notes->count];
    *row = (Row){.kind = (uint8_t)kind, .run = run->id, .wall_us = wall_us};
    atomic_init(&row->size_and_state, (uint64_t)sizeof *row << ROW_STATE_BITS | ROW_STATE_READY);
    notes->of[notes->count].run = run;
    notes->of[notes->count].dropped = run->dropped_recorded;
    notes->count++;
}

void notes_gather(Notes *notes, RunTable *runs)
{
    notes->count = 0;
    notes->more = notes->again = false;
    for (MetricsRun *run = atomic_load(&runs->newest); run != NULL; run = run->next) {
        uint64_t dropped = atomic_load(&run->dropped);
        bool ends = atomic_load(&run->end_waits);
        if (dropped == run->dropped_recorded && !ends)
            continue;
        if (notes->count + 2 > NOTES_MOST) {
            notes->more = true;
            return;
        }
        if (dropped > run->dropped_recorded) {
            add(notes, run, ROW_KIND_DROPPED, disk_wall_us());
            notes->rows[notes->count - 1].value.count = (int64_t)(dropped - run->dropped_recorded);
            notes->of[notes->count - 1].dropped = dropped;
        }
        if (ends)
            add(notes, run, ROW_KIND_END, atomic_load(&run->ended_us));
    }
}

void notes_are_safe(Notes *notes)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        MetricsRun *run = notes->of[i].run;
        if (notes->rows[i].kind == ROW_KIND_END) {
            atomic_store(&run->end_waits, false);
            continue;
        }
        log_item(METRICS_DROPS_RECORDED, (unsigned long long)run->id,
                 (unsigned long long)(notes->of[i].dropped - run->dropped_recorded));
        run->dropped_recorded = notes->of[i].dropped;
    }
    notes->count = 0;
    notes->again = false;
}
