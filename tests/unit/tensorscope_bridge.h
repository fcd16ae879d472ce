/* tests/unit/tensorscope_bridge.h: a bridge of the test's own: keeps count of textures, pins
 * ranges, has a largest size, and keeps what was drawn of shared memory. Included once a program,
 * after cmocka. */
#ifndef TENSORSCOPE_BRIDGE_H
#define TENSORSCOPE_BRIDGE_H

#include <caliper/services/tensor_bridge_v1.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTURES_MAX = 64, AHEAD = 3 /* frames a GPU may lag behind */ };

/* ---- The bridge ---- */

typedef struct FakeTexture {
    bool live, shared;
    int64_t h, w, c; /* c 0: mapped */
    float low, high;
    int32_t colormap;
    void *memory; /* of shared ones */
    float *copy;  /* as drawn, while a frame may still read it */
    uint64_t drawn_frame;
} FakeTexture;

static struct {
    FakeTexture textures[TEXTURES_MAX];
    int made, updated, released, refused;
    int64_t max_px;
    bool no_shared;
} fake;

static CaliperTextureId new_texture(const FakeTexture *from)
{
    if (from->h > fake.max_px || from->w > fake.max_px || from->h < 1 || from->w < 1) {
        fake.refused++;
        return 0;
    }
    for (int i = 1; i < TEXTURES_MAX; i++) {
        if (!fake.textures[i].live) {
            fake.textures[i] = *from;
            fake.textures[i].live = true;
            fake.made++;
            return (CaliperTextureId)i;
        }
    }
    fail_msg("out of textures");
    return 0;
}

static FakeTexture *live(CaliperTextureId id, bool shared)
{
    assert_true(id > 0 && id < TEXTURES_MAX);
    assert_true(fake.textures[id].live && fake.textures[id].shared == shared);
    return &fake.textures[id];
}

static CaliperTextureId make_direct(const CaliperTensor *t, uint32_t flags)
{
    (void)flags;
    assert_int_equal(t->dtype, CALIPER_DT_U8);
    assert_in_range(t->shape[2], 1, 4);
    return new_texture(&(FakeTexture){.h = t->shape[0], .w = t->shape[1], .c = t->shape[2]});
}

static CaliperTextureId make_mapped(const CaliperTensor *t, int32_t colormap, float low, float high,
                                    uint32_t flags)
{
    (void)flags;
    float span = fabsf(high - low);
    assert_int_equal(t->dtype, CALIPER_DT_F32);
    assert_true(low == high || (span >= 0x1p-90f && span <= 0x1p126f));
    return new_texture(&(FakeTexture){
        .h = t->shape[0], .w = t->shape[1], .low = low, .high = high, .colormap = colormap});
}

static bool update(CaliperTextureId id, const CaliperTensor *t)
{
    const FakeTexture *texture = live(id, false);
    assert_int_equal(texture->h, t->shape[0]);
    assert_int_equal(texture->w, t->shape[1]);
    fake.updated++;
    return true;
}

static void release(CaliperTextureId id)
{
    live(id, false)->live = false;
    fake.released++;
}

static bool alloc_shared(CaliperDType dtype, int32_t ndim, const int64_t *shape,
                         CaliperTensor *out_tensor, CaliperTextureId *out_texture)
{
    if (fake.no_shared) {
        return false;
    }
    assert_int_equal(dtype, CALIPER_DT_F32);
    assert_int_equal(ndim, 2);
    void *memory = calloc((size_t)(shape[0] * shape[1]), sizeof(float));
    *out_texture =
        new_texture(&(FakeTexture){.shared = true, .h = shape[0], .w = shape[1], .memory = memory});
    memset(out_tensor, 0, sizeof(*out_tensor));
    out_tensor->data = memory;
    return true;
}

static void free_shared(CaliperTextureId id)
{
    FakeTexture *texture = live(id, true);
    free(texture->memory);
    free(texture->copy);
    memset(texture, 0, sizeof(*texture));
}

static const CaliperTensorBridgeV1 bridge = {sizeof(CaliperTensorBridgeV1),
                                             make_direct,
                                             update,
                                             release,
                                             make_mapped,
                                             alloc_shared,
                                             free_shared};

static int live_count(void)
{
    int count = 0;
    for (int i = 0; i < TEXTURES_MAX; i++) {
        count += fake.textures[i].live;
    }
    return count;
}

#endif
