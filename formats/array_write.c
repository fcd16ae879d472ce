/* formats/array_write.c: writes .npy version 1.0.
 *
 * Thread rule: any thread. */
#include "formats/array_write.h"

#include "formats/array_values.h"
#include "formats/npy_header.h"
#include "formats/write_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ELEMENTS = 16384 };

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
    size_t count;
    if (array_dtype_size_bytes(dtype) == 0 || rank > ARRAY_RANK_MAX)
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, path,
                               "asked to write type %d with %u axes, wanted a known type and at "
                               "most %d",
                               (int)dtype, rank, ARRAY_RANK_MAX);
    if (!count_elements(path, dtype, rank, shape, &count, error))
        return false;
    char header[NPY_HEADER_BYTES];
    size_t header_bytes = npy_header_make(header, dtype, rank, shape);
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
