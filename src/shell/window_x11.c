/* shell/window_x11.c: finished pixels into an X11 window, for the renderer without a graphics API.
 * Frame thread. */
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "shell/window_impl.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>

/* GLFW's own header for these wants the headers of X extensions that nothing here uses. */
Display *glfwGetX11Display(void);
XID glfwGetX11Window(GLFWwindow *window);

struct WindowPixels {
    XImage *image; /* owns its data */
    GC context;
    Display *display;
    int32_t width_px, height_px;
};

void window_pixels_destroy(WindowPixels **pixels)
{
    if (pixels == NULL || *pixels == NULL)
        return;
    if ((*pixels)->image != NULL)
        XDestroyImage((*pixels)->image);
    if ((*pixels)->context != NULL)
        XFreeGC((*pixels)->display, (*pixels)->context);
    free(*pixels);
    *pixels = NULL;
}

static WindowPixels *make_pixels(Display *display, XID native, int32_t width_px, int32_t height_px)
{
    XWindowAttributes attributes;
    if (!XGetWindowAttributes(display, native, &attributes))
        return NULL;
    const Visual *visual = attributes.visual;
    if (visual->red_mask != 0xff0000 || visual->green_mask != 0xff00 || visual->blue_mask != 0xff) {
        log_item(WINDOW_PIXEL_FORMAT, visual->red_mask, visual->green_mask, visual->blue_mask);
        return NULL;
    }
    WindowPixels *pixels = calloc(1, sizeof *pixels);
    char *data = malloc((size_t)width_px * (size_t)height_px * 4);
    if (pixels == NULL || data == NULL) {
        log_item(OUT_OF_MEMORY, "present_pixels",
                 (unsigned long long)width_px * (unsigned long long)height_px * 4);
        free(data);
        free(pixels);
        return NULL;
    }
    pixels->display = display;
    pixels->width_px = width_px;
    pixels->height_px = height_px;
    pixels->context = XCreateGC(display, native, 0, NULL);
    pixels->image = XCreateImage(display, attributes.visual, (unsigned)attributes.depth, ZPixmap, 0,
                                 data, (unsigned)width_px, (unsigned)height_px, 32, width_px * 4);
    if (pixels->image == NULL)
        free(data);
    if (pixels->image == NULL || pixels->image->bits_per_pixel != 32)
        window_pixels_destroy(&pixels);
    return pixels;
}

bool window_pixels_present(WindowNative *native, const uint8_t *rgba, int32_t width_px,
                           int32_t height_px)
{
    Display *display = glfwGetX11Display();
    XID drawable = glfwGetX11Window(native->glfw);
    if (display == NULL || drawable == 0 || width_px <= 0 || height_px <= 0)
        return false;
    if (native->pixels != NULL &&
        (native->pixels->width_px != width_px || native->pixels->height_px != height_px))
        window_pixels_destroy(&native->pixels);
    if (native->pixels == NULL)
        native->pixels = make_pixels(display, drawable, width_px, height_px);
    if (native->pixels == NULL)
        return false;
    WindowPixels *pixels = native->pixels;
    /* Red and blue change places; the byte order of the image says where they are. */
    pixels->image->byte_order = LSBFirst;
    uint8_t *to = (uint8_t *)pixels->image->data;
    size_t count = (size_t)width_px * (size_t)height_px;
    for (size_t i = 0; i < count; i++) {
        to[4 * i] = rgba[4 * i + 2];
        to[4 * i + 1] = rgba[4 * i + 1];
        to[4 * i + 2] = rgba[4 * i];
        to[4 * i + 3] = 0xff;
    }
    XPutImage(display, drawable, pixels->context, pixels->image, 0, 0, 0, 0, (unsigned)width_px,
              (unsigned)height_px);
    XFlush(display);
    return true;
}
