/* Reading the four IDX files; see digits.h. */
#include "digits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "datasets/datasets.h"
#include "formats/array_file.h"

enum { SIDE = 28, CLASSES = 10 };

/* The whole array of u8, malloc'ed; its extents in `shape`. NULL and `why`. */
static uint8_t *read_array(const char *path, uint32_t rank, int64_t *out_count, char *why)
{
    ArrayError error = {0};
    ArrayFile *file = array_file_open(path, NULL, &error);
    uint8_t *bytes = NULL;
    if (file == NULL) {
        snprintf(why, DIGITS_ERROR_BYTES, "%s", error.message); /* which names the file */
        return NULL;
    }
    const ArrayInfo *info = array_file_info(file, 0);
    if (info == NULL || info->dtype != ARRAY_DTYPE_U8 || info->rank != rank ||
        (rank == 3 && (info->shape[1] != SIDE || info->shape[2] != SIDE)) || info->shape[0] == 0) {
        snprintf(why, DIGITS_ERROR_BYTES, "%.200s: wanted %s of u8", path,
                 rank == 3 ? "images of 28 x 28" : "labels");
        goto done;
    }
    uint64_t size = info->shape[0] * (rank == 3 ? SIDE * SIDE : 1);
    bytes = malloc(size);
    if (bytes == NULL || !array_file_read_stored(file, 0, 0, size, bytes, size, &error)) {
        if (bytes == NULL)
            snprintf(why, DIGITS_ERROR_BYTES, "%.200s: no memory", path);
        else
            snprintf(why, DIGITS_ERROR_BYTES, "%s", error.message);
        free(bytes);
        bytes = NULL;
        goto done;
    }
    *out_count = (int64_t)info->shape[0];
done:
    array_file_close(&file);
    return bytes;
}

/* Neither name leads to a file that is read: whether it is there and may not be, and what it is
 * then. */
static void tell_missing(const char *folder, const char *name, char *why)
{
    const size_t bare = strlen(name) - strlen(".gz");
    for (int i = 0; i < 2; i++) {
        char path[DATASETS_PATH_BYTES];
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)(i == 0 ? bare : strlen(name)), name);
        if (access(path, R_OK) != 0 && errno == EACCES) {
            snprintf(why, DIGITS_ERROR_BYTES, "%.200s/%s: %s", folder, strrchr(path, '/') + 1,
                     strerror(EACCES));
            return;
        }
    }
    snprintf(why, DIGITS_ERROR_BYTES, "%.200s: there is no %s, nor that without .gz", folder, name);
}

bool digits_read(Digits *digits, const char *folder, char *why)
{
    uint8_t *arrays[4] = {0};
    int64_t counts[4] = {0};
    memset(digits, 0, sizeof *digits);
    for (int i = 0; i < 4; i++) {
        char path[DATASETS_PATH_BYTES];
        if (!datasets_find_file(folder, &datasets_mnist.files[i], path)) {
            tell_missing(folder, datasets_mnist.files[i].name, why);
            goto failed;
        }
        arrays[i] = read_array(path, i % 2 == 0 ? 3 : 1, &counts[i], why);
        if (arrays[i] == NULL)
            goto failed;
    }
    for (int i = 0; i < 4; i += 2) {
        if (counts[i] != counts[i + 1]) {
            snprintf(why, DIGITS_ERROR_BYTES, "%.200s: %lld images and %lld labels", folder,
                     (long long)counts[i], (long long)counts[i + 1]);
            goto failed;
        }
        for (int64_t at = 0; at < counts[i + 1]; at++) {
            if (arrays[i + 1][at] >= CLASSES) {
                snprintf(why, DIGITS_ERROR_BYTES, "%.200s: %s: label %u, wanted 0 to 9", folder,
                         datasets_mnist.files[i + 1].name, arrays[i + 1][at]);
                goto failed;
            }
        }
    }
    *digits = (Digits){arrays[0], arrays[1], arrays[2], arrays[3], counts[0], counts[2]};
    return true;
failed:
    for (int i = 0; i < 4; i++)
        free(arrays[i]);
    return false;
}

void digits_free(Digits *digits)
{
    free(digits->train_images);
    free(digits->train_labels);
    free(digits->test_images);
    free(digits->test_labels);
    memset(digits, 0, sizeof *digits);
}
