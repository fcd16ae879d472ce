/* formats/reader.h: what is behind an ArrayFile, shared by the parsers of the formats.
 *
 * Only files of formats/ include it. A parser looks at the source's bytes and adds entries; it
 * trusts nothing it reads. Thread rule: one ArrayFile by one thread at a time. */
#ifndef FORMATS_READER_H
#define FORMATS_READER_H

#include "formats/array_file.h"
#include "formats/byte_source.h"

enum {
    READER_NPY_HEADER_MAX = 1 << 20,   /* bytes of one .npy header */
    READER_NPZ_HEADERS_MAX = 64 << 20, /* bytes of all .npy headers of one .npz together */
    READER_NPZ_MEMBERS_MAX = 65536,
    READER_SAFETENSORS_HEADER_MAX = 100000000, /* the format's own limit */
    READER_BLOCK_BYTES = 1 << 20               /* between two questions to `cancel` */
};

typedef enum EntryStorage {
    ENTRY_STORAGE_PLAIN = 0, /* data_offset in the file */
    ENTRY_STORAGE_INFLATE,   /* packed range; data_offset in what it unpacks to */
    ENTRY_STORAGE_PNG
} EntryStorage;

typedef struct ArrayEntry {
    ArrayInfo info; /* name and problem are owned */
    EntryStorage storage;
    uint64_t data_offset;
    uint64_t stride_bytes[ARRAY_RANK_MAX];
    uint64_t packed_offset, packed_bytes; /* INFLATE and PNG */
    uint64_t unpacked_bytes;              /* INFLATE: all it must unpack to; 0: not stated */
    uint32_t crc32;                       /* INFLATE without gzip: of the unpacked bytes */
    bool gzip;
} ArrayEntry;

struct ArrayFile {
    ByteSource source;
    char *name; /* owned, for messages */
    ArrayFormat format;
    bool gzip;
    uint64_t max_unpacked_bytes;
    ArrayEntry *entries;
    uint32_t count, capacity;
    uint8_t *unpacked; /* the array unpacked last, without its header */
    uint32_t unpacked_entry;
    uint8_t *window; /* slice reading; made on first use */
};

/* The next entry, zeroed, named by a copy of `name` (any bytes; made valid UTF-8). It counts only
 * once reader_commit_entry is called. NULL when there is no memory. */
ArrayEntry *reader_new_entry(ArrayFile *file, const char *name, size_t name_bytes,
                             ArrayError *error);
void reader_commit_entry(ArrayFile *file);

/* Fills in element_count, size_bytes and stride_bytes from dtype, rank, shape and fortran_order;
 * refuses a rank or a product that is too large. `what` names the array in the message. */
bool reader_set_extents(const ArrayFile *file, ArrayEntry *entry, const char *what,
                        ArrayError *error);

/* Keeps an entry listed, with the reason why it cannot be read. */
bool reader_set_problem(ArrayFile *file, ArrayEntry *entry, const ArrayError *reason,
                        ArrayError *error);

/* Refuses what that many compressed bytes cannot hold, and what is over the caller's limit. */
bool reader_check_unpacked(const ArrayFile *file, const ArrayEntry *entry, uint64_t unpacked_bytes,
                           uint64_t packed_bytes, ArrayError *error);
bool reader_check_limit(const ArrayFile *file, const ArrayEntry *entry, ArrayError *error);

/* An entry that can be read; NULL and the reason if it cannot, or if there is none. */
const ArrayEntry *reader_entry(const ArrayFile *file, uint32_t array, ArrayError *error);

/* Refuses a plain entry whose data goes past the end of the file. */
bool reader_check_in_file(const ArrayFile *file, const ArrayEntry *entry, ArrayError *error);

/* Bytes of an array's data, wherever it lies; the caller keeps to size_bytes. */
bool reader_read_data(ArrayFile *file, uint32_t array, uint64_t offset, void *out,
                      size_t size_bytes, ArrayError *error);

/* Asks `control` (may be NULL) and the file's own cancel; true, with the error, if either says so.
 */
bool reader_is_cancelled(const ArrayFile *file, const ArrayControl *control, ArrayError *error);

/* Sorts pointers, stably, as qsort would but that the file's cancel is asked on the way. `compare`
 * is given the pointers themselves. */
bool reader_sort(const ArrayFile *file, const void **items, size_t count,
                 int (*compare)(const void *a, const void *b), ArrayError *error);

/* Puts packed elements into host order and bool into 0 or 1, in place. */
void reader_normalise(const ArrayInfo *info, void *elements, size_t count);

/* One unpacker per kind: fills `out` with info.size_bytes bytes of data. */
bool unpack_inflate(ArrayFile *file, const ArrayEntry *entry, uint8_t *out,
                    const ArrayControl *control, ArrayError *error);
bool unpack_png(ArrayFile *file, const ArrayEntry *entry, uint8_t *out, const ArrayControl *control,
                ArrayError *error);

/* The parsers. Each is called once, on a source whose first bytes have its signature. */
bool parse_npy(ArrayFile *file, ArrayError *error);
bool parse_npz(ArrayFile *file, ArrayError *error);
bool parse_safetensors(ArrayFile *file, ArrayError *error);
bool parse_idx(ArrayFile *file, ArrayError *error);
bool parse_png(ArrayFile *file, ArrayError *error);
bool parse_gzip(ArrayFile *file, ArrayError *error);
bool parse_raw(ArrayFile *file, const ArrayRawLayout *layout, ArrayError *error);

/* The signatures, on the first bytes of a file or of what a gzip file unpacks to. */
enum { READER_SNIFF_BYTES = 16 };
bool npy_has_signature(const uint8_t *bytes, size_t size_bytes);
bool idx_has_signature(const uint8_t *bytes, size_t size_bytes);

/* The two headers that also occur inside compressed data are read through this, front to back. */
typedef struct HeaderReader {
    bool (*fetch)(struct HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error);
    void *user;              /* a ByteSource or an InflateStream */
    const char *what;        /* names the array in messages: the member's name, or "" */
    uint64_t begin;          /* plain: where the header begins in the file */
    uint64_t consumed_bytes; /* of the header so far */
    uint64_t limit_bytes;    /* the longest header text to accept */
} HeaderReader;
bool header_fetch(HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error);
bool header_fetch_plain(HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error);
bool header_fetch_inflate(HeaderReader *reader, void *out, size_t size_bytes, ArrayError *error);
bool npy_read_header(ArrayFile *file, ArrayEntry *entry, HeaderReader *reader, ArrayError *error);
bool idx_read_header(ArrayFile *file, ArrayEntry *entry, HeaderReader *reader, ArrayError *error);

#endif
