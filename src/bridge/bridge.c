/* The bridge as an object: creation, refusals, reclaiming, the change of renderers. Frame thread.
 */
#include "bridge/bridge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bridge/bridge_impl.h"
#include "core/fault.h"
#include "core/log.h"

/* ---- Refusals ---- */

static void log_refusal(const char *call, GateReason reason, const char *given, const char *wanted)
{
    log_item(BRIDGE_REFUSED, call, gate_reason_name(reason), given, wanted);
}

bool bridge_count_refusal(Bridge *bridge)
{
    atomic_fetch_add_explicit(&bridge->refusals, 1, memory_order_relaxed);
    return false;
}

bool bridge_refuse(Bridge *bridge, const char *call, GateReason reason, const char *given, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, given);
    vsnprintf(text, sizeof text, given, arguments);
    va_end(arguments);
    log_refusal(call, reason, text, gate_reason_wanted(reason));
    return bridge != NULL && bridge_count_refusal(bridge);
}

bool bridge_refuse_ask(Bridge *bridge, const char *call, GateReason reason, const GateAsk *ask,
                       const GatePlan *plan)
{
    GateText text;
    gate_explain(reason, ask, plan, &text);
    log_refusal(call, reason, text.given, text.wanted);
    return bridge_count_refusal(bridge);
}

bool bridge_enter(Bridge *bridge, const char *call)
{
    if (bridge == NULL)
        return bridge_refuse(NULL, call, GATE_NO_BRIDGE, "a call before the bridge is there");
    if (!pthread_equal(pthread_self(), bridge->frame_thread))
        return bridge_refuse(bridge, call, GATE_WRONG_THREAD, "a call from another thread");
    return true;
}

/* A renderer that is lost refuses without a word, so the line is ours. */
bool bridge_renderer_runs(Bridge *bridge, const char *call)
{
    if (renderer_lost(bridge->renderer))
        return bridge_refuse(bridge, call, GATE_RENDERER_LOST, "a call while %s is lost",
                             renderer_info(bridge->renderer)->name);
    return true;
}

/* ---- Birth and death ---- */

static GateLimits limits_of(const Renderer *renderer)
{
    const RendererInfo *info = renderer_info(renderer);
    return (GateLimits){
        .max_texture_px = info->max_texture_px,
        .max_source_bytes = info->max_source_bytes,
        .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
        .renderer_caps = info->caps,
        .interop_index = info->interop_index,
    };
}

Bridge *bridge_create(Renderer *renderer)
{
    Bridge *bridge = fault_here("bridge.create") ? NULL : calloc(1, sizeof *bridge);
    if (bridge == NULL) {
        log_item(OUT_OF_MEMORY, "bridge_create", (unsigned long long)sizeof *bridge);
        return NULL;
    }
    bridge->renderer = renderer;
    bridge->limits = limits_of(renderer);
    bridge->frame_thread = pthread_self();
    bridge->frame = 1;
    slot_table_init(&bridge->textures, sizeof(TextureSlot), 0);
    slot_table_init(&bridge->allocs, sizeof(AllocSlot), SLOT_TAG_BIT);
    return bridge;
}

static bool slot_is_owned(const TextureSlot *slot, CallerId owner)
{
    return slot != NULL && !slot->released && slot->owner == owner;
}

static const char *owner_name(CallerId owner)
{
    const char *name = caller_name(owner);
    return name[0] != '\0' ? name : "the host";
}

/* Releases what one owner has; counts it, and names each with CALIPER_LEAKS=1. */
static void release_owned(Bridge *bridge, CallerId owner, bool leaked, BridgeStats *out)
{
    const char *wanted = getenv("CALIPER_LEAKS");
    bool named = leaked && wanted != NULL && wanted[0] == '1';
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < bridge->textures.slot_count; i++) {
        TextureSlot *slot = slot_table_at(&bridge->textures, i);
        if (!slot_is_owned(slot, owner))
            continue;
        if (named)
            log_item(BRIDGE_LEFT_TEXTURE, owner_name(owner), slot->is_shared ? "shared " : "",
                     (unsigned long long)slot_id(&bridge->textures, slot), (int)slot->plan.width_px,
                     (int)slot->plan.height_px);
        out->textures++;
        out->shared_textures += slot->is_shared ? 1u : 0u;
        slot->keep_mapped = true;
        bridge_texture_retire(bridge, slot);
    }
    for (uint32_t i = 0; i < bridge->allocs.slot_count; i++) {
        AllocSlot *slot = slot_table_at(&bridge->allocs, i);
        if (slot == NULL || slot->owner != owner)
            continue;
        if (named)
            log_item(BRIDGE_LEFT_ALLOCATION, owner_name(owner),
                     (unsigned long long)slot_id(&bridge->allocs, slot),
                     (unsigned long long)slot->size_bytes);
        out->allocations++;
        bridge_alloc_free(bridge, slot);
    }
}

static void log_leak(CallerId owner, const BridgeStats *left)
{
    if (left->textures + left->allocations == 0)
        return;
    log_item(BRIDGE_LEAK, owner_name(owner), (unsigned)left->textures,
             (unsigned)left->shared_textures, (unsigned)left->allocations);
}

uint32_t bridge_reclaim(Bridge *bridge, uint32_t owner, bool leaked)
{
    if (!bridge_enter(bridge, "bridge_reclaim"))
        return 0;
    BridgeStats left;
    release_owned(bridge, owner, leaked, &left);
    if (leaked)
        log_leak(owner, &left);
    return left.textures;
}

static void free_released(Bridge *bridge)
{
    while (bridge->released_first != 0) {
        TextureSlot *slot = slot_table_at(&bridge->textures, bridge->released_first - 1);
        bridge->released_first = slot->next_released;
        bridge_texture_free(bridge, slot);
    }
}

void bridge_frame_end(Bridge *bridge)
{
    if (!bridge_enter(bridge, "bridge_frame_end"))
        return;
    free_released(bridge);
    bridge->frame++;
}

void bridge_destroy(Bridge **bridge)
{
    if (bridge == NULL || *bridge == NULL || !bridge_enter(*bridge, "bridge_destroy"))
        return;
    Bridge *dying = *bridge;
    for (uint32_t i = 0; i < dying->textures.slot_count; i++) {
        TextureSlot *slot = slot_table_at(&dying->textures, i);
        if (slot != NULL && !slot->released)
            bridge_reclaim(dying, slot->owner, true);
    }
    for (uint32_t i = 0; i < dying->allocs.slot_count; i++) {
        AllocSlot *slot = slot_table_at(&dying->allocs, i);
        if (slot != NULL)
            bridge_reclaim(dying, slot->owner, true);
    }
    free_released(dying);
    slot_table_finish(&dying->textures);
    slot_table_finish(&dying->allocs);
    free(dying);
    *bridge = NULL;
}

/* ---- Another renderer ---- */

/* Shared memory is shown again; other pixels have to be read from the old renderer. */
static bool shows_its_block(const TextureSlot *slot)
{
    return slot->is_shared && !slot->fed_elsewhere;
}

/* The pixels, if the old renderer can still read them; malloc'ed. */
static uint8_t *pixels_saved(Bridge *bridge, TextureSlot *slot)
{
    if (slot->texture == NULL || !slot->has_pixels || shows_its_block(slot))
        return NULL;
    uint64_t bytes = 4u * (uint64_t)slot->plan.width_px * (uint64_t)slot->plan.height_px;
    uint8_t *pixels = fault_here("bridge.move") ? NULL : malloc(bytes);
    if (pixels == NULL) {
        log_item(OUT_OF_MEMORY, "bridge_set_renderer", (unsigned long long)bytes);
        return NULL;
    }
    if (renderer_texture_read(bridge->renderer, slot->texture, pixels, bytes))
        return pixels;
    free(pixels);
    return NULL;
}

/* Fills the texture on the renderer that runs now; true when what it showed came along. */
static bool texture_restored(Bridge *bridge, TextureSlot *slot, const uint8_t *pixels)
{
    if (slot->is_shared)
        bridge_shared_attach(bridge, slot);
    if (!bridge_texture_ensure(bridge, slot))
        return false;
    if (shows_its_block(slot))
        return bridge_shared_refresh(bridge, slot);
    slot->has_pixels =
        pixels != NULL && renderer_texture_write(bridge->renderer, slot->texture, pixels);
    return slot->has_pixels;
}

static bool texture_moved(Bridge *bridge, TextureSlot *slot, Renderer *next)
{
    Renderer *old = bridge->renderer;
    uint8_t *pixels = pixels_saved(bridge, slot);
    renderer_shared_detach(old, &slot->attached);
    renderer_texture_destroy(old, &slot->texture);
    slot->has_pixels = false;
    slot->drawn_frame = 0;
    bridge->renderer = next;
    bool came = texture_restored(bridge, slot, pixels);
    bridge->renderer = old;
    free(pixels);
    return came;
}

uint32_t bridge_set_renderer(Bridge *bridge, Renderer *next)
{
    if (!bridge_enter(bridge, "bridge_set_renderer") || next == NULL || next == bridge->renderer)
        return 0;
    uint32_t came = 0;
    for (uint32_t i = 0; i < bridge->textures.slot_count; i++) {
        TextureSlot *slot = slot_table_at(&bridge->textures, i);
        if (slot != NULL)
            came += texture_moved(bridge, slot, next) ? 1u : 0u;
    }
    GateLimits limits = limits_of(next);
    for (uint32_t i = 0; i < bridge->allocs.slot_count; i++) {
        AllocSlot *slot = slot_table_at(&bridge->allocs, i);
        if (slot != NULL)
            bridge_alloc_move(bridge, slot, next, &limits);
    }
    bridge->renderer = next;
    bridge->limits = limits;
    log_item(BRIDGE_MOVED, (unsigned)came, (unsigned)bridge->textures.live_count,
             renderer_info(next)->name);
    return came;
}

void bridge_stats(const Bridge *bridge, BridgeStats *out)
{
    memset(out, 0, sizeof *out);
    if (bridge == NULL)
        return;
    out->textures = bridge->textures_live;
    out->shared_textures = bridge->shared_live;
    out->allocations = bridge->allocs.live_count;
    out->refusals = atomic_load_explicit(&bridge->refusals, memory_order_relaxed);
}
