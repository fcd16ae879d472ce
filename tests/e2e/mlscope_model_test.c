/* MLScope's snapshots, over the real network: what the pictures show is what the network computes,
 * and is a snapshot's own. The maps are worked out here from the weights; what it answers to the
 * digit is what an evaluation of that one image says. */
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"

enum {
    TRAIN_COUNT = 64,
    TEST_COUNT = 8000, /* as floats 25 MB */
    HELD_BYTES_MAX = 4 << 20,
    KERNEL_FLOATS = MODEL_KERNEL_SIDE * MODEL_KERNEL_SIDE,
    STEPS = 5
};

typedef struct Data {
    uint8_t images[TEST_COUNT][MODEL_DIGIT_BYTES];
    uint8_t labels[TEST_COUNT];
} Data;

static Data *data_make(void)
{
    Data *data = malloc(sizeof *data);
    assert_non_null(data);
    uint32_t random = 12345;
    for (int i = 0; i < TEST_COUNT; i++) {
        data->labels[i] = (uint8_t)(i % MODEL_CLASSES);
        for (int k = 0; k < MODEL_DIGIT_BYTES; k++) {
            random = random * 1664525u + 1013904223u;
            data->images[i][k] = (uint8_t)(random >> 24);
        }
    }
    return data;
}

static Model *model_make(const Data *data, int64_t test_count)
{
    char why[MODEL_ERROR_BYTES] = "";
    ModelParams params = {.seed = 3,
                          .learning_rate = 1e-2,
                          .batch = 16,
                          .train_images = data->images[0],
                          .train_labels = data->labels,
                          .train_count = TRAIN_COUNT,
                          .test_images = data->images[0],
                          .test_labels = data->labels,
                          .test_count = test_count};
    Model *model = model_create(&params, why);
    if (model == NULL)
        fail_msg("%s", why);
    return model;
}

static void learn(Model *model)
{
    char why[MODEL_ERROR_BYTES] = "";
    double loss = 0.0;
    for (int i = 0; i < STEPS; i++)
        assert_true(model_step(model, &loss, why));
}

static float at(const CaliperTensor *plane, int row, int column)
{
    assert_int_equal(plane->ndim, 2);
    assert_int_equal(plane->dtype, CALIPER_DT_F32);
    const float *values = plane->data;
    return values[row * plane->strides[0] + column * plane->strides[1]];
}

/* Of conv1's weights and biases as they were, and the digit's bytes. */
static void expect_pictures(const ModelSnapshot *shown, const float *conv1, const uint8_t *digit)
{
    for (int y = 0; y < MODEL_DIGIT_SIDE; y++)
        for (int x = 0; x < MODEL_DIGIT_SIDE; x++)
            assert_true(fabsf(at(&shown->digit, y, x) -
                              (float)digit[y * MODEL_DIGIT_SIDE + x] / 255.0f) < 1e-6f);
    for (int k = 0; k < MODEL_KERNELS; k++) {
        const float *kernel = conv1 + (ptrdiff_t)k * KERNEL_FLOATS;
        for (int i = 0; i < KERNEL_FLOATS; i++)
            assert_true(at(&shown->kernels[k], i / MODEL_KERNEL_SIDE, i % MODEL_KERNEL_SIDE) ==
                        kernel[i]);
        for (int y = 0; y < MODEL_MAP_SIDE; y++)
            for (int x = 0; x < MODEL_MAP_SIDE; x++) {
                double sum = conv1[MODEL_KERNELS * KERNEL_FLOATS + k];
                for (int i = 0; i < KERNEL_FLOATS; i++)
                    sum += (double)kernel[i] *
                           digit[(y + i / MODEL_KERNEL_SIDE) * MODEL_DIGIT_SIDE + x +
                                 i % MODEL_KERNEL_SIDE] /
                           255.0;
                assert_true(fabs(at(&shown->maps[k], y, x) - sum) < 1e-4);
            }
    }
}

static void test_pictures(void **state)
{
    (void)state;
    char why[MODEL_ERROR_BYTES] = "";
    float then[MODEL_CONV1_FLOATS], later[MODEL_CONV1_FLOATS];
    static ModelScore score;
    Data *data = data_make();
    Model *model = model_make(data, 1); /* so that the score is the answer to the digit */
    for (int round = 0; round < 4; round++) {
        learn(model);
        assert_true(model_conv1(model, then, why));
        ModelSnapshot *shown = model_snapshot(model, round % 2 == 1, why);
        assert_non_null(shown);
        assert_true(model_evaluate(model, &score, NULL, NULL, why));
        assert_int_equal(shown->truth, data->labels[0]);
        assert_int_equal(score.confusion[shown->truth][shown->predicted], 1);
        expect_pictures(shown, then, data->images[0]);
        learn(model); /* the network goes on, the snapshot does not */
        assert_true(model_conv1(model, later, why));
        assert_memory_not_equal(then, later, sizeof then);
        expect_pictures(shown, then, data->images[0]);
        model_snapshot_free(&shown);
        assert_null(shown);
    }
    model_destroy(&model);
    free(data);
}

static size_t held_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* The last snapshot of a run stays on screen: the pictures, and not the data behind them. */
static void test_outlives_its_model(void **state)
{
    (void)state;
    char why[MODEL_ERROR_BYTES] = "";
    float then[MODEL_CONV1_FLOATS];
    Data *data = data_make();
    size_t before = 0;
    for (int round = 0; round < 2; round++) { /* the first one makes what torch keeps for itself */
        before = held_bytes();
        Model *model = model_make(data, TEST_COUNT);
        learn(model);
        assert_true(model_conv1(model, then, why));
        ModelSnapshot *shown = model_snapshot(model, false, why);
        assert_non_null(shown);
        model_destroy(&model);
        size_t after = held_bytes();
        expect_pictures(shown, then, data->images[0]);
        model_snapshot_free(&shown);
        if (round == 1 && after > before + HELD_BYTES_MAX)
            fail_msg("a snapshot holds %zu bytes", after - before);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_outlives_its_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
