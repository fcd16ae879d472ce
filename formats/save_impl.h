/* formats/save_impl.h: what is behind an ArraySave, shared by the writers of the formats.
 *
 * Only files of formats/ include it. A writer trusts what array_save_fits has let through. Thread
 * rule: one ArraySave by one thread. */
#ifndef FORMATS_SAVE_IMPL_H
#define FORMATS_SAVE_IMPL_H

#include "formats/array_save.h"
#include "formats/write_file.h"

typedef struct SavePng SavePng;

typedef struct SaveItem {
    ArraySaveItem item;
    uint64_t element_count, size_bytes; /* as stored: bf16 in .npy has 4 bytes an element */
    ArrayDtype stored;
    uint64_t header_offset; /* of its place in a zip archive */
    uint32_t crc32;
} SaveItem;

struct ArraySave {
    WriteFile file;
    char *path;
    ArrayFormat format;
    SaveItem *items;
    uint32_t count;
    uint32_t current;        /* the array that is being written */
    uint64_t current_done;   /* elements of it */
    uint64_t position_bytes; /* in the file */
    uint8_t *scratch;        /* SAVE_SCRATCH_BYTES, to swap or widen */
    SavePng *png;
};

enum { SAVE_SCRATCH_BYTES = 64 * 1024 };

/* What an array is called in a container: its name, or where it has none NumPy's arr_0. */
const char *save_name(ArrayFormat format, const ArraySaveItem *item);
/* Appends and counts. */
bool save_bytes(ArraySave *save, const void *bytes, size_t size_bytes, ArrayError *error);

/* .npz: one member's headers, its checksum afterwards, the directory at the end. */
bool save_npz_member(ArraySave *save, SaveItem *item, ArrayError *error);
bool save_npz_member_end(ArraySave *save, const SaveItem *item, ArrayError *error);
bool save_npz_end(ArraySave *save, ArrayError *error);
/* The whole header of a safetensors file. */
bool save_safetensors_header(ArraySave *save, ArrayError *error);
bool save_idx_header(ArraySave *save, ArrayError *error);
/* PNG takes elements as they come and makes rows of them. */
bool save_png_begin(ArraySave *save, ArrayError *error);
bool save_png_append(ArraySave *save, const uint8_t *bytes, size_t size_bytes, ArrayError *error);
bool save_png_end(ArraySave *save, ArrayError *error);
void save_png_free(ArraySave *save);

#endif
