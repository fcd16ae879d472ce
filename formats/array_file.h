/* formats/array_file.h: one reader for files that hold arrays: .npy, .npz, safetensors, MNIST-style
 * IDX (also gzipped, as .npy may be), PNG, and raw bytes whose shape the caller knows.
 *
 * Who calls: applets and the command line. Thread rule: any thread, one ArrayFile by one thread at
 * a time; every call may block on the disk, so never on the frame thread.
 *
 * The format is decided by content. Reading is by pread into owned memory: a file that shrinks is
 * an error, not a signal. Opening reads headers only. A slice reads what it needs (gaps of up to
 * 4 KiB between wanted bytes are read over). Memory:
 *   - headers: at most 32 times the file's size plus 1 MiB;
 *   - compressed arrays (gzip, deflated .npz, PNG) are unpacked whole, one at a time, on first use.
 *     Deflate holds at most 1032 bytes in one, so a header that states more than 1032 times the
 *     compressed size is refused; PNG expands a stored bit to at most 4 bytes, 32 times more. */
#ifndef FORMATS_ARRAY_FILE_H
#define FORMATS_ARRAY_FILE_H

#include "formats/array_types.h"

typedef struct ArrayFile ArrayFile;

typedef enum ArrayFormat {
    ARRAY_FORMAT_NONE = 0,
    ARRAY_FORMAT_NPY,
    ARRAY_FORMAT_NPZ,
    ARRAY_FORMAT_SAFETENSORS,
    ARRAY_FORMAT_IDX,
    ARRAY_FORMAT_PNG,
    ARRAY_FORMAT_RAW,
    ARRAY_FORMAT_COUNT
} ArrayFormat;

/* "npy", "npz", "safetensors", "idx", "png", "raw"; "none" for anything else. */
const char *array_format_name(ArrayFormat format);

/* Zero in any field, or a NULL pointer to it, means the default. */
typedef struct ArrayOpenOptions {
    uint64_t max_unpacked_bytes; /* largest array to unpack into memory; default 4 GiB */
    /* Asked while the file is opened and in every call on it until it is closed, on the calling
     * thread: before each system call that reads, and at least once a MiB. Where it answers true
     * the call ends with CANCELLED; what is asked after it answers false again is read. */
    bool (*cancel)(void *user);
    void *cancel_user;
} ArrayOpenOptions;

/* What is known of one array. Lives until the file is closed. */
typedef struct ArrayInfo {
    const char *name;    /* valid UTF-8, a NUL in it spelled \u0000; a .npz member without its
                          * ".npy"; "" in formats without */
    ArrayDtype dtype;    /* NONE when `problem` says why it cannot be read */
    char dtype_text[32]; /* as the file writes it: "<f4", "BF16", "u16" */
    uint32_t rank;       /* 0 for a scalar */
    uint64_t shape[ARRAY_RANK_MAX];
    uint64_t element_count;
    uint64_t size_bytes;      /* element_count times the element's size */
    bool fortran_order;       /* how it is stored; indexes are the same either way */
    bool big_endian;          /* how it is stored; readers hand out host order */
    bool compressed;          /* the first read unpacks all of it */
    bool last_axis_is_colour; /* true for PNG: rows, columns, channels */
    ArrayFault fault;         /* NONE, or the reason as a code */
    const char *problem;      /* NULL, or the one line that reading it will answer */
} ArrayInfo;

/* Opens a file of any of the formats but raw. NULL and `error` when it cannot be read. A container
 * opens if it is empty or holds at least one array; members that cannot be read carry `problem`. */
ArrayFile *array_file_open(const char *path, const ArrayOpenOptions *options, ArrayError *error);

/* The same from an open descriptor of a regular file or memfd (duplicated, the caller keeps its
 * own) and from memory (borrowed until close). `name` is for messages. */
ArrayFile *array_file_open_fd(int fd, const char *name, const ArrayOpenOptions *options,
                              ArrayError *error);
ArrayFile *array_file_open_memory(const void *bytes, size_t size_bytes, const char *name,
                                  const ArrayOpenOptions *options, ArrayError *error);

/* Raw bytes, row-major, from `offset_bytes` on; the file may go on after them. */
typedef struct ArrayRawLayout {
    ArrayDtype dtype;
    bool big_endian;
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
    uint64_t offset_bytes;
    bool rows_from_size; /* shape[0] is as many as the file holds whole */
} ArrayRawLayout;
ArrayFile *array_file_open_raw(const char *path, const ArrayRawLayout *layout,
                               const ArrayOpenOptions *options, ArrayError *error);

/* Closes, frees and NULLs; accepts NULL. */
void array_file_close(ArrayFile **file);

ArrayFormat array_file_format(const ArrayFile *file);
bool array_file_is_gzip(const ArrayFile *file);
uint64_t array_file_size_bytes(const ArrayFile *file); /* of the file itself, when opened */
uint32_t array_file_count(const ArrayFile *file);
const ArrayInfo *array_file_info(const ArrayFile *file, uint32_t array); /* NULL past the end */
int64_t array_file_find(const ArrayFile *file, const char *name); /* first of that name, or -1 */

/* A picture cut out of an array: one axis runs down, one across, perhaps one is colour; every other
 * axis stays at `index`. ARRAY_AXIS_NONE stands for an axis of extent 1 (scalars, vectors). */
enum { ARRAY_AXIS_NONE = -1 };
typedef struct ArraySlice {
    int row_axis;
    int col_axis;
    int channel_axis;
    uint64_t index[ARRAY_RANK_MAX];          /* read for the other axes only */
    uint64_t row_begin, row_count, row_step; /* count 0: to the end; step 0: 1 */
    uint64_t col_begin, col_count, col_step; /* a step takes every n-th, it does not average */
} ArraySlice;

/* What a slice gives: rows x cols x channels, packed, row-major. */
typedef struct ArraySliceShape {
    uint64_t rows, cols, channels;
    uint64_t size_bytes;
} ArraySliceShape;

/* The last two axes as rows and columns (the last three with colour for PNG), all others at 0. */
void array_slice_default(const ArrayInfo *info, ArraySlice *slice);

/* The size of a slice, or why it cannot be cut. No I/O. */
bool array_file_slice_shape(const ArrayFile *file, uint32_t array, const ArraySlice *slice,
                            ArraySliceShape *shape, ArrayError *error);

/* Reads a slice in its stored dtype and host byte order. `out_bytes` must be at least the slice's
 * size. On failure the content of `out` is unspecified. */
bool array_file_read_slice(ArrayFile *file, uint32_t array, const ArraySlice *slice, void *out,
                           size_t out_bytes, ArrayError *error);

/* The same, for large slices: `control` (may be NULL) is asked as the file's own cancel is, and
 * told the share done. The source is walked in the order it is stored, once, whatever the slice. */
bool array_file_read_slice_told(ArrayFile *file, uint32_t array, const ArraySlice *slice, void *out,
                                size_t out_bytes, const ArrayControl *control, ArrayError *error);

/* Reads the element at `index` (one number an axis) into `out`, at most 8 bytes. */
bool array_file_read_element(ArrayFile *file, uint32_t array, const uint64_t *index, void *out,
                             ArrayError *error);

/* Reads `count` elements from `first` on in the order they are stored. */
bool array_file_read_stored(ArrayFile *file, uint32_t array, uint64_t first, uint64_t count,
                            void *out, size_t out_bytes, ArrayError *error);

/* The same in row-major order, front to back, whatever the order they are stored in. A
 * Fortran-ordered array of up to 1 GiB is held in memory for it. */
typedef struct ArrayOrder ArrayOrder;
ArrayOrder *array_order_begin(ArrayFile *file, uint32_t array, ArrayError *error);
bool array_order_read(ArrayOrder *order, uint64_t count, void *out, size_t out_bytes,
                      ArrayError *error);
void array_order_end(ArrayOrder **order); /* NULLs, accepts NULL */

/* Unpacks a compressed array now, so that the reads after it are quick. Nothing to do for others.
 * The file keeps the array unpacked last. */
bool array_file_prepare(ArrayFile *file, uint32_t array, const ArrayControl *control,
                        ArrayError *error);

#endif
