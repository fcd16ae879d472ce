/* tests/unit/tfevents_answers.c: files of TensorBoard and torch against what TensorBoard reads in
 * them (tests/data/tfevents), and CRC-32C against published values. One thread. */
#include "tfevents_common.h"

#include <cJSON.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/crc32c.h"

/* RFC 3720, appendix B.4, and the check value of CRC-32C for "123456789". */
static void test_crc32c(void **state)
{
    uint8_t bytes[32];
    (void)state;
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(crc32c(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(crc32c(0, bytes, 32), 0x46dd794e);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    assert_int_equal(crc32c(0, bytes, 32), 0x113fdb5c);
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(crc32c(0, "", 0), 0);
    for (size_t cut = 0; cut <= 32; cut++) {
        assert_int_equal(crc32c(crc32c(0, bytes, cut), bytes + cut, 32 - cut), 0x113fdb5c);
        assert_int_equal(crc32c_masked(bytes, cut), slow_masked_crc(bytes, cut));
    }
}

static double number_of(const cJSON *json)
{
    return cJSON_IsString(json) ? strtod(json->valuestring, NULL) : json->valuedouble;
}

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* The answers of one kind for a tag, and how many of them were met. */
typedef struct Answers {
    const cJSON *json;
    cJSON *next; /* tag -> how many were met */
} Answers;

static const cJSON *next_answer(Answers *answers, const char *kind, const char *tag)
{
    char key[256];
    snprintf(key, sizeof key, "%s/%s", kind, tag);
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(answers->json, kind), tag);
    cJSON *met = cJSON_GetObjectItemCaseSensitive(answers->next, key);
    if (met == NULL)
        met = cJSON_AddNumberToObject(answers->next, key, 0);
    const cJSON *row = cJSON_GetArrayItem(rows, (int)met->valuedouble);
    cJSON_SetNumberValue(met, met->valuedouble + 1);
    if (row == NULL)
        fail_msg("%s %s: TensorBoard has no item %g", kind, tag, met->valuedouble);
    assert_non_null(row);
    return row;
}

static void check_histogram(const TfeventsItem *item, const cJSON *row)
{
    const double mine[] = {item->min, item->max, item->count, item->sum, item->sum_squares};
    const cJSON *limits = cJSON_GetArrayItem(row, 6), *counts = cJSON_GetArrayItem(row, 7);
    for (int i = 0; i < 5; i++)
        assert_true(same_double(mine[i], number_of(cJSON_GetArrayItem(row, i + 1))));
    /* The outer empty buckets are dropped here, not there. */
    int first = 0, last = cJSON_GetArraySize(counts) - 1;
    while (number_of(cJSON_GetArrayItem(counts, first)) == 0)
        first++;
    while (number_of(cJSON_GetArrayItem(counts, last)) == 0)
        last--;
    assert_int_equal(item->bucket_count, last - first + 1);
    for (int i = first; i <= last; i++) {
        const TfeventsBucket *bucket = &item->buckets[i - first];
        double left = i == first ? item->min : number_of(cJSON_GetArrayItem(limits, i - 1));
        double right = i == last ? item->max : number_of(cJSON_GetArrayItem(limits, i));
        assert_true(same_double(bucket->count, number_of(cJSON_GetArrayItem(counts, i))));
        assert_true(same_double(bucket->left, left) && same_double(bucket->right, right));
    }
}

static void check_item(const TfeventsItem *item, Answers *answers)
{
    uint8_t digest[32];
    char hex[65];
    const char *kind = item->kind == TFEVENTS_HISTOGRAM                 ? "histograms"
                       : item->kind == TFEVENTS_IMAGE                   ? "images"
                       : item->kind == TFEVENTS_TEXT || item->is_tensor ? "tensors"
                                                                        : "scalars";
    const cJSON *row = next_answer(answers, kind, item->tag);
    assert_int_equal(item->step, (int64_t)number_of(cJSON_GetArrayItem(row, 0)));
    switch (item->kind) {
    case TFEVENTS_SCALAR: {
        const cJSON *value = cJSON_GetArrayItem(row, 2);
        value = item->is_tensor ? cJSON_GetArrayItem(value, 0) : value;
        assert_true(same_double(item->wall_time_sec, number_of(cJSON_GetArrayItem(row, 1))));
        assert_true(same_double(item->scalar, number_of(value)));
        break;
    }
    case TFEVENTS_TEXT:
        assert_true(same_double(item->wall_time_sec, number_of(cJSON_GetArrayItem(row, 1))));
        assert_string_equal(item->bytes,
                            cJSON_GetArrayItem(cJSON_GetArrayItem(row, 2), 0)->valuestring);
        break;
    case TFEVENTS_HISTOGRAM:
        check_histogram(item, row);
        break;
    case TFEVENTS_IMAGE:
        assert_int_equal(item->width, (int)number_of(cJSON_GetArrayItem(row, 1)));
        assert_int_equal(item->height, (int)number_of(cJSON_GetArrayItem(row, 2)));
        assert_int_equal(
            EVP_Digest(item->bytes, item->size_bytes, digest, NULL, EVP_sha256(), NULL), 1);
        for (int i = 0; i < 32; i++)
            snprintf(hex + 2 * i, 3, "%02x", digest[i]);
        assert_string_equal(hex, cJSON_GetArrayItem(row, 3)->valuestring);
        break;
    default:
        fail();
    }
}

/* Every answer was met. */
static int count_answers(const cJSON *json)
{
    static const char *const kinds[] = {"scalars", "histograms", "images", "tensors"};
    int count = 0;
    for (int i = 0; i < 4; i++) {
        const cJSON *tag;
        cJSON_ArrayForEach(tag, cJSON_GetObjectItemCaseSensitive(json, kinds[i])) count +=
            cJSON_GetArraySize(tag);
    }
    return count;
}

static void check_file(const char *name, const cJSON *json)
{
    char path[512];
    ArrayError error = {0};
    TfeventsItem item;
    TfeventsCounts counts;
    Answers answers = {.json = json, .next = cJSON_CreateObject()};
    int met = 0;
    assert_true(strncmp(name, "tfevents/", 9) == 0);
    snprintf(path, sizeof path, "%s/%s", TFEVENTS_DATA_DIR, name + 9);
    assert_true(tfevents_name_fits(path));
    TfeventsReader *reader = tfevents_open(path, NULL, &error);
    assert_non_null(reader);
    while (tfevents_next(reader, &item, &error)) {
        if (item.kind == TFEVENTS_HPARAMS || item.kind == TFEVENTS_HPARAMS_END)
            continue;
        check_item(&item, &answers);
        met++;
    }
    assert_int_equal(error.fault, ARRAY_FAULT_NONE);
    assert_int_equal(met, count_answers(json));
    tfevents_counts(reader, &counts);
    assert_true(counts.damaged_records == 0 && counts.pending_bytes == 0 && counts.undecoded == 0 &&
                counts.other == 0);
    tfevents_close(&reader);
    cJSON_Delete(answers.next);
    print_message("%s: %d items\n", name, met);
}

static void test_what_tensorboard_reads(void **state)
{
    Bytes text = bytes_read(TFEVENTS_DATA_DIR "/tfevents.json");
    const cJSON *file;
    int files = 0;
    (void)state;
    bytes_add(&text, "", 1);
    cJSON *json = cJSON_Parse((const char *)text.at);
    assert_non_null(json);
    cJSON_ArrayForEach(file, json)
    {
        check_file(file->string, file);
        files++;
    }
    assert_int_equal(files, 3);
    cJSON_Delete(json);
    bytes_free(&text);
}

/* What the run was given: lr 0.001, bs 64, opt adam, amp (which torch writes as a number). */
static void test_hparams(void **state)
{
    ArrayError error = {0};
    TfeventsItem item;
    int starts = 0, ends = 0;
    (void)state;
    TfeventsReader *reader = tfevents_open(
        TFEVENTS_DATA_DIR "/run_given/hp/events.out.tfevents.1796194499.host", NULL, &error);
    assert_non_null(reader);
    while (tfevents_next(reader, &item, &error)) {
        if (item.kind == TFEVENTS_HPARAMS) {
            cJSON *json = cJSON_Parse(item.bytes);
            assert_non_null(json);
            assert_int_equal(cJSON_GetArraySize(json), 4);
            assert_true(cJSON_GetObjectItemCaseSensitive(json, "lr")->valuedouble == 0.001);
            assert_true(cJSON_GetObjectItemCaseSensitive(json, "bs")->valuedouble == 64);
            assert_string_equal(cJSON_GetObjectItemCaseSensitive(json, "opt")->valuestring, "adam");
            assert_true(cJSON_GetObjectItemCaseSensitive(json, "amp")->valuedouble == 1);
            cJSON_Delete(json);
            starts++;
        }
        if (item.kind == TFEVENTS_HPARAMS_END) {
            assert_int_equal(item.end_status, 1);
            ends++;
        }
    }
    assert_true(starts == 1 && ends == 1);
    tfevents_close(&reader);
}

static void test_what_is_no_file(void **state)
{
    ArrayError error = {0};
    TfeventsItem item;
    (void)state;
    assert_null(tfevents_open("/no/such/file", NULL, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_OPEN);
    assert_null(tfevents_open("/tmp", NULL, &error));
    assert_null(tfevents_open("/dev/zero", NULL, &error));
    MemoryFile empty = memory_open("", 0);
    assert_false(tfevents_next(empty.reader, &item, &error));
    assert_int_equal(error.fault, ARRAY_FAULT_NONE);
    memory_close(&empty);
    tfevents_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc32c), cmocka_unit_test(test_what_tensorboard_reads),
        cmocka_unit_test(test_hparams), cmocka_unit_test(test_what_is_no_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
