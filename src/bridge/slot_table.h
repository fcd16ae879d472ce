/* bridge/slot_table.h: slots that are found by an id with a generation.
 *
 * An id is 0 for none, else: bit 63 zero, a generation of 31 bits (never 0), a tag bit that tells
 * two tables' ids apart, an index of 31 bits. Every slot begins with a SlotHead. Slots never move;
 * all calls take constant time and only slot_table_take allocates, a chunk at a time. A slot whose
 * generations are used up is retired, so no id is ever given out twice. Included by bridge/ and its
 * tests. One thread. */
#ifndef CALIPER_BRIDGE_SLOT_TABLE_H
#define CALIPER_BRIDGE_SLOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLOT_CHUNK = 256, SLOT_GENERATION_MAX = 0x7fffffff };
#define SLOT_INDEX_MAX 0x7fffffffu
#define SLOT_TAG_BIT   0x80000000u

typedef struct SlotHead {
    uint32_t index;
    uint32_t generation; /* of the id that is out, or of the next one to go out */
    uint32_t next_free;  /* index + 1; 0 ends the list */
    bool live;
} SlotHead;

typedef struct SlotTable {
    void **chunks;
    uint32_t chunk_count;
    uint32_t slot_count; /* slots ever used */
    uint32_t live_count;
    uint32_t free_first; /* index + 1 */
    uint32_t tag;        /* 0 or SLOT_TAG_BIT */
    size_t slot_bytes;
} SlotTable;

typedef enum SlotMiss { SLOT_FOUND = 0, SLOT_ZERO, SLOT_UNKNOWN, SLOT_STALE } SlotMiss;

/* `tag` is 0 or SLOT_TAG_BIT. */
void slot_table_init(SlotTable *table, size_t slot_bytes, uint32_t tag);
void slot_table_finish(SlotTable *table);

/* A slot with everything after its head zeroed. NULL: out of memory or of indices. */
void *slot_table_take(SlotTable *table);
void slot_table_give_back(SlotTable *table, void *slot);
uint64_t slot_id(const SlotTable *table, const void *slot);
/* NULL, and why in *miss, when the id is not out. */
void *slot_table_find(const SlotTable *table, uint64_t id, SlotMiss *miss);
/* The slot of an index below slot_count, or NULL when it is not live. */
void *slot_table_at(const SlotTable *table, uint32_t index);

#endif
