/* alloc_shared: memory of ours that an applet writes and a texture shows. Frame thread; the applet
 * writes the memory from any thread.
 *
 * The memory is read again before a frame that draws the texture (once a frame) and before every
 * read-back. update_texture on a shared id shows something at once:
 *   - a tensor whose data is the block itself: the block, as it is now;
 *   - another host tensor: its elements are copied into the block, which stays the texture's
 * source;
 *   - a device tensor (which the host cannot copy into host memory without waiting): the pass
 * writes the texture from the device, and the block is not read until one of the two above. */
#include <string.h>
#include <sys/mman.h>

#include "bridge/bridge_impl.h"
#include "core/fault.h"
#include "core/log.h"

/* Zeroed pages; NULL after one line. */
static void *pages_map(uint64_t bytes)
{
    void *memory = MAP_FAILED;
    if (!fault_here("bridge.shared_memory"))
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    log_item(OUT_OF_MEMORY, "alloc_shared", (unsigned long long)bytes);
    return NULL;
}

/* An owner that left the block behind may have a thread that goes on writing: its pages are given
 * back, its address stays valid for the process's life. */
void bridge_shared_free_memory(TextureSlot *slot)
{
    if (slot->memory == NULL)
        return;
    if (slot->keep_mapped)
        madvise(slot->memory, slot->memory_bytes, MADV_DONTNEED);
    else
        munmap(slot->memory, slot->memory_bytes);
    slot->memory = NULL;
}

void bridge_shared_attach(Bridge *bridge, TextureSlot *slot)
{
    slot->attached = renderer_shared_attach(bridge->renderer, slot->memory, slot->memory_bytes);
}

bool bridge_shared_refresh(Bridge *bridge, TextureSlot *slot)
{
    if (!bridge_texture_ensure(bridge, slot))
        return false;
    RendererSource source = {.kind = slot->attached != NULL ? RENDERER_SOURCE_SHARED
                                                            : RENDERER_SOURCE_HOST,
                             .host = slot->memory,
                             .shared = slot->attached,
                             .extent_bytes = slot->plan.extent_bytes};
    if (!bridge_texture_feed(bridge, slot, &source))
        return false;
    slot->fed_elsewhere = false;
    return true;
}

bool bridge_shared_update(Bridge *bridge, TextureSlot *slot, const GatePlan *plan)
{
    if (plan->seen.data != slot->memory)
        memmove(slot->memory, plan->seen.data, plan->extent_bytes);
    return bridge_shared_refresh(bridge, slot) || bridge_count_refusal(bridge);
}

/* NULL after one line. */
static TextureSlot *shared_make(Bridge *bridge, const char *call, const GatePlan *plan)
{
    uint64_t page = bridge->limits.page_bytes;
    uint64_t bytes = (plan->extent_bytes + page - 1) / page * page;
    if (!bridge_renderer_runs(bridge, call))
        return NULL;
    void *memory = pages_map(bytes);
    if (memory == NULL) {
        bridge_count_refusal(bridge);
        return NULL;
    }
    TextureSlot *slot = bridge_texture_make(bridge, call, plan);
    if (slot == NULL) {
        munmap(memory, bytes);
        return NULL;
    }
    slot->is_shared = true;
    slot->memory = memory;
    slot->memory_bytes = bytes;
    bridge->shared_live++;
    bridge_shared_attach(bridge, slot);
    return slot;
}

bool bridge_alloc_shared(Bridge *bridge, CaliperDType dtype, int32_t ndim, const int64_t *shape,
                         CaliperTensor *out_tensor, CaliperTextureId *out_texture)
{
    static const char call[] = "alloc_shared";
    if (!bridge_enter(bridge, call))
        return false;
    GateAsk ask = {.limits = bridge->limits,
                   .tensor = out_tensor,
                   .dtype = dtype,
                   .ndim = ndim,
                   .shape = shape,
                   .out_texture = out_texture};
    GatePlan plan;
    GateReason reason = gate_check_shared(&ask, &plan);
    if (reason != GATE_OK)
        return bridge_refuse_ask(bridge, call, reason, &ask, &plan);
    TextureSlot *slot = shared_make(bridge, call, &plan);
    if (slot == NULL)
        return false;
    CaliperTensor tensor = plan.seen; /* row-major strides, device CPU */
    tensor.data = slot->memory;
    memcpy(out_tensor, &tensor, sizeof tensor);
    CaliperTextureId id = slot_id(&bridge->textures, slot);
    memcpy(out_texture, &id, sizeof id);
    return true;
}

void bridge_free_shared(Bridge *bridge, CaliperTextureId id)
{
    static const char call[] = "free_shared";
    if (!bridge_enter(bridge, call))
        return;
    TextureSlot *slot = bridge_live_texture(bridge, call, id);
    if (slot == NULL)
        return;
    if (slot->is_shared)
        bridge_texture_retire(bridge, slot);
    else
        bridge_refuse(bridge, call, GATE_ID_ORDINARY, "texture 0x%llx of texture_from_tensor",
                      (unsigned long long)id);
}
