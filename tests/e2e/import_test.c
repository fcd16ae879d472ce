/* `caliper import tfevents` against what TensorBoard reads in the same files (tests/data/tfevents),
 * read back through the metrics store: every value, step and time; again, grown, damaged, refused.
 *
 *   e2e_import CALIPER DATA */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/log.h"
#include "formats/array_file.h"
#include "formats/tfevents.h"
#include "store/metrics/metrics_read.h"

static const char *caliper, *data_dir;
static char room[64], root[96], logs[96];

static void shell(const char *format, ...)
{
    char command[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    if (system(command) != 0)
        fail_msg("%s", command);
}

static int begin(void **state)
{
    (void)state;
    snprintf(room, sizeof room, "/tmp/caliper-import-XXXXXX");
    if (mkdtemp(room) == NULL)
        return -1;
    snprintf(root, sizeof root, "%s/root", room);
    snprintf(logs, sizeof logs, "%s/logs", room);
    shell("mkdir %s && cp -r %s/run_given %s/run2_given %s", logs, data_dir, data_dir, logs);
    return 0;
}

static int end(void **state)
{
    (void)state;
    shell("rm -rf %s", room);
    return 0;
}

/* The answer of `caliper import tfevents WORDS --json`; NULL when it is no JSON. */
static cJSON *import(const char *words, int wanted_status)
{
    char command[512];
    static char output[1 << 20];
    snprintf(command, sizeof command, "%s import tfevents %s --json --data-dir %s 2>%s/errors",
             caliper, words, root, room);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t used = fread(output, 1, sizeof output - 1, pipe);
    output[used] = '\0';
    int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted_status)
        fail_msg("%s: status %d\n%s", command, status, output);
    return cJSON_Parse(output);
}

static const cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const cJSON *run_named(const cJSON *answer, const char *name)
{
    const cJSON *run;
    cJSON_ArrayForEach(run, member(answer, "runs"))
    {
        if (strcmp(member(run, "name")->valuestring, name) == 0)
            return run;
    }
    fail_msg("no run %s", name);
    return NULL;
}

static int count_of(const cJSON *run, const char *name)
{
    return (int)member(run, name)->valuedouble;
}

/* ---- Reading back ---- */

typedef struct Back {
    MetricsStore *store;
    MetricsReader *reader;
} Back;

static Back back_open(void)
{
    Back back;
    back.store = metrics_store_create(
        &(MetricsParams){.struct_size = sizeof(MetricsParams), .data_root = root});
    assert_non_null(back.store);
    back.reader = metrics_reader_create(back.store);
    assert_non_null(back.reader);
    return back;
}

static void back_close(Back *back)
{
    metrics_reader_destroy(&back->reader);
    metrics_store_destroy(&back->store);
}

static double number_of(const cJSON *json)
{
    return cJSON_IsString(json) ? strtod(json->valuestring, NULL) : json->valuedouble;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* All rows of a tag by arrival, against TensorBoard's. */
static void check_scalars(Back *back, uint64_t run, const char *tag, const cJSON *rows,
                          bool tensors)
{
    MetricsScalars scalars;
    MetricsWindow window = {
        .runs = &run, .run_count = 1, .tag = tag, .axis = METRICS_AXIS_ARRIVAL, .buckets = 10000};
    assert_true(metrics_read_scalars(back->reader, &window, &scalars));
    assert_int_equal(scalars.count, cJSON_GetArraySize(rows));
    for (uint32_t i = 0; i < scalars.count; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, (int)i);
        const cJSON *value = cJSON_GetArrayItem(row, 2);
        assert_int_equal(scalars.items[i].last_step,
                         (int64_t)number_of(cJSON_GetArrayItem(row, 0)));
        assert_true(scalars.items[i].last_wall_us ==
                    llrint(number_of(cJSON_GetArrayItem(row, 1)) * 1e6));
        assert_true(
            same(scalars.items[i].last, number_of(tensors ? cJSON_GetArrayItem(value, 0) : value)));
    }
    metrics_scalars_free(&scalars);
}

/* Values drawn from the buckets: as many as there can be, in order, inside min and max, and as many
 * below each limit as the bucket counts say, give or take one and a share. */
static void check_histograms(Back *back, uint64_t run, const char *tag, const cJSON *rows)
{
    MetricsHistograms histograms;
    assert_true(
        metrics_read_histograms(back->reader, run, tag, INT64_MIN, INT64_MAX, 1000, &histograms));
    assert_int_equal(histograms.count, cJSON_GetArraySize(rows));
    for (uint32_t i = 0; i < histograms.count; i++) {
        const MetricsHistogram *mine = &histograms.items[i];
        const cJSON *row = cJSON_GetArrayItem(rows, (int)i);
        const cJSON *limits = cJSON_GetArrayItem(row, 6), *counts = cJSON_GetArrayItem(row, 7);
        double total = number_of(cJSON_GetArrayItem(row, 3)), below = 0;
        assert_int_equal(mine->step, (int64_t)number_of(cJSON_GetArrayItem(row, 0)));
        assert_int_equal(mine->count, total < 1024 ? (int)total : 1024);
        for (uint64_t k = 0; k < mine->count; k++) {
            assert_true(k == 0 || mine->values[k] >= mine->values[k - 1]);
            assert_true(mine->values[k] >= (float)number_of(cJSON_GetArrayItem(row, 1)));
            assert_true(mine->values[k] <= (float)number_of(cJSON_GetArrayItem(row, 2)));
        }
        uint64_t at = 0;
        for (int k = 0; k < cJSON_GetArraySize(counts); k++) {
            double limit = number_of(cJSON_GetArrayItem(limits, k));
            below += number_of(cJSON_GetArrayItem(counts, k));
            while (at < mine->count && (double)mine->values[at] <= limit)
                at++;
            assert_true(fabs((double)at - below * (double)mine->count / total) <= 1.5);
        }
    }
    metrics_histograms_free(&histograms);
}

/* The first three images of the file by the reader of event files and that of PNG. */
static void check_images(Back *back, uint64_t run, const char *file)
{
    MetricsImages list;
    ArrayError error = {0};
    TfeventsItem item;
    uint32_t next = 0;
    assert_true(metrics_read_image_list(back->reader, run, "img/digit", &list));
    TfeventsReader *reader = tfevents_open(file, NULL, &error);
    while (tfevents_next(reader, &item, &error)) {
        MetricsImages one;
        ArraySlice slice;
        uint8_t pixels[7 * 9 * 3];
        if (item.kind != TFEVENTS_IMAGE)
            continue;
        ArrayFile *png = array_file_open_memory(item.bytes, item.size_bytes, "png", NULL, &error);
        array_slice_default(array_file_info(png, 0), &slice);
        assert_true(array_file_read_slice(png, 0, &slice, pixels, sizeof pixels, &error));
        array_file_close(&png);
        assert_true(metrics_read_image(back->reader, run, list.items[next].seq, &one));
        assert_int_equal(one.count, 1);
        assert_true(one.items[0].width == 7 && one.items[0].height == 9 &&
                    one.items[0].channels == 3);
        assert_true(one.items[0].wall_us == llrint(item.wall_time_sec * 1e6));
        assert_int_equal(one.items[0].step, item.step);
        assert_memory_equal(one.items[0].bytes, pixels, sizeof pixels);
        metrics_images_free(&one);
        next++;
    }
    assert_int_equal(next, list.count);
    assert_int_equal(next, 3);
    tfevents_close(&reader);
    metrics_images_free(&list);
}

/* What was said, to the byte, at its step and time. */
static void check_texts(Back *back, uint64_t run, const char *tag, const cJSON *rows)
{
    MetricsTexts list, one;
    assert_true(metrics_read_text_list(back->reader, run, tag, &list));
    assert_int_equal(list.count, cJSON_GetArraySize(rows));
    for (uint32_t i = 0; i < list.count; i++) {
        const cJSON *row = cJSON_GetArrayItem(rows, (int)i);
        const char *said = cJSON_GetArrayItem(cJSON_GetArrayItem(row, 2), 0)->valuestring;
        assert_true(metrics_read_text(back->reader, run, list.items[i].seq, 1000, &one));
        assert_int_equal(one.count, 1);
        assert_string_equal(one.items[0].value, said);
        assert_int_equal(one.items[0].bytes, strlen(said));
        assert_int_equal(one.items[0].step, (int64_t)number_of(cJSON_GetArrayItem(row, 0)));
        assert_true(one.items[0].wall_us == llrint(number_of(cJSON_GetArrayItem(row, 1)) * 1e6));
        metrics_texts_free(&one);
    }
    assert_true(list.count > 0);
    metrics_texts_free(&list);
}

static cJSON *read_truth(void)
{
    char path[512];
    static char text[1 << 20];
    snprintf(path, sizeof path, "%s/tfevents.json", data_dir);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return cJSON_Parse(text);
}

static const MetricsRunInfo *info_of(const MetricsRuns *runs, uint64_t id)
{
    for (uint32_t i = 0; i < runs->count; i++) {
        if (runs->items[i].id == id)
            return &runs->items[i];
    }
    fail();
    return NULL;
}

static void check_run(Back *back, const MetricsRuns *runs, const cJSON *answer, const cJSON *truth,
                      const char *name)
{
    char key[256];
    const cJSON *tag, *run = run_named(answer, name);
    uint64_t id = (uint64_t)number_of(member(run, "run"));
    snprintf(key, sizeof key, "tfevents/%s/events.out.tfevents.1796194499.host", name);
    const cJSON *of_file = member(truth, key);
    const MetricsRunInfo *info = info_of(runs, id);
    assert_string_equal(info->name, name);
    assert_string_equal(info->experiment, "logs");
    assert_int_equal(info->state, METRICS_RUN_STATE_DONE);
    assert_true(info->dropped == 0 && !info->deleted);
    cJSON_ArrayForEach(tag, member(of_file, "scalars"))
        check_scalars(back, id, tag->string, tag, false);
    cJSON_ArrayForEach(tag, member(of_file, "histograms"))
        check_histograms(back, id, tag->string, tag);
    cJSON_ArrayForEach(tag, member(of_file, "tensors"))
    {
        if (strcmp(tag->string, "v2/loss") == 0)
            check_scalars(back, id, tag->string, tag, true);
        else
            check_texts(back, id, tag->string, tag);
    }
}

static void test_every_value(void **state)
{
    char file[512];
    MetricsRuns runs;
    (void)state;
    cJSON *truth = read_truth(), *answer = import(logs, 0);
    assert_non_null(truth);
    assert_non_null(answer);
    assert_int_equal(cJSON_GetArraySize(member(answer, "runs")), 3);
    Back back = back_open();
    assert_true(metrics_read_runs(back.reader, &runs));
    assert_int_equal(runs.count, 3);
    check_run(&back, &runs, answer, truth, "run_given");
    check_run(&back, &runs, answer, truth, "run_given/hp");
    check_run(&back, &runs, answer, truth, "run2_given");
    uint64_t given = (uint64_t)number_of(member(run_named(answer, "run_given"), "run"));
    snprintf(file, sizeof file, "%s/run_given/events.out.tfevents.1796194499.host", logs);
    check_images(&back, given, file);
    const cJSON *hp = run_named(answer, "run_given/hp");
    cJSON *settings = cJSON_Parse(info_of(&runs, (uint64_t)number_of(member(hp, "run")))->hparams);
    assert_true(member(settings, "lr")->valuedouble == 0.001);
    assert_string_equal(member(settings, "opt")->valuestring, "adam");
    cJSON_Delete(settings);
    const cJSON *total = member(answer, "total");
    assert_true(count_of(total, "scalars") == 300 + 30 + 5 + 20 + 1 &&
                count_of(total, "histograms") == 4 && count_of(total, "images") == 3 &&
                count_of(total, "texts") == 1 && count_of(total, "hparams") == 1 &&
                count_of(total, "damaged_records") == 0 && count_of(total, "other") == 0);
    metrics_runs_free(&runs);
    back_close(&back);
    cJSON_Delete(answer);
    cJSON_Delete(truth);
}

static void assert_state(const cJSON *answer, const char *name, const char *state)
{
    assert_string_equal(member(run_named(answer, name), "state")->valuestring, state);
}

/* The same again is nothing; a folder that has grown takes the place of what it was; another
 * experiment is another. */
static void test_again(void **state)
{
    char words[256];
    MetricsRuns runs;
    (void)state;
    cJSON_Delete(import(logs, 0));
    cJSON *answer = import(logs, 0);
    assert_state(answer, "run_given", "skipped");
    assert_state(answer, "run2_given", "skipped");
    cJSON_Delete(answer);
    /* Its writer goes on: a record of the other file, which is later. */
    shell("tail -c 60 %s/run_given/hp/events* >/dev/null; "
          "cat %s/run_given/hp/events* >> %s/run2_given/events.out.tfevents.1796194499.host",
          logs, logs, logs);
    answer = import(logs, 0);
    assert_state(answer, "run_given", "skipped");
    assert_state(answer, "run2_given", "replaced");
    assert_int_equal(count_of(run_named(answer, "run2_given"), "scalars"), 21);
    cJSON_Delete(answer);
    snprintf(words, sizeof words, "%s --experiment 'another \"one\"'", logs);
    answer = import(words, 0);
    assert_string_equal(member(answer, "experiment")->valuestring, "another \"one\"");
    assert_state(answer, "run2_given", "imported");
    cJSON_Delete(answer);
    Back back = back_open();
    assert_true(metrics_read_runs(back.reader, &runs));
    assert_int_equal(runs.count, 7);
    uint32_t deleted = 0;
    for (uint32_t i = 0; i < runs.count; i++)
        deleted += runs.items[i].deleted;
    assert_int_equal(deleted, 1);
    metrics_runs_free(&runs);
    back_close(&back);
}

/* A record lost, a file cut, one file on its own, folders in folders, a file that is none. */
static void test_damage_and_shapes(void **state)
{
    char words[256];
    (void)state;
    shell("cd %s && printf X | dd of=run2_given/events.out.tfevents.1796194499.host bs=1 seek=150 "
          "conv=notrunc 2>/dev/null && truncate -s 1380 run2_given/events*",
          logs);
    shell("mkdir -p '%s/a b/c' && mv %s/run_given/hp/events* '%s/a b/c/' && "
          "echo nothing > %s/x.tfevents && ln -s .. '%s/a b/loop'",
          logs, logs, logs, logs, logs);
    cJSON *answer = import(logs, 0);
    const cJSON *run = run_named(answer, "run2_given");
    assert_true(count_of(run, "scalars") == 18 && count_of(run, "damaged_records") == 1);
    assert_true(count_of(run, "damaged_bytes") > 0 && count_of(run, "pending_bytes") > 0);
    assert_state(answer, "a b/c", "imported");
    assert_state(answer, ".", "empty");
    assert_int_equal(cJSON_GetArraySize(member(answer, "runs")), 4);
    cJSON_Delete(answer);
    snprintf(words, sizeof words, "'%s/a b/c/events.out.tfevents.1796194499.host' --experiment one",
             logs);
    answer = import(words, 0);
    assert_int_equal(count_of(run_named(answer, "."), "scalars"), 1);
    cJSON_Delete(answer);
}

static void test_refusals(void **state)
{
    char words[256];
    (void)state;
    assert_null(import("/no/such/folder", 1));
    assert_null(import("", 2));
    snprintf(words, sizeof words, "%s %s", logs, logs);
    assert_null(import(words, 2));
    shell("mkdir %s/empty", logs);
    snprintf(words, sizeof words, "%s/empty", logs);
    assert_null(import(words, 1));
    /* A file that is no event file, whatever its name. */
    assert_null(import("/etc/passwd", 1));
    shell("head -c 100000 /dev/zero > %s/empty/events.out.tfevents.1.zeros", logs);
    snprintf(words, sizeof words, "%s/empty/events.out.tfevents.1.zeros", logs);
    assert_null(import(words, 1));
}

/* While another process holds the data root, rows go through its hands and arrive once. */
static void test_beside_an_owner(void **state)
{
    MetricsRuns runs;
    (void)state;
    shell("mkdir %s", root);
    Back back = back_open();
    uint64_t mine = metrics_store_begin_run(back.store, "mine", "mine");
    assert_true(mine != 0 && metrics_store_flush(back.store, 20000));
    cJSON *answer = import(logs, 0);
    assert_state(answer, "run2_given", "imported");
    uint64_t id = (uint64_t)number_of(member(run_named(answer, "run2_given"), "run"));
    cJSON_Delete(answer);
    back_close(&back); /* what was not taken over yet is, by the next owner */
    back = back_open();
    cJSON *truth = read_truth();
    assert_true(metrics_read_runs(back.reader, &runs));
    for (int tries = 0; runs.count < 4 && tries < 1200; tries++) {
        metrics_runs_free(&runs);
        usleep(100000);
        assert_true(metrics_read_runs(back.reader, &runs));
    }
    assert_int_equal(runs.count, 4);
    check_scalars(
        &back, id, "v2/loss",
        member(member(member(truth, "tfevents/run2_given/events.out.tfevents.1796194499.host"),
                      "tensors"),
               "v2/loss"),
        true);
    metrics_runs_free(&runs);
    cJSON_Delete(truth);
    back_close(&back);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    caliper = argv[1];
    data_dir = argv[2];
    log_stderr_enable(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_value, begin, end),
        cmocka_unit_test_setup_teardown(test_again, begin, end),
        cmocka_unit_test_setup_teardown(test_damage_and_shapes, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
        cmocka_unit_test_setup_teardown(test_beside_an_owner, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
