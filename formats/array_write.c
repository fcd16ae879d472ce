/* formats/array_write.c: writes .npy version 1.0.
 *
 * Thread rule: any thread. */
#include "formats/array_write.h"

#include "formats/array_values.h"
#include "formats/write_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PREAMBLE_BYTES = 10,
    HEADER_ALIGN_BYTES = 64, /* so that the data is aligned when the file is mapped */
    HEADER_BYTES = 1024,     /* 32 numbers of at most 19 digits and the rest */
    BLOCK_ELEMENTS = 16384
};

static const char *descr_of(ArrayDtype dtype)
{
    switch (dtype) {
    case ARRAY_DTYPE_F64:
        return "<f8";
    case ARRAY_DTYPE_F32:
    case ARRAY_DTYPE_BF16: /* widened */
        return "<f4";
    case ARRAY_DTYPE_F16:
        return "<f2";
    case ARRAY_DTYPE_I64:
        return "<i8";
    case ARRAY_DTYPE_I32:
        return "<i4";
    case ARRAY_DTYPE_I16:
        return "<i2";
    case ARRAY_DTYPE_I8:
        return "|i1";
    case ARRAY_DTYPE_U64:
        return "<u8";
    case ARRAY_DTYPE_U32:
        return "<u4";
    case ARRAY_DTYPE_U16:
        return "<u2";
    case ARRAY_DTYPE_U8:
        return "|u1";
    case ARRAY_DTYPE_BOOL:
        return "|b1";
    case ARRAY_DTYPE_NONE:
    case ARRAY_DTYPE_COUNT:
        break;
    }
    return NULL;
}

/* Returns the header's whole size. */
static size_t make_header(char header[HEADER_BYTES], const char *descr, uint32_t rank,
                          const uint64_t *shape)
{
    static const uint8_t VERSION_1[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(header, VERSION_1, sizeof VERSION_1);
    size_t used = PREAMBLE_BYTES;
    used += (size_t)snprintf(header + used, HEADER_BYTES - used,
                             "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (uint32_t axis = 0; axis < rank; axis++)
        used += (size_t)snprintf(header + used, HEADER_BYTES - used, "%s%" PRIu64 "%s",
                                 axis > 0 ? " " : "", shape[axis],
                                 axis + 1 < rank || rank == 1 ? "," : "");
    used += (size_t)snprintf(header + used, HEADER_BYTES - used, "), }");
    while ((used + 1) % HEADER_ALIGN_BYTES != 0)
        header[used++] = ' ';
    header[used++] = '\n';
    header[8] = (char)((used - PREAMBLE_BYTES) & 0xff);
    header[9] = (char)((used - PREAMBLE_BYTES) >> 8);
    return used;
}

static bool count_elements(const char *path, ArrayDtype dtype, uint32_t rank, const uint64_t *shape,
                           size_t *count, ArrayError *error)
{
    uint64_t product = 1;
    bool empty = false;
    for (uint32_t axis = 0; axis < rank; axis++)
        empty = empty || shape[axis] == 0;
    uint64_t most = (uint64_t)PTRDIFF_MAX / array_dtype_size_bytes(dtype);
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (shape[axis] > INT64_MAX || (!empty && product > most / shape[axis]))
            return array_error_set(error, ARRAY_FAULT_OVERFLOW, path,
                                   "shape of more bytes than memory can have");
        product *= empty ? 1 : shape[axis];
    }
    *count = empty ? 0 : (size_t)product;
    return true;
}

/* Big-endian hosts would have to swap; none is supported, and this says so when one is built. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "array_write_npy writes host order");

static bool append_elements(WriteFile *file, ArrayDtype dtype, const void *elements, size_t count,
                            ArrayError *error)
{
    if (dtype != ARRAY_DTYPE_BF16)
        return write_file_append(file, elements, count * array_dtype_size_bytes(dtype), error);
    float *wide = malloc(BLOCK_ELEMENTS * sizeof *wide);
    if (wide == NULL)
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->path, "no memory to widen bf16");
    bool good = true;
    for (size_t done = 0; good && done < count;) {
        size_t step = count - done < BLOCK_ELEMENTS ? count - done : (size_t)BLOCK_ELEMENTS;
        array_convert_to_f32(dtype, (const uint8_t *)elements + done * 2, wide, step);
        good = write_file_append(file, wide, step * sizeof *wide, error);
        done += step;
    }
    free(wide);
    return good;
}

bool array_write_npy(const char *path, ArrayDtype dtype, uint32_t rank, const uint64_t *shape,
                     const void *elements, ArrayError *error)
{
    const char *descr = descr_of(dtype);
    size_t count;
    if (descr == NULL || rank > ARRAY_RANK_MAX)
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, path,
                               "asked to write type %d with %u axes, wanted a known type and at "
                               "most %d",
                               (int)dtype, rank, ARRAY_RANK_MAX);
    if (!count_elements(path, dtype, rank, shape, &count, error))
        return false;
    char header[HEADER_BYTES];
    size_t header_bytes = make_header(header, descr, rank, shape);
    WriteFile file;
    if (!write_file_begin(&file, path, error))
        return false;
    if (!write_file_append(&file, header, header_bytes, error) ||
        !append_elements(&file, dtype, elements, count, error)) {
        write_file_cancel(&file);
        return false;
    }
    return write_file_commit(&file, error);
}
