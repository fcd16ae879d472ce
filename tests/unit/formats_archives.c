/* tests/unit/formats_archives.c: zip archives and PNG files that lie. One thread. */
#include "formats_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A checked-in file in memory, to be spoiled; `at` is exactly as long as the file. */
typedef struct Spoiled {
    uint8_t *at;
    size_t size;
} Spoiled;

static Spoiled load(const char *name)
{
    Spoiled file;
    uint8_t *bytes = load_file(data_path(name), &file.size);
    file.at = malloc(file.size);
    memcpy(file.at, bytes, file.size);
    free(bytes);
    return file;
}

static void set_le(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_le32(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Start of the n-th central directory entry (from 0). */
static uint8_t *central(Spoiled *file, int n)
{
    uint8_t *at = file->at + get_le32(file->at + file->size - 22 + 16);
    for (; n > 0; n--)
        at += 46 + (at[28] | at[29] << 8) + (at[30] | at[31] << 8) + (at[32] | at[33] << 8);
    assert_memory_equal(at, "PK\1\2", 4);
    return at;
}

static void expect_refused(const Spoiled *file, ArrayFault fault, const char *part)
{
    ArrayError error = {0};
    ArrayFile *opened = array_file_open_memory(file->at, file->size, "a", NULL, &error);
    if (opened != NULL)
        fail_msg("opened, wanted '%s'", part);
    if (error.fault != fault || strstr(error.message, part) == NULL)
        fail_msg("'%s' is %s, wanted %s and '%s'", error.message, array_fault_name(error.fault),
                 array_fault_name(fault), part);
}

/* The first member is listed with its problem, the others can still be read. */
static void expect_problem(const Spoiled *file, ArrayFault fault, const char *part)
{
    ArrayError error = {0};
    ArrayFile *opened = array_file_open_memory(file->at, file->size, "a", NULL, &error);
    if (opened == NULL)
        fail_msg("%s", error.message);
    const ArrayInfo *info = array_file_info(opened, 0);
    if (info->problem == NULL || strstr(info->problem, part) == NULL)
        fail_msg("'%s', wanted '%s'", info->problem ? info->problem : "no problem", part);
    assert_int_equal(info->fault, fault);
    ArrayStats stats;
    assert_true(array_file_statistics(opened, 1, NULL, &stats, &error));
    array_file_close(&opened);
}

static void test_zip_directory(void **state)
{
    (void)state;
    Spoiled file = load("stored.npz");
    uint8_t *end = file.at + file.size - 22;
    uint32_t offset = get_le32(end + 16), size = get_le32(end + 12);
    set_le(end + 16, offset + 1, 4);
    expect_refused(&file, ARRAY_FAULT_HEADER, "wanted it before byte");
    set_le(end + 16, offset - 1, 4);
    expect_refused(&file, ARRAY_FAULT_HEADER, "ends before its last member");
    set_le(end + 16, offset, 4);
    set_le(end + 10, 500, 2);
    expect_refused(&file, ARRAY_FAULT_HEADER, "more members than it has room for");
    set_le(end + 10, UINT16_MAX, 2);
    expect_refused(&file, ARRAY_FAULT_HEADER, "more members than it has room for");
    set_le(end + 10, 4, 2);
    set_le(end + 12, size - 1, 4);
    expect_refused(&file, ARRAY_FAULT_HEADER, "ends inside a member");
    set_le(end + 12, UINT32_MAX - 1u, 4);
    expect_refused(&file, ARRAY_FAULT_HEADER, "zip directory of 4294967294 bytes");
    set_le(end, 0, 4);
    expect_refused(&file, ARRAY_FAULT_TRUNCATED, "without its directory");
    free(file.at);
}

static uint32_t count_arrays(const Spoiled *file)
{
    ArrayError error = {0};
    ArrayFile *opened = array_file_open_memory(file->at, file->size, "a", NULL, &error);
    if (opened == NULL)
        fail_msg("%s", error.message);
    uint32_t count = array_file_count(opened);
    array_file_close(&opened);
    return count;
}

/* Python wrote both records; the plain one is made to say "see the other". */
static void test_zip64_directory(void **state)
{
    (void)state;
    Spoiled file = load("zip64.npz");
    uint8_t *end = file.at + file.size - 22, *locator = end - 20, *end64 = locator - 56;
    assert_memory_equal(end64, "PK\6\6", 4);
    memset(end + 8, 0xff, 12);
    assert_int_equal(count_arrays(&file), 4);
    uint64_t place = get_le32(locator + 8);
    set_le(locator + 8, place + 1, 8);
    expect_refused(&file, ARRAY_FAULT_HEADER, "points at no record");
    set_le(locator + 8, UINT64_MAX, 8);
    expect_refused(&file, ARRAY_FAULT_TRUNCATED, "at byte 18446744073709551615");
    set_le(locator + 8, place, 8);
    set_le(end64 + 32, 65537, 8);
    expect_refused(&file, ARRAY_FAULT_LIMIT, "65537 members");
    set_le(end64 + 32, 4, 8);
    set_le(end64 + 40, UINT64_MAX, 8);
    expect_refused(&file, ARRAY_FAULT_HEADER, "zip directory of 18446744073709551615 bytes");
    free(file.at);
}

/* As many as the plain record can count, in which the number looks like a reference. */
static void test_zip_of_65535_members(void **state)
{
    (void)state;
    enum { LOCAL = 30 + 1 + 75, CENTRAL = 46 + 1, MEMBERS = 65535 };
    static const char ARRAY[] = "\x93NUMPY\1\0\x41\0{'descr': '|u1', 'fortran_order': False, "
                                "'shape': (0,), }       \n";
    assert_int_equal(sizeof ARRAY - 1, 75);
    Spoiled file = {calloc(MEMBERS, LOCAL + CENTRAL + 1), MEMBERS * (LOCAL + CENTRAL) + 22};
    for (size_t i = 0; i < MEMBERS; i++) {
        uint8_t *local = file.at + i * LOCAL, *entry = file.at + MEMBERS * LOCAL + i * CENTRAL;
        memcpy(local, "PK\3\4", 4);
        local[26] = 1;
        local[30] = 'a';
        memcpy(local + 31, ARRAY, 75);
        memcpy(entry, "PK\1\2", 4);
        set_le(entry + 20, 75, 4);
        set_le(entry + 24, 75, 4);
        entry[28] = 1;
        set_le(entry + 42, i * LOCAL, 4);
        entry[46] = 'a';
    }
    uint8_t *end = file.at + MEMBERS * (LOCAL + CENTRAL);
    memcpy(end, "PK\5\6", 4);
    set_le(end + 10, MEMBERS, 2);
    set_le(end + 12, MEMBERS * CENTRAL, 4);
    set_le(end + 16, MEMBERS * LOCAL, 4);
    assert_int_equal(count_arrays(&file), MEMBERS);
    free(file.at);
}

static void test_zip_members(void **state)
{
    (void)state;
    Spoiled file = load("stored.npz");
    uint8_t *first = central(&file, 0), *second = central(&file, 1);
    uint32_t stored = get_le32(first + 20), place = get_le32(second + 42);
    set_le(second + 42, 0, 4);
    expect_refused(&file, ARRAY_FAULT_HEADER, "disagrees"); /* its name has another length */
    set_le(second + 42, place + 1, 4);
    expect_refused(&file, ARRAY_FAULT_HEADER, "disagrees");
    set_le(second + 42, UINT32_MAX - 1u, 4);
    expect_refused(&file, ARRAY_FAULT_TRUNCATED, "has");
    set_le(second + 42, UINT32_MAX, 4);
    expect_refused(&file, ARRAY_FAULT_TRUNCATED, "has");
    set_le(second + 42, place, 4);
    set_le(first + 20, stored + 1, 4);
    expect_refused(&file, ARRAY_FAULT_HEADER, "overlap");
    set_le(first + 20, UINT32_MAX - 1u, 4);
    expect_refused(&file, ARRAY_FAULT_TRUNCATED, "zip member of 4294967294 bytes");
    set_le(first + 20, stored, 4);
    set_le(first + 24, stored + 1, 4);
    expect_problem(&file, ARRAY_FAULT_HEADER, "weights: stored");
    set_le(first + 20, stored - 1, 4);
    set_le(first + 24, stored - 1, 4);
    expect_problem(&file, ARRAY_FAULT_TRUNCATED, "weights: member of");
    set_le(first + 20, stored, 4);
    set_le(first + 24, stored, 4);
    first[8] |= 1;
    expect_problem(&file, ARRAY_FAULT_COMPRESSED, "weights: is encrypted");
    first[8] &= 0xfe;
    uint8_t *local = file.at + get_le32(first + 42);
    first[10] = local[8] = 12;
    expect_problem(&file, ARRAY_FAULT_COMPRESSED, "zip method 12");
    first[10] = local[8] = 0;
    local[30 + local[26] + local[28] + 1] = 'X';
    expect_problem(&file, ARRAY_FAULT_FORMAT, "wanted a .npy array");
    free(file.at);
}

/* The directory names the first member twice: twice the data in one file. */
static void test_zip_same_place(void **state)
{
    (void)state;
    Spoiled file = load("mixed.npz");
    uint8_t *first = central(&file, 0);
    size_t length = 46 + first[28] + first[30], offset = (size_t)(first - file.at);
    uint8_t *twice = calloc(1, offset + 2 * length + 22);
    memcpy(twice, file.at, offset + length);
    memcpy(twice + offset + length, first, length);
    uint8_t *end = twice + offset + 2 * length;
    memcpy(end, "PK\5\6", 4);
    end[8] = end[10] = 2;
    set_le(end + 12, 2 * length, 4);
    set_le(end + 16, offset, 4);
    free(file.at);
    file = (Spoiled){twice, offset + 2 * length + 22};
    expect_refused(&file, ARRAY_FAULT_HEADER, "zip members overlap");
    free(twice);
}

static void test_zip_deflated(void **state)
{
    (void)state;
    Spoiled file = load("deflated.npz");
    uint8_t *first = central(&file, 0);
    uint32_t unpacked = get_le32(first + 24), packed = get_le32(first + 20);
    set_le(first + 24, unpacked + 1, 4);
    expect_problem(&file, ARRAY_FAULT_TRUNCATED, "weights: member of");
    set_le(first + 24, unpacked, 4);
    set_le(first + 20, packed - 1, 4);
    ArrayError error = {0};
    ArrayStats stats;
    ArrayFile *opened = array_file_open_memory(file.at, file.size, "a", NULL, &error);
    assert_non_null(opened);
    assert_false(array_file_statistics(opened, 0, NULL, &stats, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_TRUNCATED);
    array_file_close(&opened);
    set_le(first + 20, packed, 4);
    first[16] ^= 1;
    opened = array_file_open_memory(file.at, file.size, "a", NULL, &error);
    assert_non_null(opened);
    assert_false(array_file_statistics(opened, 0, NULL, &stats, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_COMPRESSED);
    assert_non_null(strstr(error.message, "weights: checksum is"));
    assert_true(array_file_statistics(opened, 1, NULL, &stats, &error));
    array_file_close(&opened);
    free(file.at);
}

/* One deflated member whose .npy header states 2^40 bytes. */
static void test_zip_bomb(void **state)
{
    (void)state;
    static const char HEADER[] = "\x93NUMPY\1\0\x46\0{'descr': '|u1', 'fortran_order': False, "
                                 "'shape': (1099511627776,)}    ";
    Spoiled file = {.at = calloc(1, 4096)};
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)HEADER;
    z.avail_in = 80;
    z.next_out = file.at + 35;
    z.avail_out = 1000;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    uint32_t packed = (uint32_t)(1000 - z.avail_out);
    deflateEnd(&z);
    uint8_t *local = file.at, *entry = file.at + 35 + packed, *end = entry + 46 + 5 + 20;
    memcpy(local, "PK\3\4", 4);
    local[8] = 8;
    local[26] = 5;
    memcpy(local + 30, "a.npy", 5);
    memcpy(entry, "PK\1\2", 4);
    entry[10] = 8;
    set_le(entry + 20, packed, 4);
    set_le(entry + 24, UINT32_MAX, 4);
    entry[28] = 5;
    entry[30] = 20;
    memcpy(entry + 46, "a.npy", 5);
    set_le(entry + 51, 1, 2); /* zip64: the unpacked size */
    set_le(entry + 53, 16, 2);
    set_le(entry + 55, UINT64_C(1099511627776) + 80, 8);
    memcpy(end, "PK\5\6", 4);
    end[8] = end[10] = 1;
    set_le(end + 12, 46 + 5 + 20, 4);
    set_le(end + 16, 35 + packed, 4);
    file.size = (size_t)(end + 22 - file.at);
    expect_refused(&file, ARRAY_FAULT_RATIO, "a: states 1099511627856 bytes in");
    set_le(entry + 53, 4, 2); /* no room for the size */
    expect_refused(&file, ARRAY_FAULT_HEADER, "zip64 sizes are missing");
    free(file.at);
}

/* Python's zipfile writes other things too; a torch .pt file is such an archive. */
static void test_zip_without_arrays(void **state)
{
    (void)state;
    Spoiled file = load("mixed.npz");
    for (int i = 0; i < 2; i++) {
        uint8_t *local = file.at + get_le32(central(&file, i) + 42);
        local[30 + local[26] + (local[28] | local[29] << 8)] = 'X';
    }
    expect_refused(&file, ARRAY_FAULT_FORMAT, "wanted a .npy array");
    free(file.at);
}

static void set_chunk(uint8_t *chunk, size_t size)
{
    uLong crc = crc32(crc32(0, NULL, 0), chunk + 4, (uInt)(size + 4));
    for (int i = 0; i < 4; i++)
        chunk[8 + size + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
}

static void set_size(Spoiled *file, uint32_t width, uint32_t height)
{
    for (int i = 0; i < 4; i++) {
        file->at[16 + i] = (uint8_t)(width >> (24 - 8 * i));
        file->at[20 + i] = (uint8_t)(height >> (24 - 8 * i));
    }
    set_chunk(file->at + 8, 13);
}

static void test_png(void **state)
{
    (void)state;
    Spoiled file = load("png_rgba16.png");
    ArrayError error = {0};
    ArrayStats stats;
    set_size(&file, 0x7fffffff, 0x7fffffff);
    expect_refused(&file, ARRAY_FAULT_RATIO, "PNG states 2147483647 x 2147483647 pixels");
    set_size(&file, 0x7fffffff, 1);
    expect_refused(&file, ARRAY_FAULT_RATIO, "PNG states 2147483647 x 1 pixels");
    set_size(&file, 0, 5);
    expect_refused(&file, ARRAY_FAULT_COMPRESSED, "damaged PNG");
    set_size(&file, 7, 6); /* one row more than there is */
    ArrayFile *opened = array_file_open_memory(file.at, file.size, "a", NULL, &error);
    assert_non_null(opened);
    assert_false(array_file_statistics(opened, 0, NULL, &stats, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_COMPRESSED);
    array_file_close(&opened);
    set_size(&file, 7, 5);
    file.at[60] ^= 0x10; /* in the compressed pixels */
    opened = array_file_open_memory(file.at, file.size, "a", NULL, &error);
    assert_true(opened == NULL || !array_file_statistics(opened, 0, NULL, &stats, &error));
    array_file_close(&opened);
    file.at[16] ^= 1;
    expect_refused(&file, ARRAY_FAULT_COMPRESSED, "damaged PNG"); /* IHDR's checksum */
    file.size = 8;
    expect_refused(&file, ARRAY_FAULT_TRUNCATED, "has 8 bytes");
    free(file.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zip_directory),
        cmocka_unit_test(test_zip_members),
        cmocka_unit_test(test_zip64_directory),
        cmocka_unit_test(test_zip_of_65535_members),
        cmocka_unit_test(test_zip_same_place),
        cmocka_unit_test(test_zip_deflated),
        cmocka_unit_test(test_zip_bomb),
        cmocka_unit_test(test_zip_without_arrays),
        cmocka_unit_test(test_png),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
