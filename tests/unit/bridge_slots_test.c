/* The table of slots: ids with generations, their end, and what is found or missed. One thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge/slot_table.h"
#include "core/fault.h"
#include "core/log.h"

typedef struct Slot {
    SlotHead head;
    uint64_t value;
} Slot;

static SlotMiss miss_of(const SlotTable *table, uint64_t id)
{
    SlotMiss miss;
    const void *slot = slot_table_find(table, id, &miss);
    assert_int_equal(slot != NULL, miss == SLOT_FOUND);
    return miss;
}

static void ids_have_their_layout(void **state)
{
    (void)state;
    SlotTable table;
    slot_table_init(&table, sizeof(Slot), SLOT_TAG_BIT);
    Slot *first = slot_table_take(&table);
    Slot *second = slot_table_take(&table);
    assert_true(slot_id(&table, first) == 0x0000000180000000ull);
    assert_true(slot_id(&table, second) == 0x0000000180000001ull);
    slot_table_give_back(&table, first);
    first = slot_table_take(&table);
    assert_true(slot_id(&table, first) == 0x0000000280000000ull);
    slot_table_finish(&table);
}

static void each_miss_is_told_apart(void **state)
{
    (void)state;
    SlotTable table;
    slot_table_init(&table, sizeof(Slot), 0);
    assert_int_equal(miss_of(&table, 0), SLOT_ZERO);
    assert_int_equal(miss_of(&table, 1ull << 32), SLOT_UNKNOWN); /* empty table */
    Slot *slot = slot_table_take(&table);
    uint64_t id = slot_id(&table, slot);
    assert_int_equal(miss_of(&table, id), SLOT_FOUND);
    assert_int_equal(miss_of(&table, id | SLOT_TAG_BIT), SLOT_UNKNOWN);
    assert_int_equal(miss_of(&table, id | 1ull << 63), SLOT_UNKNOWN);
    assert_int_equal(miss_of(&table, id + 1), SLOT_UNKNOWN);
    assert_int_equal(miss_of(&table, id + (1ull << 32)), SLOT_UNKNOWN);
    assert_non_null(slot_table_take(&table));
    assert_int_equal(miss_of(&table, 1), SLOT_UNKNOWN); /* generation 0 of the second slot */
    slot_table_give_back(&table, slot);
    assert_int_equal(miss_of(&table, id), SLOT_STALE);
    assert_int_equal(miss_of(&table, id + (1ull << 32)), SLOT_UNKNOWN); /* not out yet */
    assert_null(slot_table_at(&table, 0));
    assert_null(slot_table_at(&table, 2));
    slot_table_finish(&table);
}

/* The last generation of a slot is its end: no id ever comes back. */
static void a_slot_without_generations_is_retired(void **state)
{
    (void)state;
    SlotTable table;
    slot_table_init(&table, sizeof(Slot), 0);
    Slot *slot = slot_table_take(&table);
    slot->head.generation = SLOT_GENERATION_MAX - 1; /* as after 2^31 - 3 lives */
    slot_table_give_back(&table, slot);
    assert_ptr_equal(slot_table_take(&table), slot);
    uint64_t last = slot_id(&table, slot);
    assert_true(last == 0x7fffffff00000000ull);
    assert_int_equal(miss_of(&table, last), SLOT_FOUND);
    slot_table_give_back(&table, slot);
    assert_int_equal(miss_of(&table, last), SLOT_STALE);
    assert_int_equal(miss_of(&table, 1ull << 32), SLOT_STALE);
    Slot *next = slot_table_take(&table);
    assert_ptr_not_equal(next, slot);
    assert_int_equal(next->head.index, 1);
    assert_int_equal(table.live_count, 1);
    slot_table_finish(&table);
}

static void slots_stay_where_they_are_and_come_back_zeroed(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static Slot *slots[COUNT];
    SlotTable table;
    slot_table_init(&table, sizeof(Slot), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        slots[i] = slot_table_take(&table);
        assert_true(slots[i]->value == 0);
        slots[i]->value = i + 1;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_ptr_equal(slot_table_at(&table, i), slots[i]);
        assert_true(slots[i]->value == i + 1);
    }
    for (uint32_t i = 0; i < COUNT; i += 2)
        slot_table_give_back(&table, slots[i]);
    assert_int_equal(table.live_count, COUNT / 2);
    for (uint32_t i = 0; i < COUNT; i += 2) {
        Slot *slot = slot_table_take(&table);
        assert_true(slot->value == 0 && slot->head.index % 2 == 0);
    }
    assert_int_equal(table.slot_count, COUNT);
    slot_table_finish(&table);
}

static void a_full_or_failing_table_gives_nothing(void **state)
{
    (void)state;
    log_stderr_enable(false);
    SlotTable table;
    slot_table_init(&table, sizeof(Slot), 0);
    fault_set_plan("bridge.slots:1");
    assert_null(slot_table_take(&table));
    assert_non_null(slot_table_take(&table)); /* the next try works */
    fault_set_plan(NULL);
    uint32_t used = table.slot_count;
    table.slot_count = SLOT_INDEX_MAX + 1; /* every index was given out */
    assert_null(slot_table_take(&table));
    table.slot_count = used;
    slot_table_finish(&table);
    slot_table_finish(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_have_their_layout),
        cmocka_unit_test(each_miss_is_told_apart),
        cmocka_unit_test(a_slot_without_generations_is_retired),
        cmocka_unit_test(slots_stay_where_they_are_and_come_back_zeroed),
        cmocka_unit_test(a_full_or_failing_table_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
