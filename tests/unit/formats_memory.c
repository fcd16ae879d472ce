/* tests/unit/formats_memory.c: every allocation of formats/ fails once, while each kind of file is
 * opened, read and written. The linker routes the library's allocations through here. One thread.
 */
#include "formats_common.h"

#include "formats/array_save.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);

static int allocations, fail_at; /* fail_at 0: none fails */

static bool fails(void)
{
    return fail_at != 0 && ++allocations == fail_at;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

static bool read_everything(const char *path, ArrayError *error)
{
    static uint8_t out[1 << 16];
    ArrayFile *file = array_file_open(path, NULL, error);
    bool good = file != NULL;
    for (uint32_t i = 0; good && i < array_file_count(file); i++) {
        ArraySlice slice;
        ArrayStats stats;
        array_slice_default(array_file_info(file, i), &slice);
        good = array_file_read_slice(file, i, &slice, out, sizeof out, error) &&
               array_file_statistics(file, i, NULL, &stats, error);
    }
    array_file_close(&file);
    return good;
}

static void test_reading(void **state)
{
    (void)state;
    static const char *const FILES[] = {"le_f32.npy",  "stored.npz",       "deflated.npz",
                                        "zip64.npz",   "idx_u8",           "idx_i16.gz",
                                        "png_rgb.png", "model.safetensors"};
    for (size_t f = 0; f < sizeof FILES / sizeof FILES[0]; f++) {
        const char *path = data_path(FILES[f]);
        bool failed = true;
        int nth = 0;
        while (failed) {
            ArrayError error = {0};
            allocations = 0;
            fail_at = ++nth;
            bool good = read_everything(path, &error);
            failed = allocations >= nth;
            fail_at = 0;
            if (failed && (good || error.fault != ARRAY_FAULT_MEMORY))
                fail_msg("%s, allocation %d: %s", FILES[f], nth, error.message);
            if (!failed && !good)
                fail_msg("%s: %s", FILES[f], error.message);
        }
        assert_true(nth > 4);
    }
}

/* A member of a type that is not read, whose reason is kept. */
static void test_listed_problems(void **state)
{
    (void)state;
    for (int nth = 1;; nth++) {
        ArrayError error = {0};
        const char *path = data_path("mixed.npz");
        allocations = 0;
        fail_at = nth;
        ArrayFile *file = array_file_open(path, NULL, &error);
        bool failed = allocations >= nth;
        fail_at = 0;
        assert_true(failed == (file == NULL));
        array_file_close(&file);
        if (!failed)
            break;
        assert_int_equal(error.fault, ARRAY_FAULT_MEMORY);
    }
}

static void test_writing(void **state)
{
    (void)state;
    const uint64_t shape[1] = {4};
    const uint16_t values[4] = {0};
    const char *path = temporary_path("a.npy");
    bool failed = true;
    for (int nth = 1; failed; nth++) {
        ArrayError error = {0};
        allocations = 0;
        fail_at = nth;
        bool good = array_write_npy(path, ARRAY_DTYPE_BF16, 1, shape, values, &error);
        failed = allocations >= nth;
        fail_at = 0;
        assert_true(failed == !good);
        assert_true(good || (error.fault == ARRAY_FAULT_MEMORY && access(path, F_OK) != 0));
    }
}

static bool save_all(const char *path, ArrayFormat format, ArrayError *error)
{
    const ArraySaveItem item = {
        .name = "n\"1", .dtype = ARRAY_DTYPE_U8, .rank = 2, .shape = {2, 3}};
    const uint8_t values[6] = {1, 2, 3, 4, 5, 6};
    ArraySave *save = array_save_begin(path, format, &item, 1, false, error);
    bool good = save != NULL && array_save_append(save, values, 6, error) &&
                array_save_commit(&save, error);
    array_save_cancel(&save);
    return good;
}

static void test_saving(void **state)
{
    (void)state;
    const char *path = temporary_path("saved");
    for (int format = ARRAY_FORMAT_NPY; format < ARRAY_FORMAT_COUNT; format++) {
        bool failed = true;
        for (int nth = 1; failed; nth++) {
            ArrayError error = {0};
            unlink(path);
            allocations = 0;
            fail_at = nth;
            bool good = save_all(path, (ArrayFormat)format, &error);
            failed = allocations >= nth;
            fail_at = 0;
            if (failed == good || (!good && access(path, F_OK) == 0) ||
                (failed && format != ARRAY_FORMAT_PNG && error.fault != ARRAY_FAULT_MEMORY))
                fail_msg("format %d, allocation %d: %s", format, nth, error.message);
        }
    }
}

static void test_reading_in_order(void **state)
{
    (void)state;
    bool failed = true;
    for (int nth = 1; failed; nth++) {
        ArrayError error = {0};
        double values[64];
        ArrayFile *file = array_file_open(data_path("be_fortran_f64.npy"), NULL, &error);
        assert_non_null(file);
        uint64_t count = array_file_info(file, 0)->element_count;
        assert_in_range(count, 1, 64);
        allocations = 0;
        fail_at = nth;
        ArrayOrder *order = array_order_begin(file, 0, &error);
        bool good = order != NULL && array_order_read(order, count, values, sizeof values, &error);
        failed = allocations >= nth;
        fail_at = 0;
        assert_true(failed == !good);
        array_order_end(&order);
        array_file_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),          cmocka_unit_test(test_listed_problems),
        cmocka_unit_test(test_writing),          cmocka_unit_test(test_saving),
        cmocka_unit_test(test_reading_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, remove_temporaries);
}
