/* tests/unit/formats_common.h: what the tests of formats/ share: the data folder, SHA-256, files
 * made on the fly. Only tests/unit/formats_*.c include it. One thread. */
#ifndef TESTS_FORMATS_COMMON_H
#define TESTS_FORMATS_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/array_file.h"
#include "formats/array_values.h"
#include "formats/array_write.h"

#include <cjson/cJSON.h>

/* Path of a checked-in file; lives until the next four calls. */
const char *data_path(const char *file);

/* Reads a whole file (owned by the caller, NUL after it); fails the test if it cannot. */
uint8_t *load_file(const char *path, size_t *size_bytes);
cJSON *load_json(const char *path);

/* A file of these bytes in a folder of this run, removed by remove_temporaries. */
const char *temporary_path(const char *name);
const char *write_temporary(const char *name, const void *bytes, size_t size_bytes);
int remove_temporaries(void **state);

/* SHA-256 (FIPS 180-4) as lower-case hexadecimal digits. */
void sha256_text(const void *bytes, size_t size_bytes, char text[65]);

/* Opens or fails the test with the reader's own message. */
ArrayFile *open_good(const char *path);

#endif
