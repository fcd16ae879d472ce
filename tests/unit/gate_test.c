/* The gate: every reason of every entry point, the order in which they are looked for, ranges, and
 * that nothing past struct_size is read. One thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bridge/gate.h"
#include "exact_f32.h"
#include "gate_cases.h"
#include "kernels/float_env.h"

static void each_wrong_has_its_reason(void **state)
{
    (void)state;
    bool met[GATE_REASON_COUNT] = {false};
    for (int i = 0; i < WRONG_COUNT; i++) {
        for (Entry entry = 0; entry < ENTRY_COUNT; entry++) {
            if ((wrongs[i].entries & 1 << entry) == 0)
                continue;
            Case c;
            GatePlan plan;
            make_case(&c, entry);
            assert_int_equal(run(entry, &c.ask, &plan), GATE_OK);
            wrongs[i].make(&c);
            GateReason reason = run(entry, &c.ask, &plan);
            if (reason != wrongs[i].reason)
                fail_msg("wrong %d at entry %d: %s, wanted %s", i, (int)entry,
                         gate_reason_name(reason), gate_reason_name(wrongs[i].reason));
            GateText text;
            gate_explain(reason, &c.ask, &plan, &text);
            assert_true(text.given[0] != '\0' && text.wanted[0] != '\0');
            met[reason] = true;
        }
    }
    for (GateReason reason = GATE_OK + 1; reason < GATE_NO_BRIDGE; reason++) {
        if (!met[reason])
            fail_msg("no case for %s", gate_reason_name(reason));
    }
}

/* With fewer dimensions the extents that a wrong of the steps 40 to 69 spoils are not there; what
 * is wrong as one type of handle may be right as another. */
static bool undoes(const Wrong *later, const Wrong *earlier)
{
    if (earlier->reason == GATE_HANDLE_INVALID)
        return later->step > 12;
    return (later->make == scalar || later->make == other_rank) && earlier->step >= 40 &&
           earlier->step < 70;
}

/* Two wrongs at once: the one of the earlier step is the reason. */
static void the_first_failure_wins(void **state)
{
    (void)state;
    int pairs = 0;
    for (int i = 0; i < WRONG_COUNT; i++) {
        for (int j = 0; j < WRONG_COUNT; j++) {
            for (Entry entry = 0; entry < ENTRY_COUNT; entry++) {
                if ((wrongs[i].entries & wrongs[j].entries & 1 << entry) == 0 ||
                    wrongs[i].step >= wrongs[j].step || undoes(&wrongs[j], &wrongs[i]))
                    continue;
                Case c;
                GatePlan plan;
                make_case(&c, entry);
                wrongs[j].make(&c);
                wrongs[i].make(&c); /* last, so that it holds */
                GateReason reason = run(entry, &c.ask, &plan);
                if (reason != wrongs[i].reason)
                    fail_msg("wrongs %d and %d at entry %d: %s, wanted %s", i, j, (int)entry,
                             gate_reason_name(reason), gate_reason_name(wrongs[i].reason));
                pairs++;
            }
        }
    }
    assert_true(pairs > 1000);
}

static void accepted_plans_say_what_to_do(void **state)
{
    (void)state;
    Case c;
    GatePlan plan;
    make_case(&c, ENTRY_DIRECT);
    assert_int_equal(gate_check_direct(&c.ask, &plan), GATE_OK);
    assert_int_equal(plan.width_px, 7);
    assert_int_equal(plan.height_px, 5);
    assert_int_equal(plan.extent_bytes, 105);
    assert_int_equal(plan.pass.kind, RENDERER_PASS_EXPAND);
    assert_int_equal(plan.pass.channels, 3);
    assert_int_equal(plan.source, RENDERER_SOURCE_DEVICE);
    assert_ptr_equal(plan.stream, (void *)(uintptr_t)0x51);
    assert_ptr_equal(plan.seen.data, some_memory);

    make_case(&c, ENTRY_MAPPED);
    c.tensor.device = CALIPER_DEV_CPU; /* its index and stream mean nothing */
    c.tensor.device_index = -1;
    c.tensor.data = some_memory + 1; /* any alignment */
    assert_int_equal(gate_check_mapped(&c.ask, &plan), GATE_OK);
    assert_int_equal(plan.extent_bytes, 140);
    assert_int_equal(plan.pass.kind, RENDERER_PASS_COLORMAP);
    assert_int_equal(plan.pass.colormap, CALIPER_CMAP_MAGMA);
    assert_true(plan.pass.vmin == -1.0f && plan.pass.inv == 0.5f);
    assert_int_equal(plan.source, RENDERER_SOURCE_HOST);
    assert_null(plan.stream);

    make_case(&c, ENTRY_UPDATE);
    assert_int_equal(gate_check_update(&c.ask, &plan), GATE_OK);
    assert_true(plan.pass.vmin == 1.0f && plan.pass.inv == 0.5f); /* the texture's */

    make_case(&c, ENTRY_FROM_ALLOC);
    c.tensor.data = NULL;
    c.ask.offset_bytes = 8192 - 140;
    assert_int_equal(gate_check_from_alloc(&c.ask, &plan), GATE_OK);
    assert_int_equal(plan.source, RENDERER_SOURCE_ALLOC);
    assert_int_equal(plan.extent_bytes, 140);
    assert_ptr_equal(plan.stream, (void *)(uintptr_t)0x51);

    make_case(&c, ENTRY_SHARED);
    assert_int_equal(gate_check_shared(&c.ask, &plan), GATE_OK);
    assert_int_equal(plan.seen.strides[0], 21);
    assert_int_equal(plan.seen.strides[1], 3);
    assert_int_equal(plan.seen.strides[2], 1);
    c.ask.dtype = CALIPER_DT_F32;
    c.ask.ndim = 2;
    assert_int_equal(gate_check_shared(&c.ask, &plan), GATE_OK);
    assert_int_equal(plan.pass.colormap, CALIPER_CMAP_VIRIDIS);
    assert_true(plan.pass.vmin == 0.0f && plan.pass.inv == 1.0f);

    make_case(&c, ENTRY_IMPORT);
    c.ask.os_handle = NULL; /* file descriptor 0 */
    assert_int_equal(gate_check_import(&c.ask, &plan), GATE_OK);
}

/* Frameworks put anything into the stride of an extent of 1. */
static void strides_of_extent_1_are_not_compared(void **state)
{
    (void)state;
    Case c;
    GatePlan plan;
    make_case(&c, ENTRY_DIRECT);
    c.tensor.shape[2] = 1;
    c.tensor.strides[0] = 7;
    c.tensor.strides[1] = 1;
    c.tensor.strides[2] = -99;
    assert_int_equal(gate_check_direct(&c.ask, &plan), GATE_OK);
    c.tensor.shape[0] = c.tensor.shape[1] = 1;
    c.tensor.strides[0] = INT64_MAX;
    c.tensor.strides[1] = INT64_MIN;
    assert_int_equal(gate_check_direct(&c.ask, &plan), GATE_OK);
    make_case(&c, ENTRY_MAPPED);
    c.tensor.shape[0] = 1;
    c.tensor.strides[0] = 0;
    assert_int_equal(gate_check_mapped(&c.ask, &plan), GATE_OK);
}

/* A short struct at the end of readable memory, at every alignment: only struct_size is read. */
static void nothing_past_struct_size_is_read(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    for (uint32_t size = 0; size < sizeof(CaliperTensor); size++) {
        for (Entry entry = ENTRY_DIRECT; entry <= ENTRY_FROM_ALLOC; entry++) {
            Case c;
            GatePlan plan;
            make_case(&c, entry);
            uint8_t *at = memory + page - (size < 4 ? 4 : size);
            memcpy(at, &size, sizeof size);
            c.ask.tensor = (const CaliperTensor *)(uintptr_t)at;
            assert_int_equal(run(entry, &c.ask, &plan), GATE_STRUCT_SIZE);
        }
    }
    /* A longer struct of a later revision is fine. */
    Case c;
    GatePlan plan;
    make_case(&c, ENTRY_DIRECT);
    c.tensor.struct_size = 1000;
    assert_int_equal(gate_check_direct(&c.ask, &plan), GATE_OK);
    munmap(memory, 2 * page);
}

static void ranges_at_their_bounds(void **state)
{
    (void)state;
    static const struct {
        float vmin, vmax;
        GateReason reason;
    } cases[] = {
        {0.0f, 0x1p-90f, GATE_OK},
        {0.0f, -0x1p-90f, GATE_OK},
        {0.0f, 0x1.fffffep-91f, GATE_RANGE_NARROW},
        {0x1.fffffep-91f, 0.0f, GATE_RANGE_NARROW},
        {0.0f, 1e-40f, GATE_RANGE_NARROW}, /* not equal, even where denormals are flushed */
        {1.0f, 1.0000001f, GATE_OK},
        {0.0f, 0x1p126f, GATE_OK},
        {0x1p125f, -0x1p125f, GATE_OK},
        {0.0f, 0x1.000002p126f, GATE_RANGE_WIDE},
        {-3e38f, 3e38f, GATE_RANGE_WIDE}, /* overflows */
        {5.0f, 5.0f, GATE_OK},
        {0.0f, -0.0f, GATE_OK},
        {1e-45f, 1e-45f, GATE_OK},
        {INFINITY, INFINITY, GATE_OK},
        {-INFINITY, -INFINITY, GATE_OK},
        {-INFINITY, INFINITY, GATE_RANGE_INFINITE},
        {0.0f, INFINITY, GATE_RANGE_INFINITE},
        {NAN, 0.0f, GATE_RANGE_NAN},
        {NAN, NAN, GATE_RANGE_NAN},
        {INFINITY, -NAN, GATE_RANGE_NAN},
    };
    static const uint32_t modes[] = {0x1f80, 0x9fc0, 0x3f80, 0x5f80, 0x7f80, 0x0000};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
            RendererPass pass = {.vmin = 7.0f, .inv = 7.0f};
            uint64_t before = float_env_enter();
#if defined(__x86_64__)
            float_env_leave(modes[m]);
#endif
            GateReason reason = gate_check_range(cases[i].vmin, cases[i].vmax, &pass);
            float_env_leave(before);
            assert_int_equal(reason, cases[i].reason);
            if (reason != GATE_OK)
                assert_true(pass.vmin == 7.0f && pass.inv == 7.0f);
            else if (cases[i].vmin == cases[i].vmax)
                assert_true(pass.vmin == 0.0f && pass.inv == 0.0f);
            else
                assert_int_equal(exact_bits(pass.inv), exact_inv(cases[i].vmin, cases[i].vmax));
        }
    }
}

static void every_reason_has_words(void **state)
{
    (void)state;
    for (int reason = 0; reason < GATE_REASON_COUNT; reason++) {
        assert_true(strlen(gate_reason_name((GateReason)reason)) > 0);
        assert_true(strlen(gate_reason_wanted((GateReason)reason)) > 0);
    }
    assert_string_equal(gate_reason_name((GateReason)-1), "UNKNOWN");
    assert_string_equal(gate_reason_name(GATE_NOT_CONTIGUOUS), "NOT_CONTIGUOUS");
    Case c;
    GatePlan plan;
    GateText text;
    make_case(&c, ENTRY_UPDATE);
    other_columns(&c);
    gate_explain(gate_check_update(&c.ask, &plan), &c.ask, &plan, &text);
    assert_string_equal(text.given, "f32 (5, 8)");
    assert_string_equal(text.wanted, "f32 (5, 7), as the texture was created");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_wrong_has_its_reason),
        cmocka_unit_test(the_first_failure_wins),
        cmocka_unit_test(accepted_plans_say_what_to_do),
        cmocka_unit_test(strides_of_extent_1_are_not_compared),
        cmocka_unit_test(nothing_past_struct_size_is_read),
        cmocka_unit_test(ranges_at_their_bounds),
        cmocka_unit_test(every_reason_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
