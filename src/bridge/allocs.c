/* Imported allocations (tensor_bridge.v1_2). Frame thread.
 *
 * The renderer has its own duplicate of the handle. It dies with the renderer: after a change of
 * renderers only host memory, whose address we know, is imported again by itself. */
#include <inttypes.h>

#include "bridge/bridge_impl.h"

static AllocSlot *live_alloc(Bridge *bridge, const char *call, CaliperAllocId id)
{
    static const GateReason reasons[] = {
        [SLOT_ZERO] = GATE_ID_ZERO, [SLOT_UNKNOWN] = GATE_ID_UNKNOWN, [SLOT_STALE] = GATE_ID_STALE};
    SlotMiss miss;
    AllocSlot *slot = slot_table_find(&bridge->allocs, id, &miss);
    if (slot == NULL)
        bridge_refuse(bridge, call, reasons[miss], "allocation 0x%" PRIx64, id);
    return slot;
}

void bridge_alloc_free(Bridge *bridge, AllocSlot *slot)
{
    renderer_alloc_release(bridge->renderer, &slot->alloc);
    slot_table_give_back(&bridge->allocs, slot);
}

void bridge_alloc_move(Bridge *bridge, AllocSlot *slot, Renderer *next, const GateLimits *limits)
{
    renderer_alloc_release(bridge->renderer, &slot->alloc);
    if (slot->host_pointer != NULL &&
        (limits->renderer_caps & RENDERER_CAP_IMPORT_HOST_POINTER) != 0)
        slot->alloc = renderer_alloc_import(next, slot->host_pointer, slot->size_bytes,
                                            CALIPER_ALLOC_HANDLE_HOST_POINTER);
}

CaliperAllocId bridge_import_allocation(Bridge *bridge, void *os_handle, uint64_t size_bytes,
                                        uint32_t handle_type)
{
    static const char call[] = "import_allocation";
    if (!bridge_enter(bridge, call))
        return 0;
    GateAsk ask = {.limits = bridge->limits,
                   .os_handle = os_handle,
                   .alloc_bytes = size_bytes,
                   .handle_type = handle_type};
    GatePlan plan;
    GateReason reason = gate_check_import(&ask, &plan);
    if (reason != GATE_OK) {
        bridge_refuse_ask(bridge, call, reason, &ask, &plan);
        return 0;
    }
    if (!bridge_renderer_runs(bridge, call))
        return 0;
    AllocSlot *slot = slot_table_take(&bridge->allocs);
    if (slot == NULL) {
        bridge_refuse(bridge, call, GATE_IDS_SPENT, "no memory for allocation %u",
                      (unsigned)bridge->allocs.slot_count + 1);
        return 0;
    }
    slot->owner = caller_current();
    slot->size_bytes = size_bytes;
    slot->host_pointer = handle_type == CALIPER_ALLOC_HANDLE_HOST_POINTER ? os_handle : NULL;
    slot->alloc = renderer_alloc_import(bridge->renderer, os_handle, size_bytes, handle_type);
    if (slot->alloc == NULL) {
        slot_table_give_back(&bridge->allocs, slot);
        bridge_count_refusal(bridge);
        return 0;
    }
    return slot_id(&bridge->allocs, slot);
}

void bridge_release_allocation(Bridge *bridge, CaliperAllocId id)
{
    static const char call[] = "release_allocation";
    if (!bridge_enter(bridge, call))
        return;
    AllocSlot *slot = live_alloc(bridge, call, id);
    if (slot != NULL)
        bridge_alloc_free(bridge, slot);
}

bool bridge_update_texture_from_alloc(Bridge *bridge, CaliperTextureId id, CaliperAllocId alloc_id,
                                      uint64_t offset_bytes, const CaliperTensor *desc)
{
    static const char call[] = "update_texture_from_alloc";
    if (!bridge_enter(bridge, call))
        return false;
    TextureSlot *slot = bridge_live_texture(bridge, call, id);
    if (slot == NULL)
        return false;
    if (slot->is_shared)
        return bridge_refuse(bridge, call, GATE_ID_SHARED, "texture 0x%" PRIx64 " of alloc_shared",
                             id);
    AllocSlot *alloc = live_alloc(bridge, call, alloc_id);
    if (alloc == NULL)
        return false;
    GateAsk ask = {.limits = bridge->limits,
                   .tensor = desc,
                   .texture = &slot->plan,
                   .alloc_bytes = alloc->size_bytes,
                   .offset_bytes = offset_bytes};
    GatePlan plan;
    GateReason reason = gate_check_from_alloc(&ask, &plan);
    if (reason != GATE_OK)
        return bridge_refuse_ask(bridge, call, reason, &ask, &plan);
    if (!bridge_renderer_runs(bridge, call))
        return false;
    if (alloc->alloc == NULL)
        return bridge_refuse(bridge, call, GATE_ALLOC_GONE, "allocation 0x%" PRIx64, alloc_id);
    RendererSource source = {.kind = RENDERER_SOURCE_ALLOC,
                             .alloc = alloc->alloc,
                             .offset_bytes = offset_bytes,
                             .extent_bytes = plan.extent_bytes,
                             .stream = plan.stream,
                             .by_device = plan.seen.device != CALIPER_DEV_CPU};
    return (bridge_texture_ensure(bridge, slot) && bridge_texture_feed(bridge, slot, &source)) ||
           bridge_count_refusal(bridge);
}
