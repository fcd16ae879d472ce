/* formats/png_write.c: writes 8-bit RGBA PNG.
 *
 * Thread rule: any thread. */
#include "formats/array_write.h"
#include "formats/write_file.h"

#include <png.h>
#include <setjmp.h>

typedef struct PngWriter {
    WriteFile file;
    ArrayError *error;
    png_structp png;
    png_infop info;
    uint32_t width, height;
    size_t stride_bytes;
    const uint8_t *rows;
} PngWriter;

static void on_error(png_structp png, png_const_charp message)
{
    PngWriter *writer = png_get_error_ptr(png);
    array_error_fill(writer->error, ARRAY_FAULT_WRITE, writer->file.path, "libpng: %s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t size_bytes)
{
    PngWriter *writer = png_get_io_ptr(png);
    if (!write_file_append(&writer->file, bytes, size_bytes, writer->error))
        png_longjmp(png, 1); /* the write has said why */
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool guarded_write(PngWriter *writer)
{
    if (setjmp(png_jmpbuf(writer->png)) != 0)
        return false;
    png_structp png = writer->png;
    png_set_write_fn(png, writer, on_write, on_flush);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, writer->info, writer->width, writer->height, 8, PNG_COLOR_TYPE_RGBA,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, writer->info);
    for (uint32_t y = 0; y < writer->height; y++)
        png_write_row(png, writer->rows + y * writer->stride_bytes);
    png_write_end(png, writer->info);
    return true;
}

bool array_write_png_rgba8(const char *path, uint32_t width_px, uint32_t height_px,
                           size_t stride_bytes, const void *rgba, ArrayError *error)
{
    size_t packed_bytes = (size_t)width_px * 4;
    PngWriter writer = {.error = error,
                        .width = width_px,
                        .height = height_px,
                        .stride_bytes = stride_bytes != 0 ? stride_bytes : packed_bytes,
                        .rows = rgba};
    if (width_px == 0 || height_px == 0 || width_px > PNG_UINT_31_MAX / 4 ||
        height_px > PNG_UINT_31_MAX || writer.stride_bytes < packed_bytes || rgba == NULL)
        return array_error_set(error, ARRAY_FAULT_ARGUMENT, path,
                               "asked to write %u x %u pixels in rows of %zu bytes, wanted at "
                               "least one pixel and rows that hold them",
                               width_px, height_px, writer.stride_bytes);
    if (!write_file_begin(&writer.file, path, error))
        return false;
    writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, on_error, on_warning);
    if (writer.png != NULL)
        writer.info = png_create_info_struct(writer.png);
    bool good = false;
    if (writer.info == NULL)
        array_error_fill(error, ARRAY_FAULT_MEMORY, path, "no memory to write a PNG");
    else
        good = guarded_write(&writer);
    png_destroy_write_struct(&writer.png, &writer.info);
    if (!good) {
        write_file_cancel(&writer.file);
        return false;
    }
    return write_file_commit(&writer.file, error);
}
