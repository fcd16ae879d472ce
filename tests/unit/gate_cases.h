/* tests/unit/gate_cases.h: an accepted ask for each entry point of the gate, and every way to be
 * wrong with the reason it is refused for. Included by gate_test.c. One thread. */
#ifndef CALIPER_TESTS_GATE_CASES_H
#define CALIPER_TESTS_GATE_CASES_H

#include <math.h>
#include <string.h>

#include "bridge/gate.h"

typedef enum Entry {
    ENTRY_DIRECT,
    ENTRY_MAPPED,
    ENTRY_UPDATE, /* of a mapped texture */
    ENTRY_FROM_ALLOC,
    ENTRY_SHARED,
    ENTRY_IMPORT,
    ENTRY_COUNT
} Entry;

/* An ask with everything that it points to. */
typedef struct Case {
    GateAsk ask;
    CaliperTensor tensor;
    GatePlan texture;
    int64_t shape[8];
    CaliperTextureId id;
} Case;

static uint8_t some_memory[4096];

static GateReason run(Entry entry, const GateAsk *ask, GatePlan *plan)
{
    switch (entry) {
    case ENTRY_DIRECT:
        return gate_check_direct(ask, plan);
    case ENTRY_MAPPED:
        return gate_check_mapped(ask, plan);
    case ENTRY_UPDATE:
        return gate_check_update(ask, plan);
    case ENTRY_FROM_ALLOC:
        return gate_check_from_alloc(ask, plan);
    case ENTRY_SHARED:
        return gate_check_shared(ask, plan);
    default:
        return gate_check_import(ask, plan);
    }
}

/* A renderer with CUDA device 3, 4096 pixels a side, 32 MiB a source; a CUDA tensor (5, 7). */
static void make_case(Case *c, Entry entry)
{
    memset(c, 0, sizeof *c);
    c->ask.limits =
        (GateLimits){.max_texture_px = 4096,
                     .max_source_bytes = 32u << 20,
                     .page_bytes = 4096,
                     .renderer_caps = RENDERER_CAP_DEVICE_SOURCE | RENDERER_CAP_IMPORT_FD |
                                      RENDERER_CAP_IMPORT_HOST_POINTER,
                     .interop_index = 3};
    bool u8 = entry == ENTRY_DIRECT || entry == ENTRY_SHARED;
    c->tensor = (CaliperTensor){.struct_size = sizeof(CaliperTensor),
                                .data = some_memory,
                                .dtype = u8 ? CALIPER_DT_U8 : CALIPER_DT_F32,
                                .ndim = u8 ? 3 : 2,
                                .shape = {5, 7, 3},
                                .strides = {u8 ? 21 : 7, u8 ? 3 : 1, 1},
                                .device = CALIPER_DEV_CUDA,
                                .device_index = 3,
                                .stream = (void *)(uintptr_t)0x51};
    c->texture = (GatePlan){.width_px = 7,
                            .height_px = 5,
                            .pass = {.kind = RENDERER_PASS_COLORMAP, .vmin = 1.0f, .inv = 0.5f}};
    c->ask.tensor = &c->tensor;
    c->ask.texture = &c->texture;
    c->ask.colormap = CALIPER_CMAP_MAGMA;
    c->ask.vmin = -1.0f;
    c->ask.vmax = 1.0f;
    c->ask.alloc_bytes = 8192;
    c->ask.offset_bytes = 16;
    c->ask.dtype = CALIPER_DT_U8;
    c->ask.ndim = 3;
    memcpy(c->shape, c->tensor.shape, sizeof c->shape);
    c->ask.shape = c->shape;
    c->ask.out_texture = &c->id;
    c->ask.os_handle = (void *)(uintptr_t)7;
    c->ask.handle_type = CALIPER_ALLOC_HANDLE_OPAQUE_FD;
}

/* ---- Ways to be wrong, each with its reason, in the order of the page ---- */

static void no_tensor(Case *c)
{
    c->ask.tensor = NULL;
}
static void no_struct(Case *c)
{
    c->tensor.struct_size = 167;
}
static void zero_struct(Case *c)
{
    c->tensor.struct_size = 0;
}
static void no_data(Case *c)
{
    c->tensor.data = NULL;
}
static void bad_offset(Case *c)
{
    c->ask.offset_bytes = 8192;
}
static void huge_offset(Case *c)
{
    c->ask.offset_bytes = UINT64_MAX;
}
static void bad_dtype(Case *c)
{
    c->tensor.dtype = (CaliperDType)6;
    c->ask.dtype = (CaliperDType)6;
}
static void neg_dtype(Case *c)
{
    c->tensor.dtype = (CaliperDType)-1;
    c->ask.dtype = (CaliperDType)-1;
}
static void bad_device(Case *c)
{
    c->tensor.device = (CaliperDeviceKind)3;
}
static void neg_ndim(Case *c)
{
    c->tensor.ndim = -1;
    c->ask.ndim = -1;
}
static void big_ndim(Case *c)
{
    c->tensor.ndim = 9;
    c->ask.ndim = INT32_MAX;
}
static void zero_dim(Case *c)
{
    c->tensor.shape[1] = 0;
    c->shape[1] = 0;
}
static void neg_dim(Case *c)
{
    c->tensor.shape[0] = INT64_MIN;
    c->shape[0] = -1;
}
static void wrap_dims(Case *c)
{
    c->tensor.shape[0] = c->tensor.shape[1] = c->shape[0] = c->shape[1] = (int64_t)1 << 32;
}
static void wrap_address(Case *c)
{
    c->tensor.data = (void *)(UINTPTR_MAX - 8);
}
static void many_bytes(Case *c)
{
    c->tensor.shape[0] = c->tensor.shape[1] = c->shape[0] = c->shape[1] = 4096;
}
static void many_pixels(Case *c)
{
    c->tensor.shape[1] = c->shape[1] = 4097;
}
static void past_alloc(Case *c)
{
    c->ask.offset_bytes = 8192 - 139 - 1;
    c->ask.offset_bytes &= ~3ull;
    c->ask.alloc_bytes = c->ask.offset_bytes + 139;
}
static void odd_offset(Case *c)
{
    c->ask.offset_bytes = 18;
}
static void gap_row(Case *c)
{
    c->tensor.strides[0]++;
}
static void transposed(Case *c)
{
    c->tensor.strides[0] = 1;
    c->tensor.strides[1] = 5;
}
static void neg_stride(Case *c)
{
    c->tensor.strides[1] = -c->tensor.strides[1];
}
static void other_dtype(Case *c)
{
    bool u8 = c->tensor.dtype == CALIPER_DT_U8;
    c->tensor.dtype = c->ask.dtype = u8 ? CALIPER_DT_I64 : CALIPER_DT_I32;
}
static void other_rank(Case *c)
{
    c->tensor.ndim = 1;
    c->tensor.strides[0] = 1;
    c->ask.ndim = 1;
}
static void scalar(Case *c)
{
    c->tensor.ndim = c->ask.ndim = 0;
}
static void more_rank(Case *c)
{
    c->tensor.ndim = c->ask.ndim = 4;
    int64_t strides[8] = {30, 6, 2, 1};
    int64_t shape[8] = {5, 5, 3, 2};
    memcpy(c->tensor.strides, strides, sizeof strides);
    memcpy(c->tensor.shape, shape, sizeof shape);
    memcpy(c->shape, shape, sizeof shape);
}
static void other_rows(Case *c)
{
    c->tensor.shape[0] = 6;
}
static void other_columns(Case *c)
{
    c->tensor.shape[1] = c->tensor.strides[0] = 8;
}
static void five_channels(Case *c)
{
    c->tensor.shape[2] = c->shape[2] = 5;
    c->tensor.strides[0] = 35;
    c->tensor.strides[1] = 5;
}
static void bad_map(Case *c)
{
    c->ask.colormap = 3;
}
static void neg_map(Case *c)
{
    c->ask.colormap = -1;
}
static void nan_range(Case *c)
{
    c->ask.vmax = NAN;
}
static void inf_range(Case *c)
{
    c->ask.vmin = -INFINITY;
}
static void narrow(Case *c)
{
    c->ask.vmin = 0.0f;
    c->ask.vmax = 0x1p-91f;
}
static void wide(Case *c)
{
    c->ask.vmin = -0x1p126f;
    c->ask.vmax = 0x1p127f;
}
static void metal(Case *c)
{
    c->tensor.device = CALIPER_DEV_METAL;
}
static void no_interop(Case *c)
{
    c->ask.limits.interop_index = -1;
}
static void no_source_cap(Case *c)
{
    c->ask.limits.renderer_caps &= ~(uint32_t)RENDERER_CAP_DEVICE_SOURCE;
}
static void other_gpu(Case *c)
{
    c->tensor.device_index = 2;
}
static void odd_pointer(Case *c)
{
    c->tensor.data = some_memory + 2;
}
static void no_shape(Case *c)
{
    c->ask.shape = NULL;
}
static void no_out(Case *c)
{
    c->ask.out_texture = NULL;
}
static void bad_type(Case *c)
{
    c->ask.handle_type = 4;
}
static void zero_type(Case *c)
{
    c->ask.handle_type = 0;
}
static void win32(Case *c)
{
    c->ask.handle_type = CALIPER_ALLOC_HANDLE_OPAQUE_WIN32;
}
static void mtl(Case *c)
{
    c->ask.handle_type = CALIPER_ALLOC_HANDLE_MTLBUFFER;
}
static void neg_fd(Case *c)
{
    c->ask.os_handle = (void *)(intptr_t)-1;
}
static void big_fd(Case *c)
{
    c->ask.os_handle = (void *)(uintptr_t)0x100000005ull;
}
static void no_pointer(Case *c)
{
    c->ask.handle_type = CALIPER_ALLOC_HANDLE_HOST_POINTER;
    c->ask.os_handle = NULL;
}
static void no_size(Case *c)
{
    c->ask.alloc_bytes = 0;
}
static void no_pages(Case *c)
{
    c->ask.handle_type = CALIPER_ALLOC_HANDLE_HOST_POINTER;
    c->ask.os_handle = (void *)(uintptr_t)0x10010;
}
static void half_page(Case *c)
{
    c->ask.handle_type = CALIPER_ALLOC_HANDLE_HOST_POINTER;
    c->ask.os_handle = (void *)(uintptr_t)0x10000;
    c->ask.alloc_bytes = 6000;
}
static void wrap_pages(Case *c)
{
    c->ask.handle_type = CALIPER_ALLOC_HANDLE_HOST_POINTER;
    c->ask.os_handle = (void *)(UINTPTR_MAX - 4095);
}
static void no_import(Case *c)
{
    c->ask.limits.renderer_caps = 0;
}

enum {
    D = 1 << ENTRY_DIRECT,
    M = 1 << ENTRY_MAPPED,
    U = 1 << ENTRY_UPDATE,
    A = 1 << ENTRY_FROM_ALLOC,
    S = 1 << ENTRY_SHARED,
    I = 1 << ENTRY_IMPORT
};

typedef struct Wrong {
    void (*make)(Case *c);
    GateReason reason;
    int entries; /* where it is this reason */
    int step;    /* of the page; smaller is looked at first */
} Wrong;

static const Wrong wrongs[] = {
    {no_shape, GATE_NULL_SHAPE, S, 10},
    {no_tensor, GATE_NULL_OUTPUT, S, 11},
    {no_out, GATE_NULL_OUTPUT, S, 11},
    {no_tensor, GATE_NULL_TENSOR, D | M | U | A, 10},
    {no_struct, GATE_STRUCT_SIZE, D | M | U | A, 11},
    {zero_struct, GATE_STRUCT_SIZE, D | M | U | A, 11},
    {no_data, GATE_NULL_DATA, D | M | U, 12},
    {bad_offset, GATE_OFFSET_OUTSIDE, A, 12},
    {huge_offset, GATE_OFFSET_OUTSIDE, A, 12},
    {bad_dtype, GATE_DTYPE_UNKNOWN, D | M | U | A | S, 20},
    {neg_dtype, GATE_DTYPE_UNKNOWN, D | M | U | A | S, 20},
    {bad_device, GATE_DEVICE_UNKNOWN, D | M | U | A, 21},
    {neg_ndim, GATE_NDIM, D | M | U | A | S, 30},
    {big_ndim, GATE_NDIM, D | M | U | A | S, 30},
    {zero_dim, GATE_EXTENT_BELOW_1, D | M | U | A | S, 40},
    {neg_dim, GATE_EXTENT_BELOW_1, D | M | U | A | S, 40},
    {wrap_dims, GATE_EXTENT_OVERFLOW, D | M | U | A | S, 50},
    {wrap_address, GATE_EXTENT_OVERFLOW, D | M | U, 50},
    {many_bytes, GATE_TOO_MANY_BYTES, D | M | U | A | S, 51},
    {many_pixels, GATE_TOO_MANY_PIXELS, D | M | U | A | S, 52},
    {past_alloc, GATE_BYTES_OUTSIDE, A, 53},
    {odd_offset, GATE_OFFSET_ALIGNMENT, A, 54},
    {gap_row, GATE_NOT_CONTIGUOUS, D | M | U | A, 60},
    {transposed, GATE_NOT_CONTIGUOUS, D | M | U | A, 60},
    {neg_stride, GATE_NOT_CONTIGUOUS, D | M | U | A, 60},
    {other_dtype, GATE_DIRECT_DTYPE, D, 70},
    {other_dtype, GATE_MAPPED_DTYPE, M, 70},
    {other_dtype, GATE_UPDATE_DTYPE, U | A, 70},
    {other_dtype, GATE_SHARED_DTYPE, S, 70},
    {other_rank, GATE_DIRECT_RANK, D, 71},
    {other_rank, GATE_MAPPED_RANK, M, 71},
    {other_rank, GATE_UPDATE_SHAPE, U | A, 71},
    {other_rank, GATE_SHARED_RANK, S, 71},
    {scalar, GATE_DIRECT_RANK, D, 71},
    {scalar, GATE_MAPPED_RANK, M, 71},
    {scalar, GATE_UPDATE_SHAPE, U | A, 71},
    {scalar, GATE_SHARED_RANK, S, 71},
    {more_rank, GATE_DIRECT_RANK, D, 71},
    {more_rank, GATE_MAPPED_RANK, M, 71},
    {more_rank, GATE_UPDATE_SHAPE, U | A, 71},
    {more_rank, GATE_SHARED_RANK, S, 71},
    {other_rows, GATE_UPDATE_SHAPE, U | A, 71},
    {other_columns, GATE_UPDATE_SHAPE, U | A, 71},
    {five_channels, GATE_CHANNELS, D | S, 80},
    {bad_map, GATE_COLORMAP, M, 90},
    {neg_map, GATE_COLORMAP, M, 90},
    {nan_range, GATE_RANGE_NAN, M, 91},
    {inf_range, GATE_RANGE_INFINITE, M, 92},
    {narrow, GATE_RANGE_NARROW, M, 92},
    {wide, GATE_RANGE_WIDE, M, 92},
    {metal, GATE_FOREIGN_DEVICE, D | M | U | A, 100},
    {no_interop, GATE_FOREIGN_DEVICE, D | M | U | A, 100},
    {no_source_cap, GATE_FOREIGN_DEVICE, D | M | U | A, 100},
    {other_gpu, GATE_DEVICE_INDEX, D | M | U | A, 101},
    {odd_pointer, GATE_DEVICE_ALIGNMENT, M | U, 102},
    {bad_type, GATE_HANDLE_TYPE_UNKNOWN, I, 10},
    {zero_type, GATE_HANDLE_TYPE_UNKNOWN, I, 10},
    {neg_fd, GATE_HANDLE_INVALID, I, 11},
    {big_fd, GATE_HANDLE_INVALID, I, 11},
    {no_pointer, GATE_HANDLE_INVALID, I, 11},
    {no_size, GATE_ALLOC_SIZE, I, 12},
    {no_pages, GATE_HOST_POINTER_PAGES, I, 13},
    {half_page, GATE_HOST_POINTER_PAGES, I, 13},
    {wrap_pages, GATE_EXTENT_OVERFLOW, I, 14},
    {no_import, GATE_HANDLE_TYPE_UNSUPPORTED, I, 15},
    {win32, GATE_HANDLE_TYPE_UNSUPPORTED, I, 15},
    {mtl, GATE_HANDLE_TYPE_UNSUPPORTED, I, 15},
};
enum { WRONG_COUNT = sizeof wrongs / sizeof wrongs[0] };

#endif
