/* Applets that misuse the bridge: refused, contained, their textures taken back, and the
 * neighbour's pixels stay its own. */
#include <stdlib.h>
#include <string.h>

#include "fault_fixture.h"

static uint32_t open_with(FaultFixture *fixture, const char *behaviour)
{
    fixture_begin(fixture);
    setenv("TEST_BEHAVIOUR", behaviour, 1);
    int32_t index = host_add(fixture->host, fixture_applet("misbehaving.so"));
    assert_true(index >= 0);
    assert_true(host_open(fixture->host, (uint32_t)index));
    return (uint32_t)index;
}

static uint32_t live_textures(const FaultFixture *fixture)
{
    BridgeStats stats;
    bridge_stats(fixture->bridge, &stats);
    return stats.textures + stats.shared_textures;
}

static void test_leaks_are_taken_back(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = open_with(&fixture, "leak@frame");
    uint32_t before = live_textures(&fixture);
    fixture_frames(&fixture, 3);
    assert_true(live_textures(&fixture) > before + 30);
    host_close(fixture.host, index);
    unsetenv("TEST_BEHAVIOUR");
    fixture_frames(&fixture, 2);
    assert_int_equal(live_textures(&fixture), before);
    assert_int_equal(fixture_logged(LOG_BRIDGE_LEAK), 1);
    assert_non_null(strstr(fixture_text(LOG_BRIDGE_LEAK), "org.caliper.test.misbehaving"));
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
    assert_int_equal(fixture_logged(LOG_BRIDGE_LEAK), 1); /* the neighbour left nothing */
}

/* What an abandoned applet had is no leak of its own. */
static void test_abandoned_textures_are_taken_back(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = open_with(&fixture, "leak_and_fault@frame");
    uint32_t before = live_textures(&fixture);
    fixture_frames(&fixture, 2);
    unsetenv("TEST_BEHAVIOUR");
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_QUARANTINED);
    assert_int_equal(live_textures(&fixture), before);
    assert_int_equal(fixture_logged(LOG_BRIDGE_LEAK), 0);
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
}

static void test_textures_made_too_late(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = open_with(&fixture, "leak@destroy");
    uint32_t before = live_textures(&fixture);
    host_close(fixture.host, index);
    fixture_frames(&fixture, 2);
    unsetenv("TEST_BEHAVIOUR");
    assert_int_equal(live_textures(&fixture), before);
    assert_int_equal(fixture_logged(LOG_BRIDGE_LEAK), 1);
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
}

/* Reading a tensor that is not there faults inside the host, which holds nothing then. */
static void test_tensors_that_are_not_there(void **state)
{
    (void)state;
    static const char *const behaviours[] = {"tensor_nowhere@frame", "tensor_half_there@frame",
                                             "tensor_nowhere@initialize"};
    for (size_t i = 0; i < sizeof behaviours / sizeof behaviours[0]; i++) {
        FaultFixture fixture;
        fixture_begin(&fixture);
        uint32_t before = live_textures(&fixture);
        setenv("TEST_BEHAVIOUR", behaviours[i], 1);
        int32_t index = host_add(fixture.host, fixture_applet("misbehaving.so"));
        host_open(fixture.host, (uint32_t)index);
        fixture_frames(&fixture, 2);
        AppletView view = fixture_view(&fixture, (uint32_t)index);
        assert_int_equal(view.state, APPLET_STATE_QUARANTINED);
        assert_int_equal(strncmp(view.reason, "SIGSEGV at 0x", 13), 0);
        assert_int_equal(live_textures(&fixture), before);
        fixture_assert_healthy(&fixture, 1000);
        unsetenv("TEST_BEHAVIOUR");
        assert_true(host_reload(fixture.host, (uint32_t)index));
        assert_true(host_open(fixture.host, (uint32_t)index));
        fixture_assert_healthy(&fixture, 10);
        fixture_end(&fixture);
    }
}

static void test_another_thread(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = open_with(&fixture, "bridge_from_a_thread@frame");
    uint32_t before = fixture_complaints();
    fixture_frames(&fixture, 1);
    unsetenv("TEST_BEHAVIOUR");
    assert_int_equal(fixture_noted("refused on a thread"), 1);
    assert_int_equal(fixture_noted("texture lives"), 1);
    assert_int_equal(fixture_complaints() - before, 10); /* one line a call */
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_RUNNING);
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
}

static void test_stale_ids(void **state)
{
    (void)state;
    FaultFixture fixture;
    uint32_t index = open_with(&fixture, "stale_ids@frame");
    uint32_t before = fixture_complaints();
    fixture_frames(&fixture, 1);
    unsetenv("TEST_BEHAVIOUR");
    assert_int_equal(fixture_noted("stale ids refused"), 1);
    assert_int_equal(fixture_noted("texture lives"), 1);
    assert_int_equal(fixture_complaints() - before, 7 * 5);
    assert_int_equal(fixture_view(&fixture, index).state, APPLET_STATE_RUNNING);
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaks_are_taken_back),
        cmocka_unit_test(test_abandoned_textures_are_taken_back),
        cmocka_unit_test(test_textures_made_too_late),
        cmocka_unit_test(test_tensors_that_are_not_there),
        cmocka_unit_test(test_another_thread),
        cmocka_unit_test(test_stale_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
