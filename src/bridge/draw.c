/* Textures as the shell draws them. Frame thread. */
#include "bridge/bridge_impl.h"
#include "core/log.h"

/* True the first time an id is seen. Memory is bounded: after BAD_IDS_MAX different ones a last
 * line says that no more follow. */
static bool is_news(Bridge *bridge, CaliperTextureId id)
{
    for (uint32_t i = 0; i < bridge->bad_id_count; i++) {
        if (bridge->bad_ids[i] == id)
            return false;
    }
    if (bridge->bad_id_count == BAD_IDS_MAX)
        return false;
    bridge->bad_ids[bridge->bad_id_count++] = id;
    return true;
}

static void log_bad_id(Bridge *bridge, CaliperTextureId id, SlotMiss miss)
{
    if (!is_news(bridge, id))
        return;
    log_item(BRIDGE_DRAWN_BAD_ID, (unsigned long long)id,
             miss == SLOT_STALE ? "was released" : "the bridge never gave out");
    if (bridge->bad_id_count == BAD_IDS_MAX)
        log_item(BRIDGE_DRAWN_BAD_IDS_MUTED, (int)BAD_IDS_MAX);
}

RendererTexture *bridge_texture_for_draw(Bridge *bridge, CaliperTextureId id)
{
    if (!bridge_enter(bridge, "bridge_texture_for_draw"))
        return NULL;
    SlotMiss miss;
    TextureSlot *slot = slot_table_find(&bridge->textures, id, &miss);
    if (slot == NULL) {
        log_bad_id(bridge, id, miss);
        return NULL;
    }
    if (slot->is_shared && !slot->fed_elsewhere && slot->drawn_frame != bridge->frame &&
        !renderer_lost(bridge->renderer)) {
        slot->drawn_frame = bridge->frame; /* also if it fails: one line a frame */
        bridge_shared_refresh(bridge, slot);
    }
    return slot->has_pixels ? slot->texture : NULL;
}
