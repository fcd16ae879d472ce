/* render/renderer.h: the one interface to whatever makes pixels.
 *
 * src/render/ turns tensor bytes into textures and draw lists into frames; cpu/, gl/ and vulkan/
 * implement this interface and are the only folders that include a graphics API. Users (bridge,
 * shell, tests, benches) include this file; implementers include renderer_impl.h too.
 *
 * The front door (renderer.c) checks every argument once; backends trust theirs. All functions are
 * for the frame thread, the thread that created the renderer. Failures are a return value and one
 * log line. A renderer that lost its context or device says so through renderer_lost(): from then
 * on every call but destroy, read and the queries returns false silently, and the owner makes
 * another one and refills its textures. */
#ifndef CALIPER_RENDER_RENDERER_H
#define CALIPER_RENDER_RENDERER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Renderer Renderer;
typedef struct RendererTexture RendererTexture;
typedef struct RendererShared RendererShared; /* host memory that the backend reads in place */
typedef struct RendererAlloc RendererAlloc;   /* an imported allocation (bridge v1.2) */

/* ---- What happens to the bytes --------------------------------------------------------------- */

typedef enum RendererPassKind {
    RENDERER_PASS_COLORMAP = 0, /* f32 -> RGBA8 through a table of 256 entries */
    RENDERER_PASS_EXPAND = 1    /* u8 with 1..4 channels -> RGBA8 */
} RendererPassKind;

/* The exact rule, in binary32 without contraction: NaN (by its bits) and inv == 0 give index 0;
 * else t = (v - vmin) * inv, clamped to [0,1], index = (int)(t * 255.0f + 0.5f). */
typedef struct RendererPass {
    RendererPassKind kind;
    int32_t colormap; /* 0..2, CaliperColormap */
    float vmin;
    float inv;         /* 1.0f / (vmax - vmin), negative for a reversed map; 0 when vmin == vmax */
    uint32_t channels; /* 1..4 for EXPAND */
} RendererPass;

typedef enum RendererSourceKind {
    RENDERER_SOURCE_HOST = 0,   /* pageable host memory, staged through a CPU kernel */
    RENDERER_SOURCE_DEVICE = 1, /* a pointer of the interop device, ordered on `stream` */
    RENDERER_SOURCE_ALLOC = 2,  /* an imported allocation plus offset, ordered on `stream` */
    RENDERER_SOURCE_SHARED = 3  /* memory attached with renderer_shared_attach */
} RendererSourceKind;

/* Row-major, no gaps, exactly the texture's width x height elements of the texture's pass. */
typedef struct RendererSource {
    RendererSourceKind kind;
    const void *host;       /* HOST */
    uint64_t device_ptr;    /* DEVICE */
    RendererAlloc *alloc;   /* ALLOC */
    RendererShared *shared; /* SHARED */
    uint64_t offset_bytes;  /* ALLOC, SHARED */
    uint64_t extent_bytes;  /* always: bytes the pass reads */
    void *stream;           /* DEVICE, ALLOC: the producer's stream; NULL is the default stream */
    bool by_device;         /* ALLOC: the interop device wrote it: `stream` counts even when NULL */
} RendererSource;

/* ---- Creation -------------------------------------------------------------------------------- */

typedef enum RendererWindowApi {
    RENDERER_WINDOW_PIXELS = 0, /* no graphics API: the backend hands over finished pixels */
    RENDERER_WINDOW_GL = 1,
    RENDERER_WINDOW_VULKAN = 2
} RendererWindowApi;

/* The shell's window as the backends need it. `open` makes (or remakes) the native window for one
 * API and is the first call; the others are valid after it succeeded for that API. */
typedef struct RendererWindow {
    void *user;
    bool (*open)(void *user, RendererWindowApi api, char *error, size_t error_bytes);
    void (*framebuffer_size)(void *user, int32_t *out_width_px, int32_t *out_height_px);
    bool (*gl_make_current)(void *user);
    bool (*gl_swap)(void *user); /* false: the context or the window is gone */
    /* Of the current context: gl_swap waits for so many refreshes of the display; may be NULL. */
    void (*gl_swap_interval)(void *user, int32_t refreshes);
    void *(*gl_proc)(void *user, const char *name);
    /* Names of the instance extensions a surface needs; they live as long as the window. */
    const char *const *(*vulkan_instance_extensions)(void *user, uint32_t *out_count);
    /* `instance` is a VkInstance; writes a VkSurfaceKHR; returns a VkResult. */
    int32_t (*vulkan_create_surface)(void *user, void *instance, uint64_t *out_surface);
    bool (*present_pixels)(void *user, const uint8_t *rgba, int32_t width_px, int32_t height_px);
} RendererWindow;

typedef struct RendererParams {
    uint32_t struct_size;
    const char *label;
    const RendererWindow *window; /* NULL: offscreen, no display is touched */
    int32_t width_px, height_px;  /* first framebuffer size; 0: 1280 x 800 */
    bool validate;                /* API validation layers, messages into the log */
    bool vsync_off;
    /* The compute device to share textures with, if any: its UUID and ordinal. */
    bool has_interop_uuid;
    uint8_t interop_uuid[16];
    int32_t interop_index;
} RendererParams;
#define RENDERER_PARAMS(...) (&(RendererParams){.struct_size = sizeof(RendererParams), __VA_ARGS__})

enum {
    RENDERER_CAP_DEVICE_SOURCE = 1u << 0,  /* takes RENDERER_SOURCE_DEVICE */
    RENDERER_CAP_STREAM_ORDERED = 1u << 1, /* ... ordered on the producer's stream */
    RENDERER_CAP_IMPORT_FD = 1u << 2,
    RENDERER_CAP_IMPORT_HOST_POINTER = 1u << 3,
    RENDERER_CAP_SHARED_IN_PLACE = 1u << 4, /* shared_attach avoids CPU staging */
    RENDERER_CAP_RECOVERS = 1u << 5 /* once lost, another one of the same kind may well start */
};

typedef struct RendererInfo {
    const char *name; /* "cpu", "gl", "vulkan" */
    char device_name[128];
    char api_version[64];
    bool software;             /* the device is a CPU */
    uint32_t caps;             /* RENDERER_CAP_* */
    int32_t max_texture_px;    /* per side */
    uint64_t max_source_bytes; /* largest extent of one source */
    bool has_uuid;
    uint8_t uuid[16];
    int32_t interop_index; /* CUDA ordinal that DEVICE sources must come from; -1: none */
} RendererInfo;

typedef struct RendererBackend {
    const char *name;
    const char *summary; /* one line for help and `caliper doctor` */
    /* NULL on failure, with the reason in `error` and nothing logged. */
    Renderer *(*create)(const RendererParams *params, char *error, size_t error_bytes);
} RendererBackend;

/* The backends of this build in probe order, ended by a NULL name (choose.c). */
extern const RendererBackend renderer_backends[];

/* Makes the first renderer that starts: `wanted` (NULL or "": from the top of the list) or, when
 * that fails, the next ones in order. Each failed try is one log line: a warning when it was asked
 * for by name, debug otherwise. `skip_through`, if not NULL, starts after that name: used when a
 * renderer is lost. NULL with one log line when `wanted` is unknown or nothing starts. Prints
 * "[renderer] <name>" on stderr. */
Renderer *renderer_choose(const RendererParams *params, const char *wanted,
                          const char *skip_through);
void renderer_destroy(Renderer **renderer);

const RendererInfo *renderer_info(const Renderer *renderer);
bool renderer_lost(const Renderer *renderer);

/* ---- Textures -------------------------------------------------------------------------------- */

typedef struct RendererTextureParams {
    uint32_t struct_size;
    const char *label;
    int32_t width_px, height_px; /* 1..max_texture_px */
    RendererPass pass;           /* fixed for the texture's life */
    /* A hint: the first update will be a DEVICE source, so a backend need not make what only host
     * sources are written to. Neither drawn nor read before that update. */
    bool device_first;
} RendererTextureParams;
#define RENDERER_TEXTURE_PARAMS(...) \
    (&(RendererTextureParams){.struct_size = sizeof(RendererTextureParams), __VA_ARGS__})

/* RGBA8 UNORM, no mips, contents undefined until the first update. NULL and one line on failure. */
RendererTexture *renderer_texture_create(Renderer *renderer, const RendererTextureParams *params);
/* Runs the texture's pass over the source. Host sources are read before it returns. On false the
 * pixels are as before. */
bool renderer_texture_update(Renderer *renderer, RendererTexture *texture,
                             const RendererSource *source);
/* Writes width x height RGBA8 pixels as they are (refill after a switch, fonts). */
bool renderer_texture_write(Renderer *renderer, RendererTexture *texture, const uint8_t *rgba);
/* Waits for pending updates of this texture; tightly packed, row 0 first. */
bool renderer_texture_read(Renderer *renderer, RendererTexture *texture, uint8_t *dst,
                           uint64_t dst_bytes);
/* NULLs *texture. The backend keeps what frames in flight still sample. */
void renderer_texture_destroy(Renderer *renderer, RendererTexture **texture);

/* ---- Memory read in place ---------------------------------------------------------------------
 */

/* Page-aligned address and size, owned by the caller, mapped until detached. NULL, without a log
 * line, when the backend cannot read it in place: the caller then passes it as a HOST source. */
RendererShared *renderer_shared_attach(Renderer *renderer, void *memory, uint64_t size_bytes);
/* Waits until the device no longer reads it. */
void renderer_shared_detach(Renderer *renderer, RendererShared **shared);

/* `handle_type` is CALIPER_ALLOC_HANDLE_*. An fd is duplicated, the caller keeps its own. NULL and
 * one line on failure. */
RendererAlloc *renderer_alloc_import(Renderer *renderer, void *os_handle, uint64_t size_bytes,
                                     uint32_t handle_type);
/* Deferred while the device reads it; never waits. */
void renderer_alloc_release(Renderer *renderer, RendererAlloc **alloc);

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct UiVertex { /* the layout of ImDrawVert */
    float x, y;           /* logical units */
    float u, v;
    uint32_t rgba; /* 0xAABBGGRR, straight alpha */
} UiVertex;

typedef enum UiFilter { UI_FILTER_LINEAR = 0, UI_FILTER_NEAREST = 1 } UiFilter;

typedef struct UiCommand {
    int32_t clip_x0, clip_y0, clip_x1,
        clip_y1;              /* framebuffer pixels, half open, inside the frame */
    RendererTexture *texture; /* never NULL */
    UiFilter filter;
    uint32_t index_first, index_count; /* triangles */
    uint32_t vertex_first;             /* added to every index */
} UiCommand;

typedef struct UiList {
    const UiVertex *vertices;
    uint32_t vertex_count;
    const uint16_t *indices;
    uint32_t index_count;
    const UiCommand *commands;
    uint32_t command_count;
} UiList;

/* Blending: src_alpha, 1 - src_alpha; alpha one, 1 - src_alpha; no sRGB conversion anywhere.
 * A pixel is covered when its centre is inside (top-left rule); clamp to edge. */
typedef struct UiDraw {
    const UiList *lists;
    uint32_t list_count;
    float origin_x, origin_y; /* logical position of the framebuffer's corner */
    float scale;              /* physical pixels per logical unit */
} UiDraw;

/* Starts a frame of that size (resizing the targets if it changed) and clears it (0xAABBGGRR). */
bool renderer_frame_begin(Renderer *renderer, int32_t width_px, int32_t height_px,
                          uint32_t clear_rgba);
bool renderer_draw_ui(Renderer *renderer, const UiDraw *draw);
/* Submits and, with a window, presents. False: the frame is not on screen (lost, or a resize that
 * the next frame mends: see renderer_lost). */
bool renderer_frame_end(Renderer *renderer);

/* A frame in one piece. */
typedef struct RendererFrame {
    int32_t width_px, height_px;
    uint32_t clear_rgba;
    const UiDraw *draws;
    uint32_t draw_count;
    bool always; /* draw it, whatever is shown */
} RendererFrame;

typedef enum RendererShown {
    RENDERER_SHOWN_NOT = 0, /* as frame_end's false */
    RENDERER_SHOWN_DRAWN,
    RENDERER_SHOWN_ALREADY /* nothing was submitted or presented: frame_read gives these pixels;
                              what was released before and is done was freed all the same */
} RendererShown;

/* frame_begin, every draw, frame_end; but where the frame that renderer_frame_show drew last had
 * the same bytes in all of its arrays, and since then no texture was made, filled or destroyed and
 * no memory let go, that frame is the picture, and nothing is done. It compares bytes, not a hash,
 * with a copy of its own. */
RendererShown renderer_frame_show(Renderer *renderer, const RendererFrame *frame);

/* The last ended frame, tightly packed RGBA8, row 0 on top. Waits for it. */
bool renderer_frame_read(Renderer *renderer, uint8_t *dst, uint64_t dst_bytes);

/* ---- What really happened ---------------------------------------------------------------------
 */

typedef struct RendererCounters {
    uint64_t updates;             /* texture_update calls that succeeded */
    uint64_t staged_bytes;        /* written by the CPU into staging or texture memory */
    uint64_t device_copied_bytes; /* copied inside device memory, tensor bytes only */
    uint64_t passes;              /* GPU passes (compute or CUDA kernels) */
    uint64_t waits;               /* times the frame thread waited for a device */
    uint64_t coalesced;           /* updates dropped because a newer one came before the frame */
    uint64_t hand_overs;          /* signals between two APIs */
    uint64_t textures, texture_bytes, allocations; /* live now */
} RendererCounters;

void renderer_counters(const Renderer *renderer, RendererCounters *out);
/* The counts of the last frame alone: since the end of the one before. `textures`, `texture_bytes`
 * and `allocations` are what is live now. */
void renderer_frame_counters(const Renderer *renderer, RendererCounters *out);
void renderer_texture_counters(const RendererTexture *texture, RendererCounters *out);
/* What the last frame's updates really did, in the words of the status bar, e.g.
 * "CPU-staged (GL fallback)" or "GPU-resident (Vulkan + CUDA, zero CPU staging)". Never NULL. */
const char *renderer_path(const Renderer *renderer);

#endif
