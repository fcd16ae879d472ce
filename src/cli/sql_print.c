/* Tables, CSV and JSON of an Arrow stream; see sql_print.h. A batch at a time is in memory, and of
 * a table the first rows, from which the widths of its columns are taken. */
#include "cli/sql_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/printable.h"

enum { TABLE_CELL_CHARACTERS_MAX = 60, TABLE_SAMPLE_ROWS = 200 };

typedef struct Printer {
    SqlFormat format;
    FILE *file;
    bool is_terminal;
    struct ArrowSchema schema;
    uint64_t row_count;
    TextBuffer line, cell, value;
    /* of a table */
    int *widths;    /* characters */
    char **samples; /* cells of the first rows, row by row */
    size_t sample_cells, sample_capacity;
    bool has_header;
} Printer;

/* ---- Texts ---- */

static int characters_of(const char *text)
{
    int count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* Cuts after TABLE_CELL_CHARACTERS_MAX characters, the last of which then says so. */
static void cut_cell(TextBuffer *cell)
{
    size_t at = 0;
    for (int count = 0; at < cell->length; at++) {
        if (((unsigned char)cell->bytes[at] & 0xc0) == 0x80)
            continue;
        if (count++ == TABLE_CELL_CHARACTERS_MAX - 1)
            break;
    }
    if (at >= cell->length || characters_of(cell->bytes + at) <= 1)
        return;
    cell->length = at;
    text_buffer_text(cell, "\u2026");
}

static const char *column_name(const Printer *printer, int64_t column)
{
    const char *name = printer->schema.children[column]->name;
    return name != NULL ? name : "";
}

/* The cell of a table. The result lives until the next call. */
static const char *table_cell(Printer *printer, const char *bytes, size_t length)
{
    /* No more than what can be shown is looked at, however long the text is. */
    size_t most = 4 * (size_t)TABLE_CELL_CHARACTERS_MAX + 4;
    printer->cell.length = 0;
    text_buffer_add(&printer->cell, "", 0);
    printable_add(bytes, length < most ? length : most, &printer->cell);
    if (printer->cell.failed)
        return "";
    cut_cell(&printer->cell);
    return printer->cell.bytes;
}

/* ---- Lines ---- */

static bool put_line(Printer *printer)
{
    text_buffer_text(&printer->line, "\n");
    bool whole = !printer->line.failed && fwrite(printer->line.bytes, 1, printer->line.length,
                                                 printer->file) == printer->line.length;
    printer->line.length = 0;
    return whole;
}

static bool is_number(const char *format)
{
    return format[0] == 'd' || (format[1] == '\0' && strchr("cCsSiIlLfg", format[0]) != NULL);
}

static void add_padding(TextBuffer *line, int count)
{
    for (; count > 0; count--)
        text_buffer_text(line, " ");
}

static void add_table_cell(Printer *printer, int64_t column, const char *text)
{
    int padding = printer->widths[column] - characters_of(text);
    bool right = is_number(printer->schema.children[column]->format);
    bool last = column + 1 == printer->schema.n_children;
    if (column > 0)
        text_buffer_text(&printer->line, "  ");
    if (right)
        add_padding(&printer->line, padding);
    text_buffer_text(&printer->line, text);
    if (!right && !last)
        add_padding(&printer->line, padding);
}

static bool put_table_header(Printer *printer)
{
    int64_t columns = printer->schema.n_children;
    for (int64_t i = 0; i < columns; i++) {
        const char *name = column_name(printer, i);
        add_table_cell(printer, i, table_cell(printer, name, strlen(name)));
    }
    if (!put_line(printer))
        return false;
    for (int64_t i = 0; i < columns; i++) {
        if (i > 0)
            text_buffer_text(&printer->line, "  ");
        for (int k = 0; k < printer->widths[i]; k++)
            text_buffer_text(&printer->line, "-");
    }
    printer->has_header = true;
    return put_line(printer);
}

/* The header and the rows that were kept for the widths. */
static bool put_samples(Printer *printer)
{
    size_t columns = (size_t)printer->schema.n_children;
    bool good = put_table_header(printer);
    for (size_t i = 0; good && i < printer->sample_cells; i++) {
        add_table_cell(printer, (int64_t)(i % columns), printer->samples[i]);
        if (i % columns == columns - 1)
            good = put_line(printer);
    }
    return good;
}

static bool keep_sample(Printer *printer, int64_t column, const char *text)
{
    if (printer->sample_cells == printer->sample_capacity) {
        size_t capacity = printer->sample_capacity * 2 + 64;
        char **samples = realloc(printer->samples, capacity * sizeof(char *));
        if (samples == NULL)
            return false;
        printer->samples = samples;
        printer->sample_capacity = capacity;
    }
    char *copy = strdup(text);
    if (copy == NULL)
        return false;
    int width = characters_of(text);
    printer->samples[printer->sample_cells++] = copy;
    if (width > printer->widths[column])
        printer->widths[column] = width;
    return true;
}

/* ---- Rows ---- */

static bool put_table_row(Printer *printer, const struct ArrowArray *batch, int64_t row)
{
    bool sampled = printer->row_count < TABLE_SAMPLE_ROWS;
    for (int64_t i = 0; i < printer->schema.n_children; i++) {
        printer->value.length = 0;
        arrow_text_value(printer->schema.children[i], batch->children[i], row + batch->offset,
                         ARROW_TEXT_FORM_PLAIN, &printer->value);
        const char *text =
            table_cell(printer, printer->value.bytes != NULL ? printer->value.bytes : "",
                       printer->value.length);
        if (printer->value.failed || printer->cell.failed ||
            (sampled && !keep_sample(printer, i, text)))
            return false;
        if (!sampled)
            add_table_cell(printer, i, text);
    }
    if (!sampled)
        return put_line(printer);
    return printer->row_count + 1 < TABLE_SAMPLE_ROWS || put_samples(printer);
}

static void add_csv_field(Printer *printer, const char *bytes, size_t length)
{
    bool quoted = length == 0 || bytes[0] == ' ' || bytes[length - 1] == ' ';
    for (size_t i = 0; i < length && !quoted; i++)
        quoted = strchr(",\"\n\r", bytes[i]) != NULL;
    if (quoted)
        text_buffer_text(&printer->line, "\"");
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"')
            text_buffer_text(&printer->line, "\"");
        text_buffer_add(&printer->line, bytes + i, 1);
    }
    if (quoted)
        text_buffer_text(&printer->line, "\"");
}

/* The bytes as they are into a file; on a terminal without what could steer it. */
static void add_csv(Printer *printer, const char *bytes, size_t length)
{
    if (!printer->is_terminal) {
        add_csv_field(printer, bytes, length);
        return;
    }
    printer->cell.length = 0;
    text_buffer_add(&printer->cell, "", 0);
    printable_add(bytes, length, &printer->cell);
    if (!printer->cell.failed)
        add_csv_field(printer, printer->cell.bytes, printer->cell.length);
}

static bool put_csv_row(Printer *printer, const struct ArrowArray *batch, int64_t row)
{
    for (int64_t i = 0; i < printer->schema.n_children; i++) {
        const struct ArrowSchema *schema = printer->schema.children[i];
        if (i > 0)
            text_buffer_text(&printer->line, ",");
        if (arrow_text_is_null(schema, batch->children[i], row + batch->offset))
            continue;
        printer->value.length = 0;
        arrow_text_value(schema, batch->children[i], row + batch->offset, ARROW_TEXT_FORM_PLAIN,
                         &printer->value);
        add_csv(printer, printer->value.bytes != NULL ? printer->value.bytes : "",
                printer->value.length);
    }
    return !printer->value.failed && !printer->cell.failed && put_line(printer);
}

static bool put_json_row(Printer *printer, const struct ArrowArray *batch, int64_t row)
{
    text_buffer_text(&printer->line, printer->row_count == 0 ? "[{" : " {");
    if (printer->row_count > 0 && fputs(",\n", printer->file) == EOF)
        return false;
    for (int64_t i = 0; i < printer->schema.n_children; i++) {
        const char *name = column_name(printer, i);
        if (i > 0)
            text_buffer_text(&printer->line, ", ");
        arrow_text_json_string(name, strlen(name), &printer->line);
        text_buffer_text(&printer->line, ": ");
        arrow_text_value(printer->schema.children[i], batch->children[i], row + batch->offset,
                         ARROW_TEXT_FORM_JSON, &printer->line);
    }
    text_buffer_text(&printer->line, "}");
    bool whole = !printer->line.failed && fwrite(printer->line.bytes, 1, printer->line.length,
                                                 printer->file) == printer->line.length;
    printer->line.length = 0;
    return whole;
}

/* ---- The whole ---- */

static bool begin(Printer *printer)
{
    int64_t columns = printer->schema.n_children;
    printer->widths = calloc((size_t)columns + 1, sizeof(int));
    if (printer->widths == NULL)
        return false;
    for (int64_t i = 0; i < columns; i++) {
        const char *name = column_name(printer, i);
        printer->widths[i] = characters_of(table_cell(printer, name, strlen(name)));
    }
    if (printer->format != SQL_FORMAT_CSV || columns == 0)
        return !printer->cell.failed;
    for (int64_t i = 0; i < columns; i++) {
        const char *name = column_name(printer, i);
        if (i > 0)
            text_buffer_text(&printer->line, ",");
        add_csv(printer, name, strlen(name));
    }
    return put_line(printer);
}

/* What DuckDB answers for statements that have nothing to show: one such column and no row. */
static bool is_silent(const Printer *printer)
{
    return printer->row_count == 0 && printer->schema.n_children == 1 &&
           (strcmp(column_name(printer, 0), "Count") == 0 ||
            strcmp(column_name(printer, 0), "Success") == 0);
}

static bool end(Printer *printer)
{
    if (printer->format == SQL_FORMAT_JSON)
        return fputs(printer->row_count == 0 ? "[]\n" : "]\n", printer->file) != EOF;
    if (printer->format == SQL_FORMAT_CSV || is_silent(printer))
        return true;
    if (!printer->has_header && !put_samples(printer))
        return false;
    return fprintf(printer->file, "(%" PRIu64 " row%s)\n", printer->row_count,
                   printer->row_count == 1 ? "" : "s") > 0;
}

static bool put_batch(Printer *printer, const struct ArrowArray *batch)
{
    static bool (*const put[])(Printer *, const struct ArrowArray *,
                               int64_t) = {put_table_row, put_csv_row, put_json_row};
    for (int64_t row = 0; row < batch->length; row++) {
        if (!put[printer->format](printer, batch, row))
            return false;
        printer->row_count++;
    }
    return true;
}

bool sql_print(struct ArrowArrayStream *stream, SqlFormat format, FILE *file)
{
    Printer printer = {.format = format, .file = file, .is_terminal = isatty(fileno(file)) == 1};
    struct ArrowArray batch;
    if (stream->get_schema(stream, &printer.schema) != 0)
        return false;
    bool good = begin(&printer);
    while (good) {
        good = stream->get_next(stream, &batch) == 0;
        if (!good || batch.release == NULL)
            break;
        good = put_batch(&printer, &batch);
        batch.release(&batch);
    }
    good = good && end(&printer);
    for (size_t i = 0; i < printer.sample_cells; i++)
        free(printer.samples[i]);
    free(printer.samples);
    free(printer.widths);
    free(printer.line.bytes);
    free(printer.cell.bytes);
    free(printer.value.bytes);
    printer.schema.release(&printer.schema);
    return good;
}
