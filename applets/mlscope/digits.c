/* Reading the four IDX files; see digits.h. */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/array_file.h"

enum { SIDE = 28, CLASSES = 10, PATH_BYTES = 4096 };

static const char *const names[4] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                     "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/* The file of that name, plain or compressed; false: neither is there. */
static bool find_file(const char *folder, const char *name, char *path)
{
    static const char *const endings[] = {"", ".gz"};
    for (int i = 0; i < 2; i++) {
        int length = snprintf(path, PATH_BYTES, "%s/%s%s", folder, name, endings[i]);
        if (length > 0 && length < PATH_BYTES && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool digits_found(const char *folder)
{
    char path[PATH_BYTES];
    for (int i = 0; i < 4; i++) {
        if (!find_file(folder, names[i], path))
            return false;
    }
    return true;
}

/* The whole array of u8, malloc'ed; its extents in `shape`. NULL and `why`. */
static uint8_t *read_array(const char *path, uint32_t rank, int64_t *out_count, char *why)
{
    ArrayError error = {0};
    ArrayFile *file = array_file_open(path, NULL, &error);
    uint8_t *bytes = NULL;
    if (file == NULL) {
        snprintf(why, DIGITS_ERROR_BYTES, "%.150s: %.150s", path, error.message);
        return NULL;
    }
    const ArrayInfo *info = array_file_info(file, 0);
    if (info == NULL || info->dtype != ARRAY_DTYPE_U8 || info->rank != rank ||
        (rank == 3 && (info->shape[1] != SIDE || info->shape[2] != SIDE)) || info->shape[0] == 0) {
        snprintf(why, DIGITS_ERROR_BYTES, "%.150s: wanted %s of u8", path,
                 rank == 3 ? "images of 28 x 28" : "labels");
        goto done;
    }
    uint64_t size = info->shape[0] * (rank == 3 ? SIDE * SIDE : 1);
    bytes = malloc(size);
    if (bytes == NULL || !array_file_read_stored(file, 0, 0, size, bytes, size, &error)) {
        snprintf(why, DIGITS_ERROR_BYTES, "%.150s: %.150s", path,
                 bytes == NULL ? "no memory" : error.message);
        free(bytes);
        bytes = NULL;
        goto done;
    }
    *out_count = (int64_t)info->shape[0];
done:
    array_file_close(&file);
    return bytes;
}

bool digits_read(Digits *digits, const char *folder, char *why)
{
    uint8_t *arrays[4] = {0};
    int64_t counts[4] = {0};
    memset(digits, 0, sizeof *digits);
    for (int i = 0; i < 4; i++) {
        char path[PATH_BYTES];
        if (!find_file(folder, names[i], path)) {
            snprintf(why, DIGITS_ERROR_BYTES, "%.200s: there is no %s, nor that with .gz", folder,
                     names[i]);
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
                         names[i + 1], arrays[i + 1][at]);
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
