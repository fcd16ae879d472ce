/* applets/mlscope/digits.h: the images and labels to learn from, read from IDX files.
 *
 * MNIST's four files (or Fashion-MNIST's, which have the same names and shapes), plain or .gz, as
 * datasets/ names them. Any thread; reads files. */
#ifndef MLSCOPE_DIGITS_H
#define MLSCOPE_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Digits {
    uint8_t *train_images, *train_labels, *test_images, *test_labels; /* 28 x 28 u8; 0..9 */
    int64_t train_count, test_count;
} Digits;

enum { DIGITS_ERROR_BYTES = 512 };

/* False and `why` (DIGITS_ERROR_BYTES), naming the file: nothing is held then. */
bool digits_read(Digits *digits, const char *folder, char *why);
void digits_free(Digits *digits);

#endif
