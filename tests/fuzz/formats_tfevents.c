/* tests/fuzz/formats_tfevents.c: libFuzzer target: TensorBoard event files. The first byte chooses:
 * even, the rest are the file's bytes; odd, it is cut into payloads, each of which becomes a frame
 * with right CRCs, so that no run is spent on finding those. One thread. */
#include "formats/crc32c.h"
#include "formats/tfevents.h"
#include "fuzz_input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint8_t touched;

static void touch(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        touched = (uint8_t)(touched + at[i]);
}

static void check_item(const TfeventsItem *item)
{
    FUZZ_REQUIRE(item->kind >= 0 && item->kind < TFEVENTS_KIND_COUNT);
    FUZZ_REQUIRE(item->tag != NULL && item->group_name != NULL);
    touch(item->tag, strlen(item->tag));
    touch(item->group_name, strlen(item->group_name));
    if (item->kind == TFEVENTS_HISTOGRAM)
        touch(item->buckets, item->bucket_count * sizeof *item->buckets);
    if (item->kind == TFEVENTS_IMAGE || item->kind == TFEVENTS_TEXT ||
        item->kind == TFEVENTS_HPARAMS) {
        FUZZ_REQUIRE(item->bytes != NULL && item->bytes[item->size_bytes] == '\0');
        touch(item->bytes, item->size_bytes);
    }
}

static uint64_t drain(TfeventsReader *reader)
{
    TfeventsItem item;
    ArrayError error = {0};
    uint64_t items = 0;
    for (; tfevents_next(reader, &item, &error); items++)
        check_item(&item);
    FUZZ_REQUIRE(error.fault == ARRAY_FAULT_NONE);
    return items;
}

static bool write_all(int fd, const void *bytes, size_t size)
{
    return size == 0 || write(fd, bytes, size) == (ssize_t)size;
}

static void write_frame(int fd, const uint8_t *data, uint64_t size)
{
    uint8_t header[12];
    uint32_t crc;
    memcpy(header, &size, 8);
    crc = crc32c_masked(header, 8);
    memcpy(header + 8, &crc, 4);
    FUZZ_REQUIRE(write_all(fd, header, 12) && write_all(fd, data, (size_t)size));
    crc = crc32c_masked(data, (size_t)size);
    FUZZ_REQUIRE(write_all(fd, &crc, 4));
}

static void read_frames(int fd, FuzzInput *input)
{
    uint64_t frames = 0;
    TfeventsCounts counts;
    ArrayError error = {0};
    while (input->left > 0) {
        size_t size = fuzz_u8(input);
        size = size == 255 ? input->left : size;
        size = size < input->left ? size : input->left;
        write_frame(fd, input->at, size);
        input->at += size;
        input->left -= size;
        frames++;
    }
    TfeventsReader *reader = tfevents_open_fd(fd, "fuzz", NULL, &error);
    FUZZ_REQUIRE(reader != NULL);
    drain(reader);
    tfevents_counts(reader, &counts);
    FUZZ_REQUIRE(counts.records == frames && counts.damaged_records == 0);
    FUZZ_REQUIRE(counts.pending_bytes == 0);
    tfevents_close(&reader);
}

/* The file in two pieces, and whole with nobody writing it. */
static void read_bytes(int fd, const FuzzInput *input)
{
    ArrayError error = {0};
    TfeventsCounts counts;
    size_t half = input->left / 2;
    FUZZ_REQUIRE(write_all(fd, input->at, half));
    TfeventsReader *reader = tfevents_open_fd(fd, "fuzz", NULL, &error);
    FUZZ_REQUIRE(reader != NULL);
    drain(reader);
    FUZZ_REQUIRE(write_all(fd, input->at + half, input->left - half));
    drain(reader);
    tfevents_counts(reader, &counts);
    FUZZ_REQUIRE(counts.damaged_bytes + counts.pending_bytes <= input->left);
    tfevents_close(&reader);
    TfeventsOptions options = {.is_final = true, .max_record_bytes = 1 << 16};
    reader = tfevents_open_fd(fd, "fuzz", &options, &error);
    FUZZ_REQUIRE(reader != NULL);
    drain(reader);
    tfevents_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput input = {.at = data, .left = size};
    bool framed = (fuzz_u8(&input) & 1) != 0;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    if (framed)
        read_frames(fd, &input);
    else
        read_bytes(fd, &input);
    close(fd);
    return 0;
}
