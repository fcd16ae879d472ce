/* Whole descriptors through every entry point of the gate. An accepted ask must be one that a
 * renderer can carry out; a refused one must have words. The descriptor is as long as its writer
 * says, in a block of its own, so that a byte read past it is found. One thread. */
#include <math.h>
#include <stdlib.h>

#include "bridge/gate.h"
#include "fuzz_input.h"

/* The writer's struct: struct_size bytes of it exist, and at least struct_size itself. */
static CaliperTensor *descriptor(FuzzInput *input)
{
    CaliperTensor whole;
    fuzz_take(input, &whole, sizeof whole);
    uint8_t how = fuzz_u8(input);
    if ((how & 3) != 0)
        whole.struct_size = sizeof whole;
    if ((how & 4) != 0) { /* row-major, so that later checks are reached */
        int64_t stride = 1;
        for (int i = 7; i >= 0; i--) {
            if (i >= whole.ndim)
                continue;
            whole.strides[i] = stride;
            stride = (int64_t)((uint64_t)stride * (uint64_t)whole.shape[i]);
        }
    }
    size_t bytes = whole.struct_size < sizeof whole ? whole.struct_size : sizeof whole;
    bytes = bytes < sizeof(uint32_t) ? sizeof(uint32_t) : bytes;
    CaliperTensor *tensor = malloc(bytes);
    FUZZ_REQUIRE(tensor != NULL);
    memcpy(tensor, &whole, bytes);
    return tensor;
}

static void require_possible(const GateAsk *ask, const GatePlan *plan)
{
    const GateLimits *limits = &ask->limits;
    uint64_t element_bytes =
        plan->pass.kind == RENDERER_PASS_COLORMAP ? 4 : (uint64_t)plan->pass.channels;
    FUZZ_REQUIRE(plan->width_px >= 1 && plan->width_px <= limits->max_texture_px);
    FUZZ_REQUIRE(plan->height_px >= 1 && plan->height_px <= limits->max_texture_px);
    FUZZ_REQUIRE(element_bytes >= 1 && element_bytes <= 4);
    FUZZ_REQUIRE(plan->extent_bytes ==
                 (uint64_t)plan->width_px * (uint64_t)plan->height_px * element_bytes);
    FUZZ_REQUIRE(plan->extent_bytes <= limits->max_source_bytes);
    FUZZ_REQUIRE(plan->pass.colormap >= 0 && plan->pass.colormap <= 2);
    if (plan->source == RENDERER_SOURCE_HOST)
        FUZZ_REQUIRE(plan->stream == NULL);
    if (plan->source == RENDERER_SOURCE_DEVICE)
        FUZZ_REQUIRE(plan->seen.device == CALIPER_DEV_CUDA && limits->interop_index >= 0 &&
                     plan->seen.device_index == limits->interop_index);
}

static void require_inv(const GateAsk *ask, const GatePlan *plan)
{
    float inv = plan->pass.inv;
    FUZZ_REQUIRE(isfinite(plan->pass.vmin) && isfinite(inv));
    if (ask->vmin == ask->vmax)
        FUZZ_REQUIRE(inv == 0.0f);
    else
        FUZZ_REQUIRE(fabsf(inv) >= 0x1p-126f && fabsf(inv) <= 0x1p90f &&
                     (inv > 0.0f) == (ask->vmax > ask->vmin));
}

static void require_alloc(const GateAsk *ask, const GatePlan *plan)
{
    FUZZ_REQUIRE(plan->source == RENDERER_SOURCE_ALLOC);
    FUZZ_REQUIRE(ask->offset_bytes < ask->alloc_bytes &&
                 plan->extent_bytes <= ask->alloc_bytes - ask->offset_bytes);
}

static void require_same_form(const GateAsk *ask, const GatePlan *plan)
{
    FUZZ_REQUIRE(plan->width_px == ask->texture->width_px &&
                 plan->height_px == ask->texture->height_px &&
                 memcmp(&plan->pass, &ask->texture->pass, sizeof plan->pass) == 0);
}

typedef GateReason (*GateCheck)(const GateAsk *ask, GatePlan *plan);
static const GateCheck checks[] = {gate_check_direct, gate_check_mapped,     gate_check_update,
                                   gate_check_shared, gate_check_from_alloc, gate_check_import};

static void one_check(uint32_t entry, const GateAsk *ask)
{
    GatePlan plan;
    GatePlan again;
    GateReason reason = checks[entry](ask, &plan);
    FUZZ_REQUIRE(checks[entry](ask, &again) == reason && (unsigned)reason < GATE_NO_BRIDGE);
    if (reason != GATE_OK) {
        GateText text;
        memset(&text, 'x', sizeof text);
        gate_explain(reason, ask, &plan, &text);
        FUZZ_REQUIRE(memchr(text.given, 0, sizeof text.given) != NULL && text.given[0] != 0);
        FUZZ_REQUIRE(memchr(text.wanted, 0, sizeof text.wanted) != NULL && text.wanted[0] != 0);
        return;
    }
    if (checks[entry] == gate_check_import)
        return;
    require_possible(ask, &plan);
    if (checks[entry] == gate_check_mapped)
        require_inv(ask, &plan);
    if (checks[entry] == gate_check_from_alloc)
        require_alloc(ask, &plan);
    else if (checks[entry] != gate_check_shared)
        FUZZ_REQUIRE(plan.seen.data != NULL);
    if (checks[entry] == gate_check_update || checks[entry] == gate_check_from_alloc)
        require_same_form(ask, &plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput input = {data, size};
    CaliperTensor *tensor = descriptor(&input);
    uint8_t how = fuzz_u8(&input);
    GateAsk ask = {
        .limits = {.max_texture_px = (how & 1) != 0 ? 16384 : 64,
                   .max_source_bytes = (how & 2) != 0 ? UINT64_MAX : 1u << 20,
                   .page_bytes = 4096,
                   .renderer_caps = (how & 4) != 0 ? ~0u : 0,
                   .interop_index = (how & 8) != 0 ? 0 : -1},
        .tensor = (how & 16) != 0 && (how & 32) != 0 ? NULL : tensor,
        .colormap = (int8_t)fuzz_u8(&input),
        .offset_bytes = fuzz_u64(&input),
        .alloc_bytes = fuzz_u64(&input),
        .os_handle = (void *)(uintptr_t)fuzz_u64(&input),
        .handle_type = fuzz_u32(&input),
    };
    fuzz_take(&input, &ask.vmin, sizeof ask.vmin);
    fuzz_take(&input, &ask.vmax, sizeof ask.vmax);
    /* alloc_shared: as many extents as ndim says, if that is legal, in a block of their own. */
    uint32_t dtype = fuzz_u32(&input);
    ask.dtype = (CaliperDType)(dtype % 8 == 7 ? dtype : dtype % 8);
    ask.ndim = (int8_t)fuzz_u8(&input);
    size_t dims = ask.ndim >= 1 && ask.ndim <= 8 ? (size_t)ask.ndim : 1;
    int64_t *shape = malloc(dims * sizeof *shape);
    FUZZ_REQUIRE(shape != NULL);
    for (size_t i = 0; i < dims; i++)
        shape[i] = (how & 64) != 0 ? (int64_t)fuzz_u64(&input) : (int8_t)fuzz_u8(&input);
    CaliperTextureId id;
    ask.shape = fuzz_u8(&input) % 16 == 15 ? NULL : shape;
    ask.out_texture = fuzz_u8(&input) % 16 == 15 ? NULL : &id;
    /* update: a texture of the descriptor's own form more often than not */
    GatePlan texture = {.width_px = 3, .height_px = 2, .pass = {.kind = RENDERER_PASS_COLORMAP}};
    GatePlan made;
    if ((how & 128) == 0 &&
        (gate_check_direct(&ask, &made) == GATE_OK || gate_check_mapped(&ask, &made) == GATE_OK))
        texture = made;
    ask.texture = &texture;
    for (uint32_t entry = 0; entry < sizeof checks / sizeof checks[0]; entry++)
        one_check(entry, &ask);
    free(shape);
    free(tensor);
    return 0;
}
