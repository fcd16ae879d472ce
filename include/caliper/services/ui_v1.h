/* caliper.ui.v1: the host's Dear ImGui, for applets that link the very same version of it.
 *
 * Frozen. Before any ImGui call an applet adopts the host's context and allocators in its own copy
 * of the library: ImGui::SetCurrentContext and ImGui::SetAllocatorFunctions, in initialize. A copy
 * of another version does not fit; compare ImGui's version string first. An applet in C, or in any
 * other language, wants caliper.widgets instead. Every slot is [frame]. Thread tags:
 * caliper/caliper.h. */
#ifndef CALIPER_SERVICES_UI_V1_H
#define CALIPER_SERVICES_UI_V1_H

#include <stddef.h>
#include <stdint.h>

#include <caliper/layout.h>

#define CALIPER_UI_V1 "caliper.ui.v1"

struct ImGuiContext;
struct ImPlotContext;
struct ImPlot3DContext;

#ifdef __cplusplus
extern "C" {
#endif

/* The allocator pair; `user` is what imgui_allocators gave with them. [frame] */
typedef void *(*CaliperImGuiAllocFn)(size_t size_bytes, void *user);
typedef void (*CaliperImGuiFreeFn)(void *ptr, void *user);

typedef struct CaliperUiV1 {
    uint32_t struct_size;

    /* The context in which the host's frame is open. Host-owned; never destroy it. [frame] */
    struct ImGuiContext *(*imgui_context)(void);

    /* ImPlot's context, or NULL where the host has no ImPlot. Host-owned. [frame] */
    struct ImPlotContext *(*implot_context)(void);

    /* ImPlot3D's context, or NULL where the host has no ImPlot3D. Host-owned. [frame] */
    struct ImPlot3DContext *(*implot3d_context)(void);

    /* Writes the allocators and their user pointer; a NULL output is skipped. [frame] */
    void (*imgui_allocators)(CaliperImGuiAllocFn *out_alloc, CaliperImGuiFreeFn *out_free,
                             void **out_user);
} CaliperUiV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperUiV1, 40);
CALIPER_LAYOUT_AT(CaliperUiV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperUiV1, imgui_context, 8);
CALIPER_LAYOUT_AT(CaliperUiV1, implot_context, 16);
CALIPER_LAYOUT_AT(CaliperUiV1, implot3d_context, 24);
CALIPER_LAYOUT_AT(CaliperUiV1, imgui_allocators, 32);

#endif
