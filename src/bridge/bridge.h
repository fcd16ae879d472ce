/* bridge/bridge.h: a CaliperTensor becomes a live texture.
 *
 * src/bridge/ holds the gate (gate.h: pure checks), the table of textures (ids with generations)
 * and this front. It knows render/renderer.h and core, no graphics API and no UI. services/ maps
 * the frozen tables onto it; the shell uses it to draw. Frame thread only: a call from another
 * thread is refused with one log line. */
#ifndef CALIPER_BRIDGE_BRIDGE_H
#define CALIPER_BRIDGE_BRIDGE_H

#include <caliper/services/tensor_bridge_v1_2.h>
#include <caliper/tensor.h>
#include <stdbool.h>
#include <stdint.h>

#include "render/renderer.h"

typedef struct Bridge Bridge;

/* The calling thread becomes the bridge's frame thread. `renderer` stays the caller's. */
Bridge *bridge_create(Renderer *renderer);
/* Releases every texture; a leak is logged per owner. */
void bridge_destroy(Bridge **bridge);

/* The six members of v1 and the members of v1.1 and v1.2: see the headers. */
CaliperTextureId bridge_texture_from_tensor(Bridge *bridge, const CaliperTensor *tensor,
                                            uint32_t flags);
CaliperTextureId bridge_texture_from_tensor_mapped(Bridge *bridge, const CaliperTensor *tensor,
                                                   int32_t colormap, float vmin, float vmax,
                                                   uint32_t flags);
bool bridge_update_texture(Bridge *bridge, CaliperTextureId id, const CaliperTensor *tensor);
void bridge_release_texture(Bridge *bridge, CaliperTextureId id);
bool bridge_alloc_shared(Bridge *bridge, CaliperDType dtype, int32_t ndim, const int64_t *shape,
                         CaliperTensor *out_tensor, CaliperTextureId *out_texture);
void bridge_free_shared(Bridge *bridge, CaliperTextureId id);
uint32_t bridge_caps(Bridge *bridge);
CaliperAllocId bridge_import_allocation(Bridge *bridge, void *os_handle, uint64_t size_bytes,
                                        uint32_t handle_type);
void bridge_release_allocation(Bridge *bridge, CaliperAllocId id);
bool bridge_update_texture_from_alloc(Bridge *bridge, CaliperTextureId id, CaliperAllocId alloc,
                                      uint64_t offset_bytes, const CaliperTensor *desc);

/* caliper.texture_read.v1 */
bool bridge_texture_size(Bridge *bridge, CaliperTextureId id, int32_t *out_width_px,
                         int32_t *out_height_px);
bool bridge_texture_read_rgba8(Bridge *bridge, CaliperTextureId id, uint8_t *dst,
                               uint64_t dst_bytes);

/* ---- For the shell ---- */

/* The texture to draw for an id in this frame, refreshing a shared one first (once a frame). NULL
 * for a stale, foreign or never filled id: the caller draws its placeholder. Logs a stale or
 * foreign id once per id. A texture released in this frame is still found. */
RendererTexture *bridge_texture_for_draw(Bridge *bridge, CaliperTextureId id);
/* After the frame was submitted: frees what was released during it. */
void bridge_frame_end(Bridge *bridge);

/* The renderer is lost or replaced: moves every texture to `next`. Pixels that the old one can
 * still read come along; the others are refilled by the next update; shared memory keeps its
 * address. The old renderer must still exist; the caller destroys it afterwards. Returns how many
 * came along. */
uint32_t bridge_set_renderer(Bridge *bridge, Renderer *next);

/* Releases everything made by one owner (core/caller.h), at its teardown; returns how many textures
 * there were and logs them as leaked when `leaked`. A thread of the owner's may still write its
 * shared memory: the pages are given back, the addresses stay mapped for the process's life. */
uint32_t bridge_reclaim(Bridge *bridge, uint32_t owner, bool leaked);

typedef struct BridgeStats {
    uint32_t textures, shared_textures, allocations; /* live */
    uint64_t refusals;                               /* since start */
} BridgeStats;
void bridge_stats(const Bridge *bridge, BridgeStats *out);

#endif
