/* cli/array_words.h: what info and convert share: opening a file as the options say, choosing its
 * arrays, and saying what an array is in text and JSON. Only cli/ includes it. First thread. */
#ifndef CALIPER_CLI_ARRAY_WORDS_H
#define CALIPER_CLI_ARRAY_WORDS_H

#include <cJSON.h>

#include "cli/cli.h"
#include "formats/array_file.h"

/* Opens with --raw's layout where there is one. NULL after one line on stderr. */
ArrayFile *array_words_open(const CliOptions *options, const char *path);
/* The index of --tensor's array, or -1 after one line on stderr. */
int64_t array_words_find(const CliOptions *options, const ArrayFile *file);

/* "480 x 640"; "scalar" for rank 0. Returns `text`. */
enum { ARRAY_WORDS_SHAPE_BYTES = ARRAY_RANK_MAX * 24 };
const char *array_words_shape(uint32_t rank, const uint64_t *shape,
                              char text[ARRAY_WORDS_SHAPE_BYTES]);

/* {"file": PATH, "format": FORMAT, "tensors": []}; the array to fill is *tensors. A path that is no
 * UTF-8 has U+FFFD in it. NULL when there is no memory. */
cJSON *array_words_json(const char *path, const char *format, cJSON **tensors);
/* {"name", "shape", "dtype"}, added to `tensors`; dtype null where it is not read. */
cJSON *array_words_add(cJSON *tensors, const char *name, uint32_t rank, const uint64_t *shape,
                       ArrayDtype dtype);
/* Prints and frees. 0, or 1 after one line on stderr. */
int array_words_print(cJSON *json);

#endif
