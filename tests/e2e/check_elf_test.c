/* The reader of a library's symbols, on libraries that are broken in every byte that it goes by: it
 * answers, and does not crash.
 *
 *   check_elf_test LIBRARY    which exports the descriptor's function alone */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/check_elf.h"

static const char *library;
static unsigned char bytes[1 << 20];
static size_t size;
static char path[64];
static CheckExports exports;
static char why[256];

static void write_at(size_t at, const void *from, size_t count)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, from, count, (off_t)at), (ssize_t)count);
    close(fd);
}

static int begin(void **state)
{
    (void)state;
    FILE *from = fopen(library, "rb");
    if (from == NULL)
        return -1;
    size = fread(bytes, 1, sizeof bytes, from);
    fclose(from);
    snprintf(path, sizeof path, "/tmp/caliper-elf-XXXXXX");
    int fd = mkstemp(path);
    bool good = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
    close(fd);
    return good ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void the_library_as_it_is(void **state)
{
    (void)state;
    assert_true(check_exports(path, &exports, why, sizeof why));
    assert_int_equal(exports.count, 1);
    assert_string_equal(exports.names[0], "caliper_applet_descriptor");
}

/* Every byte of the header, and of all section headers, with other values. */
static void each_byte_is_wrong_in_turn(void **state)
{
    (void)state;
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    size_t table_bytes = (size_t)header.e_shnum * sizeof(Elf64_Shdr);
    assert_true(table_bytes > 0 && header.e_shoff + table_bytes <= size);
    uint32_t refused = 0;
    for (size_t i = 0; i < sizeof header + table_bytes; i++) {
        size_t at = i < sizeof header ? i : header.e_shoff + i - sizeof header;
        for (size_t v = 0; v < sizeof values; v++) {
            why[0] = '\0';
            write_at(at, &values[v], 1);
            if (!check_exports(path, &exports, why, sizeof why)) {
                assert_true(why[0] != '\0');
                refused++;
            }
        }
        write_at(at, bytes + at, 1);
    }
    assert_true(refused > 100);
}

static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t keep = 0; keep < size; keep += keep < 256 ? 1 : 97) {
        assert_int_equal(truncate(path, (off_t)keep), 0);
        check_exports(path, &exports, why, sizeof why);
        write_at(0, bytes, size);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    library = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_library_as_it_is, begin, end),
        cmocka_unit_test_setup_teardown(each_byte_is_wrong_in_turn, begin, end),
        cmocka_unit_test_setup_teardown(cut_anywhere, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
