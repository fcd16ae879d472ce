/* The training job; see trainer.h. */
#include "trainer.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct Trainer {
    TrainerParams params;
    Digits digits; /* the job's until it ended; then the frame thread's */
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a step, or the end */
    atomic_bool wants_cpu;
    int64_t shown_ms; /* the job's: when the last snapshot was made */
    /* Under the lock. */
    TrainerView view;
    float *losses, *accuracies, *accuracy_steps;
    int64_t loss_capacity, accuracy_capacity;
    ModelScore score;
    ModelSnapshot *latest;
};

/* By a clock that nobody sets while somebody waits. */
static bool make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    bool made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(condition, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    return made;
}

Trainer *trainer_create(void)
{
    Trainer *trainer = calloc(1, sizeof *trainer);
    if (trainer == NULL)
        return NULL;
    if (pthread_mutex_init(&trainer->lock, NULL) != 0)
        goto no_lock;
    if (!make_condition(&trainer->moved))
        goto no_condition;
    return trainer;
no_condition:
    pthread_mutex_destroy(&trainer->lock);
no_lock:
    free(trainer);
    return NULL;
}

static void free_curves(Trainer *trainer)
{
    free(trainer->losses);
    free(trainer->accuracies);
    free(trainer->accuracy_steps);
    trainer->losses = trainer->accuracies = trainer->accuracy_steps = NULL;
    trainer->loss_capacity = trainer->accuracy_capacity = 0;
}

void trainer_destroy(Trainer **trainer_of)
{
    Trainer *trainer = *trainer_of;
    if (trainer == NULL)
        return;
    model_snapshot_free(&trainer->latest);
    digits_free(&trainer->digits);
    free_curves(trainer);
    pthread_cond_destroy(&trainer->moved);
    pthread_mutex_destroy(&trainer->lock);
    free(trainer);
    *trainer_of = NULL;
}

void trainer_prepare(Trainer *trainer, const TrainerParams *params)
{
    trainer->params = *params;
    digits_free(&trainer->digits);
    pthread_mutex_lock(&trainer->lock);
    free_curves(trainer);
    ModelSnapshot *unseen = trainer->latest;
    trainer->latest = NULL;
    memset(&trainer->view, 0, sizeof trainer->view);
    memset(&trainer->score, 0, sizeof trainer->score);
    trainer->view.state = TRAINER_STATE_RUNNING;
    snprintf(trainer->view.status, sizeof trainer->view.status, "reading %s", params->data_name);
    pthread_mutex_unlock(&trainer->lock);
    model_snapshot_free(&unseen);
}

static void set_status(Trainer *trainer, TrainerState state, const char *words)
{
    pthread_mutex_lock(&trainer->lock);
    trainer->view.state = state;
    snprintf(trainer->view.status, sizeof trainer->view.status, "%s", words);
    pthread_cond_broadcast(&trainer->moved);
    pthread_mutex_unlock(&trainer->lock);
}

void trainer_refuse(Trainer *trainer, const char *words)
{
    set_status(trainer, TRAINER_STATE_FAILED, words);
}

void trainer_wait(Trainer *trainer, int64_t step, int32_t timeout_ms)
{
    struct timespec until;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&trainer->lock);
    while (status == 0 && trainer->view.state == TRAINER_STATE_RUNNING && trainer->view.step < step)
        status = pthread_cond_timedwait(&trainer->moved, &trainer->lock, &until);
    pthread_mutex_unlock(&trainer->lock);
}

static int32_t evaluate_every_steps(const TrainerParams *params)
{
    return params->evaluate_every_steps != 0 ? params->evaluate_every_steps
                                             : (int32_t)TRAINER_EVALUATE_EVERY_STEPS;
}

/* Room for the whole run, made before its first step, so that the arrays never move. */
static bool make_room(Trainer *trainer, int64_t steps)
{
    int32_t every = evaluate_every_steps(&trainer->params);
    int64_t evaluations = (every > 0 ? steps / every : 0) + trainer->params.epochs + 2;
    float *losses = malloc((size_t)steps * sizeof *losses);
    float *accuracies = malloc((size_t)evaluations * sizeof *accuracies);
    float *accuracy_steps = malloc((size_t)evaluations * sizeof *accuracy_steps);
    if (losses == NULL || accuracies == NULL || accuracy_steps == NULL) {
        free(losses);
        free(accuracies);
        free(accuracy_steps);
        return false;
    }
    pthread_mutex_lock(&trainer->lock); /* prepare has freed the last run's */
    trainer->view.losses = trainer->losses = losses;
    trainer->view.accuracies = trainer->accuracies = accuracies;
    trainer->view.accuracy_steps = trainer->accuracy_steps = accuracy_steps;
    trainer->loss_capacity = steps;
    trainer->accuracy_capacity = evaluations;
    trainer->view.steps = steps;
    pthread_mutex_unlock(&trainer->lock);
    return true;
}

/* `text` as the inside of a JSON string; what is no plain ASCII becomes '?'. */
static void escape_json(const char *text, char *out, size_t out_bytes)
{
    size_t used = 0;
    for (; *text != '\0' && used + 2 < out_bytes; text++) {
        if (*text == '"' || *text == '\\')
            out[used++] = '\\';
        out[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
    }
    out[used] = '\0';
}

static uint64_t begin_metrics(const TrainerParams *params)
{
    char name[128], data[2 * sizeof params->data_name], json[512];
    if (params->metrics == NULL)
        return 0;
    snprintf(name, sizeof name, "%s, seed %llu", params->data_name,
             (unsigned long long)params->seed);
    escape_json(params->data_name, data, sizeof data);
    snprintf(json, sizeof json,
             "{\"data\": \"%s\", \"seed\": %llu, \"lr\": %.9g, \"batch\": %d, \"epochs\": %d, "
             "\"device\": \"%s\"}",
             data, (unsigned long long)params->seed, params->learning_rate, (int)params->batch,
             (int)params->epochs, params->on_cuda ? "cuda" : "cpu");
    uint64_t run = params->metrics->begin_run("mlscope", name);
    if (run != 0)
        params->metrics->hparams_json(run, json);
    return run;
}

static bool is_cancelled(void *user)
{
    const CaliperJobControl *control = user;
    return control->cancelled(control);
}

static bool evaluate(Trainer *trainer, Model *model, uint64_t run, int64_t step,
                     const CaliperJobControl *control, char *why)
{
    static _Thread_local ModelScore score;
    if (!model_evaluate(model, &score, is_cancelled, (void *)(uintptr_t)control, why))
        return false;
    double accuracy = (double)score.right / (double)score.seen;
    pthread_mutex_lock(&trainer->lock);
    trainer->score = score;
    trainer->view.has_score = true;
    trainer->view.score_serial++;
    if (trainer->view.accuracy_count < trainer->accuracy_capacity) {
        trainer->accuracies[trainer->view.accuracy_count] = (float)accuracy;
        trainer->accuracy_steps[trainer->view.accuracy_count++] = (float)step;
    }
    pthread_mutex_unlock(&trainer->lock);
    if (run != 0)
        trainer->params.metrics->scalar(run, "test/accuracy", step, accuracy);
    return true;
}

static float at_least(float value, float least)
{
    return value > least && isfinite(value) ? value : least;
}

/* A texture keeps its range for life. */
static void pin_ranges(TrainerView *view, const ModelSnapshot *first)
{
    view->kernel_range = at_least(first->kernel_max, 1e-6f);
    view->map_min = isfinite(first->map_min) ? first->map_min : 0.0f;
    view->map_max = at_least(first->map_max, view->map_min + 1e-6f);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whether a new snapshot would be seen: the last one was taken, and that a while ago. */
static bool show_is_due(Trainer *trainer)
{
    int32_t every_ms = trainer->params.show_every_ms != 0 ? trainer->params.show_every_ms
                                                          : (int32_t)TRAINER_SHOW_EVERY_MS;
    if (every_ms < 0 || now_ms() - trainer->shown_ms < every_ms)
        return false;
    pthread_mutex_lock(&trainer->lock);
    bool was_taken = trainer->latest == NULL;
    pthread_mutex_unlock(&trainer->lock);
    return was_taken;
}

static bool show(Trainer *trainer, Model *model, bool is_first, char *why)
{
    if (trainer->params.show_every_ms < 0)
        return true;
    ModelSnapshot *made = model_snapshot(model, atomic_load(&trainer->wants_cpu), why);
    if (made == NULL)
        return false;
    pthread_mutex_lock(&trainer->lock);
    if (is_first)
        pin_ranges(&trainer->view, made);
    ModelSnapshot *unseen = trainer->latest;
    trainer->latest = made;
    pthread_mutex_unlock(&trainer->lock);
    model_snapshot_free(&unseen);
    trainer->shown_ms = now_ms();
    return true;
}

/* Steps, evaluations and snapshots to the end. False with an empty `why`: cancelled. */
static bool train(Trainer *trainer, Model *model, uint64_t run, int64_t steps,
                  const CaliperJobControl *control, char *why)
{
    const int64_t epoch_steps = model_steps_per_epoch(model);
    const int32_t evaluate_every = evaluate_every_steps(&trainer->params);
    char message[96];
    if (!show(trainer, model, true, why))
        return false;
    for (int64_t step = 1; step <= steps; step++) {
        double loss = 0.0;
        why[0] = '\0';
        if (is_cancelled((void *)(uintptr_t)control) || !model_step(model, &loss, why))
            return false;
        pthread_mutex_lock(&trainer->lock);
        trainer->losses[trainer->view.loss_count++] = (float)loss;
        trainer->view.step = step;
        if (!isfinite(loss) && trainer->view.lost_step == 0)
            trainer->view.lost_step = step;
        pthread_cond_broadcast(&trainer->moved);
        pthread_mutex_unlock(&trainer->lock);
        if (run != 0)
            trainer->params.metrics->scalar(run, "train/loss", step, loss);
        bool is_last = step == steps || step % epoch_steps == 0;
        if (evaluate_every > 0 && (step % evaluate_every == 0 || is_last) &&
            !evaluate(trainer, model, run, step, control, why))
            return false;
        if ((is_last || show_is_due(trainer)) && !show(trainer, model, false, why))
            return false;
        snprintf(message, sizeof message, "epoch %lld of %d, loss %.4f",
                 (long long)((step - 1) / epoch_steps + 1), (int)trainer->params.epochs, loss);
        control->progress(control, (float)step / (float)steps, message);
    }
    return true;
}

/* Into the file that the parameters name, beside what was there first. */
static bool write_weights(const char *path, const float *first, const float *last, char *why)
{
    FILE *file = fopen(path, "wb");
    bool good = file != NULL &&
                fwrite(first, sizeof *first, MODEL_CONV1_FLOATS, file) == MODEL_CONV1_FLOATS &&
                fwrite(last, sizeof *last, MODEL_CONV1_FLOATS, file) == MODEL_CONV1_FLOATS;
    if (file != NULL && fclose(file) != 0)
        good = false;
    if (!good)
        snprintf(why, DIGITS_ERROR_BYTES, "%.200s: %s", path, strerror(errno));
    return good;
}

/* train(), and what conv1 was before and after. */
static bool train_and_keep(Trainer *trainer, Model *model, uint64_t run, int64_t steps,
                           const CaliperJobControl *control, char *why)
{
    float first[MODEL_CONV1_FLOATS], last[MODEL_CONV1_FLOATS];
    const char *path = trainer->params.weights_path;
    if (path[0] == '\0')
        return train(trainer, model, run, steps, control, why);
    return model_conv1(model, first, why) && train(trainer, model, run, steps, control, why) &&
           model_conv1(model, last, why) && write_weights(path, first, last, why);
}

void trainer_run(void *user, const CaliperJobControl *control)
{
    Trainer *trainer = user;
    const TrainerParams *params = &trainer->params;
    char why[DIGITS_ERROR_BYTES] = "", words[TRAINER_STATUS_BYTES];
    Model *model = NULL;
    uint64_t run = 0;
    bool good = digits_read(&trainer->digits, params->folder, why);
    const Digits *digits = &trainer->digits;
    if (good) {
        ModelParams wanted = {.seed = params->seed,
                              .learning_rate = params->learning_rate,
                              .batch = params->batch,
                              .on_cuda = params->on_cuda,
                              .bridge_caps = params->bridge_caps,
                              .train_images = digits->train_images,
                              .train_labels = digits->train_labels,
                              .train_count = digits->train_count,
                              .test_images = digits->test_images,
                              .test_labels = digits->test_labels,
                              .test_count = digits->test_count};
        model = model_create(&wanted, why);
        good = model != NULL;
    }
    if (good) {
        int64_t steps = model_steps_per_epoch(model) * params->epochs;
        if (params->steps_max > 0 && params->steps_max < steps)
            steps = params->steps_max;
        good = make_room(trainer, steps);
        if (!good)
            snprintf(why, sizeof why, "no memory for %lld steps", (long long)steps);
        run = good ? begin_metrics(params) : 0;
        set_status(trainer, TRAINER_STATE_RUNNING,
                   params->on_cuda ? "training on CUDA" : "training on the CPU");
        good = good && train_and_keep(trainer, model, run, steps, control, why);
    }
    if (run != 0)
        params->metrics->end_run(run);
    if (model != NULL)
        model_destroy(&model);
    if (good)
        snprintf(words, sizeof words, "trained on %s", params->data_name);
    else
        snprintf(words, sizeof words, "%s", why[0] != '\0' ? why : "cancelled");
    set_status(trainer,
               good             ? TRAINER_STATE_DONE
               : why[0] == '\0' ? TRAINER_STATE_CANCELLED
                                : TRAINER_STATE_FAILED,
               words);
}

void trainer_view(Trainer *trainer, TrainerView *out)
{
    pthread_mutex_lock(&trainer->lock);
    *out = trainer->view;
    pthread_mutex_unlock(&trainer->lock);
}

void trainer_score(Trainer *trainer, ModelScore *out)
{
    pthread_mutex_lock(&trainer->lock);
    *out = trainer->score;
    pthread_mutex_unlock(&trainer->lock);
}

ModelSnapshot *trainer_take(Trainer *trainer)
{
    pthread_mutex_lock(&trainer->lock);
    ModelSnapshot *latest = trainer->latest;
    trainer->latest = NULL;
    pthread_mutex_unlock(&trainer->lock);
    return latest;
}

void trainer_want_cpu(Trainer *trainer)
{
    atomic_store(&trainer->wants_cpu, true);
}

const uint8_t *trainer_test_image(Trainer *trainer, int64_t index, uint8_t *out_label)
{
    const uint8_t *image = NULL;
    pthread_mutex_lock(&trainer->lock);
    /* The digits were read before there was a score, and stay until the next prepare. */
    if (trainer->view.has_score && index >= 0 && index < trainer->digits.test_count) {
        image = trainer->digits.test_images + index * MODEL_DIGIT_BYTES;
        *out_label = trainer->digits.test_labels[index];
    }
    pthread_mutex_unlock(&trainer->lock);
    return image;
}
