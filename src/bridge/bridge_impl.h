/* bridge/bridge_impl.h: what the files of src/bridge/ share. Included by them alone. Frame thread.
 *
 * bridge.c has the object, its log lines and its hours of birth and death; textures.c, shared.c and
 * allocs.c the calls of applets; draw.c what the shell needs. */
#ifndef CALIPER_BRIDGE_BRIDGE_IMPL_H
#define CALIPER_BRIDGE_BRIDGE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "bridge/bridge.h"
#include "bridge/gate.h"
#include "bridge/slot_table.h"
#include "core/caller.h"

enum { BAD_IDS_MAX = 256 };

typedef struct TextureSlot {
    SlotHead head;
    bool is_shared;
    bool released;      /* still drawable until the frame ends */
    bool has_pixels;    /* an update succeeded on the renderer that runs */
    bool keep_mapped;   /* shared: the owner may still write; the address is never unmapped */
    bool fed_elsewhere; /* shared: a device tensor was shown; the block is not, until next told */
    uint32_t next_released; /* index + 1; 0 ends the list */
    CallerId owner;
    GatePlan plan;            /* of the creation */
    RendererTexture *texture; /* NULL: the renderer changed and could not make it */
    /* Shared memory: */
    void *memory; /* page-aligned, ours */
    uint64_t memory_bytes;
    RendererShared *attached; /* NULL: read as a host source */
    uint64_t drawn_frame;     /* frame of the last refresh for drawing */
} TextureSlot;

typedef struct AllocSlot {
    SlotHead head;
    CallerId owner;
    RendererAlloc *alloc; /* NULL: the renderer that had it is gone */
    uint64_t size_bytes;
    void *host_pointer; /* of HOST_POINTER, which another renderer can import again; else NULL */
} AllocSlot;

struct Bridge {
    Renderer *renderer; /* the caller's */
    GateLimits limits;  /* of the renderer */
    pthread_t frame_thread;
    SlotTable textures, allocs;
    uint32_t released_first; /* textures to free at the frame's end, linked by next_released */
    uint32_t textures_live, shared_live;
    uint64_t frame; /* from 1 */
    atomic_uint_fast64_t refusals;
    uint64_t bad_ids[BAD_IDS_MAX]; /* drawn and logged once each */
    uint32_t bad_id_count;
};

/* One log line and one refusal; always false. `given` is a printf format. */
__attribute__((format(printf, 4, 5))) bool bridge_refuse(Bridge *bridge, const char *call,
                                                         GateReason reason, const char *given, ...);
/* The same with the gate's own words. */
bool bridge_refuse_ask(Bridge *bridge, const char *call, GateReason reason, const GateAsk *ask,
                       const GatePlan *plan);
/* A refusal that the renderer has put into words; always false. */
bool bridge_count_refusal(Bridge *bridge);
/* True when there is a bridge and this is its thread; else refused. */
bool bridge_enter(Bridge *bridge, const char *call);
/* The same for calls that need the renderer. */
bool bridge_renderer_runs(Bridge *bridge, const char *call);

/* textures.c: a live texture that was not released; NULL and refused otherwise. */
TextureSlot *bridge_live_texture(Bridge *bridge, const char *call, CaliperTextureId id);
/* Takes a slot and makes its texture; NULL after one line. */
TextureSlot *bridge_texture_make(Bridge *bridge, const char *call, const GatePlan *plan);
/* Makes the renderer's texture where it is missing; false after one line. */
bool bridge_texture_ensure(Bridge *bridge, TextureSlot *slot);
/* Runs the texture's pass over one source; false after one line. */
bool bridge_texture_feed(Bridge *bridge, TextureSlot *slot, const RendererSource *source);
/* Ids are stale at once; the rest goes at the frame's end. */
void bridge_texture_retire(Bridge *bridge, TextureSlot *slot);
void bridge_texture_free(Bridge *bridge, TextureSlot *slot);

/* shared.c */
bool bridge_shared_refresh(Bridge *bridge, TextureSlot *slot);
bool bridge_shared_update(Bridge *bridge, TextureSlot *slot, const GatePlan *plan);
void bridge_shared_attach(Bridge *bridge, TextureSlot *slot);
void bridge_shared_free_memory(TextureSlot *slot);

/* allocs.c */
void bridge_alloc_free(Bridge *bridge, AllocSlot *slot);
void bridge_alloc_move(Bridge *bridge, AllocSlot *slot, Renderer *next, const GateLimits *limits);

#endif
