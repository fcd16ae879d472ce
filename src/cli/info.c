/* cli/info.c: `caliper info FILE [--json]`: what an array file holds. Every element is looked at,
 * through a block of 1 MiB, so that minimum, maximum and counts are exact. First thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/array_words.h"
#include "cli/printable.h"
#include "formats/array_values.h"

typedef struct Finding {
    const ArrayInfo *info;
    ArrayStats stats;
} Finding;

/* A number as JSON has it. Floats are the shortest decimal that reads back as the same double, so
 * that an f32 compares equal to itself widened, and have a point or an exponent, so that they are
 * read as floats; bool is true or false; none is null. */
static const char *number_text(ArrayNumber number, ArrayDtype dtype, char text[ARRAY_TEXT_BYTES])
{
    if (number.kind == ARRAY_NUMBER_KIND_NONE)
        return "null";
    if (dtype == ARRAY_DTYPE_BOOL)
        return number.value.u64 != 0 ? "true" : "false";
    /* The text of f16 is the one that is as short as it can be. */
    array_number_text(number, ARRAY_DTYPE_F16, text);
    if (number.kind == ARRAY_NUMBER_KIND_F64 && strpbrk(text, ".e") == NULL)
        snprintf(text + strlen(text), ARRAY_TEXT_BYTES - strlen(text), ".0");
    return text;
}

static void add_raw(cJSON *object, const char *name, const char *text)
{
    cJSON_AddItemToObject(object, name, cJSON_CreateRaw(text));
}

static int print_json(const char *path, const ArrayFile *file, const Finding *findings,
                      uint32_t count)
{
    cJSON *tensors;
    cJSON *json = array_words_json(path, array_format_name(array_file_format(file)), &tensors);
    for (uint32_t i = 0; i < count; i++) {
        const ArrayInfo *info = findings[i].info;
        const ArrayStats *stats = &findings[i].stats;
        char text[ARRAY_TEXT_BYTES];
        cJSON *one = array_words_add(tensors, info->name, info->rank, info->shape, info->dtype);
        bool read = info->problem == NULL;
        add_raw(one, "min", number_text(stats->min, info->dtype, text));
        add_raw(one, "max", number_text(stats->max, info->dtype, text));
        snprintf(text, sizeof text, "%" PRIu64, stats->nan_count);
        add_raw(one, "nan", read ? text : "null");
        snprintf(text, sizeof text, "%" PRIu64, stats->infinite_count);
        add_raw(one, "inf", read ? text : "null");
        if (!read)
            cJSON_AddStringToObject(one, "problem", info->problem);
    }
    return array_words_print(json);
}

/* A number for people: as TensorScope and every other place spells a stored value. */
static const char *line_text(ArrayNumber number, ArrayDtype dtype, char text[ARRAY_TEXT_BYTES])
{
    if (dtype == ARRAY_DTYPE_BOOL)
        return number.value.u64 != 0 ? "true" : "false";
    return array_number_text(number, dtype, text);
}

static void print_storage(const ArrayInfo *info)
{
    if (info->compressed)
        fputs(", compressed", stdout);
    if (info->big_endian && array_dtype_size_bytes(info->dtype) > 1)
        fputs(", big-endian", stdout);
    if (info->fortran_order && info->rank > 1)
        fputs(", Fortran order", stdout);
}

static void print_finding(const Finding *finding, int name_width)
{
    const ArrayInfo *info = finding->info;
    char shape[ARRAY_WORDS_SHAPE_BYTES], low[ARRAY_TEXT_BYTES], high[ARRAY_TEXT_BYTES];
    array_words_shape(info->rank, info->shape, shape);
    fputs("  ", stdout);
    int length = printable_put(info->name[0] != '\0' ? info->name : "-", stdout);
    printf("%*s", name_width > length ? name_width - length + 2 : 2, "");
    if (info->problem != NULL) {
        printable_print(stdout, "%-4s  %s  not read: %s\n", info->dtype_text, shape, info->problem);
        return;
    }
    printf("%-4s  %s", array_dtype_name(info->dtype), shape);
    print_storage(info);
    const ArrayStats *stats = &finding->stats;
    if (stats->min.kind == ARRAY_NUMBER_KIND_NONE)
        fputs(stats->element_count == 0 ? "  no element" : "  no finite value", stdout);
    else
        printf("  min %s  max %s", line_text(stats->min, info->dtype, low),
               line_text(stats->max, info->dtype, high));
    if (stats->nan_count != 0 || stats->infinite_count != 0)
        printf("  nan %" PRIu64 "  inf %" PRIu64, stats->nan_count, stats->infinite_count);
    putchar('\n');
}

static void print_lines(const char *path, const ArrayFile *file, const Finding *findings,
                        uint32_t count)
{
    enum { NAME_WIDTH_MAX = 40 };
    int width = 1;
    for (uint32_t i = 0; i < count; i++) {
        int length = (int)strlen(findings[i].info->name);
        width = length > width && length <= NAME_WIDTH_MAX ? length : width;
    }
    printable_put(path, stdout);
    printf(": %s%s, %" PRIu64 " bytes, %u array%s\n", array_format_name(array_file_format(file)),
           array_file_is_gzip(file) ? " in gzip" : "", array_file_size_bytes(file),
           array_file_count(file), array_file_count(file) == 1 ? "" : "s");
    for (uint32_t i = 0; i < count; i++)
        print_finding(&findings[i], width);
}

/* All of them before a word is printed: a file that cannot be read to its end is a failure whole.
 */
static bool look(ArrayFile *file, uint32_t first, Finding *findings, uint32_t count)
{
    ArrayError error;
    for (uint32_t i = 0; i < count; i++) {
        findings[i].info = array_file_info(file, first + i);
        if (findings[i].info->problem == NULL &&
            !array_file_statistics(file, first + i, NULL, &findings[i].stats, &error)) {
            cli_failed("%s", error.message);
            return false;
        }
    }
    return true;
}

int cli_info(CliOptions *options)
{
    if (options->word_count != 1)
        return cli_usage("info: given %d files, wanted one", (int)options->word_count);
    const char *path = options->words[0];
    ArrayFile *file = array_words_open(options, path);
    if (file == NULL)
        return 1;
    int64_t chosen = options->tensor != NULL ? array_words_find(options, file) : 0;
    uint32_t count = options->tensor != NULL ? 1 : array_file_count(file);
    Finding *findings = calloc(count + (size_t)1, sizeof *findings);
    int status = 1;
    if (findings == NULL)
        cli_failed("%s: no memory for what it holds", path);
    else if (chosen >= 0 && look(file, (uint32_t)chosen, findings, count)) {
        status = 0;
        if (options->json)
            status = print_json(path, file, findings, count);
        else
            print_lines(path, file, findings, count);
    }
    free(findings);
    array_file_close(&file);
    return status;
}
