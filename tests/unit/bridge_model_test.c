/* Random sequences of calls against a model: which ids are out, of which kind, with which pixels.
 *
 * The model is a plain list; the bridge must agree with it after every step, in answers, in the
 * number of log lines and in every pixel. One thread. */
#include <stdlib.h>

#include "bridge_fixture.h"

enum { MODEL_MAX = 64, STEPS = 60000 };

typedef struct ModelTexture {
    CaliperTextureId id; /* 0: none */
    bool shared;
    bool released;     /* in this frame */
    uint32_t channels; /* 0: f32 */
    int32_t w, h;
    uint8_t value;       /* every element: a u8, or an index of the map */
    CaliperTensor block; /* of a shared one */
} ModelTexture;

typedef struct Model {
    ModelTexture textures[MODEL_MAX];
    CaliperTextureId dead[MODEL_MAX]; /* some ids that are gone */
    uint32_t live, shared;
    uint64_t refusals;
} Model;

static uint64_t random_state = 0x2545f4914f6cdd1dull;
static uint32_t random_below(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % bound;
}

static uint8_t elements[16 * 16 * 4];

/* A tensor of the texture's form with one value everywhere. */
static CaliperTensor filled(ModelTexture *m, uint8_t value, void *into)
{
    size_t count = (size_t)m->w * (size_t)m->h;
    m->value = value;
    if (m->channels > 0) {
        memset(into, value, count * m->channels);
        return tensor_of(into, CALIPER_DT_U8, m->h, m->w, m->channels);
    }
    float v = (float)value / 255.0f;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)into + 4 * i, &v, 4);
    return tensor_of(into, CALIPER_DT_F32, m->h, m->w, 0);
}

static void assert_pixels(const Fixture *f, const ModelTexture *m)
{
    static uint8_t pixels[16 * 16 * 4];
    uint64_t bytes = 4u * (uint64_t)m->w * (uint64_t)m->h;
    assert_true(bridge_texture_read_rgba8(f->bridge, m->id, pixels, bytes));
    uint8_t want[4] = {m->value, m->value, m->value, m->channels % 2 == 0 ? m->value : 255};
    if (m->channels == 0)
        memcpy(want, colormap_table(0)[m->value], 4);
    for (uint64_t i = 0; i < bytes; i += 4)
        assert_memory_equal(pixels + i, want, 4);
}

static void step_create(const Fixture *f, Model *model, ModelTexture *m)
{
    if (m->id != 0)
        return;
    *m = (ModelTexture){.shared = random_below(3) == 0,
                        .channels = random_below(5),
                        .w = (int32_t)random_below(16) + 1,
                        .h = (int32_t)random_below(16) + 1};
    if (m->shared) {
        int64_t shape[3] = {m->h, m->w, m->channels};
        bool u8 = m->channels > 0;
        assert_true(bridge_alloc_shared(f->bridge, u8 ? CALIPER_DT_U8 : CALIPER_DT_F32, u8 ? 3 : 2,
                                        shape, &m->block, &m->id));
        filled(m, (uint8_t)random_below(256), m->block.data);
    } else {
        CaliperTensor t = filled(m, (uint8_t)random_below(256), elements);
        m->id = m->channels > 0 ? bridge_texture_from_tensor(f->bridge, &t, 0)
                                : bridge_texture_from_tensor_mapped(f->bridge, &t, 0, 0, 1, 0);
    }
    assert_int_not_equal(m->id, 0);
    for (int i = 0; i < MODEL_MAX; i++) {
        assert_true(&model->textures[i] == m || model->textures[i].id != m->id);
        assert_true(model->dead[i] != m->id);
    }
    model->live++;
    model->shared += m->shared ? 1u : 0u;
}

static void step_release(const Fixture *f, Model *model, ModelTexture *m)
{
    bool as_shared = random_below(4) == 0 ? !m->shared : m->shared;
    if (as_shared)
        bridge_free_shared(f->bridge, m->id);
    else
        bridge_release_texture(f->bridge, m->id);
    if (m->id == 0 || m->released || as_shared != m->shared) {
        model->refusals++;
        return;
    }
    m->released = true;
    model->live--;
    model->shared -= m->shared ? 1u : 0u;
}

static void step_update(const Fixture *f, Model *model, ModelTexture *m)
{
    ModelTexture like = *m;
    if (m->id == 0)
        like.w = like.h = 1;
    bool wrong = random_below(4) == 0;
    like.w += wrong ? 1 : 0;
    if (like.w > 16)
        return;
    CaliperTensor t = filled(&like, (uint8_t)random_below(256), elements);
    bool done = bridge_update_texture(f->bridge, m->id, &t);
    assert_int_equal(done, m->id != 0 && !m->released && !wrong);
    if (done)
        m->value = like.value;
    else
        model->refusals++;
}

static void step_use_dead(const Fixture *f, Model *model)
{
    CaliperTextureId id = model->dead[random_below(MODEL_MAX)];
    CaliperTensor t = tensor_of(elements, CALIPER_DT_U8, 1, 1, 4);
    switch (random_below(3)) {
    case 0:
        bridge_release_texture(f->bridge, id);
        break;
    case 1:
        bridge_free_shared(f->bridge, id);
        break;
    default:
        assert_false(bridge_update_texture(f->bridge, id, &t));
        break;
    }
    model->refusals++;
}

static void step_frame_end(const Fixture *f, Model *model)
{
    bridge_frame_end(f->bridge);
    for (int i = 0; i < MODEL_MAX; i++) {
        ModelTexture *m = &model->textures[i];
        if (!m->released)
            continue;
        model->dead[random_below(MODEL_MAX)] = m->id;
        *m = (ModelTexture){0};
    }
}

static void calls_in_any_order_agree_with_the_model(void **state)
{
    Fixture *f = *state;
    static Model model;
    uint32_t drawn = 0;
    for (int step = 0; step < STEPS; step++) {
        ModelTexture *m = &model.textures[random_below(MODEL_MAX)];
        switch (random_below(10)) {
        case 0:
        case 1:
        case 2:
            step_create(f, &model, m);
            break;
        case 3:
            step_release(f, &model, m);
            break;
        case 4:
        case 5:
            step_update(f, &model, m);
            break;
        case 6:
            step_use_dead(f, &model);
            break;
        case 7:
            if (m->shared && !m->released)
                filled(m, (uint8_t)random_below(256), m->block.data);
            break;
        case 8:
            if (m->id != 0) {
                assert_non_null(bridge_texture_for_draw(f->bridge, m->id));
                drawn++;
            }
            break;
        default:
            if (random_below(8) == 0)
                step_frame_end(f, &model);
            break;
        }
        if (m->id != 0 && !m->released)
            assert_pixels(f, m);
        BridgeStats stats = stats_of(f->bridge);
        assert_int_equal(stats.textures, model.live);
        assert_int_equal(stats.shared_textures, model.shared);
        assert_int_equal(stats.refusals, model.refusals);
        assert_int_equal(log_capture.of_item[LOG_BRIDGE_REFUSED], model.refusals);
        assert_int_equal(log_capture.lines, model.refusals);
    }
    assert_true(drawn > 1000 && model.refusals > 1000);
    assert_true(f->fake->textures >= model.live);
}

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {CASE(calls_in_any_order_agree_with_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
