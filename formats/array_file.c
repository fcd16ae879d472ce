/* formats/array_file.c: opening, deciding the format, listing, closing.
 *
 * Thread rule: one ArrayFile by one thread at a time. */
#include "formats/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t DEFAULT_MAX_UNPACKED_BYTES = UINT64_C(4) << 30;

static ArrayFile *new_file(const char *name, const ArrayOpenOptions *options, ArrayError *error)
{
    ArrayFile *file = calloc(1, sizeof *file);
    if (file != NULL)
        file->name = strdup(name != NULL ? name : "");
    if (file == NULL || file->name == NULL) {
        free(file);
        array_error_fill(error, ARRAY_FAULT_MEMORY, name, "no memory to open it");
        return NULL;
    }
    file->source.fd = -1;
    file->source.name = file->name;
    file->max_unpacked_bytes = DEFAULT_MAX_UNPACKED_BYTES;
    if (options != NULL && options->max_unpacked_bytes != 0)
        file->max_unpacked_bytes = options->max_unpacked_bytes;
    if (options != NULL) {
        file->source.cancel = options->cancel;
        file->source.cancel_user = options->cancel_user;
    }
    return file;
}

/* Takes `fd` over, also on failure. */
static bool attach_descriptor(ArrayFile *file, int fd, ArrayError *error)
{
    struct stat status;
    file->source.fd = fd;
    if (fstat(fd, &status) != 0) {
        return array_error_set(error, ARRAY_FAULT_OPEN, file->name, "cannot be looked at: %s",
                               strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return array_error_set(error, ARRAY_FAULT_OPEN, file->name, "is %s, wanted a regular file",
                               S_ISDIR(status.st_mode)    ? "a directory"
                               : S_ISFIFO(status.st_mode) ? "a pipe"
                               : S_ISSOCK(status.st_mode) ? "a socket"
                                                          : "a device");
    }
    file->source.size_bytes = (uint64_t)status.st_size;
    return true;
}

static bool ends_with(const char *text, const char *tail)
{
    size_t length = strlen(text), tail_length = strlen(tail);
    return length >= tail_length && strcmp(text + length - tail_length, tail) == 0;
}

static bool refuse_unknown(const ArrayFile *file, const uint8_t *start, size_t size,
                           ArrayError *error)
{
    char excerpt[ARRAY_EXCERPT_BYTES];
    array_error_excerpt(start, size, excerpt);
    static const char *const WANTED = "gzip, .npy, .npz, safetensors, IDX or PNG";
    bool web_page = size >= 2 && start[0] == '<' && (start[1] == '!' || start[1] == 'h');
    if (ends_with(file->name, ".gz")) {
        return array_error_set(error, ARRAY_FAULT_FORMAT, file->name,
                               "not gzip data: starts with '%s'%s, wanted %s", excerpt,
                               web_page ? " (a web page?)" : "", WANTED);
    }
    return array_error_set(error, ARRAY_FAULT_FORMAT, file->name, "starts with '%s'%s, wanted %s",
                           excerpt, web_page ? " (a web page?)" : "", WANTED);
}

/* Safetensors before IDX: both may start with zero bytes, only one has '{' as its ninth byte (an
 * IDX file would need two thousand million columns for it). */
static bool parse_by_content(ArrayFile *file, ArrayError *error)
{
    uint8_t start[READER_SNIFF_BYTES] = {0};
    size_t size = sizeof start;
    if (file->source.size_bytes < size)
        size = (size_t)file->source.size_bytes;
    if (size == 0) {
        return array_error_set(error, ARRAY_FAULT_TRUNCATED, file->name,
                               "is empty, wanted an array file");
    }
    if (!byte_source_read(&file->source, 0, start, size, error))
        return false;
    if (npy_has_signature(start, size))
        return parse_npy(file, error);
    if (size >= 4 && memcmp(start, "PK\3\4", 4) == 0)
        return parse_npz(file, error);
    if (size >= 4 && memcmp(start, "PK\5\6", 4) == 0)
        return parse_npz(file, error);
    if (size >= 8 && memcmp(start, "\x89PNG\r\n\x1a\n", 8) == 0)
        return parse_png(file, error);
    if (size >= 2 && start[0] == 0x1f && start[1] == 0x8b)
        return parse_gzip(file, error);
    if (size >= 9 && start[8] == '{')
        return parse_safetensors(file, error);
    if (idx_has_signature(start, size))
        return parse_idx(file, error);
    return refuse_unknown(file, start, size, error);
}

static ArrayFile *finish_open(ArrayFile *file, bool parsed)
{
    if (!parsed)
        array_file_close(&file);
    return file;
}

/* O_NONBLOCK: a pipe of that name must not hold the caller. */
static int open_descriptor(const char *path, ArrayError *error)
{
    int fd;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0)
        array_error_fill(error, ARRAY_FAULT_OPEN, path, "cannot be opened: %s", strerror(errno));
    return fd;
}

ArrayFile *array_file_open(const char *path, const ArrayOpenOptions *options, ArrayError *error)
{
    if (path == NULL) {
        array_error_fill(error, ARRAY_FAULT_ARGUMENT, path, "array_file_open without a path");
        return NULL;
    }
    int fd = open_descriptor(path, error);
    if (fd < 0)
        return NULL;
    ArrayFile *file = new_file(path, options, error);
    if (file == NULL) {
        close(fd);
        return NULL;
    }
    file->source.seeks = true;
    return finish_open(file, attach_descriptor(file, fd, error) && parse_by_content(file, error));
}

ArrayFile *array_file_open_fd(int fd, const char *name, const ArrayOpenOptions *options,
                              ArrayError *error)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        array_error_fill(error, ARRAY_FAULT_OPEN, name, "descriptor %d cannot be used: %s", fd,
                         strerror(errno));
        return NULL;
    }
    ArrayFile *file = new_file(name, options, error);
    if (file == NULL) {
        close(own);
        return NULL;
    }
    return finish_open(file, attach_descriptor(file, own, error) && parse_by_content(file, error));
}

ArrayFile *array_file_open_memory(const void *bytes, size_t size_bytes, const char *name,
                                  const ArrayOpenOptions *options, ArrayError *error)
{
    if (bytes == NULL && size_bytes != 0) {
        array_error_fill(error, ARRAY_FAULT_ARGUMENT, name,
                         "array_file_open_memory with NULL for %zu bytes", size_bytes);
        return NULL;
    }
    ArrayFile *file = new_file(name, options, error);
    if (file == NULL)
        return NULL;
    file->source.memory = bytes;
    file->source.size_bytes = size_bytes;
    return finish_open(file, parse_by_content(file, error));
}

ArrayFile *array_file_open_raw(const char *path, const ArrayRawLayout *layout,
                               const ArrayOpenOptions *options, ArrayError *error)
{
    if (path == NULL || layout == NULL) {
        array_error_fill(error, ARRAY_FAULT_ARGUMENT, path,
                         "array_file_open_raw without a path or a layout");
        return NULL;
    }
    int fd = open_descriptor(path, error);
    if (fd < 0)
        return NULL;
    ArrayFile *file = new_file(path, options, error);
    if (file == NULL) {
        close(fd);
        return NULL;
    }
    file->source.seeks = true;
    return finish_open(file, attach_descriptor(file, fd, error) && parse_raw(file, layout, error));
}

void array_file_close(ArrayFile **file)
{
    if (file == NULL || *file == NULL)
        return;
    ArrayFile *closing = *file;
    *file = NULL;
    for (uint32_t i = 0; i < closing->count; i++) {
        free((char *)closing->entries[i].info.name);
        free((char *)closing->entries[i].info.problem);
    }
    if (closing->count < closing->capacity) /* one that was begun and not committed */
        free((char *)closing->entries[closing->count].info.name);
    free(closing->window);
    free(closing->unpacked);
    free(closing->entries);
    if (closing->source.fd >= 0)
        close(closing->source.fd);
    free(closing->name);
    free(closing);
}

ArrayFormat array_file_format(const ArrayFile *file)
{
    return file->format;
}

bool array_file_is_gzip(const ArrayFile *file)
{
    return file->gzip;
}

uint64_t array_file_size_bytes(const ArrayFile *file)
{
    return file->source.size_bytes;
}

uint32_t array_file_count(const ArrayFile *file)
{
    return file->count;
}

const ArrayInfo *array_file_info(const ArrayFile *file, uint32_t array)
{
    return array < file->count ? &file->entries[array].info : NULL;
}

int64_t array_file_find(const ArrayFile *file, const char *name)
{
    for (uint32_t i = 0; name != NULL && i < file->count; i++) {
        if (strcmp(file->entries[i].info.name, name) == 0)
            return i;
    }
    return -1;
}
