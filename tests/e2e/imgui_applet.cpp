/* tests/e2e/imgui_applet.cpp: an applet of caliper.ui.v1 with its own copy of Dear ImGui: content
 * straight into its panel and a window of its own, with marks that a test looks for. */
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/services/ui_v1.h>

#include <caliper/caliper.h>

#include <imgui.h>

struct Own {
    const CaliperUiV1 *ui;
    ImGuiContext *context;
};

static Own own;

static void *create()
{
    return &own;
}

static void destroy(void *) {}

static bool initialize(void *, const CaliperHost *host)
{
    own.ui = CALIPER_SERVICE(host, CaliperUiV1, CALIPER_UI_V1);
    if (own.ui == nullptr || own.ui->implot_context() != nullptr)
        return false;
    CaliperImGuiAllocFn alloc = nullptr;
    CaliperImGuiFreeFn release = nullptr;
    void *user = nullptr;
    own.ui->imgui_allocators(&alloc, &release, &user);
    own.context = own.ui->imgui_context();
    ImGui::SetAllocatorFunctions(alloc, release, user);
    ImGui::SetCurrentContext(own.context);
    return own.context != nullptr && own.context == own.ui->imgui_context();
}

static void frame(void *, const CaliperFrameInfo *)
{
    ImGui::SetCurrentContext(own.context);
    /* Green, 20 units from the panel's corner. */
    const ImVec2 at = ImGui::GetWindowPos();
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(at.x + 20, at.y + 20),
                                              ImVec2(at.x + 60, at.y + 60), 0xff00ff00u);
    ImGui::SetNextWindowPos(ImVec2(100, 100));
    ImGui::SetNextWindowSize(ImVec2(200, 200));
    ImGui::Begin("own", nullptr, ImGuiWindowFlags_NoDecoration);
    /* Red, in a window of its own; and blue, which leaves the panel and has to be cut off. */
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(140, 140), ImVec2(180, 180), 0xff0000ffu);
    ImGui::GetForegroundDrawList()->AddRectFilled(ImVec2(-100, -100), ImVec2(10, 10), 0xffff0000u);
    ImGui::End();
}

static void cleanup(void *) {}

extern "C" CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

extern "C" CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const services[] = {CALIPER_UI_V1, nullptr};
    static const CaliperAppletDescriptor descriptor = {
        sizeof(CaliperAppletDescriptor),
        CALIPER_ABI_EPOCH,
        "org.caliper.test.imgui",
        "1.0.0",
        "ImGui",
        "Its own Dear ImGui.",
        "test",
        services,
        {sizeof(CaliperAppletAPI), create, destroy, initialize, frame, cleanup}};
    return &descriptor;
}
