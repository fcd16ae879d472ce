/* The runs of this process, open addressing: see run_table.h. A slot goes from NULL to a run once;
 * growing makes new slots and keeps the old ones for those who still read them. */
#include "store/metrics/run_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/guard.h"

enum { FIRST_SLOTS = 64 };

static RunSlots *slots_create(uint64_t capacity)
{
    if (fault_here("metrics.runs.alloc"))
        return NULL;
    RunSlots *slots = calloc(1, sizeof *slots + capacity * sizeof slots->slots[0]);
    if (slots != NULL)
        slots->capacity = capacity;
    return slots;
}

/* Neighbouring numbers, the usual ones, fall into neighbouring slots. */
static void slots_put(RunSlots *slots, MetricsRun *run)
{
    uint64_t at = run->id & (slots->capacity - 1);
    while (atomic_load_explicit(&slots->slots[at], memory_order_relaxed) != NULL)
        at = (at + 1) & (slots->capacity - 1);
    atomic_store_explicit(&slots->slots[at], run, memory_order_release);
}

bool run_table_init(RunTable *table)
{
    memset(table, 0, sizeof *table);
    RunSlots *slots = slots_create(FIRST_SLOTS);
    atomic_init(&table->slots, slots);
    if (slots == NULL)
        return false;
    pthread_mutex_init(&table->mutex, NULL);
    return true;
}

void run_table_finish(RunTable *table)
{
    RunSlots *slots = atomic_load(&table->slots);
    if (slots == NULL)
        return;
    pthread_mutex_destroy(&table->mutex);
    while (slots != NULL) {
        RunSlots *older = slots->older;
        free(slots);
        slots = older;
    }
    MetricsRun *run = atomic_load(&table->newest);
    while (run != NULL) {
        MetricsRun *next = run->next;
        free(run);
        run = next;
    }
    free(table->unknown);
    memset(table, 0, sizeof *table);
}

MetricsRun *run_table_find(RunTable *table, uint64_t id)
{
    RunSlots *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    for (uint64_t at = id & (slots->capacity - 1);; at = (at + 1) & (slots->capacity - 1)) {
        MetricsRun *run = atomic_load_explicit(&slots->slots[at], memory_order_acquire);
        if (run == NULL || run->id == id)
            return run;
    }
}

static void enter(RunTable *table)
{
    guard_lock_enter();
    pthread_mutex_lock(&table->mutex);
}

static void leave(RunTable *table)
{
    pthread_mutex_unlock(&table->mutex);
    guard_lock_leave();
}

/* At most half of the slots are taken, so that a search ends. */
static bool grow(RunTable *table)
{
    RunSlots *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    if ((table->count + 1) * 2 <= slots->capacity)
        return true;
    RunSlots *larger = slots_create(slots->capacity * 2);
    if (larger == NULL)
        return false;
    larger->older = slots;
    for (MetricsRun *run = atomic_load(&table->newest); run != NULL; run = run->next)
        slots_put(larger, run);
    atomic_store_explicit(&table->slots, larger, memory_order_release);
    return true;
}

MetricsRun *run_table_add(RunTable *table, uint64_t id)
{
    MetricsRun *run = fault_here("metrics.runs.alloc") ? NULL : calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    run->id = id;
    enter(table);
    if (grow(table)) {
        slots_put(atomic_load_explicit(&table->slots, memory_order_relaxed), run);
        run->next = atomic_load_explicit(&table->newest, memory_order_relaxed);
        atomic_store_explicit(&table->newest, run, memory_order_release);
        table->count++;
    } else {
        free(run);
        run = NULL;
    }
    leave(table);
    return run;
}

RunTableSay run_table_say_unknown(RunTable *table, uint64_t id)
{
    RunTableSay say = RUN_TABLE_SAY_IT;
    enter(table);
    if (table->unknown == NULL)
        table->unknown = malloc(RUN_TABLE_UNKNOWN_MAX * sizeof *table->unknown);
    for (uint32_t i = 0; i < table->unknown_count && say == RUN_TABLE_SAY_IT; i++)
        if (table->unknown[i] == id)
            say = RUN_TABLE_SAY_NOTHING;
    if (table->unknown == NULL || table->unknown_count == RUN_TABLE_UNKNOWN_MAX)
        say = RUN_TABLE_SAY_NOTHING;
    if (say == RUN_TABLE_SAY_IT) {
        table->unknown[table->unknown_count++] = id;
        if (table->unknown_count == RUN_TABLE_UNKNOWN_MAX)
            say = RUN_TABLE_SAY_LAST;
    }
    leave(table);
    return say;
}
