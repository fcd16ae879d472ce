/* What the tests of libcaliper_fixture share: a fixture with the kit's applet open, and the end of
 * one that a test left behind. */
#ifndef CALIPER_TESTS_KIT_FIXTURE_H
#define CALIPER_TESTS_KIT_FIXTURE_H

#include <caliper_fixture.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kit_applet.h"

static inline CaliperFixture *opened(CaliperFixtureJobs mode)
{
    CaliperFixture *fixture = caliper_fixture_create(
        &(CaliperFixtureParams){.struct_size = sizeof(CaliperFixtureParams), .jobs_mode = mode});
    assert_non_null(fixture);
    assert_true(caliper_fixture_load_linked(fixture, caliper_applet_descriptor));
    assert_true(caliper_fixture_open(fixture));
    return fixture;
}

static inline int tear_down(void **state)
{
    (void)state;
    CaliperFixture *left = caliper_fixture_current();
    caliper_fixture_destroy(&left);
    return 0;
}

#define WITH_TEAR_DOWN(test) cmocka_unit_test_teardown(test, tear_down)

#endif
