/* The network that counts; see the header. */
#include "mlscope_counting.h"

#include <caliper/caliper.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct Model {
    ModelParams params;
    int64_t step;
};

atomic_int counting_models, counting_snapshots;

Model *model_create(const ModelParams *params, char *why)
{
    Model *model = calloc(1, sizeof *model);
    (void)why;
    if (model != NULL) {
        model->params = *params;
        atomic_fetch_add(&counting_models, 1);
    }
    return model;
}

void model_destroy(Model **model)
{
    free(*model);
    *model = NULL;
    atomic_fetch_sub(&counting_models, 1);
}

int64_t model_steps_per_epoch(const Model *model)
{
    return (model->params.train_count + model->params.batch - 1) / model->params.batch;
}

bool model_step(Model *model, double *out_loss, char *why)
{
    (void)why;
    struct timespec nap = {0, 50000};
    nanosleep(&nap, NULL);
    *out_loss = (double)++model->step;
    if (model->params.learning_rate == COUNTING_TOO_FAST && model->step >= 3)
        *out_loss = NAN;
    return true;
}

bool model_has_cuda(void)
{
    return false;
}

bool model_conv1(Model *model, float out[MODEL_CONV1_FLOATS], char *why)
{
    (void)why;
    for (int i = 0; i < MODEL_CONV1_FLOATS; i++)
        out[i] = (float)model->step;
    return true;
}

bool model_evaluate(Model *model, ModelScore *out, bool (*stop)(void *), void *user, char *why)
{
    if (stop(user)) {
        why[0] = '\0';
        return false;
    }
    memset(out, 0, sizeof *out);
    out->seen = model->params.test_count;
    out->wrong_count = 1;
    out->wrong_index[0] = (int32_t)(model->step % model->params.test_count);
    out->wrong_truth[0] = 4;
    out->confusion[4][0] = out->seen;
    return true;
}

enum { MAP_ELEMENTS = MODEL_MAP_SIDE * MODEL_MAP_SIDE };

typedef struct Owned {
    float kernel[MODEL_KERNEL_SIDE * MODEL_KERNEL_SIDE], map[MAP_ELEMENTS];
    float digit[MODEL_DIGIT_BYTES];
} Owned;

static CaliperTensor picture(float *values, int64_t side, float value)
{
    for (int64_t i = 0; i < side * side; i++)
        values[i] = value;
    return caliper_tensor_f32_2d(values, side, side);
}

ModelSnapshot *model_snapshot(Model *model, bool on_cpu, char *why)
{
    ModelSnapshot *snapshot = calloc(1, sizeof *snapshot);
    Owned *owned = malloc(sizeof *owned);
    (void)why;
    if (snapshot == NULL || owned == NULL) {
        free(snapshot);
        free(owned);
        return NULL;
    }
    const float value = (float)(model->step % COUNTING_VALUES);
    snapshot->owner = owned;
    snapshot->predicted = (int32_t)model->step;
    for (int i = 0; i < MODEL_KERNELS; i++) {
        snapshot->kernels[i] = picture(owned->kernel, MODEL_KERNEL_SIDE, value);
        snapshot->maps[i] = picture(owned->map, MODEL_MAP_SIDE, value);
    }
    snapshot->digit = picture(owned->digit, MODEL_DIGIT_SIDE, 1.0f);
    snapshot->kernel_max = (float)(100 + model->step);
    snapshot->map_max = 1.0f;
    snapshot->on_device = !on_cpu;
    atomic_fetch_add(&counting_snapshots, 1);
    return snapshot;
}

void model_snapshot_free(ModelSnapshot **snapshot)
{
    if (*snapshot != NULL) {
        free((*snapshot)->owner);
        free(*snapshot);
        atomic_fetch_sub(&counting_snapshots, 1);
    }
    *snapshot = NULL;
}

void counting_write_idx(const char *folder, const char *name, int rank, uint32_t count,
                        uint8_t value)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        abort();
    uint32_t extents[3] = {count, 28, 28};
    uint8_t magic[4] = {0, 0, 8, (uint8_t)rank};
    fwrite(magic, 1, 4, file);
    for (int i = 0; i < rank; i++) {
        for (int shift = 24; shift >= 0; shift -= 8)
            fputc((int)(extents[i] >> shift & 255), file);
    }
    for (uint32_t i = 0; i < count * (rank == 3 ? 784 : 1); i++)
        fputc(value, file);
    if (fclose(file) != 0)
        abort();
}

void counting_write_all(const char *folder)
{
    counting_write_idx(folder, "train-images-idx3-ubyte", 3, 50, 1);
    counting_write_idx(folder, "train-labels-idx1-ubyte", 1, 50, 2);
    counting_write_idx(folder, "t10k-images-idx3-ubyte", 3, 20, 3);
    counting_write_idx(folder, "t10k-labels-idx1-ubyte", 1, 20, 4);
}
