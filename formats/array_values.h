/* formats/array_values.h: what stored values mean: explicit conversion to f32, exact text, and
 * statistics over a block or a whole array.
 *
 * Who calls: applets and the command line. Thread rule: any thread. Blocks are packed elements in
 * host byte order, as the readers hand them out, of any alignment. */
#ifndef FORMATS_ARRAY_VALUES_H
#define FORMATS_ARRAY_VALUES_H

#include "formats/array_file.h"

/* Converts `count` elements to binary32. Exact for f32, f16, bf16, i16, i8, u16, u8 and bool (0 and
 * 1); f64, i64, i32, u64 and u32 round to the nearest, ties to even, f64 beyond the range to an
 * infinity. False (and nothing written) for ARRAY_DTYPE_NONE. The blocks must not overlap. */
bool array_convert_to_f32(ArrayDtype dtype, const void *elements, float *out, size_t count);

/* One half or bfloat16, given as its bits, exactly. */
float array_f16_to_f32(uint16_t bits);
float array_bf16_to_f32(uint16_t bits);

/* Writes the stored value so that no other is written alike: integers as integers, floats as the
 * shortest decimal that reads back as the same number of their type (f16 and bf16: as the same
 * double), "nan", "inf", "-inf", "true", "false". It is the one speller of stored values. The
 * decimal point is a point in every locale. Returns `text`, which holds ARRAY_TEXT_BYTES; "" for
 * ARRAY_DTYPE_NONE. */
const char *array_value_text(ArrayDtype dtype, const void *element, char text[ARRAY_TEXT_BYTES]);

/* A number that keeps 64-bit integers whole. */
typedef enum ArrayNumberKind {
    ARRAY_NUMBER_KIND_NONE = 0, /* there is none: no finite element */
    ARRAY_NUMBER_KIND_I64,
    ARRAY_NUMBER_KIND_U64, /* also bool */
    ARRAY_NUMBER_KIND_F64
} ArrayNumberKind;

typedef struct ArrayNumber {
    ArrayNumberKind kind;
    union {
        int64_t i64;
        uint64_t u64;
        double f64;
    } value;
} ArrayNumber;

/* The nearest double; NaN for NONE. */
double array_number_to_f64(ArrayNumber number);
/* The same text as array_value_text would give for an element of `dtype`, except that bool is "0"
 * or "1"; "none" for NONE. Returns `text`. */
const char *array_number_text(ArrayNumber number, ArrayDtype dtype, char text[ARRAY_TEXT_BYTES]);

typedef struct ArrayStats {
    /* Over finite elements, exact. The zeros of both signs are one value: an end is -0 only where
     * no +0 is stored. (NumPy agrees where all zeros have one sign; where they are mixed, its
     * answer depends on their order and on the type.) */
    ArrayNumber min, max;
    uint64_t element_count; /* all that were seen */
    uint64_t nan_count;
    uint64_t infinite_count; /* of both signs */
} ArrayStats;

/* Adds a block to `stats`, which starts as all zeros and sees one dtype only. */
void array_stats_add(ArrayStats *stats, ArrayDtype dtype, const void *elements, size_t count);

/* Reads a whole array in blocks of 1 MiB and gathers its statistics. False on a read error or when
 * cancelled; `stats` then holds what was seen so far. */
bool array_file_statistics(ArrayFile *file, uint32_t array, const ArrayControl *control,
                           ArrayStats *stats, ArrayError *error);

#endif
