/* tests/unit/formats_save.c: writing whole files: what is refused leaves nothing behind, nothing is
 * replaced that was not said, archives beyond 4 GiB, every allocation and write failing in turn;
 * and the layouts of raw files as text. What the files hold is compared with NumPy elsewhere
 * (tests/e2e/test_array_command.py). */
#include "formats_common.h"

#include "formats/array_save.h"
#include "formats/raw_layout.h"
#include "formats/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const ArraySaveItem SMALL = {
    .name = "", .dtype = ARRAY_DTYPE_U8, .rank = 2, .shape = {2, 3}};
static const uint8_t BYTES[6] = {1, 2, 3, 4, 5, 6};
static const ArrayFormat FORMATS[] = {ARRAY_FORMAT_NPY, ARRAY_FORMAT_NPZ, ARRAY_FORMAT_SAFETENSORS,
                                      ARRAY_FORMAT_IDX, ARRAY_FORMAT_PNG, ARRAY_FORMAT_RAW};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof FORMATS[0] };

static bool save_small(const char *path, ArrayFormat format, bool replace, ArrayError *error)
{
    ArraySave *save = array_save_begin(path, format, &SMALL, 1, replace, error);
    bool good = save != NULL && array_save_append(save, BYTES, 2, error) &&
                array_save_append(save, BYTES + 2, 4, error) && array_save_commit(&save, error);
    array_save_cancel(&save);
    return good;
}

static bool is_there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* Files beside it that begin with its name: a temporary one that was left. */
static int count_beside(const char *path)
{
    char command[512];
    snprintf(command, sizeof command, "ls '%s'* 2>/dev/null | wc -l", path);
    FILE *pipe = popen(command, "r");
    int count = -1;
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static void test_nothing_is_replaced_unasked(void **state)
{
    (void)state;
    const char *path = temporary_path("save");
    for (int i = 0; i < FORMAT_COUNT; i++) {
        ArrayError error = {0};
        assert_true(save_small(path, FORMATS[i], true, &error));
        assert_false(save_small(path, FORMATS[i], false, &error));
        assert_int_equal(error.fault, ARRAY_FAULT_EXISTS);
        assert_true(save_small(path, FORMATS[i], true, &error));
        unlink(path);
        assert_true(save_small(path, FORMATS[i], false, &error));
        assert_int_equal(count_beside(path), 1);
    }
    unlink(path);
}

/* Somebody else makes the file while it is written: theirs stays. */
static void test_a_file_that_came_meanwhile_stays(void **state)
{
    (void)state;
    const char *path = temporary_path("meanwhile");
    ArrayError error = {0};
    unlink(path);
    ArraySave *save = array_save_begin(path, ARRAY_FORMAT_NPY, &SMALL, 1, false, &error);
    assert_non_null(save);
    assert_true(array_save_append(save, BYTES, 6, &error));
    FILE *other = fopen(path, "w");
    fputs("theirs", other);
    fclose(other);
    assert_false(array_save_commit(&save, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_EXISTS);
    assert_null(save);
    char text[16] = "";
    other = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, other));
    fclose(other);
    assert_string_equal(text, "theirs");
    assert_int_equal(count_beside(path), 1);
    unlink(path);
}

static void test_counts_that_are_wrong(void **state)
{
    (void)state;
    const char *path = temporary_path("counts");
    for (int i = 0; i < FORMAT_COUNT; i++) {
        ArrayError error = {0};
        ArraySave *save = array_save_begin(path, FORMATS[i], &SMALL, 1, true, &error);
        assert_non_null(save);
        assert_false(array_save_append(save, BYTES, 7, &error));
        assert_int_equal(error.fault, ARRAY_FAULT_ARGUMENT);
        assert_true(array_save_append(save, BYTES, 5, &error));
        assert_false(array_save_commit(&save, &error)); /* one is missing */
        assert_int_equal(error.fault, ARRAY_FAULT_ARGUMENT);
        assert_null(save);
        assert_false(is_there(path));
        assert_int_equal(count_beside(path), 0);
    }
}

static void test_what_does_not_fit(void **state)
{
    (void)state;
    const struct {
        ArrayFormat format;
        ArraySaveItem item;
        ArrayFault fault;
    } cases[] = {
        {ARRAY_FORMAT_PNG,
         {.dtype = ARRAY_DTYPE_F32, .rank = 2, .shape = {2, 2}},
         ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_PNG,
         {.dtype = ARRAY_DTYPE_U8, .rank = 2, .shape = {0, 2}},
         ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_PNG,
         {.dtype = ARRAY_DTYPE_U8, .rank = 3, .shape = {2, 2, 5}},
         ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_PNG, {.dtype = ARRAY_DTYPE_U8, .rank = 1, .shape = {2}}, ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_PNG,
         {.dtype = ARRAY_DTYPE_BOOL, .rank = 2, .shape = {2, 2}},
         ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_IDX, {.dtype = ARRAY_DTYPE_U16, .rank = 1, .shape = {2}}, ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_IDX,
         {.dtype = ARRAY_DTYPE_U8, .rank = 1, .shape = {UINT64_C(1) << 32}},
         ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_NPY,
         {.dtype = ARRAY_DTYPE_NONE, .rank = 1, .shape = {2}},
         ARRAY_FAULT_ARGUMENT},
        {ARRAY_FORMAT_NPY, {.dtype = ARRAY_DTYPE_U8, .rank = 33}, ARRAY_FAULT_ARGUMENT},
        {ARRAY_FORMAT_RAW,
         {.dtype = ARRAY_DTYPE_F64, .rank = 3, .shape = {1u << 30, 1u << 30, 1u << 30}},
         ARRAY_FAULT_OVERFLOW},
        {ARRAY_FORMAT_SAFETENSORS,
         {.name = "__metadata__", .dtype = ARRAY_DTYPE_U8, .rank = 0},
         ARRAY_FAULT_UNFIT},
        {ARRAY_FORMAT_NONE, {.dtype = ARRAY_DTYPE_U8, .rank = 0}, ARRAY_FAULT_FORMAT},
    };
    const char *path = temporary_path("unfit");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ArrayError error = {0};
        ArraySaveItem item = cases[i].item;
        item.name = item.name != NULL ? item.name : "";
        assert_null(array_save_begin(path, cases[i].format, &item, 1, true, &error));
        if (error.fault != cases[i].fault || is_there(path))
            fail_msg("case %zu: %s", i, error.message);
    }
    const ArraySaveItem twins[2] = {{.name = "a", .dtype = ARRAY_DTYPE_U8},
                                    {.name = "a", .dtype = ARRAY_DTYPE_U8}};
    ArrayError error = {0};
    assert_null(array_save_begin(path, ARRAY_FORMAT_NPZ, twins, 2, true, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_UNFIT);
    assert_null(array_save_begin(path, ARRAY_FORMAT_NPY, twins, 2, true, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_UNFIT);
}

/* ---- Failing writes ---- */

static int writes_left;

static ssize_t fail_later(int fd, const void *bytes, size_t size)
{
    if (writes_left-- > 0)
        return write(fd, bytes, size);
    errno = ENOSPC;
    return -1;
}

static void test_every_write_fails_in_turn(void **state)
{
    (void)state;
    const char *path = temporary_path("full");
    for (int i = 0; i < FORMAT_COUNT; i++) {
        bool failed = true;
        int nth = 0;
        for (; failed; nth++) {
            ArrayError error = {0};
            writes_left = nth;
            write_file_set_write(fail_later);
            failed = !save_small(path, FORMATS[i], true, &error);
            write_file_set_write(NULL);
            assert_int_equal(is_there(path), !failed);
            assert_true(!failed || error.fault == ARRAY_FAULT_WRITE);
            assert_int_equal(count_beside(path), failed ? 0 : 1);
        }
        assert_true(nth > 1);
        unlink(path);
    }
}

/* ---- Beyond 4 GiB ---- */

/* Blocks of zeros become holes, so that the file takes no place. */
static ssize_t write_sparsely(int fd, const void *bytes, size_t size)
{
    static const uint8_t ZEROS[64 * 1024];
    if (size >= 4096 && size <= sizeof ZEROS && memcmp(bytes, ZEROS, size) == 0) {
        off_t end = lseek(fd, (off_t)size, SEEK_CUR);
        return end >= 0 && ftruncate(fd, end) == 0 ? (ssize_t)size : -1;
    }
    return write(fd, bytes, size);
}

static void test_an_archive_beyond_4_gib(void **state)
{
    (void)state;
    const uint64_t many = (UINT64_C(1) << 32) + 12345;
    const ArraySaveItem items[3] = {
        {.name = "first", .dtype = ARRAY_DTYPE_U8, .rank = 1, .shape = {3}},
        {.name = "large", .dtype = ARRAY_DTYPE_U8, .rank = 1, .shape = {many}},
        {.name = "last", .dtype = ARRAY_DTYPE_U8, .rank = 1, .shape = {3}}};
    const char *path = temporary_path("large.npz");
    static uint8_t block[1 << 20];
    ArrayError error = {0};
    write_file_set_write(write_sparsely);
    ArraySave *save = array_save_begin(path, ARRAY_FORMAT_NPZ, items, 3, true, &error);
    assert_non_null(save);
    assert_true(array_save_append(save, BYTES, 3, &error));
    for (uint64_t done = 0; done < many;) {
        uint64_t step = many - done < sizeof block ? many - done : sizeof block;
        assert_true(array_save_append(save, block, (size_t)step, &error));
        done += step;
    }
    assert_true(array_save_append(save, BYTES + 3, 3, &error));
    assert_true(array_save_commit(&save, &error));
    write_file_set_write(NULL);
    ArrayFile *file = array_file_open(path, NULL, &error);
    assert_non_null(file);
    assert_int_equal(array_file_count(file), 3);
    assert_true(array_file_info(file, 1)->element_count == many);
    uint8_t found[3];
    assert_true(array_file_read_stored(file, 2, 0, 3, found, sizeof found, &error));
    assert_memory_equal(found, BYTES + 3, 3);
    array_file_close(&file);
    /* Python's zipfile finds the same. */
    char command[1024];
    snprintf(command, sizeof command,
             "python3 -c \"import sys, zipfile; z = zipfile.ZipFile('%s'); "
             "sizes = [i.file_size for i in z.infolist()]; "
             "sys.exit(not (sizes == [131, %llu, 131] and z.read('last.npy')[-3:] == "
             "bytes([4, 5, 6])))\"",
             path, (unsigned long long)many + 128);
    if (system("python3 -c '' 2>/dev/null") == 0)
        assert_int_equal(system(command), 0);
    unlink(path);
}

/* ---- Layouts ---- */

static void test_layouts(void **state)
{
    (void)state;
    static const struct {
        const char *given, *written; /* NULL: refused */
    } cases[] = {{"f32:480x640", "f32:480x640"},
                 {"u16:?x128:64:big", "u16:?x128:64:big"},
                 {"bool:3:little", "bool:3"},
                 {"i64:0", "i64:0"},
                 {"f64:1x2x3x4x5x6x7x8:big:9", "f64:1x2x3x4x5x6x7x8:9:big"},
                 {"bf16:9223372036854775807:9223372036854775807",
                  "bf16:9223372036854775807:9223372036854775807"},
                 {"bf16:9223372036854775808", NULL},
                 {"", NULL},
                 {"f32", NULL},
                 {"f32:", NULL},
                 {":3", NULL},
                 {"F32:3", NULL},
                 {"none:3", NULL},
                 {"f32:x", NULL},
                 {"f32:3x", NULL},
                 {"f32:x3", NULL},
                 {"f32:3x?", NULL},
                 {"f32:??", NULL},
                 {"f32:-3", NULL},
                 {"f32:+3", NULL},
                 {"f32: 3", NULL},
                 {"f32:3:", NULL},
                 {"f32:3:1:1", NULL},
                 {"f32:3:big:big", NULL},
                 {"f32:3:middle", NULL},
                 {"f32:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ArrayRawLayout layout;
        char text[ARRAY_RAW_TEXT_BYTES];
        bool read = array_raw_layout_read(cases[i].given, strlen(cases[i].given), &layout);
        if (read != (cases[i].written != NULL))
            fail_msg("%s", cases[i].given);
        if (read)
            assert_string_equal(array_raw_layout_text(&layout, text), cases[i].written);
    }
    assert_string_equal(array_raw_path("raw:f32:3=a=b"), "a=b");
    assert_string_equal(array_raw_path("raw:f32:3"), "raw:f32:3");
    assert_string_equal(array_raw_path("a=b"), "a=b");
    ArrayError error = {0};
    assert_null(array_file_open_address("raw:f32:3", NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_ARGUMENT);
    assert_null(array_file_open_address("raw:f99:3=/dev/null", NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_replaced_unasked),
        cmocka_unit_test(test_a_file_that_came_meanwhile_stays),
        cmocka_unit_test(test_counts_that_are_wrong),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_every_write_fails_in_turn),
        cmocka_unit_test(test_an_archive_beyond_4_gib),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temporaries);
}
