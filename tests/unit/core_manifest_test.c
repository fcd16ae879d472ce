/* Manifests as people and hostile people write them: what is read, and the one line that each
 * refusal is. The texts are written by hand, none by code of ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "core/manifest.h"

static Manifest manifest;
static char why[512];

static bool parse(const char *text)
{
    memset(&manifest, 0x5a, sizeof manifest);
    why[0] = '\0';
    return manifest_parse(text, strlen(text), &manifest, why, sizeof why);
}

#define HEAD   "[applet]\nid='a.b'\nname='N'\nversion='1.0.0'\n"
#define COMPAT "[compat]\nabi_epoch=2\n"

static void test_all_keys(void **state)
{
    (void)state;
    assert_true(parse("# a comment\n"
                      "[applet]\n"
                      "id = \"org.example.viewer\"\n"
                      "name = \"Größe \\u03c0\"\n"
                      "version = '1.2.3-rc.1'\n"
                      "summary = '''What it does'''\n"
                      "tag = \"tools\"\n"
                      "without_library = \"Install it.\"\n"
                      "icon = \"unknown keys are passed over\"\n"
                      "[compat]\r\n"
                      "abi_epoch = 0x2\n"
                      "min_host = \"0.12.3456\"\n"
                      "[services]\n"
                      "required = [\n  \"caliper.log.v1\", # why\n  \"caliper.jobs.v1\",\n]\n"
                      "optional = ['caliper.plot.v1']\n"
                      "[unknown.section]\nx = 1\n[[more]]\ny = 1979-05-27T07:32:00Z\n"));
    assert_string_equal(manifest.id, "org.example.viewer");
    assert_string_equal(manifest.name, "Gr\xc3\xb6\xc3\x9f"
                                       "e \xcf\x80");
    assert_string_equal(manifest.version, "1.2.3-rc.1");
    assert_string_equal(manifest.summary, "What it does");
    assert_string_equal(manifest.tag, "tools");
    assert_string_equal(manifest.without_library, "Install it.");
    assert_int_equal(manifest.abi_epoch, 2);
    assert_int_equal(manifest.min_host[0], 0);
    assert_int_equal(manifest.min_host[1], 12);
    assert_int_equal(manifest.min_host[2], 3456);
    assert_int_equal(manifest.required_count, 2);
    assert_string_equal(manifest.required[0], "caliper.log.v1");
    assert_string_equal(manifest.required[1], "caliper.jobs.v1");
    assert_int_equal(manifest.optional_count, 1);
    assert_string_equal(manifest.optional[0], "caliper.plot.v1");
}

static void test_least(void **state)
{
    (void)state;
    assert_true(parse(HEAD COMPAT));
    assert_string_equal(manifest.summary, "");
    assert_string_equal(manifest.tag, "");
    assert_string_equal(manifest.without_library, "");
    assert_int_equal(manifest.min_host[0] + manifest.min_host[1] + manifest.min_host[2], 0);
    assert_int_equal(manifest.required_count, 0);
    assert_int_equal(manifest.optional_count, 0);
    /* The same as dotted keys and an inline table, behind a byte order mark. */
    assert_true(parse("\xef\xbb\xbf"
                      "applet.id='a.b'\napplet.name='N'\napplet.version='1.0.0'\n"
                      "compat={abi_epoch=3}\nservices={required=[]}"));
    assert_int_equal(manifest.abi_epoch, 3);
}

#define A240                                                                                       \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaa"                                                                                         \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaa"                                                                                         \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *text;
    const char *why; /* NULL: good */
    bool starts;     /* `why` is how the line begins: the rest is the TOML library's */
} cases[] = {
    {"", "applet.id is missing", false},
    {COMPAT, "applet.id is missing", false},
    {"[applet]\nid='a.b'\n" COMPAT, "applet.name is missing", false},
    {"[applet]\nid='a.b'\nname='N'\n" COMPAT, "applet.version is missing", false},
    {HEAD, "compat.abi_epoch is missing", false},
    {HEAD "[compat]\n", "compat.abi_epoch is missing", false},
    /* Wrong types, by name and line. */
    {"applet=1", "line 1: applet is an integer, wanted a table", false},
    {"\n\n[[applet]]\nid='a.b'", "line 3: applet is a list, wanted a table", false},
    {"[applet]\nid=7", "line 2: applet.id is an integer, wanted text", false},
    {"[applet]\nid='a.b'\nname=true", "line 3: applet.name is a boolean, wanted text", false},
    {"[applet]\nid='a.b'\nname='N'\nversion=1.0",
     "line 4: applet.version is a number with a fraction, wanted text", false},
    {"[applet]\nid='a.b'\nname='N'\nversion='1.0.0'\nsummary=['x']",
     "line 5: applet.summary is a list, wanted text", false},
    {"[applet]\nid='a.b'\nname='N'\nversion='1.0.0'\ntag={}",
     "line 5: applet.tag is a table, wanted text", false},
    {HEAD "without_library=1", "line 5: applet.without_library is an integer, wanted text", false},
    {HEAD "compat=2", "compat.abi_epoch is missing", false}, /* it is applet.compat: unknown */
    {"compat=2\n" HEAD, "line 1: compat is an integer, wanted a table", false},
    {HEAD "[compat]\nabi_epoch='2'", "line 6: compat.abi_epoch is text, wanted an integer", false},
    {HEAD "[compat]\nabi_epoch=2.0",
     "line 6: compat.abi_epoch is a number with a fraction, wanted an integer", false},
    {HEAD COMPAT "min_host=0.1", "line 7: compat.min_host is a number with a fraction, wanted text",
     false},
    {HEAD COMPAT "min_host=1979-05-27", "line 7: compat.min_host is a date or time, wanted text",
     false},
    {HEAD COMPAT "[services]\nrequired='caliper.log.v1'",
     "line 8: services.required is text, wanted a list of service ids", false},
    {HEAD COMPAT "[services]\nrequired=['a',\n 2]",
     "line 9: services.required[1] is an integer, wanted text", false},
    {HEAD COMPAT "[services]\noptional=[['a']]",
     "line 8: services.optional[0] is a list, wanted text", false},
    {HEAD COMPAT "[services]\nrequired=['a','']",
     "line 8: services.required[1] is empty, wanted a service id", false},
    {"services=[]\n" HEAD COMPAT, "line 1: services is a list, wanted a table", false},
    /* Right types, wrong values. */
    {"[applet]\nid='viewer'\n",
     "line 2: applet.id is \"viewer\", wanted a reverse DNS name like org.example.viewer", false},
    {"[applet]\nid='../../etc'\n",
     "line 2: applet.id is \"../../etc\", wanted a reverse DNS name like org.example.viewer",
     false},
    {"[applet]\nid='a.b'\nname=''\n", "line 3: applet.name is \"\", wanted a name", false},
    {"[applet]\nid='a.b'\nname='N'\nversion='1.0'",
     "line 4: applet.version is \"1.0\", wanted a version like 1.2.3", false},
    {"[applet]\nid='a.b'\nname='N'\nversion='v1.0.0'",
     "line 4: applet.version is \"v1.0.0\", wanted a version like 1.2.3", false},
    {HEAD "[compat]\nabi_epoch=0", "line 6: compat.abi_epoch is 0, wanted 1 to 2147483647", false},
    {HEAD "[compat]\nabi_epoch=-2", "line 6: compat.abi_epoch is -2, wanted 1 to 2147483647",
     false},
    {HEAD "[compat]\nabi_epoch=4294967298",
     "line 6: compat.abi_epoch is 4294967298, wanted 1 to 2147483647", false},
    {HEAD COMPAT "min_host='0.1'",
     "line 7: compat.min_host is \"0.1\", wanted three numbers like 1.2.3", false},
    {HEAD COMPAT "min_host='0.1.0-rc1'",
     "line 7: compat.min_host is \"0.1.0-rc1\", wanted three numbers like 1.2.3", false},
    {HEAD COMPAT "min_host='0.1.4294967296'",
     "line 7: compat.min_host is \"0.1.4294967296\", wanted three numbers like 1.2.3", false},
    {HEAD COMPAT "min_host='0..1'",
     "line 7: compat.min_host is \"0..1\", wanted three numbers like 1.2.3", false},
    {HEAD COMPAT "min_host='-1.0.0'",
     "line 7: compat.min_host is \"-1.0.0\", wanted three numbers like 1.2.3", false},
    {HEAD COMPAT "min_host='999999999.0.0'", NULL, false},
    /* Texts that no card can show, and too long ones. */
    {"[applet]\nid='a.b'\nname=\"two\\nlines\"",
     "line 3: applet.name is not one line of printable text", false},
    {"[applet]\nid='a.b'\nname=\"N\\u0000after\"",
     "line 3: applet.name is not one line of printable text", false},
    {"[applet]\nid='a.b'\nname='" A240 "aaaaaaaaaaaaaaa'\nversion='1.0.0'\n" COMPAT, NULL, false},
    {"[applet]\nid='a.b'\nname='" A240 "aaaaaaaaaaaaaaaa'",
     "line 3: applet.name has 256 bytes, wanted at most 255", false},
    {HEAD COMPAT "[services]\nrequired=['" A240 "']",
     "line 8: services.required[0] has 240 bytes, wanted at most 127", false},
    /* Letters where only white space or a key may be: toml++ 3.3 has no answer for some. */
    {HEAD COMPAT "\xc3\xa9=1", "line 7: ", true},
    {HEAD COMPAT "x = \xc3\xa9", "line 7: ", true},
    {HEAD COMPAT "\xef\xb9\xb9 = 1", "line 7: ", true},
    {HEAD COMPAT "x = 1 \xe3\x81\x82", "line 7: ", true},
    {HEAD COMPAT "x = \"\"\"a\\\n\xc3\xa9\"\"\"", NULL, false},
    /* No TOML. */
    {"[applet\nid='a.b'", "line 1: ", true},
    {"[applet]\nid='a.b'\nid='a.c'", "line 3: ", true},
    {"[applet]\nid=\"a.b", "line 2: ", true},
    {"[applet]\nid='a.b'\n[applet]\n", "line 3: ", true},
    {"{\"applet\": {}}", "line 1: ", true},
    {"\x7f"
     "ELF",
     "line 1: ", true},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool good = parse(cases[i].text);
        if (good != (cases[i].why == NULL))
            print_message("%s\n%s\n", cases[i].text, why);
        assert_int_equal(good, cases[i].why == NULL);
        if (cases[i].starts)
            assert_memory_equal(why, cases[i].why, strlen(cases[i].why));
        else
            assert_string_equal(why, cases[i].why != NULL ? cases[i].why : "");
        assert_null(strchr(why, '\n'));
    }
}

static void test_bytes_that_are_no_text(void **state)
{
    (void)state;
    static const char nul[] = HEAD COMPAT "\0";
    assert_false(manifest_parse(nul, sizeof nul, &manifest, why, sizeof why));
    assert_string_equal(why, "the manifest cannot be read: it has a NUL byte");
    /* Overlong, surrogate, beyond the last code point, cut: RFC 3629, section 3. */
    static const char *const broken[] = {"#\xc0\xaf", "#\xed\xa0\x80", "#\xf4\x90\x80\x80",
                                         "#\xe2\x82", "#\x80",         "#\xff"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        assert_false(parse(broken[i]));
        assert_string_equal(why, "the manifest cannot be read: it is not UTF-8");
    }
    assert_false(manifest_parse("", 0, &manifest, why, sizeof why));
}

/* `count` times `unit` between `before` and `after`; the caller's. */
static char *repeat(const char *before, const char *unit, size_t count, const char *after)
{
    size_t unit_bytes = strlen(unit);
    char *text = malloc(strlen(before) + unit_bytes * count + strlen(after) + 1);
    assert_non_null(text);
    strcpy(text, before);
    char *at = text + strlen(before);
    for (size_t i = 0; i < count; i++, at += unit_bytes)
        memcpy(at, unit, unit_bytes);
    strcpy(at, after);
    return text;
}

/* Depth is what a parser that recurses dies of. */
static void test_deep_nesting(void **state)
{
    (void)state;
    static const struct {
        const char *before, *unit, *after;
        size_t count;
    } deep[] = {
        {"x=", "[", "", 30000},     {"x=", "{a=", "", 16000},
        {"", "a.", "a=1", 32000},   {"[", "a.", "a]", 32000},
        {"[[", "a.", "a]]", 32000}, {"x=", "[{a.a.a.a.a.a.a=", "", 3800},
        {"x='", "\\", "'", 60000},  {"", "[a]\n", "", 16000},
        {"", "[[a]]\n", "", 10000}, {"x=\"\"\"", "\"\"", "", 30000},
    };
    for (size_t i = 0; i < sizeof deep / sizeof deep[0]; i++) {
        char *text = repeat(deep[i].before, deep[i].unit, deep[i].count, deep[i].after);
        assert_false(parse(text));
        assert_true(why[0] != '\0');
        free(text);
    }
    char *dots = repeat("#", ".", MANIFEST_DOTS_MAX + 1, "");
    assert_false(parse(dots));
    assert_string_equal(
        why, "the manifest cannot be read: it is nested too deeply: it has more than 2000 dots");
    free(dots);
    /* As deep as may be. */
    dots = repeat(HEAD COMPAT, "a.", MANIFEST_DOTS_MAX - 3, "a=1\n");
    assert_true(parse(dots));
    free(dots);
}

static void test_many_services(void **state)
{
    (void)state;
    char *text = repeat(HEAD COMPAT "[services]\nrequired=[", "'s',", DESCRIPTOR_SERVICES_MAX, "]");
    assert_true(parse(text));
    assert_int_equal(manifest.required_count, DESCRIPTOR_SERVICES_MAX);
    assert_string_equal(manifest.required[DESCRIPTOR_SERVICES_MAX - 1], "s");
    free(text);
    text = repeat(HEAD COMPAT "[services]\noptional=[", "'s',", DESCRIPTOR_SERVICES_MAX + 1, "]");
    assert_false(parse(text));
    assert_string_equal(why, "line 8: services.optional has 65 entries, wanted at most 64");
    free(text);
}

/* ---- Files ---- */

static char root[64];

static const char *file_in(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void write_file(const char *name, const char *text, long grow_to)
{
    FILE *file = fopen(file_in(name), "wb");
    assert_non_null(file);
    fputs(text, file);
    fflush(file);
    if (grow_to > 0)
        assert_int_equal(ftruncate(fileno(file), grow_to), 0);
    fclose(file);
}

static bool read_file(const char *name)
{
    why[0] = '\0';
    return manifest_read(file_in(name), &manifest, why, sizeof why);
}

static void test_files(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/caliper-manifest-XXXXXX");
    assert_non_null(mkdtemp(root));
    write_file("good", HEAD COMPAT, 0);
    assert_true(read_file("good"));
    assert_string_equal(manifest.id, "a.b");
    assert_false(read_file("missing"));
    assert_string_equal(why, "the manifest cannot be opened: No such file or directory");
    assert_int_equal(mkdir(file_in("folder"), 0700), 0);
    assert_false(read_file("folder"));
    assert_string_equal(why, "the manifest is not a file");
    assert_int_equal(mkfifo(file_in("pipe"), 0600), 0);
    assert_false(read_file("pipe"));
    assert_string_equal(why, "the manifest is not a file");
    assert_false(manifest_read("/dev/zero", &manifest, why, sizeof why));
    assert_string_equal(why, "the manifest is not a file");
    write_file("100 MB", HEAD COMPAT, 100L << 20);
    assert_false(read_file("100 MB"));
    assert_string_equal(why, "the manifest is larger than 65536 bytes");
    /* The largest that may be: a comment fills it. */
    char *text =
        repeat(HEAD COMPAT "#", "x", MANIFEST_FILE_MAX_BYTES - strlen(HEAD COMPAT "#"), "");
    write_file("largest", text, 0);
    assert_true(read_file("largest"));
    text[0] = ' ';
    char *larger = repeat(text, "x", 1, "");
    write_file("too large", larger, 0);
    assert_false(read_file("too large"));
    assert_string_equal(why, "the manifest is larger than 65536 bytes");
    free(larger);
    free(text);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    log_stderr_enable(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_keys),     cmocka_unit_test(test_least),
        cmocka_unit_test(test_cases),        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_deep_nesting), cmocka_unit_test(test_many_services),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
