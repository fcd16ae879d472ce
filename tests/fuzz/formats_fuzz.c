/* tests/fuzz/formats_fuzz.c: see the header. One thread. */
#include "formats_fuzz.h"

#include "formats/array_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { READ_BYTES_MAX = 1 << 20, ARRAYS_MAX = 8, UNPACKED_BYTES_MAX = 16 << 20 };

/* Repeatable numbers from the input itself (FNV-1a, then xorshift). */
static uint64_t random_state;

static void seed(const uint8_t *data, size_t size)
{
    random_state = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        random_state = (random_state ^ data[i]) * UINT64_C(0x100000001b3);
    random_state |= 1;
}

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return limit == 0 ? 0 : random_state % limit;
}

static void require(bool promise, const char *what)
{
    if (promise)
        return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}

static void require_reason(const ArrayError *error)
{
    require(error->fault != ARRAY_FAULT_NONE && error->message[0] != '\0',
            "a refusal gives its reason");
    require(strchr(error->message, '\n') == NULL, "a reason is one line");
}

static int random_axis(const ArrayInfo *info)
{
    return (int)random_below(info->rank + 2u) - 1; /* now and then one too many */
}

static void random_slice(const ArrayInfo *info, ArraySlice *slice)
{
    array_slice_default(info, slice);
    if (random_below(4) != 0) {
        slice->row_axis = random_axis(info);
        slice->col_axis = random_axis(info);
        slice->channel_axis = random_below(2) ? random_axis(info) : ARRAY_AXIS_NONE;
    }
    for (uint32_t axis = 0; axis < info->rank; axis++)
        slice->index[axis] = random_below(info->shape[axis]);
    slice->row_begin = random_below(3) ? 0 : random_below(8);
    slice->row_count = random_below(2) ? 0 : random_below(64);
    slice->row_step = random_below(4);
    slice->col_begin = random_below(3) ? 0 : random_below(8);
    slice->col_count = random_below(2) ? 0 : random_below(64);
    slice->col_step = random_below(3) ? random_below(4) : random_below(UINT64_MAX);
}

/* A random element of the slice must be what reading that one element gives. */
static void compare_one(ArrayFile *file, uint32_t array, const ArraySlice *slice,
                        const ArraySliceShape *shape, const uint8_t *cut)
{
    const ArrayInfo *info = array_file_info(file, array);
    size_t size = array_dtype_size_bytes(info->dtype);
    uint64_t row = random_below(shape->rows), col = random_below(shape->cols);
    uint64_t channel = random_below(shape->channels);
    uint64_t index[ARRAY_RANK_MAX];
    memcpy(index, slice->index, sizeof index);
    if (slice->row_axis >= 0)
        index[slice->row_axis] = slice->row_begin + row * (slice->row_step ? slice->row_step : 1);
    if (slice->col_axis >= 0)
        index[slice->col_axis] = slice->col_begin + col * (slice->col_step ? slice->col_step : 1);
    if (slice->channel_axis >= 0)
        index[slice->channel_axis] = channel;
    uint8_t element[8];
    ArrayError error = {0};
    bool read = array_file_read_element(file, array, index, element, &error);
    require(read, "an element of a slice can be read");
    const uint8_t *same = cut + ((row * shape->cols + col) * shape->channels + channel) * size;
    require(memcmp(element, same, size) == 0, "a slice holds its elements");
    char text[ARRAY_TEXT_BYTES];
    float value;
    require(array_value_text(info->dtype, element, text)[0] != '\0', "an element has a text");
    require(array_convert_to_f32(info->dtype, element, &value, 1), "an element converts");
}

static void read_random_slice(ArrayFile *file, uint32_t array)
{
    ArraySlice slice;
    ArraySliceShape shape;
    ArrayError error = {0};
    random_slice(array_file_info(file, array), &slice);
    if (!array_file_slice_shape(file, array, &slice, &shape, &error)) {
        require_reason(&error);
        return;
    }
    if (shape.size_bytes > READ_BYTES_MAX)
        return;
    uint8_t *cut = malloc(shape.size_bytes != 0 ? (size_t)shape.size_bytes : 1);
    require(cut != NULL, "there is memory for a small slice");
    if (!array_file_read_slice(file, array, &slice, cut, (size_t)shape.size_bytes, &error))
        require_reason(&error);
    else if (shape.size_bytes != 0)
        compare_one(file, array, &slice, &shape, cut);
    free(cut);
}

static void read_array(ArrayFile *file, uint32_t array)
{
    const ArrayInfo *info = array_file_info(file, array);
    ArrayError error = {0};
    require(info->rank <= ARRAY_RANK_MAX, "a rank is at most 32");
    if (info->problem != NULL) {
        require(info->dtype == ARRAY_DTYPE_NONE, "a problem has no dtype");
        ArrayStats stats;
        require(!array_file_statistics(file, array, NULL, &stats, &error), "a problem is refused");
        require_reason(&error);
        return;
    }
    for (int i = 0; i < 3; i++)
        read_random_slice(file, array);
    ArrayStats stats;
    if (info->size_bytes <= UNPACKED_BYTES_MAX &&
        !array_file_statistics(file, array, NULL, &stats, &error))
        require_reason(&error);
}

static ArrayFile *open_bytes(const uint8_t *bytes, size_t size, ArrayError *error)
{
    ArrayOpenOptions options = {.max_unpacked_bytes = UNPACKED_BYTES_MAX};
    int fd = random_below(8) == 0 ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
    if (fd < 0)
        return array_file_open_memory(bytes, size, "fuzz.gz", &options, error);
    ArrayFile *file = NULL;
    if (size == 0 || write(fd, bytes, size) == (ssize_t)size)
        file = array_file_open_fd(fd, "fuzz", &options, error);
    else
        error->fault = ARRAY_FAULT_OPEN, strcpy(error->message, "no memfd");
    close(fd);
    return file;
}

int formats_fuzz(const uint8_t *data, size_t size, ArrayFormat format, const void *signature,
                 size_t signature_bytes)
{
    uint8_t *bytes = malloc(size != 0 ? size : 1); /* exactly as long, so that ASan sees one more */
    if (bytes == NULL)
        return 0;
    if (size != 0)
        memcpy(bytes, data, size);
    bool is_signed = signature_bytes != 0 && size >= signature_bytes;
    if (is_signed)
        memcpy(bytes, signature, signature_bytes);
    seed(bytes, size);
    ArrayError error = {0};
    ArrayFile *file = open_bytes(bytes, size, &error);
    if (file == NULL) {
        require_reason(&error);
    } else {
        ArrayFormat found = array_file_format(file);
        require(!is_signed || format == ARRAY_FORMAT_NONE || found == format,
                "the signature decides the format");
        for (uint32_t i = 0; i < array_file_count(file) && i < ARRAYS_MAX; i++)
            read_array(file, i);
        array_file_close(&file);
    }
    free(bytes);
    return 0;
}
