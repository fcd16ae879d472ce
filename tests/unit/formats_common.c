/* tests/unit/formats_common.c: see the header. One thread. */
#include "formats_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char temporary_folder[64];

const char *data_path(const char *file)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", FORMATS_DATA_DIR, file);
    return path;
}

uint8_t *load_file(const char *path, size_t *size_bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    *size_bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size_bytes + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size_bytes, file), *size_bytes);
    bytes[*size_bytes] = '\0';
    fclose(file);
    return bytes;
}

cJSON *load_json(const char *path)
{
    size_t size;
    char *text = (char *)load_file(path, &size);
    cJSON *json = cJSON_Parse(text);
    free(text);
    assert_non_null(json);
    return json;
}

const char *temporary_path(const char *name)
{
    static char paths[4][256];
    static int next;
    if (temporary_folder[0] == '\0') {
        strcpy(temporary_folder, "/tmp/caliper-formats-XXXXXX");
        assert_non_null(mkdtemp(temporary_folder));
    }
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", temporary_folder, name);
    return path;
}

const char *write_temporary(const char *name, const void *bytes, size_t size_bytes)
{
    const char *path = temporary_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
    fclose(file);
    return path;
}

int remove_temporaries(void **state)
{
    (void)state;
    char command[128];
    if (temporary_folder[0] == '\0')
        return 0;
    snprintf(command, sizeof command, "rm -rf '%s'", temporary_folder);
    temporary_folder[0] = '\0';
    return system(command);
}

ArrayFile *open_good(const char *path)
{
    ArrayError error = {0};
    ArrayFile *file = array_file_open(path, NULL, &error);
    if (file == NULL)
        fail_msg("%s", error.message);
    return file;
}

static uint32_t rotate(uint32_t value, int by)
{
    return value >> by | value << (32 - by);
}

/* The constants are the first 32 bits of the fractional parts of the cube roots of the first 64
 * primes; computed, and held by the test of the published vector. */
static void sha256_block(uint32_t hash[8], const uint8_t *block)
{
    static uint32_t constants[64];
    if (constants[0] == 0) {
        int found = 0;
        for (unsigned p = 2; found < 64; p++) {
            unsigned d = 2;
            while (d * d <= p && p % d != 0)
                d++;
            if (d * d <= p)
                continue;
            long double low = 1, high = 8;
            for (int i = 0; i < 80; i++) {
                long double middle = (low + high) / 2;
                *(middle * middle * middle <= p ? &low : &high) = middle;
            }
            constants[found++] = (uint32_t)((low - (long double)(int)low) * 4294967296.0L);
        }
    }
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, hash, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                      ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
        uint32_t t2 = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                      ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        hash[i] += v[i];
}

void sha256_text(const void *bytes, size_t size_bytes, char text[65])
{
    uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *at = bytes;
    size_t left = size_bytes;
    for (; left >= 64; left -= 64, at += 64)
        sha256_block(hash, at);
    uint8_t last[128] = {0};
    if (left != 0)
        memcpy(last, at, left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        last[end - 1 - (size_t)i] = (uint8_t)((uint64_t)size_bytes * 8 >> (8 * i));
    for (size_t i = 0; i < end; i += 64)
        sha256_block(hash, last + i);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * i, 9, "%08x", hash[i]);
}
