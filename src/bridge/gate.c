/* The checks of gate.h. Pure; any thread. */
#include "bridge/gate.h"

#include <math.h>
#include <string.h>

#include "kernels/float_env.h"

static const uint64_t dtype_bytes[] = {
    [CALIPER_DT_F32] = 4, [CALIPER_DT_F16] = 2, [CALIPER_DT_BF16] = 2,
    [CALIPER_DT_I64] = 8, [CALIPER_DT_I32] = 4, [CALIPER_DT_U8] = 1,
};

/* ---- The parts, in the order of the page ---- */

/* struct_size comes first and alone: nothing past it may be read. */
static GateReason read_tensor(const CaliperTensor *tensor, CaliperTensor *seen)
{
    if (tensor == NULL)
        return GATE_NULL_TENSOR;
    memcpy(&seen->struct_size, tensor, sizeof seen->struct_size);
    if (seen->struct_size < sizeof(CaliperTensor))
        return GATE_STRUCT_SIZE;
    memcpy(seen, tensor, sizeof *seen);
    return GATE_OK;
}

static GateReason check_kinds(const CaliperTensor *seen)
{
    if ((uint32_t)seen->dtype > CALIPER_DT_U8)
        return GATE_DTYPE_UNKNOWN;
    if ((uint32_t)seen->device > CALIPER_DEV_METAL)
        return GATE_DEVICE_UNKNOWN;
    return GATE_OK;
}

/* Extents, their product in bytes, and the renderer's limits. Half of the address space is more
 * than any object has, and leaves room for rounding up to pages. */
static GateReason check_extents(const GateLimits *limits, const CaliperTensor *seen,
                                uint64_t *out_bytes)
{
    if (seen->ndim < 0 || seen->ndim > CALIPER_TENSOR_MAX_DIMS)
        return GATE_NDIM;
    for (int32_t i = 0; i < seen->ndim; i++) {
        if (seen->shape[i] < 1)
            return GATE_EXTENT_BELOW_1;
    }
    uint64_t bytes = dtype_bytes[seen->dtype];
    for (int32_t i = 0; i < seen->ndim; i++) {
        if (__builtin_mul_overflow(bytes, (uint64_t)seen->shape[i], &bytes) ||
            bytes > (uint64_t)INT64_MAX / 2)
            return GATE_EXTENT_OVERFLOW;
    }
    if ((uintptr_t)seen->data > UINTPTR_MAX - bytes)
        return GATE_EXTENT_OVERFLOW;
    *out_bytes = bytes;
    if (bytes > limits->max_source_bytes)
        return GATE_TOO_MANY_BYTES;
    for (int32_t i = 0; i < 2 && seen->ndim >= 2; i++) {
        if (seen->shape[i] > limits->max_texture_px)
            return GATE_TOO_MANY_PIXELS;
    }
    return GATE_OK;
}

/* The stride of an extent of 1 is never used; frameworks put anything there. */
static GateReason check_strides(const CaliperTensor *seen)
{
    int64_t stride_elems = 1;
    for (int32_t i = seen->ndim - 1; i >= 0; i--) {
        if (seen->shape[i] != 1 && seen->strides[i] != stride_elems)
            return GATE_NOT_CONTIGUOUS;
        stride_elems *= seen->shape[i];
    }
    return GATE_OK;
}

static GateReason check_channels(const CaliperTensor *seen)
{
    return seen->shape[2] <= 4 ? GATE_OK : GATE_CHANNELS;
}

/* A CPU tensor's index and stream mean nothing. Device passes read whole elements. */
static GateReason check_device(const GateLimits *limits, GatePlan *plan)
{
    const CaliperTensor *seen = &plan->seen;
    plan->source = RENDERER_SOURCE_HOST;
    plan->stream = NULL;
    if (seen->device == CALIPER_DEV_CPU)
        return GATE_OK;
    if (seen->device != CALIPER_DEV_CUDA || limits->interop_index < 0 ||
        (limits->renderer_caps & RENDERER_CAP_DEVICE_SOURCE) == 0)
        return GATE_FOREIGN_DEVICE;
    if (seen->device_index != limits->interop_index)
        return GATE_DEVICE_INDEX;
    plan->source = RENDERER_SOURCE_DEVICE;
    plan->stream = seen->stream;
    return GATE_OK;
}

static GateReason check_device_alignment(const GatePlan *plan)
{
    if (plan->source == RENDERER_SOURCE_DEVICE &&
        (uintptr_t)plan->seen.data % dtype_bytes[plan->seen.dtype] != 0)
        return GATE_DEVICE_ALIGNMENT;
    return GATE_OK;
}

/* 1 to 6 of the page for a descriptor that points at its data. */
static GateReason check_layout(const GateAsk *ask, GatePlan *plan)
{
    GateReason reason = read_tensor(ask->tensor, &plan->seen);
    if (reason == GATE_OK && plan->seen.data == NULL)
        reason = GATE_NULL_DATA;
    if (reason == GATE_OK)
        reason = check_kinds(&plan->seen);
    if (reason == GATE_OK)
        reason = check_extents(&ask->limits, &plan->seen, &plan->extent_bytes);
    if (reason == GATE_OK)
        reason = check_strides(&plan->seen);
    return reason;
}

static void plan_size(GatePlan *plan)
{
    plan->height_px = (int32_t)plan->seen.shape[0];
    plan->width_px = (int32_t)plan->seen.shape[1];
}

static void plan_expand(GatePlan *plan)
{
    plan_size(plan);
    plan->pass =
        (RendererPass){.kind = RENDERER_PASS_EXPAND, .channels = (uint32_t)plan->seen.shape[2]};
}

/* ---- The range ---- */

GateReason gate_check_range(float vmin, float vmax, RendererPass *pass)
{
    /* The caller may have flushing or another rounding mode on: 1e-40f must not equal 0. */
    uint64_t env = float_env_enter();
    vmin = float_env_pinned(vmin);
    vmax = float_env_pinned(vmax);
    float range = vmax - vmin;
    float width = fabsf(range);
    float inv = 1.0f / range;
    bool equal = vmin == vmax;
    GateReason reason = GATE_OK;
    if (isnan(vmin) || isnan(vmax))
        reason = GATE_RANGE_NAN;
    else if (equal) /* infinities too */
        vmin = inv = 0.0f;
    else if (isinf(vmin) || isinf(vmax))
        reason = GATE_RANGE_INFINITE;
    else if (width > 0x1p126f) /* an overflow to infinity too */
        reason = GATE_RANGE_WIDE;
    else if (width < 0x1p-90f)
        reason = GATE_RANGE_NARROW;
    vmin = float_env_pinned(vmin);
    inv = float_env_pinned(inv);
    float_env_leave(env);
    if (reason == GATE_OK) {
        pass->vmin = vmin;
        pass->inv = inv;
    }
    return reason;
}

/* ---- One check per entry point ---- */

GateReason gate_check_direct(const GateAsk *ask, GatePlan *plan)
{
    memset(plan, 0, sizeof *plan);
    GateReason reason = check_layout(ask, plan);
    if (reason != GATE_OK)
        return reason;
    if (plan->seen.dtype != CALIPER_DT_U8)
        return GATE_DIRECT_DTYPE;
    if (plan->seen.ndim != 3)
        return GATE_DIRECT_RANK;
    reason = check_channels(&plan->seen);
    if (reason == GATE_OK)
        reason = check_device(&ask->limits, plan);
    if (reason == GATE_OK)
        plan_expand(plan);
    return reason;
}

GateReason gate_check_mapped(const GateAsk *ask, GatePlan *plan)
{
    memset(plan, 0, sizeof *plan);
    GateReason reason = check_layout(ask, plan);
    if (reason != GATE_OK)
        return reason;
    if (plan->seen.dtype != CALIPER_DT_F32)
        return GATE_MAPPED_DTYPE;
    if (plan->seen.ndim != 2)
        return GATE_MAPPED_RANK;
    if (ask->colormap < CALIPER_CMAP_VIRIDIS || ask->colormap > CALIPER_CMAP_RDBU)
        return GATE_COLORMAP;
    reason = gate_check_range(ask->vmin, ask->vmax, &plan->pass);
    if (reason == GATE_OK)
        reason = check_device(&ask->limits, plan);
    if (reason == GATE_OK)
        reason = check_device_alignment(plan);
    if (reason == GATE_OK) {
        plan_size(plan);
        plan->pass.kind = RENDERER_PASS_COLORMAP;
        plan->pass.colormap = ask->colormap;
    }
    return reason;
}

/* Dtype, rank and extents are those of the creation; the pass comes from there. */
static GateReason check_same_form(const GatePlan *texture, GatePlan *plan)
{
    const CaliperTensor *seen = &plan->seen;
    bool mapped = texture->pass.kind == RENDERER_PASS_COLORMAP;
    if (seen->dtype != (mapped ? CALIPER_DT_F32 : CALIPER_DT_U8))
        return GATE_UPDATE_DTYPE;
    if (seen->ndim != (mapped ? 2 : 3) || seen->shape[0] != texture->height_px ||
        seen->shape[1] != texture->width_px ||
        (!mapped && seen->shape[2] != (int64_t)texture->pass.channels))
        return GATE_UPDATE_SHAPE;
    plan_size(plan);
    plan->pass = texture->pass;
    return GATE_OK;
}

GateReason gate_check_update(const GateAsk *ask, GatePlan *plan)
{
    memset(plan, 0, sizeof *plan);
    GateReason reason = check_layout(ask, plan);
    if (reason == GATE_OK)
        reason = check_same_form(ask->texture, plan);
    if (reason == GATE_OK)
        reason = check_device(&ask->limits, plan);
    if (reason == GATE_OK)
        reason = check_device_alignment(plan);
    return reason;
}

GateReason gate_check_shared(const GateAsk *ask, GatePlan *plan)
{
    memset(plan, 0, sizeof *plan);
    CaliperTensor *seen = &plan->seen;
    seen->struct_size = sizeof *seen;
    seen->dtype = ask->dtype;
    seen->ndim = ask->ndim;
    if (ask->shape == NULL)
        return GATE_NULL_SHAPE;
    if (ask->tensor == NULL || ask->out_texture == NULL)
        return GATE_NULL_OUTPUT;
    GateReason reason = check_kinds(seen);
    if (reason != GATE_OK)
        return reason;
    if (ask->ndim < 0 || ask->ndim > CALIPER_TENSOR_MAX_DIMS)
        return GATE_NDIM;
    memcpy(seen->shape, ask->shape, sizeof(int64_t) * (size_t)ask->ndim);
    reason = check_extents(&ask->limits, seen, &plan->extent_bytes);
    if (reason != GATE_OK)
        return reason;
    if (seen->dtype != CALIPER_DT_F32 && seen->dtype != CALIPER_DT_U8)
        return GATE_SHARED_DTYPE;
    if (seen->ndim != (seen->dtype == CALIPER_DT_F32 ? 2 : 3))
        return GATE_SHARED_RANK;
    int64_t stride_elems = 1;
    for (int32_t i = seen->ndim - 1; i >= 0; i--) {
        seen->strides[i] = stride_elems;
        stride_elems *= seen->shape[i];
    }
    if (seen->dtype == CALIPER_DT_U8) {
        reason = check_channels(seen);
        if (reason == GATE_OK)
            plan_expand(plan);
        return reason;
    }
    plan_size(plan);
    plan->pass = (RendererPass){
        .kind = RENDERER_PASS_COLORMAP, .colormap = CALIPER_CMAP_VIRIDIS, .inv = 1.0f};
    return GATE_OK;
}

GateReason gate_check_from_alloc(const GateAsk *ask, GatePlan *plan)
{
    memset(plan, 0, sizeof *plan);
    CaliperTensor *seen = &plan->seen;
    GateReason reason = read_tensor(ask->tensor, seen);
    if (reason != GATE_OK)
        return reason;
    seen->data = NULL; /* not looked at */
    if (ask->offset_bytes >= ask->alloc_bytes)
        return GATE_OFFSET_OUTSIDE;
    reason = check_kinds(seen);
    if (reason == GATE_OK)
        reason = check_extents(&ask->limits, seen, &plan->extent_bytes);
    if (reason == GATE_OK && plan->extent_bytes > ask->alloc_bytes - ask->offset_bytes)
        reason = GATE_BYTES_OUTSIDE;
    if (reason == GATE_OK && ask->offset_bytes % dtype_bytes[seen->dtype] != 0)
        reason = GATE_OFFSET_ALIGNMENT;
    if (reason == GATE_OK)
        reason = check_strides(seen);
    if (reason == GATE_OK)
        reason = check_same_form(ask->texture, plan);
    if (reason == GATE_OK)
        reason = check_device(&ask->limits, plan);
    plan->source = RENDERER_SOURCE_ALLOC;
    return reason;
}

GateReason gate_check_import(const GateAsk *ask, GatePlan *plan)
{
    memset(plan, 0, sizeof *plan);
    uintptr_t handle = (uintptr_t)ask->os_handle;
    uint32_t cap = 0;
    switch (ask->handle_type) {
    case CALIPER_ALLOC_HANDLE_OPAQUE_FD: /* 0 is a file descriptor too */
        if (handle > INT32_MAX)
            return GATE_HANDLE_INVALID;
        cap = RENDERER_CAP_IMPORT_FD;
        break;
    case CALIPER_ALLOC_HANDLE_HOST_POINTER:
        cap = RENDERER_CAP_IMPORT_HOST_POINTER;
        if (handle == 0)
            return GATE_HANDLE_INVALID;
        break;
    case CALIPER_ALLOC_HANDLE_OPAQUE_WIN32:
    case CALIPER_ALLOC_HANDLE_MTLBUFFER:
        if (handle == 0)
            return GATE_HANDLE_INVALID;
        break;
    default:
        return GATE_HANDLE_TYPE_UNKNOWN;
    }
    if (ask->alloc_bytes == 0)
        return GATE_ALLOC_SIZE;
    if (ask->handle_type == CALIPER_ALLOC_HANDLE_HOST_POINTER) {
        if (handle % ask->limits.page_bytes != 0 || ask->alloc_bytes % ask->limits.page_bytes != 0)
            return GATE_HOST_POINTER_PAGES;
        if (handle > UINTPTR_MAX - ask->alloc_bytes)
            return GATE_EXTENT_OVERFLOW;
    }
    if ((ask->limits.renderer_caps & cap) == 0)
        return GATE_HANDLE_TYPE_UNSUPPORTED;
    plan->extent_bytes = ask->alloc_bytes;
    return GATE_OK;
}
