/* tests/unit/tfevents_values.c: values of every form, written here field by field as TensorFlow's
 * .proto files say; expected values are worked by hand. One thread. */
#include "tfevents_common.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Summary.Value {tag 1, metadata 9 {plugin_data 1 {plugin_name 1, content 2}}} */
static Bytes value_begin(const char *tag, const char *plugin)
{
    Bytes value = {0}, metadata = {0}, data = {0};
    proto_add_string(&value, 1, tag);
    if (plugin != NULL) {
        proto_add_string(&data, 1, plugin);
        proto_add_message(&metadata, 1, &data);
        proto_add_message(&value, 9, &metadata);
    }
    return value;
}

/* TensorProto {dtype 1, shape 2 {dim 2 {size 1}}} */
static Bytes tensor_begin(uint32_t dtype, int rank, const uint64_t *extents)
{
    Bytes tensor = {0}, shape = {0};
    proto_add_varint(&tensor, 1, dtype);
    for (int i = 0; i < rank; i++) {
        Bytes dim = {0};
        proto_add_varint(&dim, 1, extents[i]);
        proto_add_message(&shape, 2, &dim);
    }
    proto_add_message(&tensor, 2, &shape);
    return tensor;
}

/* ---- Scalars as tensors ---- */

typedef struct Number {
    uint32_t dtype;
    const char *content; /* in tensor_content, or NULL: in `field` */
    size_t content_bytes;
    uint32_t field;
    uint64_t varint;
    double wanted;
} Number;

static void test_scalar_tensors(void **state)
{
    static const Number numbers[] = {
        {1, "\0\0\x80\x3f", 4, 0, 0, 1.0},
        {1, "\0\0\x80\x7f", 4, 0, 0, INFINITY},
        {2, "\0\0\0\0\0\0\xf8\x3f", 8, 0, 0, 1.5},
        {3, "\xff\xff\xff\xff", 4, 0, 0, -1.0},
        {4, "\xff", 1, 0, 0, 255.0},
        {5, "\x00\x80", 2, 0, 0, -32768.0},
        {6, "\x80", 1, 0, 0, -128.0},
        {9, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, 0, 0, -2.0},
        {10, "\x01", 1, 0, 0, 1.0},
        {14, "\x80\x3f", 2, 0, 0, 1.0},
        {14, "\x00\xc0", 2, 0, 0, -2.0},
        {17, "\xff\xff", 2, 0, 0, 65535.0},
        {19, "\x00\x3c", 2, 0, 0, 1.0},
        {19, "\x01\x00", 2, 0, 0, 0x1p-24},
        {19, "\xff\x03", 2, 0, 0, 0x1.ff8p-15},
        {19, "\xff\x7b", 2, 0, 0, 65504.0},
        {19, "\x00\xfc", 2, 0, 0, -INFINITY},
        {19, "\x00\x7e", 2, 0, 0, NAN},
        {22, "\xff\xff\xff\xff", 4, 0, 0, 4294967295.0},
        {23, "\x00\x00\x00\x00\x00\x00\x00\x80", 8, 0, 0, 0x1p63},
        {3, NULL, 0, 7, UINT64_MAX, -1.0},
        {5, NULL, 0, 7, UINT64_MAX - 4, -5.0},
        {4, NULL, 0, 7, 200, 200.0},
        {9, NULL, 0, 10, UINT64_MAX - 9, -10.0},
        {10, NULL, 0, 11, 1, 1.0},
        {19, NULL, 0, 13, 0x4000, 2.0},
        {22, NULL, 0, 16, 7, 7.0},
        {23, NULL, 0, 17, UINT64_C(1) << 60, 0x1p60},
    };
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    Bytes file = {0};
    TfeventsItem item;
    ArrayError error = {0};
    (void)state;
    for (int i = 0; i < NUMBERS; i++) {
        for (int rank = 0; rank < 2; rank++) { /* a scalar, and a vector of one */
            Bytes value = value_begin("v", "scalars");
            Bytes tensor = tensor_begin(numbers[i].dtype, rank, (uint64_t[]){1});
            if (numbers[i].content != NULL)
                proto_add_bytes(&tensor, 4, numbers[i].content, numbers[i].content_bytes);
            else
                proto_add_varint(&tensor, numbers[i].field, numbers[i].varint);
            proto_add_message(&value, 8, &tensor);
            event_add(&file, i, 1.0, &value);
        }
    }
    /* Float and double fields, the double packed. */
    Bytes value = value_begin("v", "scalars"), tensor = tensor_begin(1, 0, NULL);
    proto_add_float(&tensor, 5, 0.25f);
    proto_add_message(&value, 8, &tensor);
    event_add(&file, NUMBERS, 1.0, &value);
    double packed = -0.1;
    value = value_begin("v", "scalars");
    tensor = tensor_begin(2, 0, NULL);
    proto_add_bytes(&tensor, 6, &packed, sizeof packed);
    proto_add_message(&value, 8, &tensor);
    event_add(&file, NUMBERS + 1, 1.0, &value);

    MemoryFile memory = memory_open(file.at, file.used);
    for (int i = 0; i < 2 * NUMBERS; i++) {
        assert_true(tfevents_next(memory.reader, &item, &error));
        double wanted = numbers[i / 2].wanted;
        assert_true(item.kind == TFEVENTS_SCALAR && item.is_tensor && item.step == i / 2);
        if (!(item.scalar == wanted || (isnan(item.scalar) && isnan(wanted))))
            fail_msg("number %d is %g, wanted %g", i / 2, item.scalar, wanted);
    }
    assert_true(tfevents_next(memory.reader, &item, &error) && item.scalar == 0.25);
    assert_true(tfevents_next(memory.reader, &item, &error) && item.scalar == -0.1);
    assert_false(tfevents_next(memory.reader, &item, &error));
    memory_close(&memory);
    bytes_free(&file);
}

/* Only a tag's first value names the plugin; a tensor whose tag never did is not handed out, and a
 * later value cannot change what the first said. */
static void test_plugin_of_a_tag(void **state)
{
    Bytes file = {0};
    TfeventsItem item;
    TfeventsCounts counts;
    ArrayError error = {0};
    (void)state;
    for (int i = 0; i < 6; i++) {
        static const char *const tags[] = {"a", "b", "a", "b", "a", "c"};
        static const char *const plugins[] = {"scalars", NULL, NULL, NULL, "text", "mine"};
        Bytes value = value_begin(tags[i], plugins[i]), tensor = tensor_begin(1, 0, NULL);
        proto_add_float(&tensor, 5, (float)i);
        proto_add_message(&value, 8, &tensor);
        event_add(&file, -i, 1.0, &value); /* steps may be negative */
    }
    MemoryFile memory = memory_open(file.at, file.used);
    for (int i = 0; i < 6; i += 2) {
        assert_true(tfevents_next(memory.reader, &item, &error));
        assert_string_equal(item.tag, "a");
        assert_int_equal(item.step, -i);
        assert_true(item.scalar == i);
    }
    assert_false(tfevents_next(memory.reader, &item, &error));
    tfevents_counts(memory.reader, &counts);
    assert_true(counts.other == 3 && counts.items == 3 && counts.records == 6);
    memory_close(&memory);
    bytes_free(&file);
}

/* ---- Histograms ---- */

static void add_histogram(Bytes *file, const double *limits, const double *counts, int buckets,
                          bool packed)
{
    Bytes value = value_begin("h", NULL), histogram = {0};
    static const double numbers[] = {-1.0, 3.0, 7.0, 5.0, 11.0}; /* min, max, num, sum, squares */
    for (uint32_t i = 0; i < 5; i++)
        proto_add_double(&histogram, i + 1, numbers[i]);
    if (packed) {
        proto_add_bytes(&histogram, 6, limits, (size_t)buckets * sizeof *limits);
        proto_add_bytes(&histogram, 7, counts, (size_t)buckets * sizeof *counts);
    } else {
        for (int i = 0; i < buckets; i++) {
            proto_add_double(&histogram, 6, limits[i]);
            proto_add_double(&histogram, 7, counts[i]);
        }
    }
    proto_add_message(&value, 5, &histogram);
    event_add(file, 3, 1.0, &value);
}

static void test_histograms(void **state)
{
    static const double limits[] = {-2.0, 0.0, 1.0, 2.0, DBL_MAX};
    static const double counts[] = {0.0, 4.0, 0.0, 3.0, 0.0}, empty[] = {0, 0, 0, 0, 0};
    static const double rows[] = {-1.0, 0.5, 2.0, 0.5, 2.0, 6.0};
    Bytes file = {0};
    TfeventsItem item;
    ArrayError error = {0};
    (void)state;
    add_histogram(&file, limits, counts, 5, true);
    add_histogram(&file, limits, counts, 5, false);
    add_histogram(&file, limits, empty, 5, true);
    add_histogram(&file, NULL, NULL, 0, true);
    Bytes value = value_begin("t", "histograms");
    Bytes tensor = tensor_begin(2, 2, (uint64_t[]){2, 3});
    proto_add_bytes(&tensor, 4, rows, sizeof rows);
    proto_add_message(&value, 8, &tensor);
    event_add(&file, 4, 1.0, &value);
    value = value_begin("t", "histograms");
    tensor = tensor_begin(2, 2, (uint64_t[]){0, 3});
    proto_add_message(&value, 8, &tensor);
    event_add(&file, 5, 1.0, &value);
    /* None: a shape that claims more than is there, a wrong width, unequal lists. */
    static const uint64_t shapes[][2] = {{UINT64_C(1) << 62, 3}, {1000000, 3}, {2, 2}, {3, 3}};
    for (int i = 0; i < 4; i++) {
        value = value_begin("t", "histograms");
        tensor = tensor_begin(2, 2, shapes[i]);
        proto_add_bytes(&tensor, 4, rows, sizeof rows);
        proto_add_message(&value, 8, &tensor);
        event_add(&file, 6, 1.0, &value);
    }
    MemoryFile memory = memory_open(file.at, file.used);
    for (int i = 0; i < 2; i++) {
        assert_true(tfevents_next(memory.reader, &item, &error));
        assert_true(item.kind == TFEVENTS_HISTOGRAM && item.step == 3 && item.bucket_count == 3);
        assert_true(item.min == -1 && item.max == 3 && item.count == 7 && item.sum == 5 &&
                    item.sum_squares == 11);
        /* -1 to 0: 4; 0 to 1: none; 1 to 3: 3. */
        assert_true(item.buckets[0].left == -1 && item.buckets[0].right == 0);
        assert_true(item.buckets[1].left == 0 && item.buckets[1].right == 1);
        assert_true(item.buckets[2].left == 1 && item.buckets[2].right == 3);
        assert_true(item.buckets[0].count == 4 && item.buckets[1].count == 0 &&
                    item.buckets[2].count == 3);
    }
    for (int i = 0; i < 2; i++)
        assert_true(tfevents_next(memory.reader, &item, &error) && item.bucket_count == 0);
    assert_true(tfevents_next(memory.reader, &item, &error));
    assert_true(item.is_tensor && item.bucket_count == 2 && isnan(item.min));
    assert_memory_equal(item.buckets, rows, sizeof rows);
    assert_true(tfevents_next(memory.reader, &item, &error));
    assert_true(item.step == 5 && item.bucket_count == 0);
    assert_false(tfevents_next(memory.reader, &item, &error));
    memory_close(&memory);
    bytes_free(&file);
}

/* ---- Images and text ---- */

static void test_strings(void **state)
{
    static const char *const images[] = {"3", "2", "first image", "second", NULL};
    static const char *const texts[] = {"one", "", "t\xc3\xafwo", NULL};
    Bytes file = {0};
    TfeventsItem item;
    ArrayError error = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *const *strings = i == 0 ? images : texts;
        Bytes value = value_begin(i == 0 ? "i" : "t", i == 0 ? "images" : "text");
        Bytes tensor = tensor_begin(7, 1, (uint64_t[]){4});
        for (int k = 0; strings[k] != NULL; k++)
            proto_add_string(&tensor, 8, strings[k]);
        proto_add_message(&value, 8, &tensor);
        event_add(&file, i, 2.5, &value);
    }
    /* The first generation, and one without its bytes. */
    for (int i = 0; i < 2; i++) {
        Bytes value = value_begin("old", NULL), image = {0};
        proto_add_varint(&image, 1, 5);
        proto_add_varint(&image, 2, 4);
        if (i == 0)
            proto_add_bytes(&image, 4, "\x89PNG\0zero", 9);
        proto_add_message(&value, 4, &image);
        event_add(&file, 9, 2.5, &value);
    }
    MemoryFile memory = memory_open(file.at, file.used);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(tfevents_next(memory.reader, &item, &error));
        assert_true(item.kind == TFEVENTS_IMAGE && item.index == i && item.is_tensor);
        assert_true(item.width == 3 && item.height == 2 && item.wall_time_sec == 2.5);
        assert_string_equal(item.bytes, images[2 + i]);
        assert_int_equal(item.size_bytes, strlen(images[2 + i]));
    }
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(tfevents_next(memory.reader, &item, &error));
        assert_true(item.kind == TFEVENTS_TEXT && item.index == i && item.step == 1);
        assert_string_equal(item.bytes, texts[i]);
    }
    assert_true(tfevents_next(memory.reader, &item, &error));
    assert_true(item.kind == TFEVENTS_IMAGE && !item.is_tensor && item.size_bytes == 9);
    assert_true(item.width == 4 && item.height == 5 && item.index == 0);
    assert_memory_equal(item.bytes, "\x89PNG\0zero", 9);
    assert_false(tfevents_next(memory.reader, &item, &error));
    memory_close(&memory);
    bytes_free(&file);
}

/* ---- Hyper-parameters ---- */

/* One entry of a map of google.protobuf.Value. */
static void add_setting(Bytes *map, const char *key, Bytes *value)
{
    Bytes entry = {0};
    proto_add_string(&entry, 1, key);
    proto_add_message(&entry, 2, value);
    proto_add_message(map, 1, &entry);
}

static void test_hparams(void **state)
{
    Bytes file = {0}, start = {0}, value = {0}, list = {0}, inner = {0}, nested = {0};
    TfeventsItem item;
    ArrayError error = {0};
    (void)state;
    proto_add_double(&value, 2, 0.1);
    add_setting(&start, "lr", &value);
    proto_add_double(&value, 2, NAN);
    add_setting(&start, "odd", &value);
    proto_add_string(&value, 3, "a \"b\"\n\xff");
    add_setting(&start, "te\tt", &value);
    proto_add_varint(&value, 4, 1);
    add_setting(&start, "flag", &value);
    proto_add_varint(&value, 1, 0);
    add_setting(&start, "none", &value);
    proto_add_double(&inner, 2, 3.0);
    proto_add_message(&list, 1, &inner);
    proto_add_varint(&inner, 4, 0);
    proto_add_message(&list, 1, &inner);
    proto_add_message(&value, 6, &list);
    add_setting(&start, "list", &value);
    proto_add_double(&inner, 2, 1e300);
    add_setting(&nested, "deep", &inner);
    proto_add_message(&value, 5, &nested);
    add_setting(&start, "struct", &value);
    proto_add_string(&start, 4, "the group");
    proto_add_double(&start, 5, 123.5);
    for (int i = 0; i < 2; i++) {
        Bytes plugin = {0}, data = {0}, metadata = {0}, whole = {0}, end = {0};
        if (i == 0) {
            proto_add_message(&plugin, 3, &start);
        } else {
            proto_add_varint(&end, 1, 2);
            proto_add_double(&end, 2, 456.5);
            proto_add_message(&plugin, 4, &end);
        }
        proto_add_string(&data, 1, "hparams");
        proto_add_message(&data, 2, &plugin);
        proto_add_message(&metadata, 1, &data);
        proto_add_string(&whole, 1, "_hparams_/x");
        proto_add_message(&whole, 9, &metadata);
        event_add(&file, 0, 1.0, &whole);
    }
    MemoryFile memory = memory_open(file.at, file.used);
    assert_true(tfevents_next(memory.reader, &item, &error));
    assert_int_equal(item.kind, TFEVENTS_HPARAMS);
    assert_string_equal(item.bytes,
                        "{\"lr\": 0.1, \"odd\": \"NaN\", \"te\\u0009t\": "
                        "\"a \\u0022b\\u0022\\u000a\xef\xbf\xbd\", \"flag\": true, \"none\": null, "
                        "\"list\": [3, false], \"struct\": {\"deep\": 1e+300}}");
    assert_string_equal(item.group_name, "the group");
    assert_true(item.start_time_sec == 123.5);
    assert_true(tfevents_next(memory.reader, &item, &error));
    assert_int_equal(item.kind, TFEVENTS_HPARAMS_END);
    assert_true(item.end_status == 2 && item.end_time_sec == 456.5);
    memory_close(&memory);
    bytes_free(&file);
}

/* ---- What is not handed out ---- */

static void test_what_is_counted(void **state)
{
    Bytes file = {0}, event = {0}, two = {0}, value = {0}, summary = {0};
    TfeventsItem item;
    TfeventsCounts counts;
    ArrayError error = {0};
    (void)state;
    proto_add_double(&event, 1, 1.0);
    proto_add_string(&event, 3, "brain.Event:2"); /* the file's version: nothing to count */
    frame_add(&file, event.at, event.used);
    bytes_free(&event);
    proto_add_string(&event, 4, "a graph");
    frame_add(&file, event.at, event.used);
    bytes_free(&event);
    frame_add(&file, "\x0a\xff", 2); /* no event */
    frame_add(&file, "", 0);         /* an event without anything */
    value = value_begin("audio", NULL);
    proto_add_string(&value, 6, "sound");
    event_add(&file, 1, 1.0, &value);
    /* Two values in one event, with a group (wire 3 and 4) between their fields. */
    for (int i = 0; i < 2; i++) {
        value = value_begin(i == 0 ? "x" : "y", NULL);
        bytes_add(&value, "\x53\x08\x05\x54", 4); /* group 10 { 1: 5 } */
        proto_add_float(&value, 2, (float)i);
        proto_add_message(&summary, 1, &value);
    }
    proto_add_varint(&two, 2, 7);
    proto_add_message(&two, 5, &summary);
    frame_add(&file, two.at, two.used);
    bytes_free(&two);
    MemoryFile memory = memory_open(file.at, file.used);
    for (int i = 0; i < 2; i++) {
        assert_true(tfevents_next(memory.reader, &item, &error));
        assert_string_equal(item.tag, i == 0 ? "x" : "y");
        assert_true(item.step == 7 && item.scalar == i);
    }
    assert_false(tfevents_next(memory.reader, &item, &error));
    tfevents_counts(memory.reader, &counts);
    assert_int_equal(counts.records, 6);
    assert_int_equal(counts.undecoded, 1);
    assert_int_equal(counts.other, 2);
    assert_int_equal(counts.items, 2);
    memory_close(&memory);
    bytes_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar_tensors), cmocka_unit_test(test_plugin_of_a_tag),
        cmocka_unit_test(test_histograms),     cmocka_unit_test(test_strings),
        cmocka_unit_test(test_hparams),        cmocka_unit_test(test_what_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
