/* Sanitizer builds only, linked into every executable: graphics drivers stay loaded, and leaks of
 * theirs are not ours.
 *
 * The Vulkan loader and EGL close their drivers' libraries at the end. What those still hold in
 * globals then counts as leaked, and a suppression by library name cannot match a library that is
 * gone. Only drivers are kept: the host's own unloading of applets is as in any other build. Any
 * thread. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_driver(const char *path)
{
    static const char *const parts[] = {"libvulkan", "libVk", "/dri/", "libEGL", "libGL", "libgbm"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(path, parts[i]) != NULL)
            return true;
    }
    return false;
}

__attribute__((visibility("default"))) int dlclose(void *handle)
{
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL && is_driver(map->l_name))
        return 0;
    void *next = dlsym(RTLD_NEXT, "dlclose");
    int (*close_library)(void *) = NULL;
    memcpy(&close_library, &next, sizeof close_library);
    return close_library(handle);
}

/* Read by LeakSanitizer at the end. LSAN_OPTIONS=suppressions= adds to it. */
const char *__lsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void)
{
    return "leak:libVkLayer_\n"
           "leak:libvulkan_lvp\n"
           "leak:libEGL_mesa\n"
           "leak:libGLX_mesa\n"
           "leak:swrast_dri\n"
           "leak:libgallium\n"
           "leak:libLLVM\n";
}

/* Read by ThreadSanitizer at the start: what DuckDB's own threads do among themselves, also
 * through the C++ library, is not built with it and cannot be judged. TSAN_OPTIONS=suppressions=
 * adds to it. */
const char *__tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libduckdb.so\n"
           "called_from_lib:libstdc++.so\n";
}
