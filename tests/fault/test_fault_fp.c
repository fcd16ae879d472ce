/* Floating-point controls stay the host's, whatever an applet does with its own. */
#include <fenv.h>
#include <stdlib.h>

#include "fault_fixture.h"

/* What the controls do, not what they say: rounding, denormals, traps, the x87 registers. */
static void assert_controls_are_the_hosts(void)
{
    volatile float least_normal = 0x1p-126f;
    volatile float half = least_normal * 0.5f;
    assert_true(half > 0.0f); /* not flushed on the way out */
    volatile float denormal = 0x1p-130f;
    assert_true(denormal * 0x1p+20f == 0x1p-110f); /* nor on the way in */
    volatile double one = 1.0;
    volatile double three = 3.0;
    assert_true(one / three == 0x1.5555555555555p-2); /* to nearest; upwards it ends in 6 */
    assert_int_equal(fegetround(), FE_TONEAREST);
    volatile double zero = 0.0;
    volatile double infinite = one / zero; /* traps if the exception is unmasked */
    assert_true(infinite > 1e300);
    volatile long double long_one = 1.0L;
    volatile long double long_zero = 0.0L;
    volatile long double long_infinite = long_one / long_zero;
    assert_true(long_infinite > 1e300L);
}

static void test_library_with_fast_math(void **state)
{
    (void)state;
    FaultFixture fixture;
    fixture_begin(&fixture);
    int32_t index = host_add(fixture.host, fixture_applet("fast_math.so"));
    assert_true(index >= 0);
    assert_controls_are_the_hosts();
    assert_true(host_open(fixture.host, (uint32_t)index));
    assert_controls_are_the_hosts();
    fixture_assert_healthy(&fixture, 1000);
    host_close(fixture.host, (uint32_t)index);
    fixture_frames(&fixture, 1);
    assert_true(host_open(fixture.host, (uint32_t)index)); /* opens the library again */
    assert_controls_are_the_hosts();
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
    assert_controls_are_the_hosts();
}

static void test_controls_changed_in_each_call(void **state)
{
    (void)state;
    static const char *const behaviours[] = {
        "flush_denormals@descriptor", "flush_denormals@create",  "flush_denormals@initialize",
        "flush_denormals@frame",      "flush_denormals@cleanup", "flush_denormals@destroy",
        "trap_divisions@descriptor",  "trap_divisions@create",   "trap_divisions@initialize",
        "trap_divisions@frame",       "trap_divisions@cleanup",  "trap_divisions@destroy"};
    for (size_t i = 0; i < sizeof behaviours / sizeof behaviours[0]; i++) {
        FaultFixture fixture;
        print_message("    %s\n", behaviours[i]);
        fixture_begin(&fixture);
        setenv("TEST_BEHAVIOUR", behaviours[i], 1);
        int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
        assert_controls_are_the_hosts();
        assert_true(host_open(fixture.host, (uint32_t)index));
        assert_controls_are_the_hosts();
        fixture_assert_healthy(&fixture, 100);
        assert_controls_are_the_hosts();
        host_close(fixture.host, (uint32_t)index);
        fixture_frames(&fixture, 1);
        assert_controls_are_the_hosts();
        assert_int_equal(fixture_view(&fixture, (uint32_t)index).state, APPLET_STATE_READY);
        unsetenv("TEST_BEHAVIOUR");
        fixture_end(&fixture);
    }
}

/* The controls of a faulted call do not stay either. */
static void test_controls_after_a_fault(void **state)
{
    (void)state;
    FaultFixture fixture;
    fixture_begin(&fixture);
    setenv("TEST_BEHAVIOUR", "flush_and_fault@frame", 1);
    int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
    assert_true(host_open(fixture.host, (uint32_t)index));
    fixture_frames(&fixture, 1);
    unsetenv("TEST_BEHAVIOUR");
    assert_int_equal(fixture_view(&fixture, (uint32_t)index).state, APPLET_STATE_QUARANTINED);
    assert_controls_are_the_hosts();
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_library_with_fast_math),
        cmocka_unit_test(test_controls_changed_in_each_call),
        cmocka_unit_test(test_controls_after_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
