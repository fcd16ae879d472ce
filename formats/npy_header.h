/* formats/npy_header.h: the header of a .npy file to be written, and what its elements become.
 *
 * Only files of formats/ include it. Thread rule: any thread, no state. */
#ifndef FORMATS_NPY_HEADER_H
#define FORMATS_NPY_HEADER_H

#include "formats/array_types.h"

enum { NPY_HEADER_BYTES = 1024 }; /* 32 numbers of at most 19 digits and the rest */

/* The type that is written for one: bf16, which .npy has not, is widened to f32; else itself. */
ArrayDtype npy_stored_dtype(ArrayDtype dtype);

/* Writes a version 1.0 header, padded so that the data behind it is aligned; returns its size. */
size_t npy_header_make(char header[NPY_HEADER_BYTES], ArrayDtype dtype, uint32_t rank,
                       const uint64_t *shape);

#endif
