/* applets/mlscope/model.h: the network, behind plain C.
 *
 * model.cpp is the one file of the applet that includes torch. The net: conv 1->8 3x3, relu, pool
 * 2, conv 8->16 3x3, relu, pool 2, linear 400->10; Adam. A model is used by one thread at a time,
 * the training job's; a snapshot belongs to whoever holds it. No exception leaves a function here.
 */
#ifndef MLSCOPE_MODEL_H
#define MLSCOPE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <caliper/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MODEL_KERNELS = 8,
    MODEL_KERNEL_SIDE = 3,
    MODEL_MAP_SIDE = 26,
    MODEL_DIGIT_SIDE = 28,
    MODEL_DIGIT_BYTES = MODEL_DIGIT_SIDE * MODEL_DIGIT_SIDE,
    MODEL_CLASSES = 10,
    MODEL_WRONG_MAX = 512,
    MODEL_ERROR_BYTES = 256
};

typedef struct Model Model;

typedef struct ModelParams {
    uint64_t seed;
    double learning_rate;
    int32_t batch;
    bool on_cuda;
    uint32_t bridge_caps; /* of tensor_bridge.v1_1: how device tensors are handed over */
    /* Borrowed for the model's life: images of 28 x 28 u8, labels 0..9. */
    const uint8_t *train_images, *train_labels;
    int64_t train_count;
    const uint8_t *test_images, *test_labels;
    int64_t test_count;
} ModelParams;

/* Whether this libtorch has a CUDA device that works. Any thread. */
bool model_has_cuda(void);

/* NULL and `why` (MODEL_ERROR_BYTES) on failure. */
Model *model_create(const ModelParams *params, char *why);
void model_destroy(Model **model);

/* Batches in an epoch, the last one perhaps smaller. */
int64_t model_steps_per_epoch(const Model *model);
/* One batch forward, back and a step of Adam; a new order of the images for each epoch. */
bool model_step(Model *model, double *out_loss, char *why);

typedef struct ModelScore {
    int64_t right, seen;
    int64_t confusion[MODEL_CLASSES][MODEL_CLASSES]; /* [truth][predicted] */
    int32_t wrong_count;                             /* the first MODEL_WRONG_MAX of them */
    int32_t wrong_index[MODEL_WRONG_MAX];            /* in the test set */
    uint8_t wrong_predicted[MODEL_WRONG_MAX], wrong_truth[MODEL_WRONG_MAX];
} ModelScore;

enum { MODEL_CONV1_FLOATS = MODEL_KERNELS * (MODEL_KERNEL_SIDE * MODEL_KERNEL_SIDE + 1) };
/* What conv1 is now: the eight kernels, row by row, then the eight biases. */
bool model_conv1(Model *model, float out[MODEL_CONV1_FLOATS], char *why);

/* Over the whole test set. `stop` is asked between batches; then false with an empty `why`. */
bool model_evaluate(Model *model, ModelScore *out, bool (*stop)(void *user), void *user, char *why);

/* What the pictures show, in memory of its own: descriptors of f32 tensors, as the adapter gave
 * them. */
typedef struct ModelSnapshot {
    CaliperTensor kernels[MODEL_KERNELS]; /* 3 x 3 */
    CaliperTensor digit;                  /* 28 x 28, 0..1: the first of the test set */
    CaliperTensor maps[MODEL_KERNELS];    /* 26 x 26, of conv1, before relu */
    float kernel_max, map_min, map_max;   /* of the model's first: largest |weight|; the maps' */
    int32_t predicted, truth;
    bool on_device;
    void *owner;
} ModelSnapshot;

/* `on_cpu`: copied there, for a renderer that takes no device tensors. NULL and `why` on failure.
 */
ModelSnapshot *model_snapshot(Model *model, bool on_cpu, char *why);
/* Any thread. NULLs, accepts NULL. */
void model_snapshot_free(ModelSnapshot **snapshot);

#ifdef __cplusplus
}
#endif

#endif
