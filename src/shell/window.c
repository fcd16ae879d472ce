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
    if (window->native->glfw != NULL)
        glfwGetWindowContentScale(window->native->glfw, &x, &y);
    return isfinite(x) && x >= 0.5f && x <= 8.0f ? x : 1.0f;
}

/* ---- What the renderers call ---- */

static void close_native(WindowNative *native)
{
    window_pixels_destroy(&native->pixels);
    if (native->glfw == NULL)
        return;
    glfwDestroyWindow(native->glfw);
    native->glfw = NULL;
}

static WindowNative *other_native(ShellWindow *window)
{
    return &window->natives[window->native == &window->natives[0] ? 1 : 0];
}

static void choose_hints(RendererWindowApi api)
{
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CLIENT_API, api == RENDERER_WINDOW_GL ? GLFW_OPENGL_API : GLFW_NO_API);
    if (api != RENDERER_WINDOW_GL)
        return;
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
}

/* Where the one before stands, and as large. */
static GLFWwindow *create_in_place_of(const ShellWindow *window, GLFWwindow *before)
{
    int x = 0, y = 0, width = 0, height = 0;
    glfwGetWindowPos(before, &x, &y);
    glfwGetWindowSize(before, &width, &height);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    GLFWwindow *made = glfwCreateWindow(width, height, window->title, NULL, NULL);
    if (made == NULL)
        return NULL;
    glfwSetWindowPos(made, x, y);
    glfwShowWindow(made);
    return made;
}

static bool open_native(void *user, RendererWindowApi api, char *error, size_t error_bytes)
{
    WindowNative *native = user;
    ShellWindow *window = native->owner;
    close_native(native); /* of a renderer that did not start */
    if (fault_here("window.open")) {
        snprintf(error, error_bytes, "injected failure");
        return false;
    }
    choose_hints(api);
    GLFWwindow *before = other_native(window)->glfw;
    native->glfw = before != NULL ? create_in_place_of(window, before)
                                  : glfwCreateWindow(window->width_px, window->height_px,
                                                     window->title, NULL, NULL);
    if (native->glfw == NULL) {
        describe_error(error, error_bytes, "no window");
        return false;
    }
    window_input_connect(window);
    return true;
}

static void framebuffer_size(void *user, int32_t *out_width_px, int32_t *out_height_px)
{
    const WindowNative *native = user;
    int width_px = 0, height_px = 0;
    if (native->glfw != NULL)
        glfwGetFramebufferSize(native->glfw, &width_px, &height_px);
    *out_width_px = width_px;
    *out_height_px = height_px;
}

static bool gl_make_current(void *user)
{
    const WindowNative *native = user;
    if (native->glfw == NULL)
        return false;
    glfwMakeContextCurrent(native->glfw);
    return glfwGetCurrentContext() == native->glfw;
}

static bool gl_swap(void *user)
{
    const WindowNative *native = user;
    if (native->glfw == NULL)
        return false;
    glfwSwapBuffers(native->glfw);
    return true;
}

static void gl_swap_interval(void *user, int32_t refreshes)
{
    (void)user; /* the current context's */
    glfwSwapInterval(refreshes);
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
    const WindowNative *native = user;
    return glfwCreateWindowSurface(instance, native->glfw, NULL, out_surface);
}

static bool present_pixels(void *user, const uint8_t *rgba, int32_t width_px, int32_t height_px)
{
    WindowNative *native = user;
    return native->glfw != NULL && window_pixels_present(native, rgba, width_px, height_px);
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
    window->native = &window->natives[0];
    for (int i = 0; i < 2; i++) {
        WindowNative *native = &window->natives[i];
        native->owner = window;
        native->renderer = (RendererWindow){
            .user = native,
            .open = open_native,
            .framebuffer_size = framebuffer_size,
            .gl_make_current = gl_make_current,
            .gl_swap = gl_swap,
            .gl_swap_interval = gl_swap_interval,
            .gl_proc = gl_proc,
            .vulkan_instance_extensions = vulkan_instance_extensions,
            .vulkan_create_surface = vulkan_create_surface,
            .present_pixels = present_pixels,
        };
    }
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
    close_native(&(*window)->natives[0]);
    close_native(&(*window)->natives[1]);
    glfwTerminate();
    free(*window);
    *window = NULL;
}

const RendererWindow *window_renderer_next(ShellWindow *window)
{
    if (window->native->glfw != NULL && other_native(window)->glfw == NULL)
        window->native = other_native(window);
    return &window->native->renderer;
}

void window_renderer_settled(ShellWindow *window)
{
    close_native(other_native(window));
}

bool window_should_close(const ShellWindow *window)
{
    return window->native->glfw != NULL && glfwWindowShouldClose(window->native->glfw);
}

void window_size(const ShellWindow *window, int32_t *out_width_px, int32_t *out_height_px,
                 float *out_scale)
{
    int width_px = 0, height_px = 0;
    if (window->native->glfw != NULL && !glfwGetWindowAttrib(window->native->glfw, GLFW_ICONIFIED))
        glfwGetFramebufferSize(window->native->glfw, &width_px, &height_px);
    *out_width_px = width_px;
    *out_height_px = height_px;
    *out_scale = window_scale(window);
}
