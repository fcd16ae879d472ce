/* The tables of caliper.tensor_bridge: thin, each slot is one call of bridge/bridge.h. Any thread;
 * the bridge refuses all but the frame thread's calls. */
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/services/tensor_bridge_v1_1.h>
#include <caliper/services/tensor_bridge_v1_2.h>
#include <stdatomic.h>

#include "services/bridge_services.h"
#include "services/bridge_services_impl.h"

static _Atomic(Bridge *) current;

Bridge *bridge_services_current(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

void bridge_services_bind(Bridge *bridge)
{
    atomic_store_explicit(&current, bridge, memory_order_release);
}

static CaliperTextureId texture_from_tensor(const CaliperTensor *t, uint32_t flags)
{
    return bridge_texture_from_tensor(bridge_services_current(), t, flags);
}

static bool update_texture(CaliperTextureId tex, const CaliperTensor *t)
{
    return bridge_update_texture(bridge_services_current(), tex, t);
}

static void release_texture(CaliperTextureId tex)
{
    bridge_release_texture(bridge_services_current(), tex);
}

static CaliperTextureId texture_from_tensor_mapped(const CaliperTensor *t, int32_t colormap,
                                                   float vmin, float vmax, uint32_t flags)
{
    return bridge_texture_from_tensor_mapped(bridge_services_current(), t, colormap, vmin, vmax,
                                             flags);
}

static bool alloc_shared(CaliperDType dtype, int32_t ndim, const int64_t *shape,
                         CaliperTensor *out_tensor, CaliperTextureId *out_texture)
{
    return bridge_alloc_shared(bridge_services_current(), dtype, ndim, shape, out_tensor,
                               out_texture);
}

static void free_shared(CaliperTextureId tex)
{
    bridge_free_shared(bridge_services_current(), tex);
}

static uint32_t caps(void)
{
    return bridge_caps(bridge_services_current());
}

static CaliperAllocId import_allocation(void *os_handle, uint64_t size_bytes, uint32_t handle_type)
{
    return bridge_import_allocation(bridge_services_current(), os_handle, size_bytes, handle_type);
}

static void release_allocation(CaliperAllocId alloc)
{
    bridge_release_allocation(bridge_services_current(), alloc);
}

static bool update_texture_from_alloc(CaliperTextureId tex, CaliperAllocId alloc,
                                      uint64_t offset_bytes, const CaliperTensor *desc)
{
    return bridge_update_texture_from_alloc(bridge_services_current(), tex, alloc, offset_bytes,
                                            desc);
}

#define SIX_OF_V1                                                                                 \
    .texture_from_tensor = texture_from_tensor, .update_texture = update_texture,                 \
    .release_texture = release_texture, .texture_from_tensor_mapped = texture_from_tensor_mapped, \
    .alloc_shared = alloc_shared, .free_shared = free_shared

static const CaliperTensorBridgeV1 table_v1 = {.struct_size = sizeof table_v1, SIX_OF_V1};
static const CaliperTensorBridgeV1_1 table_v1_1 = {
    .struct_size = sizeof table_v1_1, SIX_OF_V1, .caps = caps};
static const CaliperTensorBridgeV1_2 table_v1_2 = {
    .struct_size = sizeof table_v1_2,
    SIX_OF_V1,
    .caps = caps,
    .import_allocation = import_allocation,
    .release_allocation = release_allocation,
    .update_texture_from_alloc = update_texture_from_alloc,
};

bool bridge_services_register(Host *host, Bridge *bridge)
{
    bridge_services_bind(bridge);
    return host_service_register(host, CALIPER_TENSOR_BRIDGE_V1, &table_v1) &&
           host_service_register(host, CALIPER_TENSOR_BRIDGE_V1_1, &table_v1_1) &&
           host_service_register(host, CALIPER_TENSOR_BRIDGE_V1_2, &table_v1_2) &&
           host_service_register(host, CALIPER_TEXTURE_READ_V1, &texture_read_table);
}
