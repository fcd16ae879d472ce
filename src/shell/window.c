/* shell/window.c: the native window, made again for each graphics API that a renderer asks for.
 * Frame thread. */
#include "shell/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/log.h"
#include "shell/window_impl.h"

/* GLFW declares it only beside Vulkan's own header: `instance` is a VkInstance, `surface` points to
 * a 64-bit VkSurfaceKHR, the answer is a VkResult. */
int glfwCreateWindowSurface(void *instance, GLFWwindow *window, const void *allocator,
                            uint64_t *surface);

static void on_glfw_error(int code, const char *text)
{
    log_item(WINDOW_LIBRARY, code, text != NULL ? text : "");
}

static void describe_error(char *error, size_t error_bytes, const char *what)
{
    const char *text = NULL;
    glfwGetError(&text);
    snprintf(error, error_bytes, "%s: %s", what, text != NULL ? text : "unknown reason");
}

float window_scale(const ShellWindow *window)
{
    float x = 1.0f, y = 1.0f;
    if (window->scale_override > 0.0f)
        return window->scale_override;
    if (window->glfw != NULL)
        glfwGetWindowContentScale(window->glfw, &x, &y);
    return isfinite(x) && x >= 0.5f && x <= 8.0f ? x : 1.0f;
}

/* ---- What the renderers call ---- */

static void close_native(ShellWindow *window)
{
    window_pixels_destroy(&window->pixels);
    if (window->glfw == NULL)
        return;
    glfwDestroyWindow(window->glfw);
    window->glfw = NULL;
}

static bool open_native(void *user, RendererWindowApi api, char *error, size_t error_bytes)
{
    ShellWindow *window = user;
    close_native(window);
    if (fault_here("window.open")) {
        snprintf(error, error_bytes, "injected failure");
        return false;
    }
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CLIENT_API, api == RENDERER_WINDOW_GL ? GLFW_OPENGL_API : GLFW_NO_API);
    if (api == RENDERER_WINDOW_GL) {
        glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
        glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
        glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    }
    window->glfw = glfwCreateWindow(window->width_px, window->height_px, window->title, NULL, NULL);
    if (window->glfw == NULL) {
        describe_error(error, error_bytes, "no window");
        return false;
    }
    window->api = api;
    window_input_connect(window);
    return true;
}

static void framebuffer_size(void *user, int32_t *out_width_px, int32_t *out_height_px)
{
    ShellWindow *window = user;
    int width_px = 0, height_px = 0;
    if (window->glfw != NULL)
        glfwGetFramebufferSize(window->glfw, &width_px, &height_px);
    *out_width_px = width_px;
    *out_height_px = height_px;
}

static bool gl_make_current(void *user)
{
    ShellWindow *window = user;
    /* A lost GL renderer may still ask while the window already serves its successor. */
    if (window->glfw == NULL || window->api != RENDERER_WINDOW_GL)
        return false;
    glfwMakeContextCurrent(window->glfw);
    return glfwGetCurrentContext() == window->glfw;
}

static bool gl_swap(void *user)
{
    ShellWindow *window = user;
    if (window->glfw == NULL || window->api != RENDERER_WINDOW_GL)
        return false;
    glfwSwapBuffers(window->glfw);
    return true;
}

static void *gl_proc(void *user, const char *name)
{
    (void)user;
    GLFWglproc proc = glfwGetProcAddress(name);
    void *address = NULL;
    memcpy(&address, &proc, sizeof address);
    return address;
}

static const char *const *vulkan_instance_extensions(void *user, uint32_t *out_count)
{
    (void)user;
    const char **names = glfwGetRequiredInstanceExtensions(out_count);
    return (const char *const *)names;
}

static int32_t vulkan_create_surface(void *user, void *instance, uint64_t *out_surface)
{
    ShellWindow *window = user;
    return glfwCreateWindowSurface(instance, window->glfw, NULL, out_surface);
}

static bool present_pixels(void *user, const uint8_t *rgba, int32_t width_px, int32_t height_px)
{
    ShellWindow *window = user;
    return window->glfw != NULL && window_pixels_present(window, rgba, width_px, height_px);
}

/* ---- Life ---- */

ShellWindow *window_create(const WindowParams *params)
{
    const char *text = NULL;
    ShellWindow *window = calloc(1, sizeof *window);
    if (window == NULL) {
        log_item(OUT_OF_MEMORY, "window_create", (unsigned long long)sizeof *window);
        return NULL;
    }
    if (!glfwInit()) {
        glfwGetError(&text);
        log_item(WINDOW_NO_DISPLAY, text != NULL ? text : "unknown reason");
        free(window);
        return NULL;
    }
    glfwSetErrorCallback(on_glfw_error);
    snprintf(window->title, sizeof window->title, "%s", params->title);
    window->scale_override = params->scale;
    window->width_px = params->width_px;
    window->height_px = params->height_px;
    if (window->width_px <= 0 || window->height_px <= 0) {
        float x = 1.0f, y = 1.0f;
        GLFWmonitor *monitor = glfwGetPrimaryMonitor();
        if (monitor != NULL)
            glfwGetMonitorContentScale(monitor, &x, &y);
        x = params->scale > 0.0f ? params->scale : isfinite(x) && x >= 0.5f && x <= 8.0f ? x : 1.0f;
        window->width_px = (int32_t)lroundf(1280.0f * x);
        window->height_px = (int32_t)lroundf(800.0f * x);
    }
    window->renderer = (RendererWindow){
        .user = window,
        .open = open_native,
        .framebuffer_size = framebuffer_size,
        .gl_make_current = gl_make_current,
        .gl_swap = gl_swap,
        .gl_proc = gl_proc,
        .vulkan_instance_extensions = vulkan_instance_extensions,
        .vulkan_create_surface = vulkan_create_surface,
        .present_pixels = present_pixels,
    };
    return window;
}

void window_destroy(ShellWindow **window)
{
    if (window == NULL || *window == NULL)
        return;
    window_drops_clear(*window);
    for (uint32_t i = 0; i < WINDOW_CURSORS; i++) {
        if ((*window)->cursors[i] != NULL)
            glfwDestroyCursor((*window)->cursors[i]);
    }
    close_native(*window);
    glfwTerminate();
    free(*window);
    *window = NULL;
}

const RendererWindow *window_renderer(ShellWindow *window)
{
    return &window->renderer;
}

bool window_should_close(const ShellWindow *window)
{
    return window->glfw != NULL && glfwWindowShouldClose(window->glfw);
}

void window_size(const ShellWindow *window, int32_t *out_width_px, int32_t *out_height_px,
                 float *out_scale)
{
    int width_px = 0, height_px = 0;
    if (window->glfw != NULL && !glfwGetWindowAttrib(window->glfw, GLFW_ICONIFIED))
        glfwGetFramebufferSize(window->glfw, &width_px, &height_px);
    *out_width_px = width_px;
    *out_height_px = height_px;
    *out_scale = window_scale(window);
}
