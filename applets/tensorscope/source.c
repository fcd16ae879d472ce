/* tensorscope/source.c: copies of a file's headers. Any thread. */
#include "source.h"

#include "formats/raw_layout.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool copy_array(SourceArray *to, const ArrayInfo *from)
{
    to->name = strdup(from->name != NULL ? from->name : "");
    to->problem = from->problem != NULL ? strdup(from->problem) : NULL;
    if (to->name == NULL || (from->problem != NULL && to->problem == NULL)) {
        return false;
    }
    to->dtype = from->dtype;
    memcpy(to->dtype_text, from->dtype_text, sizeof(to->dtype_text));
    to->rank = from->rank;
    memcpy(to->shape, from->shape, sizeof(to->shape));
    to->element_count = from->element_count;
    to->size_bytes = from->size_bytes;
    to->fortran_order = from->fortran_order;
    to->big_endian = from->big_endian;
    to->compressed = from->compressed;
    to->last_axis_is_colour = from->last_axis_is_colour;
    return true;
}

static bool can_write_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    bool can = folder != NULL && access(folder, W_OK) == 0;
    free(folder);
    return can;
}

Source *source_create(const char *path, const ArrayFile *file)
{
    static atomic_uint_fast64_t last_serial;
    uint32_t count = array_file_count(file);
    Source *source = calloc(1, sizeof(*source));
    if (source == NULL) {
        return NULL;
    }
    source->serial = atomic_fetch_add(&last_serial, 1) + 1;
    source->format = array_file_format(file);
    source->gzip = array_file_is_gzip(file);
    source->size_bytes = array_file_size_bytes(file);
    source->path = strdup(path);
    source->folder_is_writable = can_write_beside(array_raw_path(path));
    source->arrays = calloc(count > 0 ? count : 1, sizeof(*source->arrays));
    if (source->path == NULL || source->arrays == NULL) {
        goto fail;
    }
    for (uint32_t i = 0; i < count; i++) {
        source->count = i + 1;
        if (!copy_array(&source->arrays[i], array_file_info(file, i))) {
            goto fail;
        }
    }
    return source;
fail:
    source_destroy(&source);
    return NULL;
}

void source_destroy(Source **source)
{
    if (source == NULL || *source == NULL) {
        return;
    }
    for (uint32_t i = 0; i < (*source)->count; i++) {
        free((*source)->arrays[i].name);
        free((*source)->arrays[i].problem);
    }
    free((*source)->arrays);
    free((*source)->path);
    free(*source);
    *source = NULL;
}

uint32_t source_first_readable(const Source *source)
{
    for (uint32_t i = 0; i < source->count; i++) {
        if (source->arrays[i].problem == NULL && source->arrays[i].element_count > 0) {
            return i;
        }
    }
    return 0;
}

const char *source_file_name(const char *address)
{
    const char *path = array_raw_path(address);
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}
