/* Applet ids and versions. The versions are the examples of semver.org's own list of valid and
 * invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/ids.h"

static void test_versions(void **state)
{
    (void)state;
    static const char *const valid[] = {
        "0.0.4",
        "1.2.3",
        "10.20.30",
        "1.1.2-prerelease+meta",
        "1.1.2+meta",
        "1.1.2+meta-valid",
        "1.0.0-alpha",
        "1.0.0-beta",
        "1.0.0-alpha.beta",
        "1.0.0-alpha.1",
        "1.0.0-alpha0.valid",
        "1.0.0-alpha.0valid",
        "1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay",
        "1.0.0-rc.1+build.1",
        "2.0.0-rc.1+build.123",
        "1.2.3-beta",
        "10.2.3-DEV-SNAPSHOT",
        "1.2.3-SNAPSHOT-123",
        "2.0.0+build.1848",
        "2.0.1-alpha.1227",
        "1.0.0-alpha+beta",
        "1.2.3----RC-SNAPSHOT.12.9.1--.12+788",
        "1.2.3----R-S.12.9.1--.12+meta",
        "1.0.0+0.build.1-rc.10000aaa-kk-0.1",
        "99999999999999999999999.999999999999999999.99999999999999999",
        "1.0.0-0A.is.legal"};
    static const char *const invalid[] = {"",
                                          "1",
                                          "1.2",
                                          "1.2.3-0123",
                                          "1.2.3-0123.0123",
                                          "1.1.2+.123",
                                          "+invalid",
                                          "-invalid",
                                          "-invalid+invalid",
                                          "alpha",
                                          "alpha.beta",
                                          "alpha.1",
                                          "alpha+beta",
                                          "1.0.0-alpha_beta",
                                          "1.0.0-alpha..",
                                          "1.0.0-alpha..1",
                                          "1.0.0-alpha.......1",
                                          "01.1.1",
                                          "1.01.1",
                                          "1.1.01",
                                          "1.2.3.DEV",
                                          "1.2-SNAPSHOT",
                                          "1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788",
                                          "1.2-RC-SNAPSHOT",
                                          "-1.0.3-gamma+b7718",
                                          "+justmeta",
                                          "9.8.7+meta+meta",
                                          "9.8.7-whatever+meta+meta",
                                          "1.2.3 ",
                                          " 1.2.3",
                                          "v1.2.3",
                                          "1.2.3\n",
                                          "1..3",
                                          "1.2.3-",
                                          "1.2.3+"};
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++)
        assert_true(ids_version_valid(valid[i]));
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        assert_false(ids_version_valid(invalid[i]));
    char longest[102];
    memset(longest, '1', sizeof longest);
    memcpy(longest, "1.2.", 4);
    longest[100] = '\0';
    assert_true(ids_version_valid(longest));
    longest[100] = '1';
    longest[101] = '\0';
    assert_false(ids_version_valid(longest));
}

static void test_applet_ids(void **state)
{
    (void)state;
    static const char *const valid[] = {"org.example.viewer", "a.b", "com.example.my-app_2",
                                        "io.Github.Someone.X1", "org.7zip.a"};
    static const char *const invalid[] = {"",
                                          ".",
                                          "..",
                                          "viewer",
                                          "org.",
                                          ".org",
                                          "org..viewer",
                                          "org.example.",
                                          "org/example",
                                          "org.exa mple",
                                          "../../etc.passwd",
                                          "org.-a",
                                          "org.a-",
                                          "_a.b",
                                          "a.b_",
                                          "org.b\xc3\xa4r.x",
                                          "org.a\n.b",
                                          "a.b/../c.d",
                                          "a\\b.c",
                                          "a.b:c"};
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++)
        assert_true(ids_applet_valid(valid[i]));
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
        assert_false(ids_applet_valid(invalid[i]));
    /* Labels to 63 bytes, 200 in all. */
    char id[300];
    memset(id, 'a', sizeof id);
    id[63] = '.';
    id[65] = '\0';
    assert_true(ids_applet_valid(id));
    memset(id, 'a', sizeof id);
    id[64] = '.';
    id[66] = '\0';
    assert_false(ids_applet_valid(id));
    memset(id, 'a', sizeof id);
    for (size_t i = 50; i < 200; i += 50)
        id[i] = '.';
    id[200] = '\0';
    assert_true(ids_applet_valid(id));
    id[200] = 'a';
    id[201] = '\0';
    assert_false(ids_applet_valid(id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_versions),
                                       cmocka_unit_test(test_applet_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
