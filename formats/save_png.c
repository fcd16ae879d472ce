/* formats/save_png.c: PNG of 8 or 16 bits and 1 to 4 channels, written row by row as the elements
 * come. Thread rule: one ArraySave by one thread. */
#include "formats/save_impl.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct SavePng {
    ArraySave *save;
    ArrayError *error; /* of the call that runs */
    png_structp png;
    png_infop info;
    uint8_t *row;
    size_t row_bytes, row_used;
};

static void on_error(png_structp png, png_const_charp message)
{
    const SavePng *writer = png_get_error_ptr(png);
    array_error_fill(writer->error, ARRAY_FAULT_WRITE, writer->save->path, "libpng: %s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t size_bytes)
{
    SavePng *writer = png_get_io_ptr(png);
    if (!save_bytes(writer->save, bytes, size_bytes, writer->error))
        png_longjmp(png, 1); /* the write has said why */
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool write_header(SavePng *writer, const ArraySaveItem *item, uint32_t channels)
{
    static const int COLOURS[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                   PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(writer->png)) != 0)
        return false;
    png_structp png = writer->png;
    png_set_write_fn(png, writer, on_write, on_flush);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, writer->info, (png_uint_32)item->shape[1], (png_uint_32)item->shape[0],
                 item->dtype == ARRAY_DTYPE_U16 ? 16 : 8, COLOURS[channels], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, writer->info);
    if (item->dtype == ARRAY_DTYPE_U16)
        png_set_swap(png);
    return true;
}

bool save_png_begin(ArraySave *save, ArrayError *error)
{
    const ArraySaveItem *item = &save->items[0].item;
    uint32_t channels = item->rank == 3 ? (uint32_t)item->shape[2] : 1;
    SavePng *writer = calloc(1, sizeof *writer);
    save->png = writer;
    if (writer == NULL)
        return array_error_set(error, ARRAY_FAULT_MEMORY, save->path, "no memory to write a PNG");
    writer->save = save;
    writer->error = error;
    writer->row_bytes = (size_t)item->shape[1] * channels * array_dtype_size_bytes(item->dtype);
    writer->row = malloc(writer->row_bytes);
    writer->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, on_error, on_warning);
    if (writer->png != NULL)
        writer->info = png_create_info_struct(writer->png);
    if (writer->row == NULL || writer->info == NULL)
        return array_error_set(error, ARRAY_FAULT_MEMORY, save->path, "no memory to write a PNG");
    return write_header(writer, item, channels);
}

static bool write_row(SavePng *writer)
{
    if (setjmp(png_jmpbuf(writer->png)) != 0)
        return false;
    png_write_row(writer->png, writer->row);
    return true;
}

bool save_png_append(ArraySave *save, const uint8_t *bytes, size_t size_bytes, ArrayError *error)
{
    SavePng *writer = save->png;
    writer->error = error;
    while (size_bytes > 0) {
        size_t room = writer->row_bytes - writer->row_used;
        size_t step = size_bytes < room ? size_bytes : room;
        memcpy(writer->row + writer->row_used, bytes, step);
        writer->row_used += step;
        bytes += step;
        size_bytes -= step;
        if (writer->row_used < writer->row_bytes)
            continue;
        writer->row_used = 0;
        if (!write_row(writer))
            return false;
    }
    return true;
}

bool save_png_end(ArraySave *save, ArrayError *error)
{
    SavePng *writer = save->png;
    writer->error = error;
    if (setjmp(png_jmpbuf(writer->png)) != 0)
        return false;
    png_write_end(writer->png, writer->info);
    return true;
}

void save_png_free(ArraySave *save)
{
    if (save->png == NULL)
        return;
    png_destroy_write_struct(&save->png->png, &save->png->info);
    free(save->png->row);
    free(save->png);
    save->png = NULL;
}
