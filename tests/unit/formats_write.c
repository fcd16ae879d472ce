/* tests/unit/formats_write.c: the writers of .npy and PNG: read back by others, failed writes leave
 * nothing, what is no file is not replaced. One thread. */
#include "formats/write_file.h"
#include "formats_common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int calls, fail_at;

static bool numpy_is_there(void)
{
    return system("/usr/bin/python3 -c 'import numpy, PIL' >/dev/null 2>&1") == 0;
}

/* NumPy reads back what was written: same type, shape and bytes as the file it wrote itself. */
static void test_npy_is_read_by_numpy(void **state)
{
    (void)state;
    if (!numpy_is_there()) {
        print_message("SKIPPED: python3-numpy and python3-pil are not installed\n");
        skip();
    }
    static const char *const WRITTEN[] = {
        "le_f64", "le_f32", "le_f16", "le_i64",  "le_i32", "le_i16",   "le_i8",  "le_u64",
        "le_u32", "le_u16", "le_u8",  "le_bool", "scalar", "empty_03", "rank32", "vector"};
    for (size_t i = 0; i < sizeof WRITTEN / sizeof WRITTEN[0]; i++) {
        char name[64], command[1024];
        snprintf(name, sizeof name, "%s.npy", WRITTEN[i]);
        ArrayFile *file = open_good(data_path(name));
        const ArrayInfo *info = array_file_info(file, 0);
        uint8_t *all = malloc(info->size_bytes + 1);
        assert_true(
            array_file_read_stored(file, 0, 0, info->element_count, all, info->size_bytes, NULL));
        ArrayError error = {0};
        if (!array_write_npy(temporary_path(name), info->dtype, info->rank, info->shape, all,
                             &error))
            fail_msg("%s", error.message);
        snprintf(command, sizeof command,
                 "/usr/bin/python3 -c 'import sys, numpy as n; a = n.load(sys.argv[1]); "
                 "b = n.load(sys.argv[2]); sys.exit(not (a.dtype == b.dtype and "
                 "a.shape == b.shape and a.tobytes() == b.tobytes()))' %s %s",
                 data_path(name), temporary_path(name));
        if (system(command) != 0)
            fail_msg("NumPy does not read %s as written", name);
        free(all);
        array_file_close(&file);
    }
}

static void test_bfloat16_is_widened(void **state)
{
    (void)state;
    const uint16_t values[4] = {0x3f80, 0xc000, 0x7f80, 0x0001}; /* 1, -2, inf, 2^-133 */
    const float expected[4] = {1.0f, -2.0f, (float)(1e38 * 1e38), 0x1p-133f};
    const uint64_t shape[2] = {2, 2};
    float read[4];
    assert_true(
        array_write_npy(temporary_path("bf16.npy"), ARRAY_DTYPE_BF16, 2, shape, values, NULL));
    ArrayFile *file = open_good(temporary_path("bf16.npy"));
    assert_int_equal(array_file_info(file, 0)->dtype, ARRAY_DTYPE_F32);
    assert_true(array_file_read_stored(file, 0, 0, 4, read, sizeof read, NULL));
    assert_memory_equal(read, expected, sizeof read);
    array_file_close(&file);
}

/* Pillow reads back the pixels: with padding between rows, that is not written. */
static void test_png_is_read_by_pillow(void **state)
{
    (void)state;
    uint8_t pixels[3 * 24];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 37);
    const char *path = temporary_path("written.png");
    assert_true(array_write_png_rgba8(path, 5, 3, 24, pixels, NULL));
    ArrayFile *file = open_good(path);
    assert_int_equal(array_file_info(file, 0)->shape[2], 4);
    array_file_close(&file);
    assert_false(array_write_png_rgba8(path, 0, 3, 0, pixels, NULL));
    assert_false(array_write_png_rgba8(path, 5, 3, 19, pixels, NULL));
    if (!numpy_is_there()) {
        print_message("SKIPPED: python3-numpy and python3-pil are not installed\n");
        skip();
    }
    char command[1024];
    snprintf(
        command, sizeof command,
        "/usr/bin/python3 -c 'import sys; from PIL import Image; i = Image.open(sys.argv[1]); "
        "w = b\"\".join(bytes((r * 24 + x) * 37 %% 256 for x in range(20)) for r in range(3)); "
        "sys.exit(not (i.mode == \"RGBA\" and i.size == (5, 3) and i.tobytes() == w))' %s",
        path);
    assert_int_equal(system(command), 0);
}

static ssize_t failing_write(int fd, const void *bytes, size_t size)
{
    if (++calls == fail_at) {
        errno = ENOSPC;
        return -1;
    }
    if (calls % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return write(fd, bytes, size < 7 ? size : 7);
}

static int files_in(const char *folder)
{
    DIR *listing = opendir(folder);
    int count = 0;
    assert_non_null(listing);
    while (readdir(listing) != NULL)
        count++;
    closedir(listing);
    return count - 2;
}

/* A picture is never put in a device's place (as root a rename would do it), and a link goes on
 * leading to what was written. */
static void test_writing_onto_what_is_no_file(void **state)
{
    (void)state;
    char folder[256], pipe_path[300], device[300], file_path[300], link_path[300], dead[300];
    snprintf(folder, sizeof folder, "%s", temporary_path("targets"));
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    snprintf(device, sizeof device, "%s/device", folder);
    snprintf(file_path, sizeof file_path, "%s/file", folder);
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    snprintf(dead, sizeof dead, "%s/dead", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(symlink("/dev/null", device), 0);
    assert_int_equal(symlink("file", link_path), 0);
    assert_int_equal(symlink("nowhere", dead), 0);
    const uint8_t pixels[64] = {1, 2, 3};
    const struct {
        const char *path, *words;
    } refused[] = {{pipe_path, "is a pipe"}, {device, "is a device"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ArrayError error = {0};
        struct stat before, after;
        assert_int_equal(lstat(refused[i].path, &before), 0);
        assert_false(array_write_png_rgba8(refused[i].path, 4, 4, 0, pixels, &error));
        assert_int_equal(error.fault, ARRAY_FAULT_WRITE);
        assert_non_null(strstr(error.message, refused[i].words));
        assert_int_equal(lstat(refused[i].path, &after), 0);
        assert_true(before.st_ino == after.st_ino && before.st_mode == after.st_mode);
    }
    assert_int_equal(files_in(folder), 4);
    const uint64_t shape[1] = {64};
    assert_true(array_write_npy(file_path, ARRAY_DTYPE_U8, 1, shape, pixels, NULL));
    const char *const good[] = {link_path, dead};
    for (size_t i = 0; i < 2; i++) {
        struct stat status;
        assert_true(array_write_png_rgba8(good[i], 4, 4, 0, pixels, NULL));
        ArrayFile *file = open_good(i == 0 ? file_path : dead);
        assert_int_equal(array_file_format(file), ARRAY_FORMAT_PNG);
        array_file_close(&file);
        assert_int_equal(lstat(link_path, &status), 0);
        assert_true(S_ISLNK(status.st_mode));
    }
    const char *const all[] = {pipe_path, device, file_path, link_path, dead};
    assert_int_equal(files_in(folder), 5);
    for (size_t i = 0; i < 5; i++)
        unlink(all[i]);
    rmdir(folder);
}

/* A full disk leaves the old file as it was and nothing beside it. */
static void test_failed_writes_leave_nothing(void **state)
{
    (void)state;
    char folder[256], path[300];
    snprintf(folder, sizeof folder, "%s", temporary_path("writes"));
    snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    const uint64_t shape[1] = {64};
    const uint8_t pixels[64] = {1, 2, 3};
    assert_true(array_write_npy(path, ARRAY_DTYPE_U8, 1, shape, pixels, NULL));
    size_t size, size_after;
    uint8_t *before = load_file(path, &size);
    write_file_set_write(failing_write);
    for (int png = 0; png < 2; png++) {
        bool failed = true;
        for (fail_at = 1; failed; fail_at++) {
            ArrayError error = {0};
            calls = 0;
            failed = png ? !array_write_png_rgba8(path, 4, 4, 0, pixels, &error)
                         : !array_write_npy(path, ARRAY_DTYPE_U8, 1, shape, pixels, &error);
            assert_int_equal(files_in(folder), 1);
            if (!failed)
                break;
            assert_int_equal(error.fault, ARRAY_FAULT_WRITE);
            assert_non_null(strstr(error.message, "No space left"));
            uint8_t *after = load_file(path, &size_after);
            assert_true(png || size == size_after);
            if (!png)
                assert_memory_equal(before, after, size);
            free(after);
        }
        assert_true(fail_at > 5);
    }
    write_file_set_write(NULL);
    ArrayFile *file = open_good(path);
    assert_int_equal(array_file_format(file), ARRAY_FORMAT_PNG);
    array_file_close(&file);
    free(before);
    ArrayError error = {0};
    assert_false(array_write_npy("/nonexistent/a.npy", ARRAY_DTYPE_U8, 1, shape, pixels, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_WRITE);
    assert_false(array_write_npy(folder, ARRAY_DTYPE_U8, 1, shape, pixels, &error));
    assert_non_null(strstr(error.message, "cannot be put in place"));
    assert_false(array_write_npy(path, ARRAY_DTYPE_NONE, 1, shape, pixels, &error));
    const uint64_t wraps[2] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
    assert_false(array_write_npy(path, ARRAY_DTYPE_U8, 2, wraps, pixels, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_OVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_is_read_by_numpy),
        cmocka_unit_test(test_bfloat16_is_widened),
        cmocka_unit_test(test_png_is_read_by_pillow),
        cmocka_unit_test(test_writing_onto_what_is_no_file),
        cmocka_unit_test(test_failed_writes_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temporaries);
}
