/* formats/npz.c: NumPy's .npz, a zip archive with one .npy a member, stored or deflated.
 *
 * The central directory at the end is believed where the local headers agree with it; members may
 * not overlap. Thread rule: as ArrayFile. */
#include "formats/inflate_stream.h"
#include "formats/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    END_BYTES = 22,   /* end of central directory record, without its comment */
    END64_BYTES = 56, /* its 64-bit form */
    END64_LOCATOR_BYTES = 20,
    CENTRAL_BYTES = 46, /* fixed part of a central directory entry */
    LOCAL_BYTES = 30,   /* fixed part of a local header */
    COMMENT_MAX_BYTES = 65535,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
    FLAG_ENCRYPTED = 1
};

typedef struct Directory {
    uint64_t offset, size_bytes, members;
} Directory;

typedef struct Member {
    const uint8_t *name; /* in the directory's bytes */
    uint16_t name_bytes, method, flags;
    uint32_t crc32;
    uint64_t packed_bytes, unpacked_bytes, local_offset;
    uint64_t data_offset; /* after the local header */
} Member;

typedef struct Archive {
    ArrayFile *file;
    uint8_t *bytes; /* the central directory, owned */
    Directory directory;
    Member *members; /* owned */
    uint64_t header_budget_bytes;
    uint32_t readable;
    ArrayError first_problem;
    ArrayError *error;
} Archive;

static bool refuse(const Archive *archive, ArrayFault fault, const char *text)
{
    return array_error_set(archive->error, fault, archive->file->name, "%s", text);
}

/* The record is the last one whose comment ends with the file. */
static bool find_end(Archive *archive, uint64_t *end_offset, uint8_t end[END_BYTES])
{
    const ByteSource *source = &archive->file->source;
    size_t size = END_BYTES + COMMENT_MAX_BYTES;
    if (source->size_bytes < size)
        size = (size_t)source->size_bytes;
    uint8_t *tail = malloc(size);
    if (tail == NULL)
        return refuse(archive, ARRAY_FAULT_MEMORY, "no memory to look for the zip directory");
    uint64_t begin = source->size_bytes - size;
    bool good = byte_source_read(source, begin, tail, size, archive->error);
    bool found = false;
    for (size_t at = size; good && !found && at >= END_BYTES; at--) {
        const uint8_t *record = tail + at - END_BYTES;
        found = memcmp(record, "PK\5\6", 4) == 0 && byte_load_u16le(record + 20) == size - at;
        if (found) {
            memcpy(end, record, END_BYTES);
            *end_offset = begin + at - END_BYTES;
        }
    }
    free(tail);
    if (good && !found)
        return refuse(archive, ARRAY_FAULT_TRUNCATED,
                      "zip archive without its directory at the end (cut off?)");
    return good;
}

/* A 64-bit record stands in when the plain one is full of ones and a locator comes before it; one
 * without a locator means what it says (Python writes 65535 members that way). */
static bool read_end64(Archive *archive, uint64_t *end_offset)
{
    const ByteSource *source = &archive->file->source;
    uint8_t locator[END64_LOCATOR_BYTES], end[END64_BYTES];
    if (*end_offset < sizeof locator)
        return true;
    if (!byte_source_read(source, *end_offset - sizeof locator, locator, sizeof locator,
                          archive->error))
        return false;
    if (memcmp(locator, "PK\6\7", 4) != 0)
        return true;
    uint64_t at = byte_load_u64le(locator + 8);
    if (!byte_source_read(source, at, end, sizeof end, archive->error))
        return false;
    if (memcmp(end, "PK\6\6", 4) != 0)
        return refuse(archive, ARRAY_FAULT_HEADER, "zip64 locator that points at no record");
    archive->directory.members = byte_load_u64le(end + 32);
    archive->directory.size_bytes = byte_load_u64le(end + 40);
    archive->directory.offset = byte_load_u64le(end + 48);
    *end_offset = at;
    return true;
}

static bool read_end(Archive *archive)
{
    uint8_t end[END_BYTES];
    uint64_t end_offset;
    if (!find_end(archive, &end_offset, end))
        return false;
    Directory *directory = &archive->directory;
    directory->members = byte_load_u16le(end + 10);
    directory->size_bytes = byte_load_u32le(end + 12);
    directory->offset = byte_load_u32le(end + 16);
    bool full = directory->members == UINT16_MAX || directory->size_bytes == UINT32_MAX ||
                directory->offset == UINT32_MAX;
    if (full && !read_end64(archive, &end_offset))
        return false;
    if (directory->offset > end_offset || directory->size_bytes > end_offset - directory->offset) {
        return array_error_set(archive->error, ARRAY_FAULT_HEADER, archive->file->name,
                               "zip directory of %" PRIu64 " bytes at byte %" PRIu64
                               ", wanted it before byte %" PRIu64,
                               directory->size_bytes, directory->offset, end_offset);
    }
    if (directory->members > READER_NPZ_MEMBERS_MAX) {
        return array_error_set(archive->error, ARRAY_FAULT_LIMIT, archive->file->name,
                               "zip archive of %" PRIu64 " members, wanted at most %d",
                               directory->members, READER_NPZ_MEMBERS_MAX);
    }
    if (directory->members > directory->size_bytes / CENTRAL_BYTES)
        return refuse(archive, ARRAY_FAULT_HEADER,
                      "zip directory states more members than it has room for");
    return true;
}

/* The zip64 extra field holds, in this order, those of the three that are full of ones. */
static bool read_extra(Archive *archive, Member *member, const uint8_t *extra, size_t size)
{
    uint64_t *const wide[3] = {&member->unpacked_bytes, &member->packed_bytes,
                               &member->local_offset};
    while (size >= 4) {
        uint16_t id = byte_load_u16le(extra);
        size_t length = byte_load_u16le(extra + 2);
        if (length > size - 4)
            break;
        const uint8_t *field = extra + 4;
        size_t left = length;
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*wide[i] != UINT32_MAX)
                continue;
            if (left < 8)
                return refuse(archive, ARRAY_FAULT_HEADER, "zip64 sizes are missing in a member");
            *wide[i] = byte_load_u64le(field);
            field += 8;
            left -= 8;
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return true;
}

static bool read_directory(Archive *archive)
{
    const Directory *directory = &archive->directory;
    size_t size = (size_t)directory->size_bytes;
    archive->bytes = malloc(size + 1);
    archive->members = calloc((size_t)directory->members + 1, sizeof *archive->members);
    if (archive->bytes == NULL || archive->members == NULL)
        return refuse(archive, ARRAY_FAULT_MEMORY, "no memory for the zip directory");
    if (!byte_source_read(&archive->file->source, directory->offset, archive->bytes, size,
                          archive->error))
        return false;
    const uint8_t *at = archive->bytes;
    for (uint64_t i = 0; i < directory->members; i++) {
        size_t left = size - (size_t)(at - archive->bytes);
        if (left < CENTRAL_BYTES || memcmp(at, "PK\1\2", 4) != 0)
            return refuse(archive, ARRAY_FAULT_HEADER, "zip directory ends before its last member");
        Member *member = &archive->members[i];
        member->flags = byte_load_u16le(at + 8);
        member->method = byte_load_u16le(at + 10);
        member->crc32 = byte_load_u32le(at + 16);
        member->packed_bytes = byte_load_u32le(at + 20);
        member->unpacked_bytes = byte_load_u32le(at + 24);
        member->name_bytes = byte_load_u16le(at + 28);
        size_t extra_bytes = byte_load_u16le(at + 30);
        size_t all = CENTRAL_BYTES + member->name_bytes + extra_bytes + byte_load_u16le(at + 32);
        member->local_offset = byte_load_u32le(at + 42);
        member->name = at + CENTRAL_BYTES;
        if (all > left)
            return refuse(archive, ARRAY_FAULT_HEADER, "zip directory ends inside a member");
        if (!read_extra(archive, member, member->name + member->name_bytes, extra_bytes))
            return false;
        at += all;
    }
    return true;
}

/* Where a member's data begins: its local header has a name and an extra field of its own. */
static bool locate(Archive *archive, Member *member)
{
    const ByteSource *source = &archive->file->source;
    uint8_t local[LOCAL_BYTES];
    if (!byte_source_read(source, member->local_offset, local, sizeof local, archive->error))
        return false;
    if (memcmp(local, "PK\3\4", 4) != 0 || byte_load_u16le(local + 8) != member->method ||
        byte_load_u16le(local + 26) != member->name_bytes)
        return refuse(archive, ARRAY_FAULT_HEADER,
                      "zip member whose own header disagrees with the directory");
    member->data_offset =
        member->local_offset + LOCAL_BYTES + member->name_bytes + byte_load_u16le(local + 28);
    uint64_t end = archive->directory.offset;
    if (member->data_offset > end || member->packed_bytes > end - member->data_offset) {
        return array_error_set(archive->error, ARRAY_FAULT_TRUNCATED, archive->file->name,
                               "zip member of %" PRIu64 " bytes at byte %" PRIu64
                               ", wanted it before the directory at byte %" PRIu64,
                               member->packed_bytes, member->data_offset, end);
    }
    return true;
}

static int compare_places(const void *a, const void *b)
{
    const Member *const *left = a, *const *right = b;
    return ((*left)->local_offset > (*right)->local_offset) -
           ((*left)->local_offset < (*right)->local_offset);
}

/* Overlapping members are how small archives state enormous content. */
static bool check_overlap(Archive *archive)
{
    size_t count = (size_t)archive->directory.members;
    const Member **order = malloc((count + 1) * sizeof(const Member *));
    if (order == NULL)
        return refuse(archive, ARRAY_FAULT_MEMORY, "no memory for the zip directory");
    for (size_t i = 0; i < count; i++)
        order[i] = &archive->members[i];
    qsort(order, count, sizeof(const Member *), compare_places);
    bool good = true;
    for (size_t i = 1; good && i < count; i++) {
        if (order[i - 1]->data_offset + order[i - 1]->packed_bytes > order[i]->local_offset)
            good = refuse(archive, ARRAY_FAULT_HEADER, "zip members overlap, wanted each apart");
    }
    free(order);
    return good;
}

static bool read_member_header(Archive *archive, const Member *member, ArrayEntry *entry,
                               ArrayError *error)
{
    ArrayFile *file = archive->file;
    HeaderReader reader = {.fetch = header_fetch_plain,
                           .user = &file->source,
                           .what = entry->info.name,
                           .begin = member->data_offset,
                           .limit_bytes = READER_NPY_HEADER_MAX};
    if (reader.limit_bytes > archive->header_budget_bytes)
        reader.limit_bytes = archive->header_budget_bytes;
    bool good;
    if (member->method == METHOD_STORED) {
        if (member->unpacked_bytes < reader.limit_bytes)
            reader.limit_bytes = member->unpacked_bytes;
        good = npy_read_header(file, entry, &reader, error);
    } else {
        InflateStream stream;
        reader.fetch = header_fetch_inflate;
        reader.user = &stream;
        if (!inflate_stream_open(&stream, &file->source, member->data_offset, member->packed_bytes,
                                 false, error))
            return false;
        good = npy_read_header(file, entry, &reader, error);
        inflate_stream_close(&stream);
    }
    archive->header_budget_bytes -= reader.consumed_bytes < archive->header_budget_bytes
                                        ? reader.consumed_bytes
                                        : archive->header_budget_bytes;
    return good;
}

static bool read_member(Archive *archive, const Member *member, ArrayEntry *entry,
                        ArrayError *error)
{
    ArrayFile *file = archive->file;
    ArrayInfo *info = &entry->info;
    if ((member->flags & FLAG_ENCRYPTED) != 0)
        return array_error_set(error, ARRAY_FAULT_COMPRESSED, file->name, "%s: is encrypted",
                               info->name);
    if (member->method != METHOD_STORED && member->method != METHOD_DEFLATED)
        return array_error_set(error, ARRAY_FAULT_COMPRESSED, file->name,
                               "%s: compressed with zip method %u, wanted 0 or 8", info->name,
                               member->method);
    if (member->method == METHOD_STORED && member->packed_bytes != member->unpacked_bytes)
        return array_error_set(error, ARRAY_FAULT_HEADER, file->name,
                               "%s: stored %" PRIu64 " bytes as %" PRIu64, info->name,
                               member->unpacked_bytes, member->packed_bytes);
    if (!read_member_header(archive, member, entry, error))
        return false;
    uint64_t header = entry->data_offset;
    if (header > member->unpacked_bytes || info->size_bytes != member->unpacked_bytes - header)
        return array_error_set(error, ARRAY_FAULT_TRUNCATED, file->name,
                               "%s: member of %" PRIu64 " bytes, its header states %" PRIu64
                               " and %" PRIu64 " of data",
                               info->name, member->unpacked_bytes, header, info->size_bytes);
    if (member->method == METHOD_STORED) {
        entry->data_offset = member->data_offset + header;
        return true;
    }
    entry->storage = ENTRY_STORAGE_INFLATE;
    entry->packed_offset = member->data_offset;
    entry->packed_bytes = member->packed_bytes;
    entry->crc32 = member->crc32;
    info->compressed = true;
    return reader_check_unpacked(file, entry, member->unpacked_bytes, member->packed_bytes, error);
}

static bool list_member(Archive *archive, const Member *member)
{
    size_t length = member->name_bytes;
    if (length > 0 && member->name[length - 1] == '/') /* a folder */
        return true;
    if (length > 4 && memcmp(member->name + length - 4, ".npy", 4) == 0)
        length -= 4;
    ArrayEntry *entry =
        reader_new_entry(archive->file, (const char *)member->name, length, archive->error);
    if (entry == NULL)
        return false;
    ArrayError problem;
    if (read_member(archive, member, entry, &problem)) {
        archive->readable++;
    } else if (problem.fault == ARRAY_FAULT_MEMORY || problem.fault == ARRAY_FAULT_READ ||
               problem.fault == ARRAY_FAULT_CANCELLED) {
        if (archive->error != NULL)
            *archive->error = problem;
        return false;
    } else {
        if (archive->first_problem.fault == ARRAY_FAULT_NONE)
            archive->first_problem = problem;
        if (!reader_set_problem(archive->file, entry, &problem, archive->error))
            return false;
    }
    reader_commit_entry(archive->file);
    return true;
}

static bool list_members(Archive *archive)
{
    for (uint64_t i = 0; i < archive->directory.members; i++) {
        if (!list_member(archive, &archive->members[i]))
            return false;
    }
    if (archive->readable > 0 || archive->directory.members == 0)
        return true;
    if (archive->first_problem.fault == ARRAY_FAULT_NONE)
        return refuse(archive, ARRAY_FAULT_FORMAT, "zip archive of folders, wanted .npy arrays");
    if (archive->error != NULL)
        *archive->error = archive->first_problem;
    return false;
}

bool parse_npz(ArrayFile *file, ArrayError *error)
{
    Archive archive = {.file = file, .header_budget_bytes = READER_NPZ_HEADERS_MAX, .error = error};
    file->format = ARRAY_FORMAT_NPZ;
    bool good = read_end(&archive) && read_directory(&archive);
    for (uint64_t i = 0; good && i < archive.directory.members; i++)
        good = locate(&archive, &archive.members[i]);
    good = good && check_overlap(&archive) && list_members(&archive);
    free(archive.members);
    free(archive.bytes);
    return good;
}
