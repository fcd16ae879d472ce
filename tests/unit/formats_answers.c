/* tests/unit/formats_answers.c: files made by NumPy, the safetensors library, Pillow, ImageMagick
 * and by hand, against what those say is in them (tests/data/formats). One thread. */
#include "formats_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *member(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static uint8_t *from_hex(const char *hex, size_t *size)
{
    *size = strlen(hex) / 2;
    uint8_t *bytes = malloc(*size + 1);
    for (size_t i = 0; i < *size; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        bytes[i] = (uint8_t)value;
    }
    return bytes;
}

/* Offset of an element in row-major order: the textbook sum, not the reader's. */
static size_t row_major(const ArrayInfo *info, const uint64_t *index)
{
    size_t offset = 0;
    for (uint32_t axis = 0; axis < info->rank; axis++)
        offset = offset * info->shape[axis] + index[axis];
    return offset;
}

static void check_elements(ArrayFile *file, uint32_t array, const uint8_t *expected,
                           const cJSON *texts)
{
    const ArrayInfo *info = array_file_info(file, array);
    size_t size = array_dtype_size_bytes(info->dtype);
    uint64_t index[ARRAY_RANK_MAX] = {0};
    for (uint64_t i = 0; i < info->element_count; i++) {
        uint8_t element[8];
        char text[ARRAY_TEXT_BYTES];
        assert_true(array_file_read_element(file, array, index, element, NULL));
        assert_memory_equal(element, expected + row_major(info, index) * size, size);
        if (i < (uint64_t)cJSON_GetArraySize(texts))
            assert_string_equal(array_value_text(info->dtype, element, text),
                                cJSON_GetStringValue(cJSON_GetArrayItem(texts, (int)i)));
        for (uint32_t axis = info->rank; axis-- > 0;) {
            if (++index[axis] < info->shape[axis])
                break;
            index[axis] = 0;
        }
    }
}

static void check_slice(ArrayFile *file, uint32_t array, const ArraySlice *slice,
                        const uint8_t *expected)
{
    const ArrayInfo *info = array_file_info(file, array);
    size_t size = array_dtype_size_bytes(info->dtype);
    ArraySliceShape shape;
    ArrayError error = {0};
    if (!array_file_slice_shape(file, array, slice, &shape, &error))
        fail_msg("%s", error.message);
    uint8_t *out = malloc(shape.size_bytes + 1);
    out[shape.size_bytes] = 0x5a;
    if (!array_file_read_slice(file, array, slice, out, shape.size_bytes, &error))
        fail_msg("%s", error.message);
    assert_int_equal(out[shape.size_bytes], 0x5a);
    const uint8_t *at = out;
    uint64_t row_step = slice->row_step ? slice->row_step : 1;
    uint64_t col_step = slice->col_step ? slice->col_step : 1;
    for (uint64_t r = 0; shape.size_bytes != 0 && r < shape.rows; r++) {
        for (uint64_t c = 0; c < shape.cols; c++) {
            for (uint64_t k = 0; k < shape.channels; k++, at += size) {
                uint64_t index[ARRAY_RANK_MAX];
                memcpy(index, slice->index, sizeof index);
                if (slice->row_axis >= 0)
                    index[slice->row_axis] = slice->row_begin + r * row_step;
                if (slice->col_axis >= 0)
                    index[slice->col_axis] = slice->col_begin + c * col_step;
                if (slice->channel_axis >= 0)
                    index[slice->channel_axis] = k;
                assert_memory_equal(at, expected + row_major(info, index) * size, size);
            }
        }
    }
    free(out);
}

/* Every choice of axes, with the other axes at their first and last index, whole and windowed. */
static void check_slices(ArrayFile *file, uint32_t array, const uint8_t *expected)
{
    const ArrayInfo *info = array_file_info(file, array);
    int rank = info->rank <= 4 ? (int)info->rank : 0;
    for (int row = -1; row < rank; row++) {
        for (int col = -1; col < rank; col++) {
            for (int channel = -1; channel < rank; channel++) {
                if ((row >= 0 && (row == col || row == channel)) || (col >= 0 && col == channel))
                    continue;
                ArraySlice slice = {.row_axis = row, .col_axis = col, .channel_axis = channel};
                check_slice(file, array, &slice, expected);
                for (uint32_t axis = 0; axis < info->rank; axis++)
                    slice.index[axis] = info->shape[axis] > 0 ? info->shape[axis] - 1 : 0;
                slice.row_begin = row >= 0 && info->shape[row] > 1;
                slice.row_step = 2;
                slice.col_begin = col >= 0 && info->shape[col] > 1;
                slice.col_count = info->element_count > 0;
                check_slice(file, array, &slice, expected);
            }
        }
    }
    ArraySlice slice;
    array_slice_default(info, &slice);
    check_slice(file, array, &slice, expected);
}

static void check_stats(ArrayFile *file, uint32_t array, const cJSON *answer)
{
    ArrayStats stats;
    char text[ARRAY_TEXT_BYTES];
    ArrayDtype dtype = array_file_info(file, array)->dtype;
    assert_true(array_file_statistics(file, array, NULL, &stats, NULL));
    assert_string_equal(array_number_text(stats.min, dtype, text), member(answer, "min"));
    assert_string_equal(array_number_text(stats.max, dtype, text), member(answer, "max"));
    assert_int_equal(stats.nan_count, cJSON_GetObjectItem(answer, "nan")->valueint);
    assert_int_equal(stats.infinite_count, cJSON_GetObjectItem(answer, "inf")->valueint);
    assert_int_equal(stats.element_count, array_file_info(file, array)->element_count);
}

static void check_array(ArrayFile *file, const cJSON *answer)
{
    int64_t found = array_file_find(file, member(answer, "name"));
    assert_true(found >= 0);
    uint32_t array = (uint32_t)found;
    const ArrayInfo *info = array_file_info(file, array);
    assert_null(info->problem);
    assert_string_equal(array_dtype_name(info->dtype), member(answer, "dtype"));
    const cJSON *shape = cJSON_GetObjectItem(answer, "shape");
    assert_int_equal(info->rank, cJSON_GetArraySize(shape));
    for (uint32_t axis = 0; axis < info->rank; axis++)
        assert_int_equal(info->shape[axis], cJSON_GetArrayItem(shape, (int)axis)->valueint);
    size_t size;
    uint8_t *expected = from_hex(member(answer, "data"), &size);
    assert_int_equal(info->size_bytes, size);
    check_elements(file, array, expected, cJSON_GetObjectItem(answer, "texts"));
    check_slices(file, array, expected);
    check_stats(file, array, answer);
    free(expected);
}

static void test_generated_files(void **state)
{
    (void)state;
    cJSON *json = load_json(data_path("formats.json"));
    const cJSON *entry;
    int files = 0;
    cJSON_ArrayForEach(entry, cJSON_GetObjectItem(json, "files"))
    {
        ArrayFile *file = open_good(data_path(entry->string));
        assert_string_equal(array_format_name(array_file_format(file)), member(entry, "format"));
        const cJSON *arrays = cJSON_GetObjectItem(entry, "arrays");
        assert_int_equal(array_file_count(file), cJSON_GetArraySize(arrays));
        const cJSON *answer;
        cJSON_ArrayForEach(answer, arrays)
        {
            check_array(file, answer);
        }
        array_file_close(&file);
        assert_null(file);
        files++;
    }
    assert_true(files >= 54);
    cJSON_Delete(json);
}

/* How NumPy writes the first dtype into its descr and its own word for it. */
static const char *numpy_dtype(ArrayDtype dtype)
{
    static const char *const WORDS[ARRAY_DTYPE_COUNT] = {
        [ARRAY_DTYPE_F64] = "float64", [ARRAY_DTYPE_F32] = "float32",
        [ARRAY_DTYPE_F16] = "float16", [ARRAY_DTYPE_BF16] = "bfloat16",
        [ARRAY_DTYPE_I64] = "int64",   [ARRAY_DTYPE_I32] = "int32",
        [ARRAY_DTYPE_U8] = "uint8",    [ARRAY_DTYPE_BOOL] = "bool"};
    return WORDS[dtype];
}

/* Integers by their digits; floats by the double that the text reads back as, which is how the
 * libraries wrote them. */
static void check_text(ArrayDtype dtype, const char *text, const char *expected)
{
    if (dtype == ARRAY_DTYPE_BOOL) {
        assert_true(strcasecmp(text, expected) == 0 ||
                    strcmp(text, expected[0] == 'T' ? "1" : "0") == 0);
    } else if (strcmp(expected, "nan") == 0 || dtype == ARRAY_DTYPE_I64 ||
               dtype == ARRAY_DTYPE_I32 || dtype == ARRAY_DTYPE_U8) {
        assert_string_equal(text, expected);
    } else if (dtype == ARRAY_DTYPE_F32) {
        assert_true(strtof(text, NULL) == strtof(expected, NULL));
    } else {
        assert_true(strtod(text, NULL) == strtod(expected, NULL));
    }
}

static void check_foreign(ArrayFile *file, const cJSON *answer)
{
    int64_t found = array_file_find(file, answer->string);
    assert_true(found >= 0);
    uint32_t array = (uint32_t)found;
    const ArrayInfo *info = array_file_info(file, array);
    const char *dtype = member(answer, "dtype");
    if (strcmp(dtype, ">i8") == 0) {
        assert_true(info->big_endian);
        dtype = "int64";
    }
    assert_string_equal(numpy_dtype(info->dtype), dtype);
    const cJSON *shape = cJSON_GetObjectItem(answer, "shape");
    assert_int_equal(info->rank, cJSON_GetArraySize(shape));
    uint64_t index[ARRAY_RANK_MAX] = {0};
    uint8_t element[8];
    char text[ARRAY_TEXT_BYTES];
    assert_true(array_file_read_element(file, array, index, element, NULL));
    check_text(info->dtype, array_value_text(info->dtype, element, text), member(answer, "first"));
    for (uint32_t axis = 0; axis < info->rank; axis++) {
        assert_int_equal(info->shape[axis], cJSON_GetArrayItem(shape, (int)axis)->valueint);
        index[axis] = info->shape[axis] - 1;
    }
    assert_true(array_file_read_element(file, array, index, element, NULL));
    check_text(info->dtype, array_value_text(info->dtype, element, text), member(answer, "last"));
    ArrayStats stats;
    assert_true(array_file_statistics(file, array, NULL, &stats, NULL));
    check_text(info->dtype, array_number_text(stats.min, info->dtype, text), member(answer, "min"));
    check_text(info->dtype, array_number_text(stats.max, info->dtype, text), member(answer, "max"));
    const cJSON *nan = cJSON_GetObjectItem(answer, "nan");
    if (nan != NULL) {
        assert_int_equal(stats.nan_count, nan->valueint);
        assert_int_equal(stats.infinite_count, cJSON_GetObjectItem(answer, "inf")->valueint);
    }
}

static void check_foreign_file(const char *name, const cJSON *answers)
{
    ArrayFile *file = open_good(data_path(name));
    assert_int_equal(array_file_count(file), cJSON_GetArraySize(answers));
    const cJSON *answer;
    cJSON_ArrayForEach(answer, answers)
    {
        check_foreign(file, answer);
    }
    array_file_close(&file);
}

static void test_safetensors_library(void **state)
{
    (void)state;
    cJSON *json = load_json(data_path("model.json"));
    check_foreign_file("model.safetensors", json);
    cJSON_Delete(json);
}

static void test_numpy_2_archives(void **state)
{
    (void)state;
    cJSON *json = load_json(data_path("pack.json"));
    const cJSON *entry;
    cJSON_ArrayForEach(entry, json)
    {
        check_foreign_file(entry->string, entry);
    }
    cJSON_Delete(json);
}

static void test_sha256_of_abc(void **state)
{
    (void)state;
    char text[65]; /* FIPS 180-4's own example */
    sha256_text("abc", 3, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void check_fashion_mnist(const cJSON *answer)
{
    char path[256], text[65];
    snprintf(path, sizeof path, "/usr/share/datasets/fashion-mnist/%s", answer->string);
    ArrayFile *file = open_good(path);
    assert_int_equal(array_file_format(file), ARRAY_FORMAT_IDX);
    assert_true(array_file_is_gzip(file));
    const ArrayInfo *info = array_file_info(file, 0);
    const cJSON *shape = cJSON_GetObjectItem(answer, "shape");
    assert_int_equal(info->rank, cJSON_GetArraySize(shape));
    for (uint32_t axis = 0; axis < info->rank; axis++)
        assert_int_equal(info->shape[axis], cJSON_GetArrayItem(shape, (int)axis)->valueint);
    uint8_t *all = malloc(info->size_bytes);
    assert_true(
        array_file_read_stored(file, 0, 0, info->element_count, all, info->size_bytes, NULL));
    sha256_text(all, info->size_bytes, text);
    assert_string_equal(text, member(answer, "sha256"));
    free(all);
    array_file_close(&file);
}

static void test_fashion_mnist(void **state)
{
    (void)state;
    FILE *there = fopen("/usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz", "rb");
    if (there == NULL) {
        print_message("SKIPPED: dataset-fashion-mnist is not installed (scripts/setup does)\n");
        skip();
    }
    fclose(there);
    cJSON *json = load_json(data_path("formats.json"));
    const cJSON *answer;
    cJSON_ArrayForEach(answer, cJSON_GetObjectItem(json, "fashion_mnist"))
    {
        check_fashion_mnist(answer);
    }
    cJSON_Delete(json);
}

static void test_members_that_are_not_read_are_listed(void **state)
{
    (void)state;
    ArrayFile *file = open_good(data_path("mixed.npz"));
    assert_int_equal(array_file_count(file), 2);
    const ArrayInfo *bad = array_file_info(file, (uint32_t)array_file_find(file, "bad"));
    assert_int_equal(bad->fault, ARRAY_FAULT_DTYPE);
    assert_non_null(strstr(bad->problem, "'<c16'"));
    assert_null(array_file_info(file, (uint32_t)array_file_find(file, "good"))->problem);
    ArrayStats stats;
    ArrayError error = {0};
    uint32_t array = (uint32_t)array_file_find(file, "bad");
    assert_false(array_file_statistics(file, array, NULL, &stats, &error));
    assert_string_equal(error.message, bad->problem);
    array_file_close(&file);

    file = open_good(data_path("no_arrays.npz"));
    assert_int_equal(array_file_count(file), 0);
    array_file_close(&file);
    static const char *const REFUSED[][2] = {{"refused_complex.npy", "'<c8'"},
                                             {"refused_structured.npy", "'structured'"},
                                             {"refused_string.npy", "'<U3'"}};
    for (int i = 0; i < 3; i++) {
        assert_null(array_file_open(data_path(REFUSED[i][0]), NULL, &error));
        assert_int_equal(error.fault, ARRAY_FAULT_DTYPE);
        assert_non_null(strstr(error.message, REFUSED[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_of_abc),
        cmocka_unit_test(test_generated_files),
        cmocka_unit_test(test_safetensors_library),
        cmocka_unit_test(test_numpy_2_archives),
        cmocka_unit_test(test_fashion_mnist),
        cmocka_unit_test(test_members_that_are_not_read_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
