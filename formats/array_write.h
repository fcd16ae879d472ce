/* formats/array_write.h: writes .npy and PNG files.
 *
 * Who calls: applets and the command line. Thread rule: any thread; blocks on the disk. A file is
 * written beside its place under a name of its own, flushed to the disk and then renamed: a reader
 * sees the old file or the whole new one, and a failure leaves nothing behind. */
#ifndef FORMATS_ARRAY_WRITE_H
#define FORMATS_ARRAY_WRITE_H

#include "formats/array_types.h"

/* Writes packed row-major elements in host byte order as .npy version 1.0, little-endian. The
 * format has no bfloat16: bf16 is widened to f32, which is exact. */
bool array_write_npy(const char *path, ArrayDtype dtype, uint32_t rank, const uint64_t *shape,
                     const void *elements, ArrayError *error);

/* Writes an 8-bit RGBA picture, rows `stride_bytes` apart (0: packed), top row first. */
bool array_write_png_rgba8(const char *path, uint32_t width_px, uint32_t height_px,
                           size_t stride_bytes, const void *rgba, ArrayError *error);

#endif
