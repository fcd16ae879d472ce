/* tensorscope/text.c: see text.h. Pure; any thread. */
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/printable.h"

/* Appends; what does not fit is cut. */
static void append(char *text, size_t size, const char *piece)
{
    size_t used = strlen(text);
    if (used + 1 < size) {
        snprintf(text + used, size - used, "%s", piece);
    }
}

const char *text_shape(const SourceArray *array, char *text, size_t size)
{
    char number[32];
    text[0] = '\0';
    if (array->rank == 0) {
        append(text, size, "scalar");
    }
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        snprintf(number, sizeof(number), "%s%" PRIu64, axis > 0 ? " \u00d7 " : "",
                 array->shape[axis]);
        append(text, size, number);
    }
    return text;
}

const char *text_size(uint64_t size_bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)size_bytes;
    int unit = 0;
    while (value >= 999.95 && unit < 6) {
        value /= 1000.0;
        unit++;
    }
    snprintf(text, size, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

const char *text_count(uint64_t count, char *text, size_t size)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    text[0] = '\0';
    for (int i = 0; i < length; i++) {
        char piece[3] = {digits[i], '\0', '\0'};
        if ((length - i) % 3 == 1 && i + 1 < length && length > 4) {
            piece[1] = ' ';
        }
        append(text, size, piece);
    }
    return text;
}

const char *text_index(const SourceArray *array, const uint64_t index[ARRAY_RANK_MAX], char *text,
                       size_t size)
{
    char number[32];
    snprintf(text, size, "[");
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        snprintf(number, sizeof(number), "%s%" PRIu64, axis > 0 ? ", " : "", index[axis]);
        append(text, size, number);
    }
    append(text, size, "]");
    return text;
}

const char *text_slice(const SourceArray *array, const AxisChoice *axes, char *text, size_t size)
{
    char piece[32];
    snprintf(text, size, "[");
    for (int axis = 0; axis < (int)array->rank; axis++) {
        append(text, size, axis > 0 ? ", " : "");
        if (axis == axes->row || axis == axes->col || axis == axes->colour) {
            append(text, size, ":");
        } else if (axes->tiled && axis == axes->tile) {
            snprintf(piece, sizeof(piece), "%" PRIu64 ":", axes->index[axis]);
            append(text, size, piece);
        } else {
            snprintf(piece, sizeof(piece), "%" PRIu64, axes->index[axis]);
            append(text, size, piece);
        }
    }
    append(text, size, "]");
    return text;
}

const char *text_conversion(ArrayDtype dtype, bool colour)
{
    switch (dtype) {
    case ARRAY_DTYPE_F64:
        return colour ? "f64 in [0, 1] \u2192 u8 (nearest, clamped)" : "f64 \u2192 f32 (nearest)";
    case ARRAY_DTYPE_F32:
        return colour ? "f32 in [0, 1] \u2192 u8 (nearest, clamped)" : "f32, as stored";
    case ARRAY_DTYPE_F16:
        return colour ? "f16 in [0, 1] \u2192 u8 (nearest, clamped)" : "f16 \u2192 f32 (exact)";
    case ARRAY_DTYPE_BF16:
        return colour ? "bf16 in [0, 1] \u2192 u8 (nearest, clamped)" : "bf16 \u2192 f32 (exact)";
    case ARRAY_DTYPE_I64:
        return "i64 \u2192 f32 (nearest)";
    case ARRAY_DTYPE_I32:
        return "i32 \u2192 f32 (nearest)";
    case ARRAY_DTYPE_I16:
        return "i16 \u2192 f32 (exact)";
    case ARRAY_DTYPE_I8:
        return "i8 \u2192 f32 (exact)";
    case ARRAY_DTYPE_U64:
        return "u64 \u2192 f32 (nearest)";
    case ARRAY_DTYPE_U32:
        return "u32 \u2192 f32 (nearest)";
    case ARRAY_DTYPE_U16:
        return colour ? "u16 \u2192 u8 (nearest of v / 257)" : "u16 \u2192 f32 (exact)";
    case ARRAY_DTYPE_U8:
        return colour ? "u8, shown as colour as it is" : "u8 \u2192 f32 (exact)";
    case ARRAY_DTYPE_BOOL:
        return "bool \u2192 f32 (0 or 1)";
    default:
        return "";
    }
}

const char *text_storage(const Source *source, const SourceArray *array, char *text, size_t size)
{
    char bytes[32];
    text[0] = '\0';
    append(text, size, array->problem != NULL ? array->dtype_text : array_dtype_name(array->dtype));
    append(text, size, ", ");
    append(text, size, text_size(array->size_bytes, bytes, sizeof(bytes)));
    append(text, size, ", ");
    append(text, size, array_format_name(source->format));
    if (source->gzip) {
        append(text, size, ", gzip");
    } else if (array->compressed) {
        append(text, size, ", compressed");
    }
    if (array_dtype_size_bytes(array->dtype) > 1) {
        append(text, size, array->big_endian ? ", big-endian" : "");
    }
    if (array->fortran_order && array->rank > 1) {
        append(text, size, ", Fortran order");
    }
    return text;
}

const char *text_advice(ArrayFault fault)
{
    switch (fault) {
    case ARRAY_FAULT_OPEN:
        return "Look at the path and at who may read the file.";
    case ARRAY_FAULT_READ:
        return "The disk or network answered with an error: try to read the file again.";
    case ARRAY_FAULT_FORMAT:
        return "Readable are .npy, .npz, safetensors, IDX (also .gz) and PNG; what its bytes are "
               "can "
               "be said below.";
    case ARRAY_FAULT_TRUNCATED:
        return "The file is not whole: was it still being written? Copy or write it again.";
    case ARRAY_FAULT_HEADER:
    case ARRAY_FAULT_TRAILING:
    case ARRAY_FAULT_OVERFLOW:
    case ARRAY_FAULT_COMPRESSED:
    case ARRAY_FAULT_RATIO:
        return "The file is damaged or was not written by the rules: write it again.";
    case ARRAY_FAULT_DTYPE:
        return "Save the array as floats, integers or bool.";
    case ARRAY_FAULT_LIMIT:
    case ARRAY_FAULT_MEMORY:
        return "Save a smaller part of the array, or save it uncompressed.";
    default:
        return "";
    }
}

/* What the host draws (docs/reference/widgets.md): of the ranges that it asks for, the characters
 * that both Inter and what stands in for it have. A test holds this against the fonts. */
static bool has_glyph(uint32_t code)
{
    static const uint32_t drawn[][2] = {
        {0x0020, 0x0148}, {0x014a, 0x017f}, {0x0384, 0x038a}, {0x038c, 0x038c}, {0x038e, 0x03a1},
        {0x03a3, 0x03ce}, {0x03d1, 0x03d1}, {0x03d5, 0x03d5}, {0x03f5, 0x03f5}, {0x0400, 0x045f},
        {0x2010, 0x2027}, {0x2030, 0x203a}, {0x2070, 0x2071}, {0x2074, 0x208e}, {0x2090, 0x2094},
        {0x20ac, 0x20ac}, {0x2190, 0x2199}, {0x2200, 0x2203}, {0x2205, 0x2206}, {0x2208, 0x2209},
        {0x220b, 0x220c}, {0x220e, 0x2212}, {0x2215, 0x2215}, {0x2218, 0x221a}, {0x221e, 0x221e},
        {0x2223, 0x2223}, {0x2225, 0x2225}, {0x2227, 0x222b}, {0x2236, 0x2239}, {0x223c, 0x223c},
        {0x2243, 0x2243}, {0x2245, 0x2245}, {0x2247, 0x2249}, {0x224b, 0x224b}, {0x2254, 0x2254},
        {0x2257, 0x2257}, {0x225f, 0x2262}, {0x2264, 0x2265}, {0xfffd, 0xfffd}};
    for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
        if (code >= drawn[i][0] && code <= drawn[i][1]) {
            return true;
        }
    }
    return false;
}

const char *text_name(const char *name, char *text, size_t size)
{
    return printable_text_in(name, has_glyph, text, size);
}

double text_nice_step(double value)
{
    if (!(value > 0.0) || !isfinite(value)) {
        return 1.0;
    }
    double power = pow(10.0, floor(log10(value)));
    double share = value / power;
    double nice = share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0;
    return nice * power;
}
