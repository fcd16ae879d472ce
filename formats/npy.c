/* formats/npy.c: the header of NumPy's .npy, versions 1 to 3.
 *
 * The header is a Python literal: a dict of 'descr', 'fortran_order' and 'shape'. Thread rule: as
 * ArrayFile. */
#include "formats/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t SIGNATURE[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

enum { DESCR_BYTES = 32 };

typedef struct Literal {
    const ArrayFile *file;
    const char *what; /* the member's name, or "" */
    const char *start, *at, *end;
    ArrayError *error;
} Literal;

typedef struct Header {
    bool has_descr, has_order, has_shape;
    char descr[DESCR_BYTES]; /* "" for a structured type */
    bool fortran_order;
    uint32_t rank;
    uint64_t shape[ARRAY_RANK_MAX];
} Header;

bool npy_has_signature(const uint8_t *bytes, size_t size_bytes)
{
    return size_bytes >= sizeof SIGNATURE && memcmp(bytes, SIGNATURE, sizeof SIGNATURE) == 0;
}

static bool refuse(const Literal *literal, const char *wanted)
{
    char excerpt[ARRAY_EXCERPT_BYTES];
    array_error_excerpt((const uint8_t *)literal->at, (size_t)(literal->end - literal->at),
                        excerpt);
    return array_error_set(literal->error, ARRAY_FAULT_HEADER, literal->file->name,
                           "%s%snpy header has '%s' at byte %td, wanted %s", literal->what,
                           literal->what[0] != '\0' ? ": " : "", excerpt,
                           literal->at - literal->start, wanted);
}

static void skip_space(Literal *literal)
{
    while (literal->at < literal->end && strchr(" \t\r\n\f", *literal->at) != NULL &&
           *literal->at != '\0')
        literal->at++;
}

static bool take(Literal *literal, char c)
{
    skip_space(literal);
    if (literal->at == literal->end || *literal->at != c)
        return false;
    literal->at++;
    return true;
}

static bool take_word(Literal *literal, const char *word)
{
    size_t length = strlen(word);
    skip_space(literal);
    if ((size_t)(literal->end - literal->at) < length || memcmp(literal->at, word, length) != 0)
        return false;
    literal->at += length;
    return true;
}

/* A quoted string without escapes, at most `size` - 1 bytes. */
static bool read_string(Literal *literal, char *out, size_t size, const char *wanted)
{
    skip_space(literal);
    char quote = literal->at < literal->end ? *literal->at : '\0';
    if (quote != '\'' && quote != '"')
        return refuse(literal, wanted);
    size_t used = 0;
    for (const char *c = literal->at + 1; c < literal->end; c++) {
        if (*c == quote) {
            out[used] = '\0';
            literal->at = c + 1;
            return true;
        }
        if (*c == '\\' || *c == '\0' || used + 1 >= size)
            break;
        out[used++] = *c;
    }
    return refuse(literal, wanted);
}

static bool read_extent(Literal *literal, uint64_t *extent)
{
    skip_space(literal);
    const char *first = literal->at;
    uint64_t value = 0;
    while (literal->at < literal->end && *literal->at >= '0' && *literal->at <= '9') {
        uint64_t digit = (uint64_t)(*literal->at - '0');
        if (value > (INT64_MAX - digit) / 10) {
            literal->at = first;
            return array_error_set(literal->error, ARRAY_FAULT_OVERFLOW, literal->file->name,
                                   "%s%sshape has a number of more than 63 bits, wanted a size "
                                   "that can be",
                                   literal->what, literal->what[0] != '\0' ? ": " : "");
        }
        value = value * 10 + digit;
        literal->at++;
    }
    if (literal->at == first)
        return refuse(literal, "a non-negative whole number or the end of the shape");
    if (literal->at < literal->end && *literal->at == 'L') /* Python 2 wrote 3L */
        literal->at++;
    *extent = value;
    return true;
}

static bool read_shape(Literal *literal, Header *header)
{
    if (!take(literal, '('))
        return refuse(literal, "a shape, as in (2, 3)");
    while (!take(literal, ')')) {
        if (header->rank == ARRAY_RANK_MAX) {
            return array_error_set(literal->error, ARRAY_FAULT_LIMIT, literal->file->name,
                                   "%s%sshape has more than %d axes, wanted at most that many",
                                   literal->what, literal->what[0] != '\0' ? ": " : "",
                                   ARRAY_RANK_MAX);
        }
        if (!read_extent(literal, &header->shape[header->rank++]))
            return false;
        if (take(literal, ','))
            continue;
        if (header->rank < 2) /* (3) is a number in Python, not a shape */
            return refuse(literal, "a comma");
        if (!take(literal, ')'))
            return refuse(literal, "a comma or the end of the shape");
        return true;
    }
    return true;
}

/* A structured type is a list; it is not read, so only its end matters: the shape may be after it.
 * The array is refused by its type in any case. */
static bool skip_structured(Literal *literal)
{
    int depth = 0;
    char quote = '\0';
    for (; literal->at < literal->end; literal->at++) {
        char c = *literal->at;
        if (quote != '\0') {
            if (c == quote)
                quote = '\0';
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '[' || c == '(') {
            depth++;
        } else if ((c == ']' || c == ')') && --depth == 0) {
            literal->at++;
            return true;
        }
    }
    return refuse(literal, "the end of the structured type");
}

static bool read_value(Literal *literal, const char *key, Header *header)
{
    bool *seen = strcmp(key, "descr") == 0           ? &header->has_descr
                 : strcmp(key, "fortran_order") == 0 ? &header->has_order
                 : strcmp(key, "shape") == 0         ? &header->has_shape
                                                     : NULL;
    if (seen == NULL || *seen)
        return refuse(literal, seen == NULL ? "only 'descr', 'fortran_order' and 'shape' as keys"
                                            : "each key once");
    *seen = true;
    if (seen == &header->has_shape)
        return read_shape(literal, header);
    if (seen == &header->has_order) {
        header->fortran_order = take_word(literal, "True");
        return header->fortran_order || take_word(literal, "False") ||
               refuse(literal, "True or False");
    }
    skip_space(literal);
    if (literal->at < literal->end && *literal->at == '[')
        return skip_structured(literal);
    return read_string(literal, header->descr, sizeof header->descr, "an element type");
}

static bool read_literal(Literal *literal, Header *header)
{
    if (!take(literal, '{'))
        return refuse(literal, "'{'");
    while (!take(literal, '}')) {
        char key[DESCR_BYTES];
        if (!read_string(literal, key, sizeof key, "a quoted key"))
            return false;
        if (!take(literal, ':'))
            return refuse(literal, "':'");
        if (!read_value(literal, key, header))
            return false;
        if (take(literal, ','))
            continue;
        if (!take(literal, '}'))
            return refuse(literal, "',' or '}'");
        break;
    }
    skip_space(literal);
    if (literal->at != literal->end)
        return refuse(literal, "the end of the header");
    if (!header->has_descr || !header->has_order || !header->has_shape)
        return refuse(literal, "the keys 'descr', 'fortran_order' and 'shape'");
    return true;
}

static ArrayDtype dtype_from_descr(const char *descr)
{
    static const struct {
        const char *code;
        ArrayDtype dtype;
    } TYPES[] = {{"f8", ARRAY_DTYPE_F64}, {"f4", ARRAY_DTYPE_F32}, {"f2", ARRAY_DTYPE_F16},
                 {"i8", ARRAY_DTYPE_I64}, {"i4", ARRAY_DTYPE_I32}, {"i2", ARRAY_DTYPE_I16},
                 {"i1", ARRAY_DTYPE_I8},  {"u8", ARRAY_DTYPE_U64}, {"u4", ARRAY_DTYPE_U32},
                 {"u2", ARRAY_DTYPE_U16}, {"u1", ARRAY_DTYPE_U8},  {"b1", ARRAY_DTYPE_BOOL}};
    if (descr[0] == '\0' || strchr("<>|=", descr[0]) == NULL)
        return ARRAY_DTYPE_NONE;
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        if (strcmp(descr + 1, TYPES[i].code) != 0)
            continue;
        bool one_byte = array_dtype_size_bytes(TYPES[i].dtype) == 1;
        return one_byte || descr[0] != '|' ? TYPES[i].dtype : ARRAY_DTYPE_NONE;
    }
    return ARRAY_DTYPE_NONE;
}

static bool apply(const Literal *literal, const Header *header, ArrayEntry *entry)
{
    ArrayInfo *info = &entry->info;
    bool structured = header->descr[0] == '\0';
    snprintf(info->dtype_text, sizeof info->dtype_text, "%s",
             structured ? "structured" : header->descr);
    info->dtype = dtype_from_descr(header->descr);
    info->rank = header->rank;
    memcpy(info->shape, header->shape, sizeof info->shape);
    info->fortran_order = header->fortran_order;
    info->big_endian = header->descr[0] == '>';
    if (info->dtype == ARRAY_DTYPE_NONE) {
        return array_error_set(literal->error, ARRAY_FAULT_DTYPE, literal->file->name,
                               "%s%sholds elements of type '%s', wanted f2 f4 f8 i1 i2 i4 i8 u1 "
                               "u2 u4 u8 or b1",
                               literal->what, literal->what[0] != '\0' ? ": " : "",
                               info->dtype_text);
    }
    return reader_set_extents(literal->file, entry, literal->what, literal->error);
}

bool npy_read_header(ArrayFile *file, ArrayEntry *entry, HeaderReader *reader, ArrayError *error)
{
    uint8_t start[12];
    const char *colon = reader->what[0] != '\0' ? ": " : "";
    if (!header_fetch(reader, start, 8, error))
        return false;
    if (!npy_has_signature(start, 8)) {
        char excerpt[ARRAY_EXCERPT_BYTES];
        return array_error_set(error, ARRAY_FAULT_FORMAT, file->name,
                               "%s%sstarts with '%s', wanted a .npy array", reader->what, colon,
                               array_error_excerpt(start, 8, excerpt));
    }
    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
        return array_error_set(error, ARRAY_FAULT_HEADER, file->name,
                               "%s%snpy version %u.%u, wanted 1.0, 2.0 or 3.0", reader->what, colon,
                               start[6], start[7]);
    }
    size_t length_bytes = start[6] == 1 ? 2 : 4;
    if (!header_fetch(reader, start + 8, length_bytes, error))
        return false;
    uint32_t length = start[6] == 1 ? byte_load_u16le(start + 8) : byte_load_u32le(start + 8);
    if (length > reader->limit_bytes) {
        return array_error_set(error, ARRAY_FAULT_LIMIT, file->name,
                               "%s%snpy header of %u bytes, wanted at most %" PRIu64, reader->what,
                               colon, length, reader->limit_bytes);
    }
    char *text = malloc((size_t)length + 1);
    if (text == NULL) {
        return array_error_set(error, ARRAY_FAULT_MEMORY, file->name,
                               "no memory for a header of %u bytes", length);
    }
    Literal literal = {file, reader->what, text, text, text + length, error};
    Header header = {0};
    bool good = header_fetch(reader, text, length, error) && read_literal(&literal, &header) &&
                apply(&literal, &header, entry);
    free(text);
    entry->data_offset = reader->consumed_bytes;
    return good;
}

/* numpy.save may append arrays to one file: bytes after the first one are not looked at. */
bool parse_npy(ArrayFile *file, ArrayError *error)
{
    ArrayEntry *entry = reader_new_entry(file, "", 0, error);
    HeaderReader reader = {.fetch = header_fetch_plain,
                           .user = &file->source,
                           .what = "",
                           .limit_bytes = READER_NPY_HEADER_MAX};
    file->format = ARRAY_FORMAT_NPY;
    if (entry == NULL || !npy_read_header(file, entry, &reader, error))
        return false;
    if (!reader_check_in_file(file, entry, error))
        return false;
    reader_commit_entry(file);
    return true;
}
