/* MLScope's training job and its data, over a network that only counts its steps: what the frame
 * thread sees while runs are cancelled and started again, folders that are half there, names that
 * JSON has to escape. Without torch, so that ASan and TSan see it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "datasets/datasets.h"
#include "mlscope_counting.h"
#include "trainer.h"

/* ---- A job on a thread ---- */

typedef struct Job {
    CaliperJobControl control; /* first: the trainer's functions get its address */
    atomic_bool cancel;
    pthread_t thread;
    Trainer *trainer;
} Job;

static bool is_cancelled(const CaliperJobControl *control)
{
    return atomic_load(&((Job *)(uintptr_t)control)->cancel);
}

static void show_progress(const CaliperJobControl *control, float share, const char *words)
{
    (void)control;
    assert_true(share >= 0.0f && share <= 1.0f && words != NULL);
}

static void *run_job(void *user)
{
    Job *job = user;
    trainer_run(job->trainer, &job->control);
    return NULL;
}

static void submit(Job *job, Trainer *trainer)
{
    job->control = (CaliperJobControl){sizeof job->control, is_cancelled, show_progress};
    job->trainer = trainer;
    atomic_store(&job->cancel, false);
    assert_int_equal(pthread_create(&job->thread, NULL, run_job, job), 0);
}

/* ---- Files ---- */

static char folder[] = "/tmp/mlscope_XXXXXX";

static void write_idx(const char *name, int rank, uint32_t count, uint8_t value)
{
    counting_write_idx(folder, name, rank, count, value);
}

static void write_all(void)
{
    counting_write_all(folder);
}

static void remove_one(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    remove_one("train-images-idx3-ubyte");
    remove_one("train-labels-idx1-ubyte");
    remove_one("t10k-images-idx3-ubyte");
    remove_one("t10k-labels-idx1-ubyte");
    remove_one("weights");
    return rmdir(folder);
}

static TrainerParams params_of(int32_t epochs)
{
    TrainerParams params = {
        .seed = 1, .learning_rate = 1e-3, .batch = 10, .epochs = epochs, .show_every_ms = 1};
    snprintf(params.folder, sizeof params.folder, "%s", folder);
    snprintf(params.data_name, sizeof params.data_name, "counted");
    return params;
}

/* What a frame reads: all of it, as the panel does. */
static void look(Trainer *trainer, ModelSnapshot **shown)
{
    TrainerView view;
    trainer_view(trainer, &view);
    for (int64_t i = 0; i < view.loss_count; i++)
        assert_true(view.losses[i] == (float)(i + 1));
    for (int64_t i = 0; i < view.accuracy_count; i++)
        assert_true(view.accuracies[i] == 0.0f && view.accuracy_steps[i] > 0.0f);
    if (view.has_score) {
        static ModelScore score;
        uint8_t label = 0;
        trainer_score(trainer, &score);
        const uint8_t *image = trainer_test_image(trainer, score.wrong_index[0], &label);
        assert_non_null(image);
        assert_true(label == 4 && image[0] == 3 && image[783] == 3);
        assert_null(trainer_test_image(trainer, 20, &label));
        assert_null(trainer_test_image(trainer, -1, &label));
    }
    ModelSnapshot *taken = trainer_take(trainer);
    if (taken != NULL) {
        /* The first snapshot's range, also when a frame saw a later one first. */
        trainer_view(trainer, &view);
        assert_true(view.kernel_range == 100.0f);
        model_snapshot_free(shown);
        *shown = taken;
    }
    if (*shown != NULL)
        assert_true(*(float *)(*shown)->kernels[0].data >= 0.0f);
}

static void test_cancel_and_start_again(void **state)
{
    Trainer *trainer = trainer_create();
    TrainerParams params = params_of(40); /* 200 steps */
    ModelSnapshot *shown = NULL;
    unsigned random = 7;
    (void)state;
    write_all();
    for (int turn = 0; turn < 40; turn++) {
        Job job;
        TrainerView view;
        trainer_prepare(trainer, &params);
        submit(&job, trainer);
        random = random * 1103515245u + 12345u;
        int looks = (int)(random >> 16) % 60; /* some turns come to their end */
        for (int i = 0; i < looks || (turn % 8 == 0 && i < 100000); i++) {
            trainer_wait(trainer, turn % 8 == 0 ? i : 0, 10000);
            look(trainer, &shown);
            trainer_view(trainer, &view);
            if (view.state != TRAINER_STATE_RUNNING)
                break;
        }
        atomic_store(&job.cancel, true);
        look(trainer, &shown);
        pthread_join(job.thread, NULL);
        trainer_view(trainer, &view);
        assert_true(view.state == TRAINER_STATE_CANCELLED || view.state == TRAINER_STATE_DONE);
        if (turn % 8 == 0)
            assert_int_equal(view.state, TRAINER_STATE_DONE);
        look(trainer, &shown);
    }
    assert_non_null(shown); /* kept, whatever ended since */
    model_snapshot_free(&shown);
    trainer_destroy(&trainer);
    assert_null(trainer);
    assert_int_equal(atomic_load(&counting_snapshots), 0);
    assert_int_equal(atomic_load(&counting_models), 0);
}

/* ---- Metrics ---- */

static char begun[256], hyper_parameters[512];

static uint64_t begin_run(const char *experiment, const char *name)
{
    assert_string_equal(experiment, "mlscope");
    snprintf(begun, sizeof begun, "%s", name);
    return 5;
}

static void end_run(uint64_t run)
{
    assert_int_equal(run, 5);
}

static void scalar(uint64_t run, const char *tag, int64_t step, double value)
{
    assert_int_equal(run, 5);
    assert_true(strcmp(tag, "train/loss") != 0 || value == (double)step);
}

static void hparams_json(uint64_t run, const char *json)
{
    assert_int_equal(run, 5);
    snprintf(hyper_parameters, sizeof hyper_parameters, "%s", json);
}

/* Runs to the end on this thread; the words it leaves. */
static TrainerView run_whole(Trainer *trainer, const TrainerParams *params)
{
    Job job;
    TrainerView view;
    trainer_prepare(trainer, params);
    submit(&job, trainer);
    pthread_join(job.thread, NULL);
    trainer_view(trainer, &view);
    return view;
}

static void test_names_and_batches(void **state)
{
    static const CaliperMetricsV1 metrics = {.struct_size = sizeof metrics,
                                             .begin_run = begin_run,
                                             .end_run = end_run,
                                             .scalar = scalar,
                                             .hparams_json = hparams_json};
    Trainer *trainer = trainer_create();
    TrainerParams params = params_of(2);
    (void)state;
    write_all();
    params.metrics = &metrics;
    params.batch = 1024; /* more than there are images: one batch an epoch */
    params.seed = UINT64_MAX;
    snprintf(params.data_name, sizeof params.data_name, "%s", "a \"b\\\n\xff");
    snprintf(params.weights_path, sizeof params.weights_path, "%s/weights", folder);
    TrainerView view = run_whole(trainer, &params);
    assert_int_equal(view.state, TRAINER_STATE_DONE);
    assert_int_equal(view.loss_count, 2);
    assert_string_equal(hyper_parameters,
                        "{\"data\": \"a \\\"b\\\\??\", \"seed\": 18446744073709551615, "
                        "\"lr\": 0.001, \"batch\": 1024, \"epochs\": 2, \"device\": \"cpu\"}");
    float weights[2 * MODEL_CONV1_FLOATS + 1];
    char path[256];
    snprintf(path, sizeof path, "%s/weights", folder);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(weights, sizeof(float), 2 * MODEL_CONV1_FLOATS + 1, file),
                     2 * MODEL_CONV1_FLOATS);
    fclose(file);
    assert_true(weights[0] == 0.0f && weights[2 * MODEL_CONV1_FLOATS - 1] == 2.0f);
    snprintf(params.weights_path, sizeof params.weights_path, "%s/none/weights", folder);
    view = run_whole(trainer, &params);
    assert_int_equal(view.state, TRAINER_STATE_FAILED);
    assert_non_null(strstr(view.status, "none/weights: No such file"));
    trainer_prepare(trainer, &params); /* and no job comes */
    trainer_refuse(trainer, "no job could be started");
    trainer_view(trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_FAILED);
    trainer_wait(trainer, 1000, 60000); /* nothing runs: at once */
    trainer_destroy(&trainer);
}

/* ---- Folders that are not whole ---- */

static void expect_words(Trainer *trainer, const char *words)
{
    TrainerParams params = params_of(1);
    TrainerView view = run_whole(trainer, &params);
    assert_int_equal(view.state, TRAINER_STATE_FAILED);
    if (strstr(view.status, words) == NULL)
        fail_msg("'%s' does not say '%s'", view.status, words);
    assert_int_equal(view.loss_count, 0);
}

static void test_folders(void **state)
{
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    Trainer *trainer = trainer_create();
    (void)state;
    for (int i = 0; i < 4; i++) {
        write_all();
        assert_true(datasets_found(&datasets_mnist, folder));
        remove_one(names[i]);
        assert_false(datasets_found(&datasets_mnist, folder));
        expect_words(trainer, names[i]);
    }
    write_all();
    write_idx("train-labels-idx1-ubyte", 1, 49, 2);
    expect_words(trainer, "50 images and 49 labels");
    write_all();
    write_idx("t10k-labels-idx1-ubyte", 1, 20, 10);
    expect_words(trainer, "label 10, wanted 0 to 9");
    write_all();
    write_idx("t10k-images-idx3-ubyte", 1, 20, 3);
    expect_words(trainer, "wanted images of 28 x 28");
    write_all();
    char path[256];
    snprintf(path, sizeof path, "%s/train-images-idx3-ubyte", folder);
    assert_int_equal(truncate(path, 5000), 0);
    expect_words(trainer, "train-images-idx3-ubyte");
    write_all();
    write_idx("train-images-idx3-ubyte", 3, 0, 0);
    expect_words(trainer, "train-images-idx3-ubyte");
    trainer_destroy(&trainer);
    trainer_destroy(&trainer);
    assert_int_equal(atomic_load(&counting_models), 0);
}

/* In a child that is nobody: root reads everything. Files that are there and may not be read, and a
 * folder that may not be entered, are no missing ones. */
static void expect_denied(const char *name)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char why[DIGITS_ERROR_BYTES] = "";
        Digits digits;
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(77);
        bool good = digits_read(&digits, folder, why);
        if (!good && strstr(why, name) != NULL && strstr(why, "Permission denied") != NULL)
            _exit(0);
        fprintf(stderr, "%s: '%s'\n", name, good ? "was read" : why);
        _exit(1);
    }
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("skipped: root here cannot become another user\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_what_may_not_be_read(void **state)
{
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    (void)state;
    write_all();
    assert_int_equal(chmod(folder, 0755), 0);
    for (int i = 0; i < 4; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        for (int k = 0; k < 4; k++) { /* the umask of whoever runs this decides nothing */
            char other[256];
            snprintf(other, sizeof other, "%s/%s", folder, names[k]);
            assert_int_equal(chmod(other, k == i ? 0 : 0644), 0);
        }
        expect_denied(names[i]);
        assert_int_equal(chmod(path, 0644), 0);
    }
    assert_int_equal(chmod(folder, 0), 0);
    expect_denied(names[0]);
    assert_int_equal(chmod(folder, 0700), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_and_start_again),
        cmocka_unit_test(test_names_and_batches),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_what_may_not_be_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
