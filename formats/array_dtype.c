/* formats/array_dtype.c: names and sizes of element types, formats and faults.
 *
 * Thread rule: any thread; constant tables only. */
#include "formats/array_file.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size_bytes;
} DTYPES[ARRAY_DTYPE_COUNT] = {
    [ARRAY_DTYPE_NONE] = {"none", 0}, [ARRAY_DTYPE_F64] = {"f64", 8},
    [ARRAY_DTYPE_F32] = {"f32", 4},   [ARRAY_DTYPE_F16] = {"f16", 2},
    [ARRAY_DTYPE_BF16] = {"bf16", 2}, [ARRAY_DTYPE_I64] = {"i64", 8},
    [ARRAY_DTYPE_I32] = {"i32", 4},   [ARRAY_DTYPE_I16] = {"i16", 2},
    [ARRAY_DTYPE_I8] = {"i8", 1},     [ARRAY_DTYPE_U64] = {"u64", 8},
    [ARRAY_DTYPE_U32] = {"u32", 4},   [ARRAY_DTYPE_U16] = {"u16", 2},
    [ARRAY_DTYPE_U8] = {"u8", 1},     [ARRAY_DTYPE_BOOL] = {"bool", 1},
};

static const char *const FORMAT_NAMES[ARRAY_FORMAT_COUNT] = {
    [ARRAY_FORMAT_NONE] = "none", [ARRAY_FORMAT_NPY] = "npy",
    [ARRAY_FORMAT_NPZ] = "npz",   [ARRAY_FORMAT_SAFETENSORS] = "safetensors",
    [ARRAY_FORMAT_IDX] = "idx",   [ARRAY_FORMAT_PNG] = "png",
    [ARRAY_FORMAT_RAW] = "raw",
};

static const char *const FAULT_NAMES[ARRAY_FAULT_COUNT] = {
    [ARRAY_FAULT_NONE] = "none",
    [ARRAY_FAULT_ARGUMENT] = "argument",
    [ARRAY_FAULT_OPEN] = "open",
    [ARRAY_FAULT_READ] = "read",
    [ARRAY_FAULT_WRITE] = "write",
    [ARRAY_FAULT_FORMAT] = "format",
    [ARRAY_FAULT_HEADER] = "header",
    [ARRAY_FAULT_TRUNCATED] = "truncated",
    [ARRAY_FAULT_TRAILING] = "trailing",
    [ARRAY_FAULT_OVERFLOW] = "overflow",
    [ARRAY_FAULT_LIMIT] = "limit",
    [ARRAY_FAULT_DTYPE] = "dtype",
    [ARRAY_FAULT_COMPRESSED] = "compressed",
    [ARRAY_FAULT_RATIO] = "ratio",
    [ARRAY_FAULT_CANCELLED] = "cancelled",
    [ARRAY_FAULT_MEMORY] = "memory",
    [ARRAY_FAULT_EXISTS] = "exists",
    [ARRAY_FAULT_UNFIT] = "unfit",
};

const char *array_dtype_name(ArrayDtype dtype)
{
    bool known = (int)dtype >= 0 && dtype < ARRAY_DTYPE_COUNT;
    return DTYPES[known ? dtype : ARRAY_DTYPE_NONE].name;
}

ArrayDtype array_dtype_from_name(const char *name)
{
    for (int i = ARRAY_DTYPE_NONE + 1; name != NULL && i < ARRAY_DTYPE_COUNT; i++) {
        if (strcmp(DTYPES[i].name, name) == 0)
            return (ArrayDtype)i;
    }
    return ARRAY_DTYPE_NONE;
}

size_t array_dtype_size_bytes(ArrayDtype dtype)
{
    bool known = (int)dtype >= 0 && dtype < ARRAY_DTYPE_COUNT;
    return DTYPES[known ? dtype : ARRAY_DTYPE_NONE].size_bytes;
}

const char *array_format_name(ArrayFormat format)
{
    bool known = (int)format >= 0 && format < ARRAY_FORMAT_COUNT;
    return FORMAT_NAMES[known ? format : ARRAY_FORMAT_NONE];
}

const char *array_fault_name(ArrayFault fault)
{
    bool known = (int)fault >= 0 && fault < ARRAY_FAULT_COUNT;
    return FAULT_NAMES[known ? fault : ARRAY_FAULT_NONE];
}
