/* formats/save_npz.c: .npz to be written: a zip archive whose members are stored, so that a slice
 * of one can be read without unpacking it. Thread rule: one ArraySave by one thread. */
#include "formats/save_impl.h"

#include "formats/npy_header.h"

#include <string.h>
#include <zlib.h>

enum {
    VERSION_PLAIN = 20,
    VERSION_ZIP64 = 45,
    FLAG_UTF8 = 0x0800,
    DATE_1980 = 0x21, /* the first day zip knows: the same arrays give the same bytes */
    LOCAL_BYTES = 30,
    LOCAL_CRC_AT = 14,
    CENTRAL_BYTES = 46,
    EXTRA64_BYTES = 28, /* with its head: both sizes and an offset */
    EXTRA64_LOCAL_BYTES = 20,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR64_BYTES = 20,
    SIGNATURE_LOCAL = 0x04034b50, /* "PK\3\4", and so on */
    SIGNATURE_CENTRAL = 0x02014b50,
    SIGNATURE_END = 0x06054b50,
    SIGNATURE_END64 = 0x06064b50,
    SIGNATURE_LOCATOR64 = 0x07064b50
};

static uint8_t *put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    return put16(put16(at, value & 0xffff), value >> 16);
}

static uint8_t *put64(uint8_t *at, uint64_t value)
{
    return put32(put32(at, (uint32_t)value), (uint32_t)(value >> 32));
}

static uint64_t member_bytes(const SaveItem *item)
{
    char header[NPY_HEADER_BYTES];
    return npy_header_make(header, item->item.dtype, item->item.rank, item->item.shape) +
           item->size_bytes;
}

static bool is_large(uint64_t size_bytes)
{
    return size_bytes >= UINT32_MAX;
}

bool save_npz_member(ArraySave *save, SaveItem *item, ArrayError *error)
{
    uint8_t local[LOCAL_BYTES + EXTRA64_LOCAL_BYTES];
    char header[NPY_HEADER_BYTES];
    const char *name = save_name(ARRAY_FORMAT_NPZ, &item->item);
    uint64_t size_bytes = member_bytes(item);
    bool large = is_large(size_bytes);
    item->header_offset = save->position_bytes;
    uint8_t *at = put16(put32(local, SIGNATURE_LOCAL), large ? VERSION_ZIP64 : VERSION_PLAIN);
    at = put16(put16(at, FLAG_UTF8), 0); /* method: stored */
    at = put16(put16(at, 0), DATE_1980);
    at = put32(at, 0); /* the checksum comes when all of it was seen */
    at = put32(at, large ? UINT32_MAX : (uint32_t)size_bytes);
    at = put32(at, large ? UINT32_MAX : (uint32_t)size_bytes);
    at = put16(at, (uint32_t)strlen(name) + 4);
    put16(at, large ? EXTRA64_LOCAL_BYTES : 0);
    uint8_t *extra = put16(put16(local + LOCAL_BYTES, 1), EXTRA64_LOCAL_BYTES - 4);
    put64(put64(extra, size_bytes), size_bytes);
    size_t header_bytes =
        npy_header_make(header, item->item.dtype, item->item.rank, item->item.shape);
    item->crc32 = (uint32_t)crc32(crc32(0, NULL, 0), (const uint8_t *)header, (uInt)header_bytes);
    return save_bytes(save, local, LOCAL_BYTES, error) &&
           save_bytes(save, name, strlen(name), error) && save_bytes(save, ".npy", 4, error) &&
           (!large || save_bytes(save, local + LOCAL_BYTES, EXTRA64_LOCAL_BYTES, error)) &&
           save_bytes(save, header, header_bytes, error);
}

bool save_npz_member_end(ArraySave *save, const SaveItem *item, ArrayError *error)
{
    uint8_t bytes[4];
    put32(bytes, item->crc32);
    return write_file_patch(&save->file, item->header_offset + LOCAL_CRC_AT, bytes, sizeof bytes,
                            error);
}

static bool save_central(ArraySave *save, const SaveItem *item, ArrayError *error)
{
    uint8_t central[CENTRAL_BYTES + EXTRA64_BYTES];
    const char *name = save_name(ARRAY_FORMAT_NPZ, &item->item);
    uint64_t size_bytes = member_bytes(item);
    bool large = is_large(size_bytes) || is_large(item->header_offset);
    uint8_t *at = put16(put32(central, SIGNATURE_CENTRAL), large ? VERSION_ZIP64 : VERSION_PLAIN);
    at = put16(at, large ? VERSION_ZIP64 : VERSION_PLAIN);
    at = put16(put16(at, FLAG_UTF8), 0);
    at = put16(put16(at, 0), DATE_1980);
    at = put32(at, item->crc32);
    at = put32(at, large ? UINT32_MAX : (uint32_t)size_bytes);
    at = put32(at, large ? UINT32_MAX : (uint32_t)size_bytes);
    at = put16(at, (uint32_t)strlen(name) + 4);
    at = put16(at, large ? EXTRA64_BYTES : 0);
    at = put16(put16(put16(at, 0), 0), 0); /* no comment, first disk, no attributes */
    at = put32(at, 0);
    put32(at, large ? UINT32_MAX : (uint32_t)item->header_offset);
    uint8_t *extra = put16(put16(central + CENTRAL_BYTES, 1), EXTRA64_BYTES - 4);
    put64(put64(put64(extra, size_bytes), size_bytes), item->header_offset);
    return save_bytes(save, central, CENTRAL_BYTES, error) &&
           save_bytes(save, name, strlen(name), error) && save_bytes(save, ".npy", 4, error) &&
           (!large || save_bytes(save, central + CENTRAL_BYTES, EXTRA64_BYTES, error));
}

bool save_npz_end(ArraySave *save, ArrayError *error)
{
    uint8_t end[END64_BYTES + LOCATOR64_BYTES + END_BYTES];
    uint64_t begin = save->position_bytes;
    for (uint32_t i = 0; i < save->count; i++) {
        if (!save_central(save, &save->items[i], error))
            return false;
    }
    uint64_t end64_at = save->position_bytes, size_bytes = end64_at - begin;
    bool large = is_large(begin) || is_large(size_bytes) || save->count >= UINT16_MAX;
    uint8_t *at = put64(put32(end, SIGNATURE_END64), END64_BYTES - 12);
    at = put16(put16(at, VERSION_ZIP64), VERSION_ZIP64);
    at = put32(put32(at, 0), 0);
    at = put64(put64(at, save->count), save->count);
    at = put64(put64(at, size_bytes), begin);
    at = put32(put64(put32(put32(at, SIGNATURE_LOCATOR64), 0), end64_at), 1);
    uint8_t *plain = at;
    at = put16(put16(put32(at, SIGNATURE_END), 0), 0);
    at = put16(at, large ? UINT16_MAX : save->count);
    at = put16(at, large ? UINT16_MAX : save->count);
    at = put32(at, large ? UINT32_MAX : (uint32_t)size_bytes);
    at = put32(at, large ? UINT32_MAX : (uint32_t)begin);
    put16(at, 0);
    return large ? save_bytes(save, end, sizeof end, error)
                 : save_bytes(save, plain, END_BYTES, error);
}
