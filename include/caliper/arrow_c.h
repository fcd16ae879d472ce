/* caliper/arrow_c.h: the Apache Arrow C data interface and C stream interface.
 *
 * Structs, names and guards are those of the Arrow specification, so that this header and any other
 * copy of the definitions can meet in one file. Arrow columns are how tables leave Caliper's
 * services. The rules in short, the same for all three structs:
 *   - whoever receives a filled struct owns it and calls release(itself) exactly once;
 *   - release sets the struct's own `release` to NULL; a NULL release means "nothing in here";
 *   - moving is a copy of the bytes, after which the source's release is set to NULL;
 *   - children and dictionary are released with their parent, unless moved out first.
 * A stream is used by one thread at a time. */
#ifndef CALIPER_ARROW_C_H
#define CALIPER_ARROW_C_H

#include <stdint.h>

#include <caliper/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

/* The type of a column, or of a whole record batch (a struct type). */
struct ArrowSchema {
    const char *format;   /* Arrow format string, e.g. "l" int64, "g" float64, "u" UTF-8 */
    const char *name;     /* UTF-8, may be NULL */
    const char *metadata; /* length-prefixed pairs as Arrow says, may be NULL */
    int64_t flags;        /* ARROW_FLAG_* */
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary; /* NULL unless dictionary-encoded */

    void (*release)(struct ArrowSchema *);
    void *private_data; /* the producer's */
};

/* The values of a column or record batch. */
struct ArrowArray {
    int64_t length;     /* elements (rows) */
    int64_t null_count; /* -1: not counted */
    int64_t offset;     /* elements to skip at the start of each buffer */
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers; /* the first is the validity bitmap for most types; may be NULL */
    struct ArrowArray **children;
    struct ArrowArray *dictionary;

    void (*release)(struct ArrowArray *);
    void *private_data; /* the producer's */
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* A sequence of record batches of one schema. get_schema and get_next answer 0 or an errno. */
struct ArrowArrayStream {
    /* Fills *out, which the caller then owns. */
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);

    /* Fills *out, which the caller then owns; at the end out->release is NULL. */
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);

    /* Text about the last error, or NULL; the stream's, valid until the next call on it. */
    const char *(*get_last_error)(struct ArrowArrayStream *);

    /* Ends the stream. Batches already handed out stay valid until each is released. */
    void (*release)(struct ArrowArrayStream *);
    void *private_data; /* the producer's */
};

#endif /* ARROW_C_STREAM_INTERFACE */

#ifdef __cplusplus
}
#endif

#define CALIPER_LAYOUT_ARROW_SIZE(type, size_bytes) \
    CALIPER_LAYOUT_PIN(type, sizeof(struct type) == (size_bytes))
#define CALIPER_LAYOUT_ARROW(type, member, offset_bytes) \
    CALIPER_LAYOUT_PIN(type##_##member, offsetof(struct type, member) == (offset_bytes))

CALIPER_LAYOUT_ARROW_SIZE(ArrowSchema, 72);
CALIPER_LAYOUT_ARROW(ArrowSchema, format, 0);
CALIPER_LAYOUT_ARROW(ArrowSchema, name, 8);
CALIPER_LAYOUT_ARROW(ArrowSchema, metadata, 16);
CALIPER_LAYOUT_ARROW(ArrowSchema, flags, 24);
CALIPER_LAYOUT_ARROW(ArrowSchema, n_children, 32);
CALIPER_LAYOUT_ARROW(ArrowSchema, children, 40);
CALIPER_LAYOUT_ARROW(ArrowSchema, dictionary, 48);
CALIPER_LAYOUT_ARROW(ArrowSchema, release, 56);
CALIPER_LAYOUT_ARROW(ArrowSchema, private_data, 64);

CALIPER_LAYOUT_ARROW_SIZE(ArrowArray, 80);
CALIPER_LAYOUT_ARROW(ArrowArray, length, 0);
CALIPER_LAYOUT_ARROW(ArrowArray, null_count, 8);
CALIPER_LAYOUT_ARROW(ArrowArray, offset, 16);
CALIPER_LAYOUT_ARROW(ArrowArray, n_buffers, 24);
CALIPER_LAYOUT_ARROW(ArrowArray, n_children, 32);
CALIPER_LAYOUT_ARROW(ArrowArray, buffers, 40);
CALIPER_LAYOUT_ARROW(ArrowArray, children, 48);
CALIPER_LAYOUT_ARROW(ArrowArray, dictionary, 56);
CALIPER_LAYOUT_ARROW(ArrowArray, release, 64);
CALIPER_LAYOUT_ARROW(ArrowArray, private_data, 72);

CALIPER_LAYOUT_ARROW_SIZE(ArrowArrayStream, 40);
CALIPER_LAYOUT_ARROW(ArrowArrayStream, get_schema, 0);
CALIPER_LAYOUT_ARROW(ArrowArrayStream, get_next, 8);
CALIPER_LAYOUT_ARROW(ArrowArrayStream, get_last_error, 16);
CALIPER_LAYOUT_ARROW(ArrowArrayStream, release, 24);
CALIPER_LAYOUT_ARROW(ArrowArrayStream, private_data, 32);

#endif
