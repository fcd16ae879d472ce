/* formats/array_save.h: writes whole array files of any format, a piece at a time, so that an array
 * of any size passes through a small buffer.
 *
 * Who calls: applets and the command line. Thread rule: one ArraySave by one thread; every call may
 * block on the disk. The file is written beside its place and put there when it is whole; a failure
 * leaves nothing behind. What a format cannot hold without a loss is refused before a byte is
 * written (UNFIT), with the reason. */
#ifndef FORMATS_ARRAY_SAVE_H
#define FORMATS_ARRAY_SAVE_H

#include "formats/array_file.h"

typedef struct ArraySaveItem {
    const char *name; /* valid UTF-8; "" where the format has none */
    ArrayDtype dtype;
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
} ArraySaveItem;

typedef struct ArraySave ArraySave;

/* The format that a file name asks for: .npy, .npz, .safetensors, .idx (or ...-idx3-ubyte), .png,
 * .raw or .bin; NONE for others. */
ArrayFormat array_save_format(const char *path);

/* False and `error` where the format cannot hold these arrays:
 *   npy, raw, idx, png: one array; png: u8 or u16, rows x columns or rows x columns x 1 to 4; idx:
 *   u8 i8 i16 i32 f32 f64, extents below 2^32; npz, safetensors: no name twice. bf16 is widened to
 *   f32, exactly, in npy and npz. */
bool array_save_fits(const char *path, ArrayFormat format, const ArraySaveItem *items,
                     uint32_t count, ArrayError *error);

/* Begins a file. `replace` false: nothing that has that name is touched (EXISTS). The items are
 * copied but for their names, which live until commit or cancel. */
ArraySave *array_save_begin(const char *path, ArrayFormat format, const ArraySaveItem *items,
                            uint32_t count, bool replace, ArrayError *error);
/* The next `element_count` elements, packed, row-major, host byte order, of any alignment. The
 * arrays come one after another; a piece holds elements of one array alone. */
bool array_save_append(ArraySave *save, const void *elements, size_t element_count,
                       ArrayError *error);
/* Brings what was appended so far to the disk, a MiB at a time, so that the commit, which cannot be
 * stopped, has little to wait for. `control` (may be NULL) is asked between; false: CANCELLED. */
bool array_save_flush(ArraySave *save, const ArrayControl *control, ArrayError *error);
/* Puts the file in its place once every element was appended. Frees and NULLs, also on failure. */
bool array_save_commit(ArraySave **save, ArrayError *error);
/* Leaves nothing behind; frees and NULLs, accepts NULL. */
void array_save_cancel(ArraySave **save);

#endif
