/* formats/npy_header.c: makes the header of a .npy file.
 *
 * Thread rule: any thread. */
#include "formats/npy_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    PREAMBLE_BYTES = 10,
    HEADER_ALIGN_BYTES = 64 /* so that the data is aligned when the file is mapped */
};

static const char *const DESCR[ARRAY_DTYPE_COUNT] = {
    [ARRAY_DTYPE_NONE] = "",   [ARRAY_DTYPE_F64] = "<f8",  [ARRAY_DTYPE_F32] = "<f4",
    [ARRAY_DTYPE_F16] = "<f2", [ARRAY_DTYPE_BF16] = "<f4", [ARRAY_DTYPE_I64] = "<i8",
    [ARRAY_DTYPE_I32] = "<i4", [ARRAY_DTYPE_I16] = "<i2",  [ARRAY_DTYPE_I8] = "|i1",
    [ARRAY_DTYPE_U64] = "<u8", [ARRAY_DTYPE_U32] = "<u4",  [ARRAY_DTYPE_U16] = "<u2",
    [ARRAY_DTYPE_U8] = "|u1",  [ARRAY_DTYPE_BOOL] = "|b1",
};

ArrayDtype npy_stored_dtype(ArrayDtype dtype)
{
    return dtype == ARRAY_DTYPE_BF16 ? ARRAY_DTYPE_F32 : dtype;
}

size_t npy_header_make(char header[NPY_HEADER_BYTES], ArrayDtype dtype, uint32_t rank,
                       const uint64_t *shape)
{
    static const uint8_t VERSION_1[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(header, VERSION_1, sizeof VERSION_1);
    size_t used = PREAMBLE_BYTES;
    used += (size_t)snprintf(header + used, NPY_HEADER_BYTES - used,
                             "{'descr': '%s', 'fortran_order': False, 'shape': (", DESCR[dtype]);
    for (uint32_t axis = 0; axis < rank; axis++)
        used += (size_t)snprintf(header + used, NPY_HEADER_BYTES - used, "%s%" PRIu64 "%s",
                                 axis > 0 ? " " : "", shape[axis],
                                 axis + 1 < rank || rank == 1 ? "," : "");
    used += (size_t)snprintf(header + used, NPY_HEADER_BYTES - used, "), }");
    while ((used + 1) % HEADER_ALIGN_BYTES != 0)
        header[used++] = ' ';
    header[used++] = '\n';
    header[8] = (char)((used - PREAMBLE_BYTES) & 0xff);
    header[9] = (char)((used - PREAMBLE_BYTES) >> 8);
    return used;
}
