/* Textures of texture_from_tensor and texture_from_tensor_mapped, and what holds for every texture:
 * finding, feeding, releasing, reading. Frame thread. */
#include <inttypes.h>
#include <stdlib.h>

#include "bridge/bridge_impl.h"
#include "core/log.h"

/* ---- Slots ---- */

TextureSlot *bridge_live_texture(Bridge *bridge, const char *call, CaliperTextureId id)
{
    static const GateReason reasons[] = {
        [SLOT_ZERO] = GATE_ID_ZERO, [SLOT_UNKNOWN] = GATE_ID_UNKNOWN, [SLOT_STALE] = GATE_ID_STALE};
    SlotMiss miss;
    TextureSlot *slot = slot_table_find(&bridge->textures, id, &miss);
    if (slot != NULL && !slot->released)
        return slot;
    if (slot != NULL)
        miss = SLOT_STALE;
    bridge_refuse(bridge, call, reasons[miss], "texture 0x%" PRIx64, id);
    return NULL;
}

bool bridge_texture_ensure(Bridge *bridge, TextureSlot *slot)
{
    if (slot->texture != NULL)
        return true;
    const char *owner = caller_name(slot->owner);
    slot->texture = renderer_texture_create(
        bridge->renderer,
        RENDERER_TEXTURE_PARAMS(.label = owner[0] != '\0' ? owner : "host",
                                .width_px = slot->plan.width_px, .height_px = slot->plan.height_px,
                                .pass = slot->plan.pass,
                                .device_first = slot->plan.source == RENDERER_SOURCE_DEVICE));
    slot->has_pixels = false;
    return slot->texture != NULL;
}

TextureSlot *bridge_texture_make(Bridge *bridge, const char *call, const GatePlan *plan)
{
    if (!bridge_renderer_runs(bridge, call))
        return NULL;
    TextureSlot *slot = slot_table_take(&bridge->textures);
    if (slot == NULL) {
        bridge_refuse(bridge, call, GATE_IDS_SPENT, "no memory for texture %u",
                      (unsigned)bridge->textures.slot_count + 1);
        return NULL;
    }
    slot->owner = caller_current();
    slot->plan = *plan;
    if (!bridge_texture_ensure(bridge, slot)) {
        slot_table_give_back(&bridge->textures, slot);
        bridge_count_refusal(bridge);
        return NULL;
    }
    bridge->textures_live++;
    return slot;
}

bool bridge_texture_feed(Bridge *bridge, TextureSlot *slot, const RendererSource *source)
{
    if (!renderer_texture_update(bridge->renderer, slot->texture, source))
        return false;
    slot->has_pixels = true;
    return true;
}

void bridge_texture_retire(Bridge *bridge, TextureSlot *slot)
{
    slot->released = true;
    slot->next_released = bridge->released_first;
    bridge->released_first = slot->head.index + 1;
    bridge->textures_live--;
    bridge->shared_live -= slot->is_shared ? 1u : 0u;
}

void bridge_texture_free(Bridge *bridge, TextureSlot *slot)
{
    renderer_shared_detach(bridge->renderer, &slot->attached);
    renderer_texture_destroy(bridge->renderer, &slot->texture);
    bridge_shared_free_memory(slot);
    slot_table_give_back(&bridge->textures, slot);
}

static RendererSource source_of(const GatePlan *plan)
{
    RendererSource source = {
        .kind = plan->source, .extent_bytes = plan->extent_bytes, .stream = plan->stream};
    if (plan->source == RENDERER_SOURCE_DEVICE)
        source.device_ptr = (uint64_t)(uintptr_t)plan->seen.data;
    else
        source.host = plan->seen.data;
    return source;
}

/* ---- Calls ---- */

static CaliperTextureId create_and_fill(Bridge *bridge, const char *call, const GatePlan *plan)
{
    TextureSlot *slot = bridge_texture_make(bridge, call, plan);
    if (slot == NULL)
        return 0;
    RendererSource source = source_of(plan);
    if (!bridge_texture_feed(bridge, slot, &source)) {
        bridge->textures_live--;
        bridge_texture_free(bridge, slot); /* nobody has its id */
        bridge_count_refusal(bridge);
        return 0;
    }
    return slot_id(&bridge->textures, slot);
}

CaliperTextureId bridge_texture_from_tensor(Bridge *bridge, const CaliperTensor *tensor,
                                            uint32_t flags)
{
    static const char call[] = "texture_from_tensor";
    (void)flags; /* ignored in v1 */
    if (!bridge_enter(bridge, call))
        return 0;
    GateAsk ask = {.limits = bridge->limits, .tensor = tensor};
    GatePlan plan;
    GateReason reason = gate_check_direct(&ask, &plan);
    if (reason != GATE_OK) {
        bridge_refuse_ask(bridge, call, reason, &ask, &plan);
        return 0;
    }
    return create_and_fill(bridge, call, &plan);
}

CaliperTextureId bridge_texture_from_tensor_mapped(Bridge *bridge, const CaliperTensor *tensor,
                                                   int32_t colormap, float vmin, float vmax,
                                                   uint32_t flags)
{
    static const char call[] = "texture_from_tensor_mapped";
    (void)flags; /* ignored in v1 */
    if (!bridge_enter(bridge, call))
        return 0;
    GateAsk ask = {.limits = bridge->limits,
                   .tensor = tensor,
                   .colormap = colormap,
                   .vmin = vmin,
                   .vmax = vmax};
    GatePlan plan;
    GateReason reason = gate_check_mapped(&ask, &plan);
    if (reason != GATE_OK) {
        bridge_refuse_ask(bridge, call, reason, &ask, &plan);
        return 0;
    }
    return create_and_fill(bridge, call, &plan);
}

bool bridge_update_texture(Bridge *bridge, CaliperTextureId id, const CaliperTensor *tensor)
{
    static const char call[] = "update_texture";
    if (!bridge_enter(bridge, call))
        return false;
    TextureSlot *slot = bridge_live_texture(bridge, call, id);
    if (slot == NULL)
        return false;
    GateAsk ask = {.limits = bridge->limits, .tensor = tensor, .texture = &slot->plan};
    GatePlan plan;
    GateReason reason = gate_check_update(&ask, &plan);
    if (reason != GATE_OK)
        return bridge_refuse_ask(bridge, call, reason, &ask, &plan);
    if (!bridge_renderer_runs(bridge, call))
        return false;
    if (!bridge_texture_ensure(bridge, slot))
        return bridge_count_refusal(bridge);
    if (slot->is_shared && plan.source == RENDERER_SOURCE_HOST)
        return bridge_shared_update(bridge, slot, &plan);
    RendererSource source = source_of(&plan);
    if (!bridge_texture_feed(bridge, slot, &source))
        return bridge_count_refusal(bridge);
    slot->fed_elsewhere = slot->is_shared;
    return true;
}

void bridge_release_texture(Bridge *bridge, CaliperTextureId id)
{
    static const char call[] = "release_texture";
    if (!bridge_enter(bridge, call))
        return;
    TextureSlot *slot = bridge_live_texture(bridge, call, id);
    if (slot == NULL)
        return;
    if (slot->is_shared)
        bridge_refuse(bridge, call, GATE_ID_SHARED, "texture 0x%" PRIx64 " of alloc_shared", id);
    else
        bridge_texture_retire(bridge, slot);
}

uint32_t bridge_caps(Bridge *bridge)
{
    if (!bridge_enter(bridge, "caps"))
        return 0;
    uint32_t renderer_caps = bridge->limits.renderer_caps;
    uint32_t caps = 0;
    if ((renderer_caps & RENDERER_CAP_STREAM_ORDERED) != 0)
        caps |= CALIPER_BRIDGE_CAP_STREAM_ORDERED;
    if ((renderer_caps & (RENDERER_CAP_IMPORT_FD | RENDERER_CAP_IMPORT_HOST_POINTER)) != 0)
        caps |= CALIPER_BRIDGE_CAP_IMPORT_ALLOC;
    return caps;
}

/* ---- caliper.texture_read.v1 ---- */

bool bridge_texture_size(Bridge *bridge, CaliperTextureId id, int32_t *out_width_px,
                         int32_t *out_height_px)
{
    static const char call[] = "size";
    if (!bridge_enter(bridge, call))
        return false;
    const TextureSlot *slot = bridge_live_texture(bridge, call, id);
    if (slot == NULL)
        return false;
    if (out_width_px == NULL || out_height_px == NULL)
        return bridge_refuse(bridge, call, GATE_NULL_BUFFER, "%s NULL",
                             out_width_px == NULL ? "out_w" : "out_h");
    *out_width_px = slot->plan.width_px;
    *out_height_px = slot->plan.height_px;
    return true;
}

bool bridge_texture_read_rgba8(Bridge *bridge, CaliperTextureId id, uint8_t *dst,
                               uint64_t dst_bytes)
{
    static const char call[] = "read_rgba8";
    if (!bridge_enter(bridge, call))
        return false;
    TextureSlot *slot = bridge_live_texture(bridge, call, id);
    if (slot == NULL)
        return false;
    uint64_t bytes = 4u * (uint64_t)slot->plan.width_px * (uint64_t)slot->plan.height_px;
    if (dst == NULL)
        return bridge_refuse(bridge, call, GATE_NULL_BUFFER, "dst NULL");
    if (dst_bytes < bytes)
        return bridge_refuse(bridge, call, GATE_SHORT_BUFFER, "%" PRIu64 " bytes for %d x %d",
                             dst_bytes, (int)slot->plan.width_px, (int)slot->plan.height_px);
    if (!bridge_renderer_runs(bridge, call))
        return false;
    if (slot->is_shared && !slot->fed_elsewhere && !bridge_shared_refresh(bridge, slot))
        return bridge_count_refusal(bridge);
    if (!slot->has_pixels)
        return bridge_refuse(bridge, call, GATE_NO_PIXELS, "texture 0x%" PRIx64, id);
    if (!renderer_texture_read(bridge->renderer, slot->texture, dst, bytes))
        return bridge_count_refusal(bridge);
    return true;
}
