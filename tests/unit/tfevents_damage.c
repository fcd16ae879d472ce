/* tests/unit/tfevents_damage.c: event files cut at every byte, changed at every byte, with pieces
 * missing and pieces too many, growing while they are read, and hostile ones. Whole records but the
 * damaged one come in; nothing hangs and memory stays bounded. One thread. */
#include "tfevents_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Frames as the format says, counted without the reader. */
typedef struct Frames {
    size_t begin[512], end[512];
    int count;
} Frames;

static Frames frames_of(const Bytes *file)
{
    Frames frames = {.count = 0};
    for (size_t at = 0; at < file->used;) {
        uint64_t length;
        memcpy(&length, file->at + at, sizeof length);
        frames.begin[frames.count] = at;
        at += 16 + (size_t)length;
        frames.end[frames.count++] = at;
    }
    return frames;
}

/* 40 scalars of different lengths; the step says which record it is. */
static Bytes scalars_file(void)
{
    Bytes file = {0};
    for (int i = 0; i < 40; i++) {
        char tag[64];
        memset(tag, 'a' + i % 26, sizeof tag);
        tag[1 + i * 7 % 60] = '\0';
        scalar_add(&file, tag, i, (float)i);
    }
    return file;
}

/* Which of the records came in, as bits; each at most once and in order. */
static uint64_t records_of(MemoryFile *memory)
{
    TfeventsItem item;
    ArrayError error = {0};
    uint64_t bits = 0;
    int64_t last = -1;
    while (tfevents_next(memory->reader, &item, &error)) {
        assert_true(item.kind == TFEVENTS_SCALAR && item.step > last && item.step < 64);
        assert_true(item.scalar == (double)item.step);
        last = item.step;
        bits |= UINT64_C(1) << item.step;
    }
    assert_int_equal(error.fault, ARRAY_FAULT_NONE);
    return bits;
}

static uint64_t bits_below(int count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* ---- Cut, and grown again ---- */

static void test_cut_at_every_byte(void **state)
{
    Bytes file = scalars_file();
    Frames frames = frames_of(&file);
    (void)state;
    assert_int_equal(frames.count, 40);
    for (size_t cut = 0; cut <= file.used; cut++) {
        int whole = 0;
        while (whole < frames.count && frames.end[whole] <= cut)
            whole++;
        MemoryFile memory = memory_open(file.at, cut);
        assert_true(records_of(&memory) == bits_below(whole));
        TfeventsCounts counts;
        tfevents_counts(memory.reader, &counts);
        assert_int_equal(counts.damaged_records, 0);
        assert_int_equal(counts.pending_bytes, cut - (whole > 0 ? frames.end[whole - 1] : 0));
        /* The writer goes on, in two pieces. */
        size_t middle = cut + (file.used - cut) / 3;
        memory_append(&memory, file.at + cut, middle - cut);
        uint64_t second = records_of(&memory);
        memory_append(&memory, file.at + middle, file.used - middle);
        uint64_t third = records_of(&memory);
        assert_true((second & third) == 0 && (second & bits_below(whole)) == 0);
        assert_true((bits_below(whole) | second | third) == bits_below(40));
        tfevents_counts(memory.reader, &counts);
        assert_true(counts.damaged_records == 0 && counts.pending_bytes == 0);
        memory_close(&memory);
    }
    bytes_free(&file);
}

/* The real files, with many kinds in them: no cut makes anything else than fewer items. */
static void test_real_files_cut(void **state)
{
    static const char *const names[] = {"run2_given/events.out.tfevents.1796194499.host",
                                        "run_given/hp/events.out.tfevents.1796194499.host",
                                        "run_given/events.out.tfevents.1796194499.host"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", TFEVENTS_DATA_DIR, names[i]);
        Bytes file = bytes_read(path);
        MemoryFile whole = memory_open(file.at, file.used);
        uint64_t all = memory_drain(&whole), before = 0;
        memory_close(&whole);
        for (size_t cut = 0; cut < file.used; cut += i < 2 ? 1 : 211) {
            MemoryFile memory = memory_open(file.at, cut);
            uint64_t items = memory_drain(&memory);
            assert_true(items >= before && items <= all);
            before = items;
            memory_append(&memory, file.at + cut, file.used - cut);
            assert_int_equal(items + memory_drain(&memory), all);
            memory_close(&memory);
        }
        bytes_free(&file);
    }
}

/* ---- Damage ---- */

/* Every byte changed in turn, three ways: all records but the one it lies in come in. */
static void test_changed_at_every_byte(void **state)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff};
    Bytes file = scalars_file();
    Frames frames = frames_of(&file);
    (void)state;
    for (size_t at = 0; at < file.used; at++) {
        int record = 0;
        while (frames.end[record] <= at)
            record++;
        for (int i = 0; i < 3; i++) {
            TfeventsCounts counts;
            file.at[at] ^= changes[i];
            MemoryFile memory = memory_open(file.at, file.used);
            uint64_t found = records_of(&memory);
            tfevents_counts(memory.reader, &counts);
            file.at[at] ^= changes[i];
            /* The last one's length: nothing follows by which the end could be told. */
            bool is_last = record == frames.count - 1;
            if (found != (bits_below(40) & ~(UINT64_C(1) << record)))
                fail_msg("byte %zu, change %02x: %llx", at, changes[i], (unsigned long long)found);
            assert_int_equal(counts.damaged_records, 1);
            assert_true(is_last ||
                        counts.damaged_bytes == frames.end[record] - frames.begin[record]);
            memory_close(&memory);
        }
    }
    bytes_free(&file);
}

/* A piece is missing, or zeroes or other bytes are put in between: records that are still whole
 * come in, and so do those that are appended later. */
static void test_pieces_missing_and_too_many(void **state)
{
    static const size_t sizes[] = {1, 7, 12, 50, 300};
    Bytes file = scalars_file(), tail = {0};
    Frames frames = frames_of(&file);
    (void)state;
    scalar_add(&tail, "tail", 40, 40);
    for (size_t at = 0; at < file.used; at += 5) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (int way = 0; way < 3; way++) { /* missing, zeroes, bytes of an earlier record */
                size_t gone = way == 0 ? sizes[s] : 0;
                gone = gone < file.used - at ? gone : file.used - at;
                Bytes changed = {0};
                bytes_add(&changed, file.at, at);
                uint8_t zeroes[300] = {0};
                if (way == 1)
                    bytes_add(&changed, zeroes, sizes[s]);
                if (way == 2)
                    bytes_add(&changed, file.at + 3, sizes[s]);
                bytes_add(&changed, file.at + at + gone, file.used - at - gone);
                bytes_add(&changed, tail.at, tail.used);
                uint64_t wanted = UINT64_C(1) << 40;
                for (int i = 0; i < frames.count; i++) {
                    bool touched = way == 0 ? frames.begin[i] < at + gone && frames.end[i] > at
                                            : frames.begin[i] < at && frames.end[i] > at;
                    wanted |= touched ? 0 : UINT64_C(1) << i;
                }
                MemoryFile memory = memory_open_final(changed.at, changed.used);
                TfeventsItem item;
                ArrayError error = {0};
                uint64_t found = 0;
                while (tfevents_next(memory.reader, &item, &error))
                    found |= UINT64_C(1) << item.step;
                if ((found & wanted) != wanted || (way < 2 && found != wanted))
                    fail_msg("%zu bytes at %zu, way %d: %llx, wanted %llx", sizes[s], at, way,
                             (unsigned long long)found, (unsigned long long)wanted);
                memory_close(&memory);
                bytes_free(&changed);
            }
        }
    }
    bytes_free(&tail);
    bytes_free(&file);
}

/* Damage at the end of a file that grows: what comes later is found. */
static void test_damage_before_growth(void **state)
{
    Bytes file = scalars_file();
    Frames frames = frames_of(&file);
    (void)state;
    for (size_t at = frames.begin[5]; at < frames.end[5]; at++) {
        file.at[at] ^= 0x10;
        for (size_t cut = at + 1; cut < frames.end[7]; cut += 13) {
            MemoryFile memory = memory_open(file.at, cut);
            uint64_t found = records_of(&memory);
            for (size_t from = cut; from < file.used; from += 100) {
                size_t some = file.used - from < 100 ? file.used - from : 100;
                memory_append(&memory, file.at + from, some);
                TfeventsItem item;
                ArrayError error = {0};
                while (tfevents_next(memory.reader, &item, &error)) {
                    assert_true((found >> item.step & 1) == 0);
                    found |= UINT64_C(1) << item.step;
                }
            }
            assert_true(found == (bits_below(40) & ~(UINT64_C(1) << 5)));
            memory_close(&memory);
        }
        file.at[at] ^= 0x10;
    }
    bytes_free(&file);
}

/* ---- Hostile files ---- */

/* Millions of right headers that all claim the rest of the file: the search stays bounded. */
static void test_headers_that_claim_everything(void **state)
{
    enum { HEADERS = 200000 };
    Bytes file = {0};
    (void)state;
    bytes_add(&file, "not a frame", 11);
    for (uint64_t i = 0; i < HEADERS; i++) {
        uint64_t length = (HEADERS - i) * 12 - 28;
        uint32_t crc = slow_masked_crc(&length, sizeof length);
        bytes_add(&file, &length, sizeof length);
        bytes_add(&file, &crc, sizeof crc);
    }
    scalar_add(&file, "end", 1, 1);
    MemoryFile memory = memory_open(file.at, file.used);
    memory_drain(&memory); /* the test's time limit is the assertion */
    memory_close(&memory);
    bytes_free(&file);
}

/* A record longer than is read costs no memory, and what follows it comes in. */
static void test_records_too_large(void **state)
{
    Bytes file = {0};
    TfeventsItem item;
    TfeventsCounts counts;
    ArrayError error = {0};
    TfeventsOptions options = {.max_record_bytes = 1000};
    (void)state;
    scalar_add(&file, "before", 0, 0);
    uint8_t *large = calloc(1, 5000);
    frame_add(&file, large, 5000);
    free(large);
    scalar_add(&file, "after", 1, 1);
    int fd = memfd_create("tfevents", MFD_CLOEXEC);
    assert_int_equal(write(fd, file.at, file.used), file.used);
    TfeventsReader *reader = tfevents_open_fd(fd, "memory", &options, &error);
    assert_true(tfevents_next(reader, &item, &error) && item.step == 0);
    assert_true(tfevents_next(reader, &item, &error) && item.step == 1);
    assert_false(tfevents_next(reader, &item, &error));
    tfevents_counts(reader, &counts);
    assert_true(counts.too_large == 1 && counts.damaged_records == 0);
    tfevents_close(&reader);
    close(fd);
    /* A length of all the file system has, in a file that is short: it may still grow. */
    uint64_t length = UINT64_MAX - 20;
    uint32_t crc = slow_masked_crc(&length, sizeof length);
    file.used = 0;
    bytes_add(&file, &length, sizeof length);
    bytes_add(&file, &crc, sizeof crc);
    scalar_add(&file, "inside", 1, 1);
    MemoryFile memory = memory_open(file.at, file.used);
    assert_int_equal(memory_drain(&memory), 0);
    memory_close(&memory);
    bytes_free(&file);
}

/* A sparse file of zeroes with a scalar at its end, as a crash of the machine can leave it. */
static void test_a_hole(void **state)
{
    Bytes scalar = {0};
    TfeventsItem item;
    ArrayError error = {0};
    (void)state;
    scalar_add(&scalar, "end", 1, 1);
    int fd = memfd_create("tfevents", MFD_CLOEXEC);
    off_t hole = (off_t)24 << 20;
    assert_int_equal(pwrite(fd, scalar.at, scalar.used, hole), scalar.used);
    TfeventsReader *reader = tfevents_open_fd(fd, "hole", NULL, &error);
    assert_true(tfevents_next(reader, &item, &error));
    assert_string_equal(item.tag, "end");
    assert_false(tfevents_next(reader, &item, &error));
    tfevents_close(&reader);
    close(fd);
    bytes_free(&scalar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cut_at_every_byte),
                                       cmocka_unit_test(test_real_files_cut),
                                       cmocka_unit_test(test_changed_at_every_byte),
                                       cmocka_unit_test(test_pieces_missing_and_too_many),
                                       cmocka_unit_test(test_damage_before_growth),
                                       cmocka_unit_test(test_headers_that_claim_everything),
                                       cmocka_unit_test(test_records_too_large),
                                       cmocka_unit_test(test_a_hole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
