/* tests/unit/formats_refusals.c: files that lie, break off or state the impossible. Each is refused
 * with its code and a line that says what was found. One thread. */
#include "formats_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct Bytes {
    uint8_t at[70000];
    size_t size;
} Bytes;

static Bytes made;

static void put(const void *bytes, size_t size)
{
    assert_true(made.size + size <= sizeof made.at);
    memcpy(made.at + made.size, bytes, size);
    made.size += size;
}

static void put_le(uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)(value >> (8 * i));
        put(&byte, 1);
    }
}

static void put_be32(uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};
    put(bytes, 4);
}

static void expect(const char *name, ArrayFault fault, const char *part)
{
    ArrayError error = {0};
    uint8_t *exact = malloc(made.size); /* so that a sanitizer sees one byte too far */
    if (made.size != 0)
        memcpy(exact, made.at, made.size);
    ArrayFile *file =
        array_file_open_memory(made.size != 0 ? exact : NULL, made.size, name, NULL, &error);
    if (file != NULL)
        fail_msg("%s (%s) was opened", name, part);
    if (error.fault != fault || strstr(error.message, part) == NULL)
        fail_msg("'%s' is %s, wanted %s and '%s'", error.message, array_fault_name(error.fault),
                 array_fault_name(fault), part);
    assert_memory_equal(error.message, name, strlen(name));
    assert_null(strchr(error.message, '\n'));
    free(exact);
}

static void start_npy(const char *header)
{
    made.size = 0;
    put("\x93NUMPY\1\0", 8);
    put_le(strlen(header), 2);
    put(header, strlen(header));
}

static void expect_npy(const char *header, ArrayFault fault, const char *part)
{
    start_npy(header);
    put("0123456789abcdef", 16);
    expect("a.npy", fault, part);
}

#define NPY(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }\n"

static void test_npy_headers(void **state)
{
    (void)state;
    expect_npy(NPY("(5,)"), ARRAY_FAULT_TRUNCATED, "has 16 bytes of data, its header states 20");
    expect_npy(NPY("(9223372036854775808,)"), ARRAY_FAULT_OVERFLOW, "more than 63 bits");
    expect_npy(NPY("(4294967296, 4294967296)"), ARRAY_FAULT_OVERFLOW, "2^63");
    expect_npy(NPY("(2305843009213693952, 4)"), ARRAY_FAULT_OVERFLOW, "2^63");
    expect_npy(NPY("(4611686018427387904, 4611686018427387904, 16)"), ARRAY_FAULT_OVERFLOW, "2^63");
    expect_npy(NPY("(2305843009213693952,)"), ARRAY_FAULT_OVERFLOW, "2^63"); /* exactly 2^63 */
    expect_npy(NPY("(-1,)"), ARRAY_FAULT_HEADER, "wanted a non-negative");
    expect_npy(NPY("(1.5,)"), ARRAY_FAULT_HEADER, "wanted a comma");
    expect_npy(NPY("(nan,)"), ARRAY_FAULT_HEADER, "nan");
    expect_npy(NPY("(3)"), ARRAY_FAULT_HEADER, "wanted a comma");
    expect_npy(NPY("[3]"), ARRAY_FAULT_HEADER, "a shape");
    expect_npy(NPY("(,)"), ARRAY_FAULT_HEADER, "non-negative");
    expect_npy(NPY("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"),
               ARRAY_FAULT_LIMIT, "more than 32 axes");
    expect_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (2,)}",
               ARRAY_FAULT_HEADER, "each key once");
    expect_npy("{'descr': '<f4', 'fortran_order': False}", ARRAY_FAULT_HEADER, "the keys");
    expect_npy("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", ARRAY_FAULT_HEADER,
               "True or False");
    expect_npy("{'descr': '<f4', 'order': True, 'shape': ()}", ARRAY_FAULT_HEADER, "as keys");
    expect_npy("{'descr': '<f4'", ARRAY_FAULT_HEADER, "',' or '}'");
    expect_npy("{'descr': '<f4", ARRAY_FAULT_HEADER, "element type");
    expect_npy("{'descr': [('a', [[[[[", ARRAY_FAULT_HEADER, "structured type");
    expect_npy(NPY("(4,)") "x", ARRAY_FAULT_HEADER, "end of the header");
    expect_npy("{'descr': '<f16', 'fortran_order': False, 'shape': ()}", ARRAY_FAULT_DTYPE,
               "'<f16'");
    expect_npy("{'descr': '|f4', 'fortran_order': False, 'shape': ()}", ARRAY_FAULT_DTYPE, "'|f4'");
    expect_npy("{'descr': '|O', 'fortran_order': False, 'shape': ()}", ARRAY_FAULT_DTYPE, "'|O'");
    expect_npy("{'descr': 'f4', 'fortran_order': False, 'shape': ()}", ARRAY_FAULT_DTYPE, "'f4'");
    expect_npy("", ARRAY_FAULT_HEADER, "'{'");
}

static void test_npy_lengths(void **state)
{
    (void)state;
    made.size = 0;
    put("\x93NUMPY\2\0", 8);
    put_le(UINT32_MAX, 4);
    expect("a.npy", ARRAY_FAULT_LIMIT, "header of 4294967295 bytes");
    made.size = 8;
    put_le(1000, 4);
    expect("a.npy", ARRAY_FAULT_TRUNCATED, "has 12 bytes, wanted 1000");
    made.size = 0;
    put("\x93NUMPY\4\0", 8);
    put_le(2, 2);
    expect("a.npy", ARRAY_FAULT_HEADER, "version 4.0");
    for (size_t size = 0; size < 10; size++) {
        start_npy(NPY("(4,)"));
        made.size = size;
        expect("a.npy", size >= 6 || size == 0 ? ARRAY_FAULT_TRUNCATED : ARRAY_FAULT_FORMAT, "");
    }
}

/* Nothing is there, so nothing is read, however large the other axes are. */
static void test_empty_arrays_open(void **state)
{
    (void)state;
    start_npy(NPY("(0, 4611686018427387904, 4611686018427387904)"));
    ArrayError error = {0};
    ArrayFile *file = array_file_open_memory(made.at, made.size, "a.npy", NULL, &error);
    assert_non_null(file);
    ArraySlice slice;
    ArraySliceShape shape;
    array_slice_default(array_file_info(file, 0), &slice);
    assert_true(array_file_slice_shape(file, 0, &slice, &shape, &error));
    assert_int_equal(shape.size_bytes, 0);
    assert_true(array_file_read_slice(file, 0, &slice, NULL, 0, &error));
    uint8_t element[8];
    const uint64_t index[3] = {0};
    assert_false(array_file_read_element(file, 0, index, element, &error));
    array_file_close(&file);
}

/* Any stored byte but 0 is true; out comes 1, so that C's own bool can hold it. */
static void test_bool_is_0_or_1(void **state)
{
    (void)state;
    start_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }\n");
    put("\0\1\2\xff", 4);
    ArrayFile *file = array_file_open_memory(made.at, made.size, "a.npy", NULL, NULL);
    assert_non_null(file);
    uint8_t out[4], one;
    const uint8_t expected[4] = {0, 1, 1, 1};
    const uint64_t index[1] = {3};
    assert_true(array_file_read_stored(file, 0, 0, 4, out, 4, NULL));
    assert_memory_equal(out, expected, 4);
    assert_true(array_file_read_element(file, 0, index, &one, NULL));
    assert_int_equal(one, 1);
    array_file_close(&file);
}

static void test_unknown_content(void **state)
{
    (void)state;
    made.size = 0;
    expect("a.bin", ARRAY_FAULT_TRUNCATED, "is empty");
    put("<!DOCTYPE html><html>", 21);
    expect("train.gz", ARRAY_FAULT_FORMAT, "not gzip data: starts with '<!DOCTYPE ht' (a web page");
    expect("a.npy", ARRAY_FAULT_FORMAT, "starts with '<!DOCTYPE ht' (a web page");
    made.size = 0;
    put("\x7f"
        "ELF\2\1\1\0\0\0\0\0\0\0\0\0\n\n",
        18);
    ArrayError error = {0};
    assert_null(array_file_open_memory(made.at, made.size, "a\nb", NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_FORMAT);
    assert_non_null(strstr(error.message, "a\\nb: starts with '\\x7fELF\\x02")); /* one line */
}

static void test_idx(void **state)
{
    (void)state;
    made.size = 0;
    put("\0\0\x08\x03", 4);
    put_be32(2);
    put_be32(2);
    expect("a.idx", ARRAY_FAULT_TRUNCATED, "wanted 4 at byte 12");
    put_be32(2);
    put("1234567", 7);
    expect("a.idx", ARRAY_FAULT_TRUNCATED, "has 7 bytes of data, its header states 8");
    put("89", 2);
    expect("a.idx", ARRAY_FAULT_TRAILING, "has 25 bytes, its IDX header states 24");
    made.size = 0;
    put("\0\0\x0e\x21", 4);
    expect("a.idx", ARRAY_FAULT_LIMIT, "33 axes");
    made.size = 0;
    put("\0\0\x0e\x03", 4);
    put_be32(UINT32_MAX);
    put_be32(UINT32_MAX);
    put_be32(UINT32_MAX);
    expect("a.idx", ARRAY_FAULT_OVERFLOW, "2^63");
    made.size = 0;
    put("\0\0\x0a\x01\0\0\0\1x", 9);
    expect("a.idx", ARRAY_FAULT_FORMAT, "starts with");
}

static void expect_safetensors(const char *header, size_t data, ArrayFault fault, const char *part)
{
    made.size = 0;
    put_le(strlen(header), 8);
    put(header, strlen(header));
    for (size_t i = 0; i < data; i++)
        put("x", 1);
    expect("a.safetensors", fault, part);
}

#define TENSOR(name, type, shape, offsets) \
    "\"" name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void test_safetensors_layout(void **state)
{
    (void)state;
    expect_safetensors("{" TENSOR("a", "U8", "[4]", "[4,0]") "}", 4, ARRAY_FAULT_HEADER,
                       "'a' ends before it begins");
    expect_safetensors("{" TENSOR("a", "U8", "[4]", "[0,5]") "}", 4, ARRAY_FAULT_TRUNCATED,
                       "ends at byte 5 of the data, which has 4");
    expect_safetensors("{" TENSOR("a", "U8", "[3]", "[0,4]") "}", 4, ARRAY_FAULT_HEADER,
                       "disagree with its shape");
    expect_safetensors(
        "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[4]", "[2,6]") "}", 6,
        ARRAY_FAULT_HEADER, "an overlap");
    expect_safetensors(
        "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[1]", "[5,6]") "}", 6,
        ARRAY_FAULT_HEADER, "a hole");
    expect_safetensors("{" TENSOR("a", "U8", "[4]", "[0,4]") "}", 6, ARRAY_FAULT_TRAILING,
                       "has 6 bytes of data, its tensors take 4");
    expect_safetensors(
        "{" TENSOR("a", "U8", "[1]", "[0,1]") "," TENSOR("\\u0061", "U8", "[1]", "[1,2]") "}", 2,
        ARRAY_FAULT_HEADER, "two tensors named 'a'");
    expect_safetensors("{" TENSOR("a", "U8", "[4294967296,4294967296,2]", "[0,0]") "}", 0,
                       ARRAY_FAULT_OVERFLOW, "2^63");
    expect_safetensors("{" TENSOR("a", "F64", "[2305843009213693952]", "[0,0]") "}", 0,
                       ARRAY_FAULT_OVERFLOW, "2^63");
    expect_safetensors("{" TENSOR("a", "F4", "[3]", "[0,2]") "}", 2, ARRAY_FAULT_OVERFLOW,
                       "whole number of bytes");
    expect_safetensors("{" TENSOR("a", "XX", "[3]", "[0,9223372036854775807]") "}", 2,
                       ARRAY_FAULT_TRUNCATED, "ends at byte");
}

static void test_safetensors_text(void **state)
{
    (void)state;
    expect_safetensors("{" TENSOR("a", "U8", "[-1]", "[0,4]") "}", 4, ARRAY_FAULT_HEADER,
                       "non-negative whole number");
    expect_safetensors("{" TENSOR("a", "U8", "[1e1]", "[0,4]") "}", 4, ARRAY_FAULT_HEADER,
                       "non-negative whole number");
    expect_safetensors("{" TENSOR("a", "U8", "[99999999999999999999]", "[0,4]") "}", 4,
                       ARRAY_FAULT_OVERFLOW, "63 bits");
    expect_safetensors("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, ARRAY_FAULT_HEADER,
                       "one key twice");
    expect_safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", 0, ARRAY_FAULT_HEADER, "lacks");
    expect_safetensors("{\"a\":{\"colour\":1}}", 0, ARRAY_FAULT_HEADER, "a key that is not");
    expect_safetensors("{\"a\":[]}", 0, ARRAY_FAULT_HEADER, "wanted '{'");
    expect_safetensors("{\"__metadata__\":{\"a\":1}}", 0, ARRAY_FAULT_HEADER, "a string");
    expect_safetensors("{\"__metadata__\":{},\"__metadata__\":{}}", 0, ARRAY_FAULT_HEADER, "twice");
    expect_safetensors("{\"a", 0, ARRAY_FAULT_HEADER, "the end of a string");
    expect_safetensors("{\"\\ud800\":1}", 0, ARRAY_FAULT_HEADER, "an escape");
    expect_safetensors("{\"a\":{\"dtype\":\"U8\\u0000\"}}", 0, ARRAY_FAULT_HEADER,
                       "a dtype with NUL");
    expect_safetensors("{\"a\":{\"dtype\\u0000\":\"U8\"}}", 0, ARRAY_FAULT_HEADER,
                       "a key that is not");
    expect_safetensors("{" TENSOR("a\\u0000b", "U8", "[2]", "[0,2]") "," TENSOR("a\\u0000b", "U8",
                                                                                "[2]", "[2,4]") "}",
                       4, ARRAY_FAULT_HEADER, "two tensors named");
    expect_safetensors("{\"\xc3\":1}", 0, ARRAY_FAULT_HEADER, "UTF-8");
    expect_safetensors("{\"\xed\xa0\x80\":1}", 0, ARRAY_FAULT_HEADER, "UTF-8"); /* a surrogate */
    expect_safetensors("{\"\xc0\xaf\":1}", 0, ARRAY_FAULT_HEADER, "UTF-8");     /* overlong */
    expect_safetensors("{\"\xf4\x90\x80\x80\":1}", 0, ARRAY_FAULT_HEADER, "UTF-8");
    expect_safetensors("{\"a\nb\":1}", 0, ARRAY_FAULT_HEADER, "UTF-8 text");
    expect_safetensors("{} x", 0, ARRAY_FAULT_HEADER, "the end of the header");
    expect_safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":"
                       "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}}",
                       0, ARRAY_FAULT_LIMIT, "more than 32 axes");
    char *deep = malloc(20002);
    memset(deep, '[', 20000);
    memcpy(deep, "{\"a\":", 5);
    deep[20000] = '\0';
    expect_safetensors(deep, 0, ARRAY_FAULT_HEADER, "wanted '{'");
    free(deep);
    made.size = 0;
    put_le(UINT64_MAX, 8);
    put("{}", 2);
    expect("a.safetensors", ARRAY_FAULT_LIMIT, "header of 18446744073709551615");
    made.size = 0;
    put_le(3, 8);
    put("{}", 2);
    expect("a.safetensors", ARRAY_FAULT_TRUNCATED, "header of 3 bytes, 2 are left");
}

/* Valid JSON, and a C string cannot hold it: spelled, so that the file opens and names differ. */
static void test_a_name_with_nul_is_spelled(void **state)
{
    (void)state;
    static const char HEADER[] = "{" TENSOR("a\\u0000b", "U8", "[1]", "[0,1]") "," TENSOR(
        "a", "U8", "[1]", "[1,2]") "," TENSOR("\\u0000", "U8", "[1]", "[2,3]") "}";
    made.size = 0;
    put_le(sizeof HEADER - 1, 8);
    put(HEADER, sizeof HEADER - 1);
    put("\7\10\11", 3);
    ArrayError error = {0};
    ArrayFile *file = array_file_open_memory(made.at, made.size, "a", NULL, &error);
    assert_non_null(file);
    static const char *const names[] = {"a\\u0000b", "a", "\\u0000"};
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t value;
        assert_string_equal(array_file_info(file, i)->name, names[i]);
        assert_int_equal(array_file_find(file, names[i]), i);
        assert_true(array_file_read_stored(file, i, 0, 1, &value, 1, &error));
        assert_int_equal(value, 7 + i);
    }
    array_file_close(&file);
}

static void test_safetensors_names_and_types(void **state)
{
    (void)state;
    static const char HEADER[] = "{\"__metadata__\":{\"format\":\"pt\"}," TENSOR(
        "\\ud83d\\ude00\\n", "U8", "[1]",
        "[0,1]") "," TENSOR("eight", "F8_E4M3", "[2]", "[1,3]") "," TENSOR("odd", "F32", "[1]",
                                                                           "[3,7]") "} ";
    made.size = 0;
    put_le(sizeof HEADER - 1, 8);
    put(HEADER, sizeof HEADER - 1);
    put("\7\1\2\0\0\x80\x3f", 7);
    ArrayError error = {0};
    ArrayFile *file = array_file_open_memory(made.at, made.size, "a", NULL, &error);
    assert_non_null(file);
    assert_string_equal(array_file_info(file, 0)->name, "\xf0\x9f\x98\x80\n");
    const ArrayInfo *eight = array_file_info(file, 1);
    assert_int_equal(eight->dtype, ARRAY_DTYPE_NONE);
    assert_int_equal(eight->fault, ARRAY_FAULT_DTYPE);
    assert_non_null(strstr(eight->problem, "'eight' holds elements of type 'F8_E4M3'"));
    float value; /* at an odd offset */
    assert_true(array_file_read_stored(file, 2, 0, 1, &value, sizeof value, &error));
    assert_true(value == 1.0f);
    array_file_close(&file);
}

/* One gzip member of zeros after `header`. */
static void make_gzip(const void *header, size_t header_bytes, size_t zeros)
{
    z_stream z = {0};
    uint8_t block[4096] = {0};
    made.size = 0;
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = made.at;
    z.avail_out = sizeof made.at;
    z.next_in = (Bytef *)(uintptr_t)header;
    z.avail_in = (uInt)header_bytes;
    assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
    for (size_t done = 0; done < zeros; done += sizeof block) {
        z.next_in = block;
        z.avail_in = (uInt)(zeros - done < sizeof block ? zeros - done : sizeof block);
        assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
    }
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    made.size = sizeof made.at - z.avail_out;
    deflateEnd(&z);
}

static void expect_gzip_read(ArrayFault fault, const char *part)
{
    ArrayError error = {0};
    uint8_t element[8];
    const uint64_t index[ARRAY_RANK_MAX] = {0};
    ArrayFile *file = array_file_open_memory(made.at, made.size, "a.gz", NULL, &error);
    if (file == NULL)
        fail_msg("%s", error.message);
    assert_false(array_file_read_element(file, 0, index, element, &error));
    if (error.fault != fault || strstr(error.message, part) == NULL)
        fail_msg("'%s' is %s, wanted %s", error.message, array_fault_name(error.fault), part);
    array_file_close(&file);
}

static void test_gzip(void **state)
{
    (void)state;
    static const uint8_t TEN_MILLION[8] = {0, 0, 8, 1, 0, 0x98, 0x96, 0x80};
    static const uint8_t FOUR_THOUSAND_MILLION[8] = {0, 0, 8, 1, 0xff, 0xff, 0xff, 0xff};
    make_gzip(FOUR_THOUSAND_MILLION, 8, 100);
    expect("a.gz", ARRAY_FAULT_RATIO, "states 4294967303 bytes in");
    make_gzip(TEN_MILLION, 8, 10000000);
    size_t whole = made.size;
    ArrayOpenOptions options = {.max_unpacked_bytes = 9999999};
    ArrayError error = {0};
    assert_null(array_file_open_memory(made.at, made.size, "a.gz", &options, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_LIMIT);
    made.at[whole - 5] ^= 1;
    expect_gzip_read(ARRAY_FAULT_COMPRESSED, "incorrect data check");
    made.at[whole - 5] ^= 1;
    made.size = whole - 1;
    expect_gzip_read(ARRAY_FAULT_TRUNCATED, "in the middle of the stream");
    make_gzip(TEN_MILLION, 8, 9999999);
    expect_gzip_read(ARRAY_FAULT_TRUNCATED, "unpacks to 9999999 bytes of data, wanted 10000000");
    make_gzip(TEN_MILLION, 8, 10000001);
    expect_gzip_read(ARRAY_FAULT_TRAILING, "unpacks to more than");
    make_gzip(TEN_MILLION, 8, 10000000);
    put("x", 1);
    expect_gzip_read(ARRAY_FAULT_TRAILING, "byte 0x78 after the end");
    make_gzip("not an array", 12, 0);
    expect("a.gz", ARRAY_FAULT_FORMAT, "unpacks to 'not an array'");
    made.size = 0;
    put("\x1f\x8b\x08\0\0\0\0\0\0\3<html>", 16);
    expect("a.gz", ARRAY_FAULT_COMPRESSED, "damaged");
    made.size = 10;
    expect("a.gz", ARRAY_FAULT_TRUNCATED, "in the middle");
    made.size = 2;
    expect("a.gz", ARRAY_FAULT_TRUNCATED, "in the middle");
}

/* Every cut of every kind of file: an error or, for trailing parts that are not needed, not; never
 * a fault, and never bytes past the end. */
static void test_every_prefix(void **state)
{
    (void)state;
    static const char *const FILES[] = {"le_f16.npy",         "stored.npz",
                                        "deflated.npz",       "model.safetensors",
                                        "idx_i16.gz",         "png_palette_alpha.png",
                                        "png_interlaced.png", "array.npy.gz"};
    for (size_t f = 0; f < sizeof FILES / sizeof FILES[0]; f++) {
        size_t size;
        uint8_t *bytes = load_file(data_path(FILES[f]), &size);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *part = malloc(cut != 0 ? cut : 1);
            memcpy(part, bytes, cut);
            ArrayError error = {0};
            ArrayFile *file = array_file_open_memory(part, cut, FILES[f], NULL, &error);
            bool good = file != NULL;
            for (uint32_t i = 0; good && i < array_file_count(file); i++) {
                ArrayStats stats;
                good = array_file_statistics(file, i, NULL, &stats, &error);
            }
            bool png_end = strstr(FILES[f], "png_") == FILES[f]; /* its last chunk is not needed */
            if (good && !png_end)
                fail_msg("%s cut to %zu of %zu bytes was read", FILES[f], cut, size);
            assert_true(good || error.message[0] != '\0');
            array_file_close(&file);
            free(part);
        }
        free(bytes);
    }
}

static void test_arguments(void **state)
{
    (void)state;
    ArrayError error = {0};
    ArrayFile *file = open_good(data_path("le_f32.npy")); /* 3 x 4 x 5 */
    uint8_t out[240];
    const ArraySlice bad[] = {
        {.row_axis = 0, .col_axis = 0, .channel_axis = -1},
        {.row_axis = 3, .col_axis = 0, .channel_axis = -1},
        {.row_axis = -2, .col_axis = 0, .channel_axis = -1},
        {.row_axis = 0, .col_axis = 1, .channel_axis = 1},
        {.row_axis = 0, .col_axis = 1, .channel_axis = -1, .index = {0, 0, 5}},
        {.row_axis = 0, .col_axis = 1, .channel_axis = -1, .row_begin = 4},
        {.row_axis = 0, .col_axis = 1, .channel_axis = -1, .row_begin = 1, .row_count = 3},
        {.row_axis = 0, .col_axis = 1, .channel_axis = -1, .col_count = 2, .col_step = 4},
        {.row_axis = 0, .col_axis = 1, .channel_axis = -1, .col_count = UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error.fault = ARRAY_FAULT_NONE;
        assert_false(array_file_read_slice(file, 0, &bad[i], out, sizeof out, &error));
        assert_int_equal(error.fault, ARRAY_FAULT_ARGUMENT);
    }
    ArraySlice good = {.row_axis = 0, .col_axis = 1, .channel_axis = 2};
    assert_false(array_file_read_slice(file, 0, &good, out, 239, &error));
    assert_non_null(strstr(error.message, "needs 240 bytes, given 239"));
    assert_true(array_file_read_slice(file, 0, &good, out, 240, &error));
    assert_false(array_file_read_slice(file, 1, &good, out, 240, &error));
    const uint64_t outside[3] = {0, 4, 0};
    assert_false(array_file_read_element(file, 0, outside, out, &error));
    assert_false(array_file_read_stored(file, 0, 59, 2, out, sizeof out, &error));
    assert_false(array_file_read_stored(file, 0, UINT64_MAX, 2, out, sizeof out, NULL));
    assert_null(array_file_info(file, 1));
    assert_int_equal(array_file_find(file, "nothing"), -1);
    array_file_close(&file);
    array_file_close(&file);
    array_file_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_headers),
        cmocka_unit_test(test_npy_lengths),
        cmocka_unit_test(test_empty_arrays_open),
        cmocka_unit_test(test_bool_is_0_or_1),
        cmocka_unit_test(test_unknown_content),
        cmocka_unit_test(test_idx),
        cmocka_unit_test(test_safetensors_layout),
        cmocka_unit_test(test_safetensors_text),
        cmocka_unit_test(test_a_name_with_nul_is_spelled),
        cmocka_unit_test(test_safetensors_names_and_types),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
