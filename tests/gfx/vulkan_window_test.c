/* The Vulkan renderer in a real window, on a display of its own (Xvfb): the pixels that arrive,
 * sizes that change, windows of no size, and a device lost at each acquire, submission and present.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include "core/fault.h"
#include "render/vulkan/vk_renderer.h"
#include "vulkan_support.h"

/* GLFW's own native header asks for more of X11 than is needed here. */
Display *glfwGetX11Display(void);
Window glfwGetX11Window(GLFWwindow *window);
VkResult glfwCreateWindowSurface(VkInstance instance, GLFWwindow *window,
                                 const VkAllocationCallbacks *allocator, VkSurfaceKHR *surface);

enum { WIDTH = 320, HEIGHT = 200 };

typedef struct TestWindow {
    GLFWwindow *native;
    bool has_no_size;
} TestWindow;

static pid_t server;

/* Starts Xvfb on a free display; false when there is none. */
static bool display_start(void)
{
    int ends[2];
    char number[16] = "", display[24], end[8];
    if (pipe(ends) != 0)
        return false;
    server = fork();
    if (server == 0) {
        close(ends[0]);
        snprintf(end, sizeof end, "%d", ends[1]);
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(126);
        execlp("Xvfb", "Xvfb", "-displayfd", end, "-screen", "0", "800x600x24", "-nolisten", "tcp",
               (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t got = server > 0 ? read(ends[0], number, sizeof number - 1) : -1;
    close(ends[0]);
    if (got <= 1)
        return false;
    number[strcspn(number, "\n")] = '\0';
    snprintf(display, sizeof display, ":%s", number);
    return setenv("DISPLAY", display, 1) == 0;
}

static void display_stop(void)
{
    if (server > 0) {
        kill(server, SIGTERM);
        waitpid(server, NULL, 0);
    }
}

/* ---- The window that the renderer is given
 * ----------------------------------------------------------- */

static bool window_open(void *user, RendererWindowApi api, char *error, size_t error_bytes)
{
    TestWindow *window = user;
    assert_int_equal(api, RENDERER_WINDOW_VULKAN);
    if (window->native != NULL)
        glfwDestroyWindow(window->native);
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    window->native = glfwCreateWindow(WIDTH, HEIGHT, "caliper test", NULL, NULL);
    if (window->native == NULL)
        snprintf(error, error_bytes, "no window");
    return window->native != NULL;
}

static void window_size(void *user, int32_t *out_width, int32_t *out_height)
{
    TestWindow *window = user;
    int width = 0, height = 0;
    if (!window->has_no_size)
        glfwGetFramebufferSize(window->native, &width, &height);
    *out_width = width;
    *out_height = height;
}

static const char *const *window_extensions(void *user, uint32_t *out_count)
{
    (void)user;
    return (const char *const *)glfwGetRequiredInstanceExtensions(out_count);
}

static int32_t window_surface(void *user, void *instance, uint64_t *out_surface)
{
    TestWindow *window = user;
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    VkResult result = glfwCreateWindowSurface(instance, window->native, NULL, &surface);
    *out_surface = (uint64_t)surface;
    return result;
}

static Renderer *start(TestWindow *test, bool vsync_off)
{
    RendererWindow window = {.user = test,
                             .open = window_open,
                             .framebuffer_size = window_size,
                             .vulkan_instance_extensions = window_extensions,
                             .vulkan_create_surface = window_surface};
    return vulkan_test_renderer_with(
        RENDERER_PARAMS(.window = &window, .validate = true, .vsync_off = vsync_off));
}

static void stop(TestWindow *test, Renderer **renderer)
{
    renderer_destroy(renderer);
    if (test->native != NULL)
        glfwDestroyWindow(test->native);
    test->native = NULL;
}

/* ---- Frames
 * ------------------------------------------------------------------------------------------- */

/* Top half of one colour, bottom half of another, in the window's size. */
static bool show(TestWindow *test, Renderer *renderer, RendererTexture *white, uint32_t top,
                 uint32_t bottom)
{
    int width = 0, height = 0;
    glfwPollEvents();
    glfwGetFramebufferSize(test->native, &width, &height);
    float w = (float)width, h = (float)(height / 2);
    UiVertex vertices[4] = {
        {0, 0, 0, 0, top}, {w, 0, 1, 0, top}, {w, h, 1, 1, top}, {0, h, 0, 1, top}};
    uint16_t indices[6] = {0, 1, 2, 0, 2, 3};
    UiCommand command = {.clip_x1 = width, .clip_y1 = height, .texture = white, .index_count = 6};
    UiList list = {vertices, 4, indices, 6, &command, 1};
    UiDraw draw = {.lists = &list, .list_count = 1, .scale = 1.0f};
    return renderer_frame_begin(renderer, width, height, bottom) &&
           renderer_draw_ui(renderer, &draw) && renderer_frame_end(renderer);
}

static uint32_t screen_pixel(TestWindow *test, int x, int y)
{
    Display *display = glfwGetX11Display();
    XImage *image =
        XGetImage(display, glfwGetX11Window(test->native), x, y, 1, 1, AllPlanes, ZPixmap);
    assert_non_null(image);
    uint32_t pixel = (uint32_t)XGetPixel(image, 0, 0) & 0xffffffu; /* 0xRRGGBB */
    XDestroyImage(image);
    return pixel;
}

static RendererTexture *white_texture(Renderer *renderer)
{
    const uint8_t white[4] = {255, 255, 255, 255};
    RendererTexture *texture = renderer_texture_create(
        renderer, RENDERER_TEXTURE_PARAMS(.width_px = 1, .height_px = 1, .pass = pass_expand(4)));
    if (texture != NULL && !renderer_texture_write(renderer, texture, white))
        renderer_texture_destroy(renderer, &texture);
    return texture;
}

/* The presentation engine copies when it likes: look until the colours are there. */
static void wait_for_pixels(TestWindow *test, int x, int y, uint32_t wanted)
{
    uint32_t pixel = 0;
    for (int i = 0; i < 12000; i++) {
        pixel = screen_pixel(test, x, y);
        if (pixel == wanted)
            return;
        usleep(10000);
    }
    fail_msg("the screen shows %06x at %d,%d, wanted %06x", pixel, x, y, wanted);
}

static void pixels_arrive(void **state)
{
    (void)state;
    for (int vsync_off = 0; vsync_off < 2; vsync_off++) {
        TestWindow test = {0};
        Renderer *renderer = start(&test, vsync_off == 1);
        RendererTexture *white = white_texture(renderer);
        for (int i = 0; i < 10; i++)
            assert_true(show(&test, renderer, white, 0xff2040f0u, 0xff30d010u));
        wait_for_pixels(&test, 10, 10, 0xf04020);
        wait_for_pixels(&test, WIDTH - 1, HEIGHT - 1, 0x10d030);
        renderer_texture_destroy(renderer, &white);
        stop(&test, &renderer);
    }
    assert_int_equal(log_captured_problems(), 0);
    assert_int_equal(vk_validation_messages(), 0);
}

static void sizes_change(void **state)
{
    (void)state;
    TestWindow test = {0};
    Renderer *renderer = start(&test, true);
    RendererTexture *white = white_texture(renderer);
    uint32_t shown = 0;
    VulkanLive before, after;
    log_capture_reset();
    vk_renderer_live(renderer, &before);
    for (int i = 0; i < 60; i++) {
        if (i % 3 == 0)
            glfwSetWindowSize(test.native, 100 + i * 7 % 300, 90 + i * 13 % 200);
        test.has_no_size = i % 10 == 9; /* iconified */
        bool ended = show(&test, renderer, white, 0xff0000ffu, 0xffff0000u);
        assert_false(test.has_no_size && ended);
        shown += ended;
        assert_false(renderer_lost(renderer));
    }
    test.has_no_size = false;
    assert_true(shown > 20);
    glfwSetWindowSize(test.native, 150, 100);
    for (int i = 0; i < 20; i++)
        show(&test, renderer, white, 0xff0000ffu, 0xffff0000u);
    wait_for_pixels(&test, 149, 10, 0xff0000);
    wait_for_pixels(&test, 149, 99, 0x0000ff);
    renderer_texture_destroy(renderer, &white);
    vk_renderer_live(renderer, &after);
    assert_true(after.allocations <= before.allocations + 1); /* the frame's target */
    assert_int_equal(log_captured_problems(), 0);
    stop(&test, &renderer);
    assert_int_equal(vk_validation_messages(), 0);
}

static void lost_in_a_window(const char *site)
{
    for (uint32_t n = 1; n <= 6; n++) {
        TestWindow test = {0};
        char plan[32];
        snprintf(plan, sizeof plan, "%s:%u", site, n);
        Renderer *renderer = start(&test, true);
        RendererTexture *white = white_texture(renderer);
        log_capture_reset();
        assert_true(fault_set_plan(plan));
        bool went_on = true;
        for (int frame = 0; frame < 8 && went_on; frame++)
            went_on = show(&test, renderer, white, 0xff0000ffu, 0xffff0000u);
        assert_int_equal(fault_injected(), 1);
        fault_set_plan(NULL);
        assert_false(went_on);
        assert_true(renderer_lost(renderer));
        assert_int_equal(log_captured(LOG_RENDERER_LOST), 1);
        /* As the shell does it: the next one starts, over the same window made again, while the
         * lost one still holds the textures. */
        Renderer *next = start(&test, true);
        RendererTexture *next_white = white_texture(next);
        renderer_texture_destroy(renderer, &white);
        renderer_destroy(&renderer);
        for (int frame = 0; frame < 4; frame++)
            assert_true(show(&test, next, next_white, 0xff0000ffu, 0xffff0000u));
        wait_for_pixels(&test, 10, 10, 0xff0000);
        assert_int_equal(log_captured_problems(), 1);
        renderer_texture_destroy(next, &next_white);
        stop(&test, &next);
    }
    assert_int_equal(vk_validation_messages(), 0);
}

static void lost_at_each_submission(void **state)
{
    (void)state;
    lost_in_a_window("vk.submit");
}

static void lost_at_each_acquire(void **state)
{
    (void)state;
    lost_in_a_window("vk.acquire");
}

static void lost_at_each_present(void **state)
{
    (void)state;
    lost_in_a_window("vk.present");
}

static void a_window_without_vulkan_is_refused(void **state)
{
    (void)state;
    char error[256] = "";
    TestWindow test = {0};
    RendererWindow window = {.user = &test, .open = window_open, .framebuffer_size = window_size};
    log_capture_reset();
    assert_null(vk_renderer_create(RENDERER_PARAMS(.window = &window), error, sizeof error));
    assert_true(error[0] != '\0');
    window.vulkan_instance_extensions = window_extensions;
    error[0] = '\0';
    assert_null(vk_renderer_create(RENDERER_PARAMS(.window = &window), error, sizeof error));
    assert_true(error[0] != '\0');
    assert_int_equal(log_captured_problems(), 0);
    glfwDestroyWindow(test.native);
}

int main(void)
{
    vulkan_test_begin();
    log_stderr_enable(false);
    if (!display_start()) {
        printf("skipped: no Xvfb\n");
        display_stop();
        return 77;
    }
    if (!glfwInit() || !glfwVulkanSupported()) {
        printf("skipped: GLFW has no Vulkan here\n");
        display_stop();
        return 77;
    }
    log_capture_start();
    const struct CMUnitTest tests[] = {cmocka_unit_test(pixels_arrive),
                                       cmocka_unit_test(sizes_change),
                                       cmocka_unit_test(lost_at_each_submission),
                                       cmocka_unit_test(lost_at_each_acquire),
                                       cmocka_unit_test(lost_at_each_present),
                                       cmocka_unit_test(a_window_without_vulkan_is_refused)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    glfwTerminate();
    display_stop();
    return failed > 0 ? 1 : 0;
}
