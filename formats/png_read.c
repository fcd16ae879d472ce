/* formats/png_read.c: PNG through libpng: 8-bit grey, grey with alpha, RGB and RGBA as u8, 16-bit
 * ones as u16; palettes and fewer bits become 8-bit channels, a transparent colour an alpha.
 * Values are the file's own: no gamma, no colour management.
 *
 * libpng reports errors by longjmp: nothing that changes after setjmp is a plain local. Thread
 * rule: as ArrayFile. */
#include "formats/inflate_stream.h"
#include "formats/reader.h"

#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum {
    CHUNK_MEMORY_MAX = 1 << 20, /* for one ancillary chunk */
    CHUNKS_KEPT_MAX = 16
};

typedef struct PngReader {
    const ByteSource *source;
    uint64_t next; /* in the file */
    ArrayError *error;
    png_structp png;
    png_infop info;
    uint32_t width, height;
    uint8_t depth, channels; /* as handed out */
    int passes;
} PngReader;

static void on_error(png_structp png, png_const_charp message)
{
    PngReader *reader = png_get_error_ptr(png);
    array_error_fill(reader->error, ARRAY_FAULT_COMPRESSED, reader->source->name,
                     "damaged PNG near byte %" PRIu64 ": %s", reader->next, message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void on_read(png_structp png, png_bytep out, size_t size_bytes)
{
    PngReader *reader = png_get_io_ptr(png);
    if (!byte_source_read(reader->source, reader->next, out, size_bytes, reader->error))
        png_longjmp(png, 1); /* the read has said why */
    reader->next += size_bytes;
}

/* Text, profiles and the like are of no use here and may unpack to much: skipped. */
static void skip_ancillary(png_structp png)
{
    static const png_byte CHUNKS[] = "iCCP\0iTXt\0zTXt\0tEXt\0sPLT\0eXIf\0hIST";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, CHUNKS, (int)(sizeof CHUNKS / 5));
    png_set_chunk_malloc_max(png, CHUNK_MEMORY_MAX);
    png_set_chunk_cache_max(png, CHUNKS_KEPT_MAX);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* ours come after */
}

/* Before libpng makes its row buffers. Called under setjmp. */
static void check_ratio(PngReader *reader)
{
    uint64_t pixel_bits = (uint64_t)png_get_bit_depth(reader->png, reader->info) *
                          png_get_channels(reader->png, reader->info);
    uint64_t row_bytes = (reader->width * pixel_bits + 7) / 8;
    if (row_bytes / INFLATE_RATIO_MAX <= reader->source->size_bytes / reader->height)
        return;
    array_error_fill(reader->error, ARRAY_FAULT_RATIO, reader->source->name,
                     "PNG states %" PRIu32 " x %" PRIu32 " pixels of %" PRIu64 " bits in %" PRIu64
                     " bytes, wanted at most %d times as many",
                     reader->width, reader->height, pixel_bits, reader->source->size_bytes,
                     INFLATE_RATIO_MAX);
    png_longjmp(reader->png, 1);
}

/* Everything up to the first pixel. Called under setjmp. */
static void read_start(PngReader *reader)
{
    png_structp png = reader->png;
    png_set_read_fn(png, reader, on_read);
    skip_ancillary(png);
    png_read_info(png, reader->info);
    reader->width = png_get_image_width(png, reader->info);
    reader->height = png_get_image_height(png, reader->info);
    check_ratio(reader);
    png_set_expand(png);
    if (png_get_bit_depth(png, reader->info) == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
    reader->passes = png_set_interlace_handling(png);
    png_read_update_info(png, reader->info);
    reader->depth = png_get_bit_depth(png, reader->info);
    reader->channels = png_get_channels(png, reader->info);
}

static bool create(PngReader *reader)
{
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
    if (reader->png != NULL)
        reader->info = png_create_info_struct(reader->png);
    if (reader->info != NULL)
        return true;
    png_destroy_read_struct(&reader->png, NULL, NULL);
    return array_error_set(reader->error, ARRAY_FAULT_MEMORY, reader->source->name,
                           "no memory to read a PNG");
}

static bool guarded_start(PngReader *reader)
{
    if (setjmp(png_jmpbuf(reader->png)) != 0)
        return false;
    read_start(reader);
    return true;
}

static bool read_info(PngReader *reader)
{
    if (!create(reader))
        return false;
    bool good = guarded_start(reader);
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    return good;
}

bool parse_png(ArrayFile *file, ArrayError *error)
{
    static const char *const CHANNEL_NAMES[5] = {"", "grey", "grey+alpha", "rgb", "rgba"};
    PngReader reader = {.source = &file->source, .error = error};
    ArrayEntry *entry = reader_new_entry(file, "", 0, error);
    file->format = ARRAY_FORMAT_PNG;
    if (entry == NULL || !read_info(&reader))
        return false;
    ArrayInfo *info = &entry->info;
    info->dtype = reader.depth == 16 ? ARRAY_DTYPE_U16 : ARRAY_DTYPE_U8;
    snprintf(info->dtype_text, sizeof info->dtype_text, "%s %s", array_dtype_name(info->dtype),
             CHANNEL_NAMES[reader.channels <= 4 ? reader.channels : 0]);
    info->rank = 3;
    info->shape[0] = reader.height;
    info->shape[1] = reader.width;
    info->shape[2] = reader.channels;
    info->compressed = true;
    info->last_axis_is_colour = true;
    info->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__; /* as unpack_png leaves it */
    entry->storage = ENTRY_STORAGE_PNG;
    if (!reader_set_extents(file, entry, "", error) || !reader_check_limit(file, entry, error))
        return false;
    reader_commit_entry(file);
    return true;
}

typedef struct RowReader {
    PngReader *png;
    const ArrayFile *file;
    uint8_t *out;
    size_t row_bytes;
    const ArrayControl *control;
    uint64_t rows_done;
} RowReader;

/* Where it says so, the error is there. */
static bool asked_to_stop(RowReader *rows)
{
    const ArrayControl *control = rows->control;
    uint64_t all = (uint64_t)rows->png->height * (uint64_t)rows->png->passes;
    if (control != NULL && control->progress != NULL)
        control->progress(control->user, (double)rows->rows_done / (double)all);
    return reader_is_cancelled(rows->file, control, rows->png->error);
}

/* Called under setjmp. An interlaced picture is gone over several times. */
static void read_rows(RowReader *rows)
{
    PngReader *reader = rows->png;
    uint64_t rows_a_block = READER_BLOCK_BYTES / rows->row_bytes + 1;
    read_start(reader);
    for (int pass = 0; pass < reader->passes; pass++) {
        for (uint32_t y = 0; y < reader->height; y++) {
            if (rows->rows_done++ % rows_a_block == 0 && asked_to_stop(rows))
                png_longjmp(reader->png, 1);
            png_read_row(reader->png, rows->out + y * rows->row_bytes, NULL);
        }
    }
}

static bool guarded_rows(RowReader *rows)
{
    if (setjmp(png_jmpbuf(rows->png->png)) != 0)
        return false;
    read_rows(rows);
    return true;
}

bool unpack_png(ArrayFile *file, const ArrayEntry *entry, uint8_t *out, const ArrayControl *control,
                ArrayError *error)
{
    ArrayError reason = {0};
    PngReader reader = {.source = &file->source, .error = &reason};
    const ArrayInfo *info = &entry->info;
    RowReader rows = {.png = &reader,
                      .file = file,
                      .out = out,
                      .row_bytes = (size_t)(info->size_bytes / info->shape[0]),
                      .control = control};
    /* The file may have been rewritten since it was opened: the picture must still be that size. */
    bool good = read_info(&reader) && reader.height == info->shape[0] &&
                reader.width == info->shape[1] && reader.channels == info->shape[2] &&
                (reader.depth == 16) == (info->dtype == ARRAY_DTYPE_U16);
    if (!good && reason.fault == ARRAY_FAULT_NONE)
        array_error_fill(&reason, ARRAY_FAULT_HEADER, file->name,
                         "has changed since it was opened");
    reader.next = 0;
    good = good && create(&reader) && guarded_rows(&rows);
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    if (!good && error != NULL)
        *error = reason;
    return good;
}
