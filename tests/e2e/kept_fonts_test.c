/* tests/e2e/kept_fonts_test.c: kept_fonts.h, on which it depends that pictures are compared: fonts
 * that are the same, others, missing ones, and lists that say nothing, which fail. The files here
 * hold "abc" and nothing; their digests are those of FIPS 180-2 and of sha256sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kept_fonts.h"

#define OF_ABC     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static char folder[] = "/tmp/caliper-fonts-XXXXXX";
static char why[1024];

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void forget_file(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

/* What doctor says of two.ttf in the folder, and of one.otf: "found", or else that it is missing.
 */
static const char *doctor(bool found)
{
    static char said[1024];
    char one[256];
    if (found)
        snprintf(one, sizeof one, "  yes  %-18s %s/one.otf\n", "One", folder);
    else
        snprintf(one, sizeof one, "  no   %-18s one.otf is not found; an embedded font serves\n",
                 "One");
    snprintf(said, sizeof said,
             "renderers\n  yes  %-18s a/b.otf\n\nfonts\n%s  yes  %-18s %s/two.ttf\n\nfolders\n"
             "  yes  data               /three.ttf\n",
             "cpu", one, "Two of that length", folder);
    return said;
}

static void list_is(const char *one, const char *two)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s", one, two);
    write_file("fonts.sha256", text);
}

static void the_same_are_compared(void **unused)
{
    (void)unused;
    list_is(OF_ABC "  one.otf\n", OF_NOTHING "  two.ttf\n");
    assert_int_equal(kept_fonts(doctor(true), folder, why, sizeof why), KEPT_FONTS_SAME);
    list_is(OF_NOTHING "  two.ttf\n", OF_ABC "  one.otf\n");
    assert_int_equal(kept_fonts(doctor(true), folder, why, sizeof why), KEPT_FONTS_SAME);
}

static void others_are_named_with_both_digests(void **unused)
{
    (void)unused;
    list_is(OF_ABC "  one.otf\n", OF_ABC "  two.ttf\n");
    assert_int_equal(kept_fonts(doctor(true), folder, why, sizeof why), KEPT_FONTS_OTHER);
    assert_non_null(strstr(why, "/two.ttf"));
    assert_non_null(strstr(why, " ba7816bf8f01..."));
    assert_non_null(strstr(why, " e3b0c44298fc..."));
    assert_non_null(strstr(why, "CALIPER_FONT_DIR"));
    assert_null(strchr(why, '\n'));
    /* One digit, the last. */
    list_is("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ae  one.otf\n",
            OF_NOTHING "  two.ttf\n");
    assert_int_equal(kept_fonts(doctor(true), folder, why, sizeof why), KEPT_FONTS_OTHER);
    assert_non_null(strstr(why, "/one.otf"));
}

static void a_missing_one_is_named(void **unused)
{
    (void)unused;
    list_is(OF_ABC "  one.otf\n", OF_ABC "  two.ttf\n");
    assert_int_equal(kept_fonts(doctor(false), folder, why, sizeof why), KEPT_FONTS_ABSENT);
    assert_non_null(strstr(why, "one.otf is not found"));
    assert_non_null(strstr(why, " ba7816bf8f01..."));
}

/* Where nobody can know whether to compare it is a failure, never a skip. */
static void what_says_nothing_is_broken(void **unused)
{
    static const char *const lists[][2] = {
        {"", ""},
        {OF_ABC "  one.otf\n", ""},
        {OF_ABC "  one.otf\n", "e3b0c442  two.ttf\n"},
        {OF_ABC "  one.otf\n", OF_NOTHING "0  two.ttf\n"},
        {OF_ABC "  one.otf\n", OF_NOTHING "\n"},
        {OF_ABC "  one.otf\n", OF_NOTHING "  two.ttf\n" OF_ABC "  three.ttf\n"},
        {OF_ABC "  one.otf\n", "no digest\n"}};
    (void)unused;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        list_is(lists[i][0], lists[i][1]);
        why[0] = '\0';
        if (kept_fonts(doctor(true), folder, why, sizeof why) != KEPT_FONTS_BROKEN ||
            why[0] == '\0')
            fail_msg("list %zu: \"%s\"", i, why);
    }
    forget_file("fonts.sha256");
    assert_int_equal(kept_fonts(doctor(true), folder, why, sizeof why), KEPT_FONTS_BROKEN);
    list_is(OF_ABC "  one.otf\n", OF_NOTHING "  two.ttf\n");
    assert_int_equal(kept_fonts("", folder, why, sizeof why), KEPT_FONTS_BROKEN);
    assert_int_equal(kept_fonts("x\nfonts\n\nfolders\n", folder, why, sizeof why),
                     KEPT_FONTS_BROKEN);
    assert_int_equal(kept_fonts("x\nfonts\n  yes  One                /no/such/one.otf\n", folder,
                                why, sizeof why),
                     KEPT_FONTS_BROKEN);
    assert_int_equal(kept_fonts("x\nfonts\n  yes  One", folder, why, sizeof why),
                     KEPT_FONTS_BROKEN);
}

static void a_list_is_written_as_sha256sum_does(void **unused)
{
    char path[128], text[512];
    (void)unused;
    assert_true(kept_fonts_write(doctor(true), folder, why, sizeof why));
    snprintf(path, sizeof path, "%s/fonts.sha256", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, OF_ABC "  one.otf\n" OF_NOTHING "  two.ttf\n");
    assert_int_equal(kept_fonts(doctor(true), folder, why, sizeof why), KEPT_FONTS_SAME);
    assert_false(kept_fonts_write(doctor(false), folder, why, sizeof why));
    assert_false(kept_fonts_write(doctor(true), "/no/such", why, sizeof why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_are_compared),
        cmocka_unit_test(others_are_named_with_both_digests),
        cmocka_unit_test(a_missing_one_is_named),
        cmocka_unit_test(what_says_nothing_is_broken),
        cmocka_unit_test(a_list_is_written_as_sha256sum_does),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    write_file("one.otf", "abc");
    write_file("two.ttf", "");
    int failed = cmocka_run_group_tests_name("kept_fonts", tests, NULL, NULL);
    forget_file("one.otf");
    forget_file("two.ttf");
    forget_file("fonts.sha256");
    return rmdir(folder) != 0 ? 1 : failed;
}
