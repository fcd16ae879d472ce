/* applets/mlscope/trainer.h: one training run in a job, and what the frame thread sees of it.
 *
 * The worker trains, evaluates and makes snapshots; the frame thread takes what is newest. The lock
 * is held for copies only, never across a step. trainer_run is the job's; the rest is for the frame
 * thread. */
#ifndef MLSCOPE_TRAINER_H
#define MLSCOPE_TRAINER_H

#include <caliper/services/jobs_v1.h>
#include <caliper/services/metrics_v1.h>

#include "digits.h"
#include "model.h"

enum {
    TRAINER_STATUS_BYTES = 512,
    TRAINER_EVALUATE_EVERY_STEPS = 50,
    TRAINER_SHOW_EVERY_MS = 100, /* often enough for the eye, rare enough for a fast device */
    TRAINER_NEVER = -1
};

typedef struct TrainerParams {
    char folder[4096];
    char data_name[64];
    uint64_t seed;
    double learning_rate;
    int32_t batch, epochs;
    int64_t steps_max; /* 0: all */
    /* 0: the defaults above; TRAINER_NEVER: not even at the end. What is shown is made anew once
     * that time is over and the last was taken, and at the end of each epoch. */
    int32_t evaluate_every_steps, show_every_ms;
    bool on_cuda;
    uint32_t bridge_caps;
    const CaliperMetricsV1 *metrics; /* NULL: trains without */
    /* A file, or "": what conv1 was at the first and at the last snapshot, f32 as model_conv1 gives
     * them, written when a run comes to its end. */
    char weights_path[4096];
} TrainerParams;

typedef enum TrainerState {
    TRAINER_STATE_IDLE = 0,
    TRAINER_STATE_RUNNING = 1,
    TRAINER_STATE_DONE = 2,
    TRAINER_STATE_CANCELLED = 3,
    TRAINER_STATE_FAILED = 4
} TrainerState;

typedef struct Trainer Trainer;

/* What is copied out for a frame. The arrays are the trainer's and only grow: the first `*_count`
 * elements do not change any more, and the arrays stay until the next prepare. */
typedef struct TrainerView {
    TrainerState state;
    char status[TRAINER_STATUS_BYTES];
    const float *losses;     /* one a step */
    const float *accuracies; /* one an evaluation, 0..1 */
    const float *accuracy_steps;
    int64_t loss_count, accuracy_count, step, steps;
    int64_t lost_step; /* the first whose loss is no finite number; 0: none */
    bool has_score;
    uint64_t score_serial; /* changes with each evaluation */
    /* Of the run's first snapshot, whichever the frame thread saw first. */
    float kernel_range, map_min, map_max;
} TrainerView;

Trainer *trainer_create(void);
/* Its job has ended. */
void trainer_destroy(Trainer **trainer);

/* Forgets the last run, its arrays and its images, and takes the parameters of the next; not while
 * one runs, nor while a view of the last is in use. */
void trainer_prepare(Trainer *trainer, const TrainerParams *params);
/* What was prepared does not run: `words` say why. */
void trainer_refuse(Trainer *trainer, const char *words);
/* The job's function; `user` is the trainer. */
void trainer_run(void *user, const CaliperJobControl *control);

void trainer_view(Trainer *trainer, TrainerView *out);
/* Returns once that step is done or the run has ended, or after the time. For runs without a
 * person, where frames are to keep step with the training. */
void trainer_wait(Trainer *trainer, int64_t step, int32_t timeout_ms);
void trainer_score(Trainer *trainer, ModelScore *out);
/* The newest snapshot, which is then the caller's; NULL: none since the last. */
ModelSnapshot *trainer_take(Trainer *trainer);
/* The renderer takes no device tensors: snapshots are made on the CPU from now on. */
void trainer_want_cpu(Trainer *trainer);
/* The test image of that index, 28 x 28 u8; NULL while there is none. Until the next prepare. */
const uint8_t *trainer_test_image(Trainer *trainer, int64_t index, uint8_t *out_label);

#endif
