/* An OpenGL context without a window: through EGL on a GPU without a display, else surfaceless,
 * else a tiny pbuffer of the default display. A display is never ended: it belongs to the whole
 * process, and ending it takes down every context on it, also those of others (a window library's,
 * an applet's). Frame thread. */
#include <dlfcn.h>
#include <epoxy/egl.h>
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "render/gl/gl.h"

enum { DEVICES_MAX = 16, CONFIG_COLOUR_BITS = 8 };

static bool lists(const char *extensions, const char *name)
{
    size_t length = strlen(name);
    const char *at = extensions;
    while (at != NULL && (at = strstr(at, name)) != NULL) {
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
        at += length;
    }
    return false;
}

/* libepoxy ends the process when a library it needs is missing, so ask before it does. */
static bool libraries_are_there(char *error, size_t error_bytes)
{
    void *egl = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_LOCAL);
    void *gl = dlopen("libOpenGL.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (gl == NULL)
        gl = dlopen("libGL.so.1", RTLD_LAZY | RTLD_LOCAL);
    bool both = egl != NULL && gl != NULL;
    if (!both)
        snprintf(error, error_bytes, "%s is not installed",
                 egl == NULL ? "libEGL.so.1" : "libOpenGL.so.0 or libGL.so.1");
    if (egl != NULL)
        dlclose(egl);
    if (gl != NULL)
        dlclose(gl);
    return both;
}

static EGLConfig config_choose(EGLDisplay display, EGLint surface_bit)
{
    const EGLint wanted[] = {EGL_SURFACE_TYPE, surface_bit,  EGL_RENDERABLE_TYPE,
                             EGL_OPENGL_BIT,   EGL_RED_SIZE, CONFIG_COLOUR_BITS,
                             EGL_NONE};
    EGLConfig config = NULL;
    EGLint count = 0;
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || count < 1)
        return NULL;
    return config;
}

static EGLContext context_make(EGLDisplay display, EGLConfig config, bool debug, bool robust)
{
    EGLint wanted[16] = {EGL_CONTEXT_MAJOR_VERSION,       3,
                         EGL_CONTEXT_MINOR_VERSION,       3,
                         EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT};
    int used = 6;
    if (debug) {
        wanted[used++] = EGL_CONTEXT_OPENGL_DEBUG;
        wanted[used++] = EGL_TRUE;
    }
    if (robust) {
        wanted[used++] = EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY;
        wanted[used++] = EGL_LOSE_CONTEXT_ON_RESET;
    }
    wanted[used] = EGL_NONE;
    return eglCreateContext(display, config, EGL_NO_CONTEXT, wanted);
}

/* A context on an open display. */
static bool context_create(GlEgl *egl, EGLDisplay display, bool debug, char *error,
                           size_t error_bytes)
{
    *egl = (GlEgl){.display = display, .context = EGL_NO_CONTEXT, .surface = EGL_NO_SURFACE};
    const char *step = "eglBindAPI";
    bool surfaceless =
        lists(eglQueryString(display, EGL_EXTENSIONS), "EGL_KHR_surfaceless_context");
    if (!eglBindAPI(EGL_OPENGL_API))
        goto failed;
    step = "eglChooseConfig";
    EGLConfig config = config_choose(display, surfaceless ? 0 : EGL_PBUFFER_BIT);
    if (config == NULL)
        goto failed;
    step = "eglCreateContext for OpenGL 3.3 core";
    if (fault_here("gl.context"))
        goto failed;
    egl->context = context_make(display, config, debug, true);
    if (egl->context == EGL_NO_CONTEXT)
        egl->context = context_make(display, config, debug, false);
    if (egl->context == EGL_NO_CONTEXT)
        goto failed;
    step = "eglCreatePbufferSurface";
    if (!surfaceless) {
        const EGLint tiny[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
        egl->surface = eglCreatePbufferSurface(display, config, tiny);
        if (egl->surface == EGL_NO_SURFACE)
            goto failed;
    }
    step = "eglMakeCurrent";
    if (fault_here("gl.context") || !gl_egl_enter(egl))
        goto failed;
    return true;

failed:
    snprintf(error, error_bytes, "%s failed (EGL error 0x%x)", step, (unsigned)eglGetError());
    gl_egl_destroy(egl);
    return false;
}

static bool try_display(GlEgl *egl, EGLDisplay display, bool debug, char *error, size_t error_bytes)
{
    if (fault_here("gl.context") || display == EGL_NO_DISPLAY ||
        !eglInitialize(display, NULL, NULL)) {
        snprintf(error, error_bytes, "no EGL display opens");
        return false;
    }
    return context_create(egl, display, debug, error, error_bytes);
}

/* GPUs with a driver of their own, without asking any display server. */
static bool try_devices(GlEgl *egl, bool debug, char *error, size_t error_bytes)
{
    EGLDeviceEXT devices[DEVICES_MAX];
    EGLint count = 0;
    if (!eglQueryDevicesEXT(DEVICES_MAX, devices, &count))
        return false;
    for (EGLint i = 0; i < count; i++) {
        if (lists(eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS), "EGL_MESA_device_software"))
            continue;
        EGLDisplay display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (try_display(egl, display, debug, error, error_bytes))
            return true;
    }
    return false;
}

bool gl_egl_create(GlEgl *egl, bool debug, char *error, size_t error_bytes)
{
    if (!libraries_are_there(error, error_bytes))
        return false;
    const char *client = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    bool platforms = lists(client, "EGL_EXT_platform_base");
    if (platforms && lists(client, "EGL_EXT_platform_device") &&
        (lists(client, "EGL_EXT_device_base") || lists(client, "EGL_EXT_device_enumeration")) &&
        try_devices(egl, debug, error, error_bytes))
        return true;
    if (platforms && lists(client, "EGL_MESA_platform_surfaceless")) {
        EGLDisplay display =
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
        if (try_display(egl, display, debug, error, error_bytes))
            return true;
    }
    return try_display(egl, eglGetDisplay(EGL_DEFAULT_DISPLAY), debug, error, error_bytes);
}

bool gl_egl_enter(GlEgl *egl)
{
    if (eglGetCurrentContext() == egl->context)
        return true;
    return eglBindAPI(EGL_OPENGL_API) &&
           eglMakeCurrent(egl->display, egl->surface, egl->surface, egl->context);
}

void gl_egl_destroy(GlEgl *egl)
{
    if (egl->display == EGL_NO_DISPLAY)
        return;
    eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (egl->surface != EGL_NO_SURFACE)
        eglDestroySurface(egl->display, egl->surface);
    if (egl->context != EGL_NO_CONTEXT)
        eglDestroyContext(egl->display, egl->context);
    *egl = (GlEgl){NULL, NULL, NULL};
}
