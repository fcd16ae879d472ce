/* See the header. */
#include "tfevents_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void bytes_add(Bytes *bytes, const void *more, size_t size)
{
    if (bytes->used + size > bytes->capacity) {
        bytes->capacity = (bytes->used + size) * 2 + 64;
        bytes->at = realloc(bytes->at, bytes->capacity);
        assert_non_null(bytes->at);
    }
    if (size > 0)
        memcpy(bytes->at + bytes->used, more, size);
    bytes->used += size;
}

void bytes_free(Bytes *bytes)
{
    free(bytes->at);
    memset(bytes, 0, sizeof *bytes);
}

Bytes bytes_read(const char *path)
{
    Bytes bytes = {0};
    char block[4096];
    size_t got;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        bytes_add(&bytes, block, got);
    fclose(file);
    return bytes;
}

static void add_varint(Bytes *message, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        bytes_add(message, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

void proto_add_varint(Bytes *message, uint32_t number, uint64_t value)
{
    add_varint(message, (uint64_t)number << 3);
    add_varint(message, value);
}

void proto_add_double(Bytes *message, uint32_t number, double value)
{
    add_varint(message, (uint64_t)number << 3 | 1);
    bytes_add(message, &value, sizeof value);
}

void proto_add_float(Bytes *message, uint32_t number, float value)
{
    add_varint(message, (uint64_t)number << 3 | 5);
    bytes_add(message, &value, sizeof value);
}

void proto_add_bytes(Bytes *message, uint32_t number, const void *bytes, size_t size)
{
    add_varint(message, (uint64_t)number << 3 | 2);
    add_varint(message, size);
    bytes_add(message, bytes, size);
}

void proto_add_string(Bytes *message, uint32_t number, const char *text)
{
    proto_add_bytes(message, number, text, strlen(text));
}

void proto_add_message(Bytes *message, uint32_t number, Bytes *inner)
{
    proto_add_bytes(message, number, inner->at, inner->used);
    bytes_free(inner);
}

uint32_t slow_masked_crc(const void *bytes, size_t size)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= ((const uint8_t *)bytes)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

void frame_add(Bytes *file, const void *data, size_t size)
{
    uint64_t length = size;
    uint32_t crc = slow_masked_crc(&length, sizeof length);
    bytes_add(file, &length, sizeof length);
    bytes_add(file, &crc, sizeof crc);
    bytes_add(file, data, size);
    crc = slow_masked_crc(data, size);
    bytes_add(file, &crc, sizeof crc);
}

void event_add(Bytes *file, int64_t step, double wall_time_sec, Bytes *value)
{
    Bytes event = {0}, summary = {0};
    proto_add_double(&event, 1, wall_time_sec);
    proto_add_varint(&event, 2, (uint64_t)step);
    proto_add_message(&summary, 1, value);
    proto_add_message(&event, 5, &summary);
    frame_add(file, event.at, event.used);
    bytes_free(&event);
}

void scalar_add(Bytes *file, const char *tag, int64_t step, float value)
{
    Bytes message = {0};
    proto_add_string(&message, 1, tag);
    proto_add_float(&message, 2, value);
    event_add(file, step, 1000.0 + (double)step, &message);
}

static MemoryFile open_with(const void *bytes, size_t size, const TfeventsOptions *options)
{
    ArrayError error = {0};
    MemoryFile file = {.fd = memfd_create("tfevents", MFD_CLOEXEC)};
    assert_true(file.fd >= 0);
    memory_append(&file, bytes, size);
    file.reader = tfevents_open_fd(file.fd, "memory", options, &error);
    assert_non_null(file.reader);
    return file;
}

MemoryFile memory_open(const void *bytes, size_t size)
{
    return open_with(bytes, size, NULL);
}

MemoryFile memory_open_final(const void *bytes, size_t size)
{
    return open_with(bytes, size, &(TfeventsOptions){.is_final = true});
}

void memory_append(MemoryFile *file, const void *bytes, size_t size)
{
    if (size > 0)
        assert_int_equal(write(file->fd, bytes, size), size);
}

void memory_close(MemoryFile *file)
{
    tfevents_close(&file->reader);
    assert_null(file->reader);
    close(file->fd);
}

uint64_t memory_drain(MemoryFile *file)
{
    TfeventsItem item;
    ArrayError error = {0};
    uint64_t items = 0;
    while (tfevents_next(file->reader, &item, &error))
        items++;
    assert_int_equal(error.fault, ARRAY_FAULT_NONE);
    return items;
}
