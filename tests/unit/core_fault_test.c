/* Failures on demand: which calls a plan makes fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/fault.h"
#include "core/log.h"

/* Bit i: the (i+1)th of ten calls failed. */
static uint32_t ten_calls(const char *plan, const char *site)
{
    uint32_t failed = 0;
    assert_true(fault_set_plan(plan));
    for (uint32_t i = 0; i < 10; i++)
        failed |= fault_here(site) ? 1u << i : 0u;
    return failed;
}

static void test_plans(void **state)
{
    (void)state;
    assert_int_equal(ten_calls(NULL, "gl.context"), 0);
    assert_int_equal(ten_calls("", "gl.context"), 0);
    assert_int_equal(ten_calls("gl.context:1", "gl.context"), 0x001);
    assert_int_equal(ten_calls("gl.context:10", "gl.context"), 0x200);
    assert_int_equal(ten_calls("gl.context:11", "gl.context"), 0);
    assert_int_equal(ten_calls("gl.context:3+", "gl.context"), 0x3fc);
    assert_int_equal(ten_calls("gl:2", "gl.context"), 0x002);
    assert_int_equal(ten_calls("gl:2", "gl"), 0x002);
    assert_int_equal(ten_calls("gl:2", "glow.worm"), 0);
    assert_int_equal(ten_calls("gl.con:2", "gl.context"), 0);
    assert_int_equal(ten_calls("4", "anything"), 0x008);
    assert_int_equal(ten_calls("1+", "anything"), 0x3ff);
    assert_int_equal(ten_calls("a:1,b:2,b:4", "b"), 0x00a);
    assert_int_equal(fault_calls(), 10);
    assert_int_equal(fault_injected(), 2);
    /* A bare number counts all sites together. */
    assert_true(fault_set_plan("3"));
    assert_false(fault_here("a"));
    assert_false(fault_here("b"));
    assert_true(fault_here("c"));
}

static void test_plans_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const bad[] = {"x",    "a:",    "a:0",  "0",  ":1",   "a:1x",        "a:+",
                                      "a:-1", "a:b:1", "1,,2", ",1", "a:1 ", "99999999999", "+"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_true(fault_set_plan("1+"));
        assert_false(fault_set_plan(bad[i]));
        assert_false(fault_here("a")); /* turned off */
    }
}

int main(void)
{
    log_stderr_enable(false);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans),
                                       cmocka_unit_test(test_plans_that_cannot_be_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
