/* formats/safetensors.c: an eight-byte length, a JSON header, then the tensors one after another.
 *
 * As the format's own library does, holes, overlaps, bytes left over, duplicate names and sizes
 * that disagree with shape and type are refused. Thread rule: as ArrayFile. */
#include "formats/json_scan.h"
#include "formats/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, TYPE_TEXT_BYTES = 24 };

typedef struct Parser {
    ArrayFile *file;
    JsonScan scan;
    uint64_t data_begin, data_bytes;
} Parser;

typedef struct Tensor {
    const char *name;
    size_t name_bytes;
    bool has_dtype, has_shape, has_offsets;
    char dtype[TYPE_TEXT_BYTES];
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
    uint64_t begin, end;
} Tensor;

/* Bits an element, so that the sizes of types that are only listed are checked too. */
static const struct {
    const char *name;
    ArrayDtype dtype;
    uint32_t bits;
} TYPES[] = {
    {"F64", ARRAY_DTYPE_F64, 64},     {"F32", ARRAY_DTYPE_F32, 32},
    {"F16", ARRAY_DTYPE_F16, 16},     {"BF16", ARRAY_DTYPE_BF16, 16},
    {"I64", ARRAY_DTYPE_I64, 64},     {"I32", ARRAY_DTYPE_I32, 32},
    {"I16", ARRAY_DTYPE_I16, 16},     {"I8", ARRAY_DTYPE_I8, 8},
    {"U64", ARRAY_DTYPE_U64, 64},     {"U32", ARRAY_DTYPE_U32, 32},
    {"U16", ARRAY_DTYPE_U16, 16},     {"U8", ARRAY_DTYPE_U8, 8},
    {"BOOL", ARRAY_DTYPE_BOOL, 8},    {"F8_E4M3", ARRAY_DTYPE_NONE, 8},
    {"F8_E5M2", ARRAY_DTYPE_NONE, 8}, {"F8_E8M0", ARRAY_DTYPE_NONE, 8},
    {"F6_E2M3", ARRAY_DTYPE_NONE, 6}, {"F6_E3M2", ARRAY_DTYPE_NONE, 6},
    {"F4", ARRAY_DTYPE_NONE, 4},      {"C64", ARRAY_DTYPE_NONE, 64},
};

static bool refuse(const Parser *parser, ArrayFault fault, const Tensor *tensor, const char *text)
{
    return array_error_set(parser->scan.error, fault, parser->file->name, "tensor '%.*s' %s",
                           (int)(tensor->name_bytes < 80 ? tensor->name_bytes : 80), tensor->name,
                           text);
}

static bool read_shape(Parser *parser, Tensor *tensor)
{
    JsonScan *scan = &parser->scan;
    if (!json_expect(scan, '['))
        return false;
    if (json_take(scan, ']'))
        return true;
    do {
        if (tensor->rank == ARRAY_RANK_MAX)
            return refuse(parser, ARRAY_FAULT_LIMIT, tensor,
                          "has more than 32 axes, wanted at most that many");
        if (!json_whole_number(scan, &tensor->shape[tensor->rank++]))
            return false;
    } while (json_take(scan, ','));
    return json_expect(scan, ']');
}

static bool read_offsets(Parser *parser, Tensor *tensor)
{
    JsonScan *scan = &parser->scan;
    return json_expect(scan, '[') && json_whole_number(scan, &tensor->begin) &&
           json_expect(scan, ',') && json_whole_number(scan, &tensor->end) &&
           json_expect(scan, ']');
}

static bool read_member(Parser *parser, Tensor *tensor)
{
    JsonScan *scan = &parser->scan;
    const char *key, *text;
    size_t length, text_bytes;
    if (!json_string(scan, &key, &length) || !json_expect(scan, ':'))
        return false;
    bool *seen = length == 5 && memcmp(key, "dtype", 5) == 0            ? &tensor->has_dtype
                 : length == 5 && memcmp(key, "shape", 5) == 0          ? &tensor->has_shape
                 : length == 12 && memcmp(key, "data_offsets", 12) == 0 ? &tensor->has_offsets
                                                                        : NULL;
    if (seen == NULL || *seen)
        return refuse(parser, ARRAY_FAULT_HEADER, tensor,
                      seen == NULL ? "has a key that is not dtype, shape or data_offsets"
                                   : "has one key twice");
    *seen = true;
    if (seen == &tensor->has_shape)
        return read_shape(parser, tensor);
    if (seen == &tensor->has_offsets)
        return read_offsets(parser, tensor);
    if (!json_string(scan, &text, &text_bytes))
        return false;
    if (memchr(text, '\0', text_bytes) != NULL)
        return refuse(parser, ARRAY_FAULT_HEADER, tensor, "has a dtype with NUL in it");
    snprintf(tensor->dtype, sizeof tensor->dtype, "%.*s",
             (int)(text_bytes < sizeof tensor->dtype ? text_bytes : sizeof tensor->dtype), text);
    return true;
}

static bool read_tensor(Parser *parser, Tensor *tensor)
{
    JsonScan *scan = &parser->scan;
    if (!json_expect(scan, '{'))
        return false;
    if (!json_take(scan, '}')) {
        do {
            if (!read_member(parser, tensor))
                return false;
        } while (json_take(scan, ','));
        if (!json_expect(scan, '}'))
            return false;
    }
    if (!tensor->has_dtype || !tensor->has_shape || !tensor->has_offsets)
        return refuse(parser, ARRAY_FAULT_HEADER, tensor,
                      "lacks one of dtype, shape and data_offsets");
    return true;
}

/* Free text a tool left there; it has to be strings, and is not kept. */
static bool skip_metadata(Parser *parser)
{
    JsonScan *scan = &parser->scan;
    const char *text;
    size_t length;
    if (!json_expect(scan, '{'))
        return false;
    if (json_take(scan, '}'))
        return true;
    do {
        if (byte_source_is_cancelled(&parser->file->source, scan->error) ||
            !json_string(scan, &text, &length) || !json_expect(scan, ':') ||
            !json_string(scan, &text, &length))
            return false;
    } while (json_take(scan, ','));
    return json_expect(scan, '}');
}

/* The bytes a shape takes in a type of so many bits; false if that is no whole number below 2^63.
 */
static bool stated_bytes(const Tensor *tensor, uint32_t bits, uint64_t *bytes)
{
    uint64_t product = 1;
    *bytes = 0;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        if (tensor->shape[axis] == 0)
            return true;
    }
    for (uint32_t axis = 0; axis < tensor->rank; axis++) {
        if (__builtin_mul_overflow(product, tensor->shape[axis], &product))
            return false;
    }
    uint64_t rest_bits = product % 8 * bits;
    if (__builtin_mul_overflow(product / 8, bits, bytes) || *bytes > INT64_MAX - rest_bits)
        return false;
    *bytes += rest_bits / 8;
    return rest_bits % 8 == 0;
}

static bool check_offsets(Parser *parser, const Tensor *tensor)
{
    if (tensor->begin > tensor->end)
        return refuse(parser, ARRAY_FAULT_HEADER, tensor, "ends before it begins");
    if (tensor->end > parser->data_bytes) {
        return array_error_set(parser->scan.error, ARRAY_FAULT_TRUNCATED, parser->file->name,
                               "tensor '%.*s' ends at byte %" PRIu64
                               " of the data, which has %" PRIu64,
                               (int)(tensor->name_bytes < 80 ? tensor->name_bytes : 80),
                               tensor->name, tensor->end, parser->data_bytes);
    }
    return true;
}

static bool check_size(Parser *parser, const Tensor *tensor, uint32_t bits)
{
    uint64_t bytes;
    if (!stated_bytes(tensor, bits, &bytes))
        return refuse(parser, ARRAY_FAULT_OVERFLOW, tensor,
                      "has a shape of more than 2^63 bytes or of no whole number of bytes");
    if (bytes != tensor->end - tensor->begin)
        return refuse(parser, ARRAY_FAULT_HEADER, tensor,
                      "has offsets that disagree with its shape and dtype");
    return true;
}

static bool add_tensor(Parser *parser, const Tensor *tensor)
{
    ArrayFile *file = parser->file;
    size_t type = 0, types = sizeof TYPES / sizeof TYPES[0];
    while (type < types && strcmp(TYPES[type].name, tensor->dtype) != 0)
        type++;
    if (!check_offsets(parser, tensor))
        return false;
    if (type < types && !check_size(parser, tensor, TYPES[type].bits))
        return false;
    ArrayEntry *entry =
        reader_new_entry(file, tensor->name, tensor->name_bytes, parser->scan.error);
    if (entry == NULL)
        return false;
    ArrayInfo *info = &entry->info;
    snprintf(info->dtype_text, sizeof info->dtype_text, "%s", tensor->dtype);
    info->dtype = type < types ? TYPES[type].dtype : ARRAY_DTYPE_NONE;
    info->rank = tensor->rank;
    memcpy(info->shape, tensor->shape, sizeof info->shape);
    entry->data_offset = parser->data_begin + tensor->begin;
    entry->packed_bytes = tensor->end - tensor->begin; /* for the check for holes */
    if (info->dtype == ARRAY_DTYPE_NONE) {
        ArrayError problem;
        array_error_fill(&problem, ARRAY_FAULT_DTYPE, file->name,
                         "tensor '%.80s' holds elements of type '%s', which are not read",
                         info->name, info->dtype_text);
        if (!reader_set_problem(file, entry, &problem, parser->scan.error))
            return false;
    } else if (!reader_set_extents(file, entry, info->name, parser->scan.error)) {
        return false;
    }
    reader_commit_entry(file);
    return true;
}

static int compare_offsets(const void *a, const void *b)
{
    const ArrayEntry *left = a, *right = b;
    if (left->data_offset != right->data_offset)
        return left->data_offset < right->data_offset ? -1 : 1;
    return (left->packed_bytes > right->packed_bytes) - (left->packed_bytes < right->packed_bytes);
}

static int compare_names(const void *a, const void *b)
{
    const ArrayEntry *left = a, *right = b;
    return strcmp(left->info.name, right->info.name);
}

static bool check_order(Parser *parser, const void **sorted)
{
    uint32_t count = parser->file->count;
    const char *file = parser->file->name;
    if (!reader_sort(parser->file, sorted, count, compare_names, parser->scan.error))
        return false;
    for (uint32_t i = 1; i < count; i++) {
        const ArrayEntry *entry = sorted[i];
        if (compare_names(sorted[i - 1], entry) == 0)
            return array_error_set(parser->scan.error, ARRAY_FAULT_HEADER, file,
                                   "has two tensors named '%.80s'", entry->info.name);
    }
    if (!reader_sort(parser->file, sorted, count, compare_offsets, parser->scan.error))
        return false;
    uint64_t next = parser->data_begin;
    for (uint32_t i = 0; i < count; i++) {
        const ArrayEntry *entry = sorted[i];
        if (entry->data_offset != next)
            return array_error_set(
                parser->scan.error, ARRAY_FAULT_HEADER, file,
                "tensor '%.80s' begins at byte %" PRIu64 " of the data, wanted %" PRIu64 " (%s)",
                entry->info.name, entry->data_offset - parser->data_begin,
                next - parser->data_begin, entry->data_offset > next ? "a hole" : "an overlap");
        next += entry->packed_bytes;
    }
    uint64_t end = parser->data_begin + parser->data_bytes;
    if (next != end)
        return array_error_set(parser->scan.error, ARRAY_FAULT_TRAILING, file,
                               "has %" PRIu64 " bytes of data, its tensors take %" PRIu64,
                               parser->data_bytes, next - parser->data_begin);
    return true;
}

static bool check_layout(Parser *parser)
{
    uint32_t count = parser->file->count;
    const void **order = malloc((count + (size_t)1) * sizeof(const void *));
    if (order == NULL)
        return array_error_set(parser->scan.error, ARRAY_FAULT_MEMORY, parser->file->name,
                               "no memory for the list of its tensors");
    for (uint32_t i = 0; i < count; i++)
        order[i] = &parser->file->entries[i];
    bool good = check_order(parser, order);
    free(order);
    return good;
}

static bool read_header(Parser *parser)
{
    JsonScan *scan = &parser->scan;
    bool has_metadata = false;
    if (!json_expect(scan, '{'))
        return false;
    if (json_take(scan, '}'))
        return json_end(scan);
    do {
        Tensor tensor = {0};
        if (byte_source_is_cancelled(&parser->file->source, scan->error))
            return false;
        if (!json_string(scan, &tensor.name, &tensor.name_bytes) || !json_expect(scan, ':'))
            return false;
        if (tensor.name_bytes == 12 && memcmp(tensor.name, "__metadata__", 12) == 0) {
            if (has_metadata)
                return refuse(parser, ARRAY_FAULT_HEADER, &tensor, "is there twice");
            has_metadata = true;
            if (!skip_metadata(parser))
                return false;
            continue;
        }
        if (!read_tensor(parser, &tensor) || !add_tensor(parser, &tensor))
            return false;
    } while (json_take(scan, ','));
    return json_expect(scan, '}') && json_end(scan);
}

bool parse_safetensors(ArrayFile *file, ArrayError *error)
{
    uint8_t length_bytes[LENGTH_BYTES];
    file->format = ARRAY_FORMAT_SAFETENSORS;
    if (!byte_source_read(&file->source, 0, length_bytes, sizeof length_bytes, error))
        return false;
    uint64_t length = byte_load_u64le(length_bytes);
    uint64_t left = file->source.size_bytes - LENGTH_BYTES;
    if (length > READER_SAFETENSORS_HEADER_MAX) {
        return array_error_set(error, ARRAY_FAULT_LIMIT, file->name,
                               "safetensors header of %" PRIu64 " bytes, wanted at most %d", length,
                               READER_SAFETENSORS_HEADER_MAX);
    }
    if (length > left) {
        return array_error_set(error, ARRAY_FAULT_TRUNCATED, file->name,
                               "safetensors header of %" PRIu64 " bytes, %" PRIu64
                               " are left in the file",
                               length, left);
    }
    char *text = malloc((size_t)length + 1);
    if (text == NULL) {
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->name,
                               "no memory for a header of %" PRIu64 " bytes", length);
    }
    Parser parser = {.file = file,
                     .scan = {text, text, text + length, file->name, error, &file->source},
                     .data_begin = LENGTH_BYTES + length,
                     .data_bytes = left - length};
    bool good = byte_source_read(&file->source, LENGTH_BYTES, text, (size_t)length, error) &&
                read_header(&parser) && check_layout(&parser);
    free(text);
    return good;
}
