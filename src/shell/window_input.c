/* shell/window_input.c: GLFW's callbacks become UiEvents; drops, clipboard, cursor shapes.
 * Frame thread. */
#include <caliper/services/widgets_v1.h>

#include <stdlib.h>
#include <string.h>

#include "shell/window_impl.h"

static ShellWindow *from_glfw(GLFWwindow *glfw)
{
    return glfwGetWindowUserPointer(glfw);
}

static uint32_t to_modifiers(int mods)
{
    return ((mods & GLFW_MOD_CONTROL) != 0 ? UI_MODIFIER_CTRL : 0u) |
           ((mods & GLFW_MOD_SHIFT) != 0 ? UI_MODIFIER_SHIFT : 0u) |
           ((mods & GLFW_MOD_ALT) != 0 ? UI_MODIFIER_ALT : 0u) |
           ((mods & GLFW_MOD_SUPER) != 0 ? UI_MODIFIER_SUPER : 0u);
}

static uint32_t held_modifiers(GLFWwindow *glfw)
{
    static const struct {
        int left, right;
        uint32_t bit;
    } pairs[] = {
        {GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL, UI_MODIFIER_CTRL},
        {GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT, UI_MODIFIER_SHIFT},
        {GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT, UI_MODIFIER_ALT},
        {GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER, UI_MODIFIER_SUPER},
    };
    uint32_t bits = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (glfwGetKey(glfw, pairs[i].left) == GLFW_PRESS ||
            glfwGetKey(glfw, pairs[i].right) == GLFW_PRESS)
            bits |= pairs[i].bit;
    }
    return bits;
}

static void send(ShellWindow *window, const UiEvent *event)
{
    if (window != NULL && window->ui != NULL)
        ui_event(window->ui, event);
}

/* Window units to logical units: on X11 both window and framebuffer are in pixels, elsewhere not.
 */
static void to_logical(const ShellWindow *window, double x, double y, float *out_x, float *out_y)
{
    int width = 0, height = 0, width_px = 0, height_px = 0;
    glfwGetWindowSize(window->native->glfw, &width, &height);
    glfwGetFramebufferSize(window->native->glfw, &width_px, &height_px);
    double scale = (double)window_scale(window);
    double ratio_x = width > 0 ? (double)width_px / width : 1.0;
    double ratio_y = height > 0 ? (double)height_px / height : 1.0;
    *out_x = (float)(x * ratio_x / scale);
    *out_y = (float)(y * ratio_y / scale);
}

static void on_move(GLFWwindow *glfw, double x, double y)
{
    UiEvent event = {.kind = UI_EVENT_POINTER};
    to_logical(from_glfw(glfw), x, y, &event.x, &event.y);
    send(from_glfw(glfw), &event);
}

static void on_enter(GLFWwindow *glfw, int entered)
{
    if (!entered)
        send(from_glfw(glfw), &(UiEvent){.kind = UI_EVENT_LEAVE});
}

static void on_button(GLFWwindow *glfw, int button, int action, int mods)
{
    if (button < 0 || button > 2)
        return;
    send(from_glfw(glfw), &(UiEvent){.kind = UI_EVENT_BUTTON,
                                     .code = (uint32_t)button,
                                     .down = action == GLFW_PRESS,
                                     .modifiers = to_modifiers(mods)});
}

static void on_wheel(GLFWwindow *glfw, double x, double y)
{
    send(from_glfw(glfw), &(UiEvent){.kind = UI_EVENT_WHEEL,
                                     .x = (float)x,
                                     .y = (float)y,
                                     .modifiers = held_modifiers(glfw)});
}

/* Keys that print count by the person's layout, the others by their place. */
static uint32_t to_key(int key, int scancode)
{
    static const struct {
        int glfw;
        uint32_t key;
    } named[] = {
        {GLFW_KEY_ESCAPE, CALIPER_KEY_ESCAPE},
        {GLFW_KEY_ENTER, CALIPER_KEY_ENTER},
        {GLFW_KEY_KP_ENTER, CALIPER_KEY_ENTER},
        {GLFW_KEY_TAB, CALIPER_KEY_TAB},
        {GLFW_KEY_BACKSPACE, CALIPER_KEY_BACKSPACE},
        {GLFW_KEY_INSERT, CALIPER_KEY_INSERT},
        {GLFW_KEY_DELETE, CALIPER_KEY_DELETE},
        {GLFW_KEY_LEFT, CALIPER_KEY_LEFT},
        {GLFW_KEY_RIGHT, CALIPER_KEY_RIGHT},
        {GLFW_KEY_UP, CALIPER_KEY_UP},
        {GLFW_KEY_DOWN, CALIPER_KEY_DOWN},
        {GLFW_KEY_PAGE_UP, CALIPER_KEY_PAGE_UP},
        {GLFW_KEY_PAGE_DOWN, CALIPER_KEY_PAGE_DOWN},
        {GLFW_KEY_HOME, CALIPER_KEY_HOME},
        {GLFW_KEY_END, CALIPER_KEY_END},
    };
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (named[i].glfw == key)
            return named[i].key;
    }
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12)
        return CALIPER_KEY_F1 + (uint32_t)(key - GLFW_KEY_F1);
    if (key == GLFW_KEY_SPACE)
        return ' ';
    const char *name = glfwGetKeyName(key, scancode);
    if (name != NULL && name[0] > ' ' && name[0] < 0x7f && name[1] == '\0')
        return (uint32_t)(name[0] >= 'a' && name[0] <= 'z' ? name[0] - 'a' + 'A' : name[0]);
    return key > ' ' && key < 0x7f ? (uint32_t)key : 0;
}

static void on_key(GLFWwindow *glfw, int key, int scancode, int action, int mods)
{
    (void)mods; /* X11 leaves out the modifier that this very event is about */
    if (action == GLFW_REPEAT)
        return;
    send(from_glfw(glfw), &(UiEvent){.kind = UI_EVENT_KEY,
                                     .code = to_key(key, scancode),
                                     .down = action == GLFW_PRESS,
                                     .modifiers = held_modifiers(glfw)});
}

static void on_text(GLFWwindow *glfw, unsigned int code)
{
    send(from_glfw(glfw), &(UiEvent){.kind = UI_EVENT_TEXT, .code = code});
}

static void on_focus(GLFWwindow *glfw, int focused)
{
    send(from_glfw(glfw), &(UiEvent){.kind = UI_EVENT_FOCUS, .down = focused != 0});
}

static void on_refresh(GLFWwindow *glfw)
{
    from_glfw(glfw)->wants_refresh = true;
}

static void on_drop(GLFWwindow *glfw, int count, const char *paths[])
{
    ShellWindow *window = from_glfw(glfw);
    double x = 0.0, y = 0.0;
    glfwGetCursorPos(glfw, &x, &y);
    to_logical(window, x, y, &window->drop_x, &window->drop_y);
    for (int i = 0; i < count && window->drop_count < WINDOW_DROPS_MAX; i++) {
        char *copy = strdup(paths[i]);
        if (copy != NULL)
            window->drops[window->drop_count++] = copy;
    }
}

void window_input_connect(ShellWindow *window)
{
    GLFWwindow *glfw = window->native->glfw;
    glfwSetWindowUserPointer(glfw, window);
    glfwSetCursorPosCallback(glfw, on_move);
    glfwSetCursorEnterCallback(glfw, on_enter);
    glfwSetMouseButtonCallback(glfw, on_button);
    glfwSetScrollCallback(glfw, on_wheel);
    glfwSetKeyCallback(glfw, on_key);
    glfwSetCharCallback(glfw, on_text);
    glfwSetWindowFocusCallback(glfw, on_focus);
    glfwSetDropCallback(glfw, on_drop);
    glfwSetWindowRefreshCallback(glfw, on_refresh);
    window->cursor = UI_CURSOR_ARROW;
}

void window_poll(ShellWindow *window, Ui *ui)
{
    window->ui = ui;
    glfwPollEvents();
    window->ui = NULL;
}

bool window_take_refresh(ShellWindow *window)
{
    bool wants = window->wants_refresh;
    window->wants_refresh = false;
    return wants;
}

void window_wait(ShellWindow *window, double seconds)
{
    (void)window;
    glfwWaitEventsTimeout(seconds);
}

uint32_t window_drops(const ShellWindow *window, const char *const **out_paths, float *out_x,
                      float *out_y)
{
    *out_paths = (const char *const *)window->drops;
    *out_x = window->drop_x;
    *out_y = window->drop_y;
    return window->drop_count;
}

void window_drops_clear(ShellWindow *window)
{
    for (uint32_t i = 0; i < window->drop_count; i++)
        free(window->drops[i]);
    window->drop_count = 0;
}

/* ---- Clipboard, cursor ---- */

static const char *get_clipboard(void *user)
{
    ShellWindow *window = user;
    return window->native->glfw != NULL ? glfwGetClipboardString(window->native->glfw) : NULL;
}

static void set_clipboard(void *user, const char *text)
{
    ShellWindow *window = user;
    if (window->native->glfw != NULL)
        glfwSetClipboardString(window->native->glfw, text);
}

UiClipboard window_clipboard(ShellWindow *window)
{
    return (UiClipboard){.user = window, .get = get_clipboard, .set = set_clipboard};
}

void window_set_cursor(ShellWindow *window, UiCursor cursor)
{
    static const int shapes[WINDOW_CURSORS] = {
        [UI_CURSOR_ARROW] = GLFW_ARROW_CURSOR,           [UI_CURSOR_TEXT] = GLFW_IBEAM_CURSOR,
        [UI_CURSOR_RESIZE_X] = GLFW_HRESIZE_CURSOR,      [UI_CURSOR_RESIZE_Y] = GLFW_VRESIZE_CURSOR,
        [UI_CURSOR_RESIZE_BOTH] = GLFW_CROSSHAIR_CURSOR, [UI_CURSOR_HAND] = GLFW_HAND_CURSOR,
    };
    if (window->native->glfw == NULL || cursor == window->cursor)
        return;
    window->cursor = cursor;
    glfwSetInputMode(window->native->glfw, GLFW_CURSOR,
                     cursor == UI_CURSOR_NONE ? GLFW_CURSOR_HIDDEN : GLFW_CURSOR_NORMAL);
    if ((uint32_t)cursor >= WINDOW_CURSORS)
        return;
    if (window->cursors[cursor] == NULL)
        window->cursors[cursor] = glfwCreateStandardCursor(shapes[cursor]);
    glfwSetCursor(window->native->glfw, window->cursors[cursor]);
}
