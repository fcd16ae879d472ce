/* formats/idx.c: IDX, the format of MNIST's files: two zero bytes, a type, a rank, then the shape
 * as big-endian 32-bit numbers and the elements, big-endian too. Raw bytes with a layout given by
 * the caller are here as well. Thread rule: as ArrayFile. */
#include "formats/reader.h"

#include <inttypes.h>
#include <stdio.h>

static ArrayDtype dtype_from_code(uint8_t code)
{
    switch (code) {
    case 0x08:
        return ARRAY_DTYPE_U8;
    case 0x09:
        return ARRAY_DTYPE_I8;
    case 0x0b:
        return ARRAY_DTYPE_I16;
    case 0x0c:
        return ARRAY_DTYPE_I32;
    case 0x0d:
        return ARRAY_DTYPE_F32;
    case 0x0e:
        return ARRAY_DTYPE_F64;
    default:
        return ARRAY_DTYPE_NONE;
    }
}

bool idx_has_signature(const uint8_t *bytes, size_t size_bytes)
{
    return size_bytes >= 4 && bytes[0] == 0 && bytes[1] == 0 &&
           dtype_from_code(bytes[2]) != ARRAY_DTYPE_NONE;
}

bool idx_read_header(ArrayFile *file, ArrayEntry *entry, HeaderReader *reader, ArrayError *error)
{
    ArrayInfo *info = &entry->info;
    uint8_t bytes[4];
    if (!header_fetch(reader, bytes, sizeof bytes, error))
        return false;
    info->dtype = dtype_from_code(bytes[2]);
    info->rank = bytes[3];
    info->big_endian = true;
    snprintf(info->dtype_text, sizeof info->dtype_text, "0x%02x", bytes[2]);
    if (info->rank > ARRAY_RANK_MAX) {
        return array_error_set(error, ARRAY_FAULT_LIMIT, file->name,
                               "IDX header states %u axes, wanted at most %d", info->rank,
                               ARRAY_RANK_MAX);
    }
    for (uint32_t axis = 0; axis < info->rank; axis++) {
        if (!header_fetch(reader, bytes, sizeof bytes, error))
            return false;
        info->shape[axis] = byte_load_u32be(bytes);
    }
    entry->data_offset = reader->consumed_bytes;
    return reader_set_extents(file, entry, "", error);
}

/* Four bytes are a weak signature, so the size has to be right to the byte. */
bool parse_idx(ArrayFile *file, ArrayError *error)
{
    ArrayEntry *entry = reader_new_entry(file, "", 0, error);
    HeaderReader reader = {.fetch = header_fetch_plain, .user = &file->source, .what = ""};
    file->format = ARRAY_FORMAT_IDX;
    if (entry == NULL || !idx_read_header(file, entry, &reader, error) ||
        !reader_check_in_file(file, entry, error))
        return false;
    if (file->source.size_bytes != entry->data_offset + entry->info.size_bytes) {
        return array_error_set(error, ARRAY_FAULT_TRAILING, file->name,
                               "has %" PRIu64 " bytes, its IDX header states %" PRIu64,
                               file->source.size_bytes,
                               entry->data_offset + entry->info.size_bytes);
    }
    reader_commit_entry(file);
    return true;
}

/* How many of what one step of the first axis takes the file holds after the offset. */
static bool rows_in_file(const ArrayFile *file, const ArrayRawLayout *layout, uint64_t *rows,
                         ArrayError *error)
{
    uint64_t row_bytes = array_dtype_size_bytes(layout->dtype);
    for (uint32_t axis = 1; axis < layout->rank; axis++) {
        if (layout->shape[axis] == 0 ||
            __builtin_mul_overflow(row_bytes, layout->shape[axis], &row_bytes))
            return array_error_set(error, ARRAY_FAULT_OVERFLOW, file->name,
                                   "raw layout whose rows have no size that can be counted");
    }
    uint64_t left = file->source.size_bytes > layout->offset_bytes
                        ? file->source.size_bytes - layout->offset_bytes
                        : 0;
    *rows = left / row_bytes;
    return true;
}

bool parse_raw(ArrayFile *file, const ArrayRawLayout *layout, ArrayError *error)
{
    ArrayEntry *entry = reader_new_entry(file, "", 0, error);
    if (entry == NULL)
        return false;
    file->format = ARRAY_FORMAT_RAW;
    if (array_dtype_size_bytes(layout->dtype) == 0 || layout->rank > ARRAY_RANK_MAX) {
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, file->name,
                               "raw layout of type %d and rank %u, wanted a known type and at "
                               "most %d axes",
                               (int)layout->dtype, layout->rank, ARRAY_RANK_MAX);
    }
    ArrayInfo *info = &entry->info;
    info->dtype = layout->dtype;
    info->big_endian = layout->big_endian;
    info->rank = layout->rank;
    for (uint32_t axis = 0; axis < layout->rank; axis++)
        info->shape[axis] = layout->shape[axis];
    snprintf(info->dtype_text, sizeof info->dtype_text, "%s", array_dtype_name(layout->dtype));
    entry->data_offset = layout->offset_bytes;
    if (layout->rows_from_size && layout->rank > 0 &&
        !rows_in_file(file, layout, &info->shape[0], error))
        return false;
    if (!reader_set_extents(file, entry, "", error) || !reader_check_in_file(file, entry, error))
        return false;
    reader_commit_entry(file);
    return true;
}
