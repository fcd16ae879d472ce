/* The gate's reasons in words, for the one log line of a refusal. Any thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bridge/gate.h"

static const char *const names[GATE_REASON_COUNT] = {
#define GATE_REASON(name, wanted) #name,
    GATE_REASONS(GATE_REASON)
#undef GATE_REASON
};
static const char *const wanteds[GATE_REASON_COUNT] = {
#define GATE_REASON(name, wanted) wanted,
    GATE_REASONS(GATE_REASON)
#undef GATE_REASON
};

const char *gate_reason_name(GateReason reason)
{
    return (unsigned)reason < GATE_REASON_COUNT ? names[reason] : "UNKNOWN";
}

const char *gate_reason_wanted(GateReason reason)
{
    return (unsigned)reason < GATE_REASON_COUNT ? wanteds[reason] : "a known reason";
}

static const char *dtype_name(CaliperDType dtype)
{
    static const char *const dtypes[] = {"f32", "f16", "bf16", "i64", "i32", "u8"};
    return (uint32_t)dtype <= CALIPER_DT_U8 ? dtypes[dtype] : "?";
}

/* "(480, 640, 3)", or the strides likewise. */
typedef struct DimsText {
    char text[8 * 22 + 4];
} DimsText;

static DimsText dims_text(const int64_t *dims, int32_t count)
{
    DimsText out = {"("};
    size_t used = 1;
    for (int32_t i = 0; i < count && i < CALIPER_TENSOR_MAX_DIMS; i++) {
        int wrote = snprintf(out.text + used, sizeof out.text - used, "%s%" PRId64,
                             i == 0 ? "" : ", ", dims[i]);
        used += (size_t)wrote;
    }
    memcpy(out.text + used, ")", 2);
    return out;
}

static void explain_tensor(GateReason reason, const CaliperTensor *seen, GateText *out)
{
    char *given = out->given;
    size_t size = sizeof out->given;
    switch (reason) {
    case GATE_NULL_TENSOR:
        snprintf(given, size, "NULL");
        break;
    case GATE_STRUCT_SIZE:
        snprintf(given, size, "struct_size %u", (unsigned)seen->struct_size);
        break;
    case GATE_NULL_DATA:
        snprintf(given, size, "data NULL");
        break;
    case GATE_DTYPE_UNKNOWN:
        snprintf(given, size, "dtype %d", (int)seen->dtype);
        break;
    case GATE_DEVICE_UNKNOWN:
        snprintf(given, size, "device %d", (int)seen->device);
        break;
    case GATE_NDIM:
        snprintf(given, size, "ndim %d", (int)seen->ndim);
        break;
    case GATE_NOT_CONTIGUOUS:
        snprintf(given, size, "strides %.110s of shape %.110s",
                 dims_text(seen->strides, seen->ndim).text,
                 dims_text(seen->shape, seen->ndim).text);
        break;
    case GATE_FOREIGN_DEVICE:
    case GATE_DEVICE_INDEX: {
        static const char *const devices[] = {"cpu", "cuda", "metal"};
        snprintf(given, size, "a tensor on %s:%d", devices[seen->device], (int)seen->device_index);
        break;
    }
    case GATE_DEVICE_ALIGNMENT:
        snprintf(given, size, "address %p", seen->data);
        break;
    default: /* everything about dtype, rank and extents */
        snprintf(given, size, "%s %s", dtype_name(seen->dtype),
                 dims_text(seen->shape, seen->ndim).text);
        break;
    }
}

/* False where the reason is about the tensor. */
static bool explain_argument(GateReason reason, const GateAsk *ask, GateText *out)
{
    char *given = out->given;
    size_t size = sizeof out->given;
    switch (reason) {
    case GATE_COLORMAP:
        snprintf(given, size, "colormap %d", (int)ask->colormap);
        return true;
    case GATE_RANGE_NAN:
    case GATE_RANGE_INFINITE:
    case GATE_RANGE_NARROW:
    case GATE_RANGE_WIDE:
        snprintf(given, size, "vmin %g, vmax %g", (double)ask->vmin, (double)ask->vmax);
        return true;
    case GATE_NULL_SHAPE:
        snprintf(given, size, "shape NULL");
        return true;
    case GATE_NULL_OUTPUT:
        snprintf(given, size, "%s NULL", ask->tensor == NULL ? "out_tensor" : "out_texture");
        return true;
    case GATE_OFFSET_OUTSIDE:
    case GATE_OFFSET_ALIGNMENT:
        snprintf(given, size, "offset %" PRIu64 " in %" PRIu64 " bytes", ask->offset_bytes,
                 ask->alloc_bytes);
        return true;
    case GATE_HANDLE_TYPE_UNKNOWN:
    case GATE_HANDLE_TYPE_UNSUPPORTED:
        snprintf(given, size, "handle type %u", (unsigned)ask->handle_type);
        return true;
    case GATE_HANDLE_INVALID:
    case GATE_HOST_POINTER_PAGES:
        snprintf(given, size, "handle %p of type %u, %" PRIu64 " bytes", ask->os_handle,
                 (unsigned)ask->handle_type, ask->alloc_bytes);
        return true;
    case GATE_ALLOC_SIZE:
        snprintf(given, size, "0 bytes");
        return true;
    default:
        return false;
    }
}

static void explain_wanted(GateReason reason, const GateAsk *ask, GateText *out)
{
    char *wanted = out->wanted;
    size_t size = sizeof out->wanted;
    switch (reason) {
    case GATE_TOO_MANY_BYTES:
        snprintf(wanted, size, "at most %" PRIu64 " bytes", ask->limits.max_source_bytes);
        break;
    case GATE_TOO_MANY_PIXELS:
        snprintf(wanted, size, "at most %d pixels a side", (int)ask->limits.max_texture_px);
        break;
    case GATE_DEVICE_INDEX:
        snprintf(wanted, size, "cuda:%d or the cpu", (int)ask->limits.interop_index);
        break;
    case GATE_BYTES_OUTSIDE:
        snprintf(wanted, size,
                 "elements that end inside the allocation: %" PRIu64 " bytes from offset %" PRIu64,
                 ask->alloc_bytes, ask->offset_bytes);
        break;
    case GATE_HOST_POINTER_PAGES:
        snprintf(wanted, size, "address and size that are multiples of %" PRIu64,
                 ask->limits.page_bytes);
        break;
    case GATE_UPDATE_DTYPE:
    case GATE_UPDATE_SHAPE: {
        const GatePlan *texture = ask->texture;
        int64_t shape[3] = {texture->height_px, texture->width_px, texture->pass.channels};
        bool mapped = texture->pass.kind == RENDERER_PASS_COLORMAP;
        snprintf(wanted, size, "%s %s, as the texture was created", mapped ? "f32" : "u8",
                 dims_text(shape, mapped ? 2 : 3).text);
        break;
    }
    default:
        snprintf(wanted, size, "%s", gate_reason_wanted(reason));
        break;
    }
}

void gate_explain(GateReason reason, const GateAsk *ask, const GatePlan *plan, GateText *out)
{
    if (!explain_argument(reason, ask, out))
        explain_tensor(reason, &plan->seen, out);
    explain_wanted(reason, ask, out);
}
