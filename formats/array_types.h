/* formats/array_types.h: the words every reader and writer of array files shares.
 *
 * formats/ holds Caliper's readers and writers of files that contain arrays. It knows nothing of
 * src/ or of include/caliper; applets and the command line include it. Nothing here keeps state:
 * any thread may call, one object is used by one thread at a time. Nothing here logs: each refusal
 * is a false (or NULL) and one ArrayError, which the caller shows once. */
#ifndef FORMATS_ARRAY_TYPES_H
#define FORMATS_ARRAY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ARRAY_RANK_MAX = 32,       /* axes of one array; numpy 1.x has the same limit */
    ARRAY_MESSAGE_BYTES = 512, /* with the closing NUL */
    ARRAY_TEXT_BYTES = 40      /* enough for any value as text, with the closing NUL */
};

typedef enum ArrayDtype {
    ARRAY_DTYPE_NONE = 0, /* stored in a type that is not read; ArrayInfo.dtype_text names it */
    ARRAY_DTYPE_F64,
    ARRAY_DTYPE_F32,
    ARRAY_DTYPE_F16,
    ARRAY_DTYPE_BF16,
    ARRAY_DTYPE_I64,
    ARRAY_DTYPE_I32,
    ARRAY_DTYPE_I16,
    ARRAY_DTYPE_I8,
    ARRAY_DTYPE_U64,
    ARRAY_DTYPE_U32,
    ARRAY_DTYPE_U16,
    ARRAY_DTYPE_U8,
    ARRAY_DTYPE_BOOL, /* one byte; a reader hands out 0 or 1 (any other stored byte is 1) */
    ARRAY_DTYPE_COUNT
} ArrayDtype;

/* "f64" ... "bool"; "none" for anything else. Static text. */
const char *array_dtype_name(ArrayDtype dtype);
/* Reads one of those names; ARRAY_DTYPE_NONE if it is none of them. */
ArrayDtype array_dtype_from_name(const char *name);
/* Bytes of one element; 0 for ARRAY_DTYPE_NONE. */
size_t array_dtype_size_bytes(ArrayDtype dtype);

typedef enum ArrayFault {
    ARRAY_FAULT_NONE = 0,
    ARRAY_FAULT_ARGUMENT,   /* the call itself is wrong: index, axis, buffer size */
    ARRAY_FAULT_OPEN,       /* the system would not open it, or it is not a regular file */
    ARRAY_FAULT_READ,       /* the system failed while reading */
    ARRAY_FAULT_WRITE,      /* the system failed while writing */
    ARRAY_FAULT_FORMAT,     /* none of the formats that are read */
    ARRAY_FAULT_HEADER,     /* the format is known and its header breaks the format's rules */
    ARRAY_FAULT_TRUNCATED,  /* the file ends before what its header states */
    ARRAY_FAULT_TRAILING,   /* the file goes on after what its header states */
    ARRAY_FAULT_OVERFLOW,   /* stated sizes whose product does not fit 63 bits */
    ARRAY_FAULT_LIMIT,      /* a stated limit of this reader: rank, header, count, memory */
    ARRAY_FAULT_DTYPE,      /* an element type that is not read */
    ARRAY_FAULT_COMPRESSED, /* compressed data that does not unpack to what it states */
    ARRAY_FAULT_RATIO,      /* states more than compression can hold in that many bytes */
    ARRAY_FAULT_CANCELLED,  /* the caller's cancel answered true */
    ARRAY_FAULT_MEMORY,     /* the system has no memory for it */
    ARRAY_FAULT_EXISTS,     /* something has that name, and may not be replaced */
    ARRAY_FAULT_UNFIT,      /* the format cannot hold such an array without a loss */
    ARRAY_FAULT_COUNT
} ArrayFault;

/* "header", "truncated", ...; never NULL. Static text. */
const char *array_fault_name(ArrayFault fault);

/* What went wrong: a code to branch on and one line for people, "FILE: what was found, what was
 * wanted". The caller owns it; every call that takes one accepts NULL. Untouched on success. */
typedef struct ArrayError {
    ArrayFault fault;
    char message[ARRAY_MESSAGE_BYTES];
} ArrayError;

/* Long work asks `cancel` between blocks of at most 1 MiB and tells `progress` the share done, 0 to
 * 1. Either may be NULL; both run on the calling thread. */
typedef struct ArrayControl {
    bool (*cancel)(void *user);
    void (*progress)(void *user, double done);
    void *user;
} ArrayControl;

#endif
