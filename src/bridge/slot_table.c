/* The table of slot_table.h. One thread. */
#include "bridge/slot_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

void slot_table_init(SlotTable *table, size_t slot_bytes, uint32_t tag)
{
    memset(table, 0, sizeof *table);
    table->slot_bytes = slot_bytes;
    table->tag = tag;
}

void slot_table_finish(SlotTable *table)
{
    for (uint32_t i = 0; i < table->chunk_count; i++)
        free(table->chunks[i]);
    free(table->chunks);
    memset(table, 0, sizeof *table);
}

static SlotHead *head_at(const SlotTable *table, uint32_t index)
{
    char *chunk = table->chunks[index / SLOT_CHUNK];
    return (SlotHead *)(void *)(chunk + (size_t)(index % SLOT_CHUNK) * table->slot_bytes);
}

static bool add_chunk(SlotTable *table)
{
    if (fault_here("bridge.slots"))
        return false;
    uint32_t count = table->chunk_count;
    if ((count & (count + 1)) == 0) { /* doubled when full: 0, 1, 3, 7, ... */
        void **more = realloc(table->chunks, (2 * (size_t)count + 1) * sizeof *more);
        if (more == NULL)
            return false;
        table->chunks = more;
    }
    void *chunk = calloc(SLOT_CHUNK, table->slot_bytes);
    if (chunk == NULL)
        return false;
    table->chunks[table->chunk_count++] = chunk;
    return true;
}

void *slot_table_take(SlotTable *table)
{
    SlotHead *head;
    if (table->free_first != 0) {
        head = head_at(table, table->free_first - 1);
        table->free_first = head->next_free;
    } else {
        if (table->slot_count > SLOT_INDEX_MAX ||
            (table->slot_count / SLOT_CHUNK == table->chunk_count && !add_chunk(table)))
            return NULL;
        head = head_at(table, table->slot_count);
        head->index = table->slot_count++;
        head->generation = 1;
    }
    memset(head + 1, 0, table->slot_bytes - sizeof *head);
    head->live = true;
    table->live_count++;
    return head;
}

void slot_table_give_back(SlotTable *table, void *slot)
{
    SlotHead *head = slot;
    head->live = false;
    table->live_count--;
    if (head->generation == SLOT_GENERATION_MAX)
        return; /* retired */
    head->generation++;
    head->next_free = table->free_first;
    table->free_first = head->index + 1;
}

uint64_t slot_id(const SlotTable *table, const void *slot)
{
    const SlotHead *head = slot;
    return (uint64_t)head->generation << 32 | table->tag | head->index;
}

void *slot_table_find(const SlotTable *table, uint64_t id, SlotMiss *miss)
{
    uint32_t low = (uint32_t)id;
    uint32_t generation = (uint32_t)(id >> 32);
    uint32_t index = low & SLOT_INDEX_MAX;
    *miss = id == 0 ? SLOT_ZERO : SLOT_UNKNOWN;
    if ((low & SLOT_TAG_BIT) != table->tag || generation == 0 || generation > SLOT_GENERATION_MAX ||
        index >= table->slot_count)
        return NULL;
    SlotHead *head = head_at(table, index);
    if (head->live && head->generation == generation) {
        *miss = SLOT_FOUND;
        return head;
    }
    /* Of a retired slot the last id is gone too. */
    bool was_out = generation < head->generation ||
                   (generation == SLOT_GENERATION_MAX && head->generation == generation);
    *miss = was_out ? SLOT_STALE : SLOT_UNKNOWN;
    return NULL;
}

void *slot_table_at(const SlotTable *table, uint32_t index)
{
    if (index >= table->slot_count)
        return NULL;
    SlotHead *head = head_at(table, index);
    return head->live ? head : NULL;
}
