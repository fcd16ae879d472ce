/* Descriptors that lie and files that are no applets: each is refused with one line that names what
 * is wrong, and the neighbour runs on. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault_fixture.h"

static const struct {
    const char *lie;
    const char *why; /* part of the one line; NULL: accepted */
} lies[] = {
    {"null descriptor", "answered NULL"},
    {"struct_size 0", "struct_size is 0, wanted 104"},
    {"struct_size 8", "struct_size is 8, wanted 104"},
    {"struct_size 8 at the end of memory", "struct_size is 8, wanted 104"},
    {"struct_size 103", "struct_size is 103, wanted 104"},
    {"struct_size huge", "struct_size is 4294967295, wanted 104"},
    {"larger struct", NULL},
    {"epoch 1", "ABI epoch 1, this host has epoch 2"},
    {"epoch 3", "ABI epoch 3, this host has epoch 2"},
    {"id NULL", "descriptor.id is NULL"},
    {"id empty", "no reverse DNS name"},
    {"id one word", "\"viewer\" is no reverse DNS name"},
    {"id path", "\"../../etc.passwd\" is no reverse DNS name"},
    {"id dots", "\"org..viewer\" is no reverse DNS name"},
    {"id long", "descriptor.id is longer than 255 bytes"},
    {"version NULL", "descriptor.version is NULL"},
    {"version two numbers", "\"1.0\" is no semantic version"},
    {"name NULL", "descriptor.name is NULL"},
    {"name empty", "descriptor.name is empty"},
    {"name not UTF-8", "descriptor.name is not one line of UTF-8"},
    {"name two lines", "descriptor.name is not one line of UTF-8"},
    {"summary long", "descriptor.summary is longer than 1023 bytes"},
    {"summary NULL", NULL},
    {"tag NULL", NULL},
    {"services unterminated", "no NULL within 64 entries"},
    {"api.struct_size 0", "api.struct_size is 0, wanted 48"},
    {"api.struct_size huge", "api.struct_size is 4294967295, wanted 48"},
    {"create NULL", "api.create is NULL"},
    {"destroy NULL", "api.destroy is NULL"},
    {"initialize NULL", "api.initialize is NULL"},
    {"frame NULL", "api.frame is NULL"},
    {"cleanup NULL", "api.cleanup is NULL"},
};

static void test_lies_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        FaultFixture fixture;
        print_message("    %s\n", lies[i].lie);
        fixture_begin(&fixture);
        setenv("TEST_LIE", lies[i].lie, 1);
        int32_t index = host_add(fixture.host, fixture_applet("lying.so"));
        if (lies[i].why == NULL) {
            assert_true(index >= 0);
            assert_true(host_open(fixture.host, (uint32_t)index));
            assert_int_equal(fixture_complaints(), 0);
        } else {
            assert_int_equal(index, -1);
            assert_int_equal(fixture_complaints(), 1);
            assert_int_equal(fixture_logged(LOG_APPLET_REFUSED), 1);
            assert_non_null(strstr(fixture_text(LOG_APPLET_REFUSED), lies[i].why));
            assert_int_equal(host_applet_count(fixture.host), 1);
        }
        fixture_assert_healthy(&fixture, 1000);
        fixture_end(&fixture);
        assert_int_equal(fixture_complaints(), lies[i].why != NULL);
    }
    unsetenv("TEST_LIE");
}

/* Pointers to nowhere fault while the descriptor is read. */
static void test_wild_pointers(void **state)
{
    (void)state;
    static const char *const wild[] = {"wild descriptor", "id wild", "service wild",
                                       "id unterminated"};
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        FaultFixture fixture;
        fixture_begin(&fixture);
        setenv("TEST_LIE", wild[i], 1);
        assert_int_equal(host_add(fixture.host, fixture_applet("lying.so")), -1);
        assert_int_equal(fixture_logged(LOG_APPLET_FAULT), 1);
        assert_non_null(strstr(fixture_text(LOG_APPLET_FAULT), "caliper_applet_descriptor()"));
        fixture_assert_healthy(&fixture, 1000);
        fixture_end(&fixture);
    }
    unsetenv("TEST_LIE");
}

static void test_missing_service_is_named(void **state)
{
    (void)state;
    FaultFixture fixture;
    fixture_begin(&fixture);
    setenv("TEST_LIE", "service missing", 1);
    int32_t index = host_add(fixture.host, fixture_applet("lying.so"));
    unsetenv("TEST_LIE");
    assert_true(index >= 0);
    AppletView view = fixture_view(&fixture, (uint32_t)index);
    assert_int_equal(view.state, APPLET_STATE_UNAVAILABLE);
    assert_string_equal(view.reason,
                        "it needs the service org.caliper.test.no_such_service, which this host "
                        "does not offer");
    assert_int_equal(fixture_complaints(), 1);
    assert_false(host_open(fixture.host, (uint32_t)index));
    assert_int_equal(fixture_complaints(), 2);
    /* The service came meanwhile. */
    assert_true(host_service_register(fixture.host, "org.caliper.test.no_such_service", &fixture));
    assert_true(host_reload(fixture.host, (uint32_t)index));
    assert_true(host_open(fixture.host, (uint32_t)index));
    fixture_assert_healthy(&fixture, 10);
    fixture_end(&fixture);
}

/* ---- Files ---- */

static char folder[256];

static const char *file_in(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The first `keep` bytes of the healthy applet (0: all), with `length` bytes at `at` replaced. */
static void write_variant(const char *name, long keep, long at, const void *bytes, size_t length)
{
    FILE *from = fopen(fixture_applet("healthy.so"), "rb");
    FILE *to = fopen(file_in(name), "wb");
    assert_non_null(from);
    assert_non_null(to);
    int c = 0;
    for (long i = 0; (keep == 0 || i < keep) && (c = fgetc(from)) != EOF; i++) {
        bool replaced = i >= at && (size_t)(i - at) < length;
        fputc(replaced ? ((const unsigned char *)bytes)[i - at] : c, to);
    }
    fclose(from);
    fclose(to);
}

static void write_text(const char *name, const char *text)
{
    FILE *to = fopen(file_in(name), "wb");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
}

static void make_files(void)
{
    snprintf(folder, sizeof folder, "/tmp/caliper-files-XXXXXX");
    assert_non_null(mkdtemp(folder));
    uint16_t arm = EM_ARM;
    uint8_t class32 = ELFCLASS32;
    uint8_t big_endian = ELFDATA2MSB;
    uint16_t executable = ET_EXEC;
    uint64_t far_away = UINT64_MAX - 10;
    uint16_t many = 60000;
    write_text("empty.so", "");
    write_text("text.so", "#!/bin/sh\nexit 0\n");
    write_text("linker script.so", "INPUT ( libc.so.6 )\n");
    write_text("magic only.so", ELFMAG);
    write_variant("arm.so", 0, offsetof(Elf64_Ehdr, e_machine), &arm, sizeof arm);
    write_variant("32 bit.so", 0, EI_CLASS, &class32, 1);
    write_variant("big endian.so", 0, EI_DATA, &big_endian, 1);
    write_variant("program.so", 0, offsetof(Elf64_Ehdr, e_type), &executable, sizeof executable);
    write_variant("segments nowhere.so", 0, offsetof(Elf64_Ehdr, e_phoff), &far_away, 8);
    write_variant("too many segments.so", 0, offsetof(Elf64_Ehdr, e_phnum), &many, 2);
    write_variant("header only.so", sizeof(Elf64_Ehdr), 0, NULL, 0);
    write_variant("cut short.so", 4000, 0, NULL, 0);
    assert_int_equal(mkdir(file_in("folder.so"), 0700), 0);
    assert_int_equal(mkfifo(file_in("pipe.so"), 0600), 0);
    assert_int_equal(symlink("nowhere", file_in("dangling.so")), 0);
    assert_int_equal(symlink("loop.so", file_in("loop.so")), 0);
    write_variant("whole.so", 0, 0, NULL, 0);
}

static const struct {
    const char *name;
    const char *why;
} files[] = {
    {"empty.so", "not an ELF library"},
    {"text.so", "not an ELF library"},
    {"linker script.so", "not an ELF library"},
    {"magic only.so", "not an ELF library"},
    {"arm.so", "another kind of machine"},
    {"32 bit.so", "another kind of machine"},
    {"big endian.so", "another kind of machine"},
    {"program.so", "not a shared library"},
    {"segments nowhere.so", "cut short"},
    {"too many segments.so", "not a shared library"},
    {"header only.so", "cut short"},
    {"cut short.so", "cut short"},
    {"folder.so", "not a file"},
    {"pipe.so", "not a file"},
    {"dangling.so", "No such file"},
    {"loop.so", "symbolic links"},
    {"missing.so", "No such file"},
};

static void test_files_that_are_no_applets(void **state)
{
    (void)state;
    make_files();
    FaultFixture fixture;
    fixture_begin(&fixture);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        print_message("    %s\n", files[i].name);
        assert_int_equal(host_add(fixture.host, file_in(files[i].name)), -1);
        assert_int_equal(fixture_logged(LOG_APPLET_REFUSED), i + 1);
        assert_int_equal(fixture_complaints(), i + 1);
        assert_non_null(strstr(fixture_text(LOG_APPLET_REFUSED), files[i].why));
        assert_non_null(strstr(fixture_text(LOG_APPLET_REFUSED), files[i].name));
    }
    uint32_t refused = fixture_complaints();
    assert_int_equal(host_add(fixture.host, NULL), -1);
    assert_int_equal(host_add(fixture.host, ""), -1);
    assert_int_equal(host_add(fixture.host, fixture_applet("silent.so")), -1);
    assert_non_null(strstr(fixture_text(LOG_APPLET_REFUSED), "caliper_applet_descriptor"));
    assert_int_equal(host_add(fixture.host, fixture_applet("unlinkable.so")), -1);
    assert_non_null(strstr(fixture_text(LOG_APPLET_REFUSED), "nobody_has_this"));
    assert_int_equal(fixture_complaints(), refused + 4);
    assert_int_equal(host_applet_count(fixture.host), 1);
    fixture_assert_healthy(&fixture, 1000);
    fixture_end(&fixture);
}

/* In a folder that is looked through nothing of it is an applet: no manifest stands for it. */
static void test_scan_of_a_bad_folder(void **state)
{
    (void)state;
    char command[1024];
    char data_dir[] = "/tmp/caliper-scan-XXXXXX";
    assert_non_null(mkdtemp(data_dir));
    const char *dirs[] = {folder, "/nonexistent", NULL};
    HostParams params = {.struct_size = sizeof params,
                         .data_dir = data_dir,
                         .applet_dirs = dirs,
                         .builtin_applet_dir = FAULT_APPLET_DIR};
    uint32_t skipped = fixture_logged(LOG_APPLET_SKIPPED);
    Host *host = host_create(&params);
    assert_non_null(host);
    host_scan(host);
    assert_int_equal(host_applet_count(host), 0);
    assert_true(fixture_logged(LOG_APPLET_SKIPPED) > skipped);
    host_destroy(&host);
    snprintf(command, sizeof command, "rm -rf %s %s", folder, data_dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lies_are_named),
        cmocka_unit_test(test_wild_pointers),
        cmocka_unit_test(test_missing_service_is_named),
        cmocka_unit_test(test_files_that_are_no_applets),
        cmocka_unit_test(test_scan_of_a_bad_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
