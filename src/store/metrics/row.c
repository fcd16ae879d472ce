/* Sizes of rows, and whether foreign bytes are one: see row.h. Pure; any thread. */
#include "store/metrics/row.h"

/* No row is larger: keeps every sum below in range. */
#define ROW_MAX_BYTES (UINT64_C(1) << 40)

uint64_t row_payload_bytes(const Row *row)
{
    switch ((RowKind)row->kind) {
    case ROW_KIND_BEGIN:
    case ROW_KIND_TEXT:
        return row->value.count < 0 ? 0 : (uint64_t)row->value.count;
    case ROW_KIND_HISTOGRAM:
        return row->value.count < 0 ? 0 : (uint64_t)row->value.count * sizeof(float);
    case ROW_KIND_IMAGE:
        return (uint64_t)row->value.image.width * row->value.image.height * row->channels;
    default:
        return 0;
    }
}

uint64_t row_size_bytes(uint64_t text_bytes, uint64_t payload_bytes)
{
    if (text_bytes > UINT32_MAX || payload_bytes > ROW_MAX_BYTES)
        return 0;
    uint64_t size = ROW_HEADER_BYTES + text_bytes + payload_bytes;
    return (size + ROW_ALIGN_BYTES - 1) / ROW_ALIGN_BYTES * ROW_ALIGN_BYTES;
}

static bool kind_is_whole(const Row *row)
{
    switch ((RowKind)row->kind) {
    case ROW_KIND_BEGIN:
    case ROW_KIND_TEXT:
        return row->value.count >= 0 && (uint64_t)row->value.count <= ROW_MAX_BYTES;
    case ROW_KIND_HISTOGRAM:
        return row->value.count >= 0 && (uint64_t)row->value.count <= ROW_MAX_BYTES / sizeof(float);
    case ROW_KIND_IMAGE:
        return row->channels >= 1 && row->channels <= 4 && row->value.image.width >= 1 &&
               row->value.image.height >= 1 &&
               row->value.image.width <= ROW_MAX_BYTES / 4 / row->value.image.height;
    case ROW_KIND_DROPPED:
        return row->value.count > 0 && row->text_bytes == 0;
    case ROW_KIND_END:
        return row->text_bytes == 0;
    case ROW_KIND_SCALAR:
    case ROW_KIND_HPARAMS:
        return true;
    default:
        return false;
    }
}

bool row_check(const Row *row, uint64_t available_bytes, uint64_t *size_bytes)
{
    if (available_bytes < ROW_HEADER_BYTES)
        return false;
    uint64_t word = atomic_load_explicit(&row->size_and_state, memory_order_relaxed);
    if ((word & ((1u << ROW_STATE_BITS) - 1)) != ROW_STATE_READY || row->run == 0 ||
        row->run > INT64_MAX || !kind_is_whole(row))
        return false;
    *size_bytes = row_size_bytes(row->text_bytes, row_payload_bytes(row));
    return *size_bytes != 0 && *size_bytes == word >> ROW_STATE_BITS &&
           *size_bytes <= available_bytes;
}
