/* formats/tfevents_value.c: TensorProto and HistogramProto. The numbers of fields and types are
 * those of TensorFlow's tensor.proto, types.proto and histogram.proto. One thread. */
#include "formats/tfevents_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DT_FLOAT = 1,
    DT_DOUBLE = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 5,
    DT_INT8 = 6,
    DT_STRING = 7,
    DT_INT64 = 9,
    DT_BOOL = 10,
    DT_BFLOAT16 = 14,
    DT_UINT16 = 17,
    DT_HALF = 19,
    DT_UINT32 = 22,
    DT_UINT64 = 23
};

/* How each number type is kept. */
typedef struct NumberType {
    uint32_t dtype;
    uint32_t field;    /* of TensorProto, when it is not in tensor_content */
    ProtoWire wire;    /* of one number there */
    size_t size_bytes; /* in tensor_content */
} NumberType;

static const NumberType number_types[] = {
    {DT_FLOAT, 5, PROTO_WIRE_FIXED32, 4},    {DT_DOUBLE, 6, PROTO_WIRE_FIXED64, 8},
    {DT_INT32, 7, PROTO_WIRE_VARINT, 4},     {DT_UINT8, 7, PROTO_WIRE_VARINT, 1},
    {DT_INT16, 7, PROTO_WIRE_VARINT, 2},     {DT_INT8, 7, PROTO_WIRE_VARINT, 1},
    {DT_UINT16, 7, PROTO_WIRE_VARINT, 2},    {DT_INT64, 10, PROTO_WIRE_VARINT, 8},
    {DT_BOOL, 11, PROTO_WIRE_VARINT, 1},     {DT_HALF, 13, PROTO_WIRE_VARINT, 2},
    {DT_BFLOAT16, 13, PROTO_WIRE_VARINT, 2}, {DT_UINT32, 16, PROTO_WIRE_VARINT, 4},
    {DT_UINT64, 17, PROTO_WIRE_VARINT, 8},
};

static const NumberType *number_type(uint32_t dtype)
{
    for (size_t i = 0; i < sizeof number_types / sizeof number_types[0]; i++) {
        if (number_types[i].dtype == dtype)
            return &number_types[i];
    }
    return NULL;
}

/* IEEE binary16. */
static double half_to_double(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

static double float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of a number, from either place, as what they mean. */
static double number_of_bits(uint32_t dtype, uint64_t bits)
{
    switch (dtype) {
    case DT_FLOAT:
        return float_of_bits((uint32_t)bits);
    case DT_DOUBLE:
        return double_of_bits(bits);
    case DT_INT8:
        return (double)(int8_t)bits;
    case DT_INT16:
        return (double)(int16_t)bits;
    case DT_INT32:
        return (double)(int32_t)bits;
    case DT_INT64:
        return (double)(int64_t)bits;
    case DT_UINT8:
        return (double)(uint8_t)bits;
    case DT_UINT16:
        return (double)(uint16_t)bits;
    case DT_UINT32:
        return (double)(uint32_t)bits;
    case DT_BOOL:
        return bits != 0 ? 1.0 : 0.0;
    case DT_HALF:
        return half_to_double((uint16_t)bits);
    case DT_BFLOAT16:
        return float_of_bits((uint32_t)(bits & 0xffff) << 16);
    default:
        return (double)bits;
    }
}

/* ---- Tensors ---- */

/* TensorShapeProto: dim = 2 {size = 1}, unknown_rank = 3. */
static bool read_shape(const ProtoField *shape, TfeventsTensor *tensor)
{
    ProtoReader dims = proto_reader(shape->bytes, shape->size_bytes);
    ProtoField dim, size;
    while (proto_next(&dims, &dim)) {
        if (!proto_is(&dim, 2, PROTO_WIRE_BYTES))
            continue;
        uint64_t extent = 0;
        ProtoReader fields = proto_reader(dim.bytes, dim.size_bytes);
        while (proto_next(&fields, &size)) {
            if (proto_is(&size, 1, PROTO_WIRE_VARINT))
                extent = size.value;
        }
        if (fields.damaged || extent > INT64_MAX || tensor->rank == ARRAY_RANK_MAX ||
            __builtin_mul_overflow(tensor->elements, extent, &tensor->elements))
            return false;
        tensor->rank++;
        tensor->last_axis = extent;
    }
    return !dims.damaged;
}

TfeventsTensor tfevents_tensor_read(const ProtoField *field)
{
    TfeventsTensor tensor = {.elements = 1, .good = true};
    ProtoField inner;
    ProtoReader reader = proto_reader(field->bytes, field->size_bytes);
    tensor.message = reader;
    while (proto_next(&reader, &inner)) {
        if (proto_is(&inner, 1, PROTO_WIRE_VARINT)) {
            tensor.dtype = (uint32_t)inner.value;
        } else if (proto_is(&inner, 2, PROTO_WIRE_BYTES)) {
            tensor.good = tensor.good && read_shape(&inner, &tensor);
        } else if (proto_is(&inner, 4, PROTO_WIRE_BYTES)) {
            tensor.content = inner.bytes;
            tensor.content_bytes = inner.size_bytes;
        }
    }
    tensor.good = tensor.good && !reader.damaged;
    return tensor;
}

static void read_content(const TfeventsTensor *tensor, const NumberType *type, double *out,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (size_t byte = type->size_bytes; byte-- > 0;)
            bits = bits << 8 | tensor->content[i * type->size_bytes + byte];
        out[i] = number_of_bits(tensor->dtype, bits);
    }
}

/* Fewer numbers than elements: the last one stands for the rest, as TensorFlow writes it. */
bool tfevents_tensor_doubles(const TfeventsTensor *tensor, double *out, size_t count)
{
    const NumberType *type = number_type(tensor->dtype);
    size_t found = 0;
    ProtoReader reader = tensor->message;
    ProtoField field;
    if (type == NULL || !tensor->good || tensor->elements != count)
        return false;
    if (tensor->content_bytes > 0) {
        if (tensor->content_bytes / type->size_bytes != count ||
            tensor->content_bytes % type->size_bytes != 0)
            return false;
        read_content(tensor, type, out, count);
        return true;
    }
    while (proto_next(&reader, &field)) {
        size_t position = 0;
        uint64_t bits;
        if (field.number != type->field)
            continue;
        while (found < count && proto_number(&field, type->wire, &position, &bits))
            out[found++] = number_of_bits(tensor->dtype, bits);
    }
    for (size_t i = found; i < count && found > 0; i++)
        out[i] = out[found - 1];
    return found > 0 || count == 0;
}

bool tfevents_tensor_string(const TfeventsTensor *tensor, ProtoReader *next, ProtoField *out)
{
    if (!tensor->good || tensor->dtype != DT_STRING)
        return false;
    while (proto_next(next, out)) {
        if (proto_is(out, 8, PROTO_WIRE_BYTES))
            return true;
    }
    return false;
}

/* ---- Histograms ---- */

static bool make_room(TfeventsBuckets *buckets, size_t count)
{
    if (count <= buckets->capacity)
        return true;
    TfeventsBucket *grown = realloc(buckets->list, count * sizeof *grown);
    if (grown == NULL)
        return false;
    buckets->list = grown;
    buckets->capacity = count;
    return true;
}

/* Drops empty buckets at both ends and puts min and max in the place of the outer limits, which may
 * be as far as DBL_MAX: what TensorBoard shows. */
static void trim_buckets(TfeventsItem *item, TfeventsBucket *list, size_t count)
{
    size_t begin = 0, end = count;
    item->buckets = list;
    if (count == 0)
        return;
    while (begin < end && !(list[begin].count > 0))
        begin++;
    while (end > begin && !(list[end - 1].count > 0))
        end--;
    item->buckets = list + begin;
    item->bucket_count = end - begin;
    if (begin == end)
        return;
    for (size_t i = end - 1; i > begin; i--)
        list[i].left = list[i - 1].right;
    list[begin].left = item->min;
    list[end - 1].right = item->max;
}

/* Numbers of all fields `number`, into one member of each bucket; how many, SIZE_MAX: damaged. */
static size_t collect(const ProtoField *histogram, uint32_t number, TfeventsBuckets *buckets)
{
    ProtoReader reader = proto_reader(histogram->bytes, histogram->size_bytes);
    ProtoField field;
    size_t used = 0;
    while (proto_next(&reader, &field)) {
        size_t count, position = 0;
        uint64_t bits;
        if (field.number != number)
            continue;
        if (!proto_count(&field, PROTO_WIRE_FIXED64, &count) || !make_room(buckets, used + count))
            return SIZE_MAX;
        for (; proto_number(&field, PROTO_WIRE_FIXED64, &position, &bits); used++) {
            if (number == 6)
                buckets->list[used].right = double_of_bits(bits);
            else
                buckets->list[used].count = double_of_bits(bits);
        }
    }
    return reader.damaged ? SIZE_MAX : used;
}

/* HistogramProto: min 1, max 2, num 3, sum 4, sum_squares 5, bucket_limit 6, bucket 7. */
bool tfevents_histogram_read(const ProtoField *histogram, TfeventsBuckets *buckets,
                             TfeventsItem *item)
{
    ProtoReader reader = proto_reader(histogram->bytes, histogram->size_bytes);
    ProtoField field;
    double *const numbers[] = {&item->min, &item->max, &item->count, &item->sum,
                               &item->sum_squares};
    for (size_t i = 0; i < 5; i++)
        *numbers[i] = 0;
    while (proto_next(&reader, &field)) {
        if (field.number >= 1 && field.number <= 5 && field.wire == PROTO_WIRE_FIXED64)
            *numbers[field.number - 1] = proto_double(&field);
    }
    size_t limits = collect(histogram, 6, buckets);
    size_t counts = limits != SIZE_MAX ? collect(histogram, 7, buckets) : SIZE_MAX;
    if (reader.damaged || counts == SIZE_MAX || counts != limits)
        return false;
    trim_buckets(item, buckets->list, counts);
    return true;
}

bool tfevents_histogram_tensor(const TfeventsTensor *tensor, TfeventsBuckets *buckets,
                               TfeventsItem *item)
{
    _Static_assert(sizeof(TfeventsBucket) == 3 * sizeof(double), "a row of the tensor");
    item->min = item->max = item->sum = item->sum_squares = item->count = NAN;
    if (tensor->rank != 2 || tensor->last_axis != 3 || !tensor->good)
        return false;
    /* A tensor may claim any shape: no more rows than there can be numbers for. */
    uint64_t limit = (uint64_t)(tensor->message.end - tensor->message.at) + 3;
    if (tensor->elements > limit || !make_room(buckets, (size_t)tensor->elements / 3))
        return false;
    item->buckets = buckets->list;
    item->bucket_count = (size_t)tensor->elements / 3;
    return item->bucket_count == 0 ||
           tfevents_tensor_doubles(tensor, &buckets->list[0].left, (size_t)tensor->elements);
}
