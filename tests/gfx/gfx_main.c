/* caliper_gfx_tests [--renderer NAME] [--list]: the suite on every renderer that starts offscreen.
 * Exit status: 0 passed, 1 failed, 2 usage, 77 the named renderer does not start here. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"
#include "gfx_expected.h"

static int list_backends(void)
{
    for (const RendererBackend *b = renderer_backends; b->name != NULL; b++)
        printf("%s\t%s\n", b->name, b->summary);
    return 0;
}

static int run_groups(void)
{
    return gfx_run_textures() + gfx_run_front() + gfx_run_ui() + gfx_run_edges() + gfx_run_show() +
           gfx_run_show_bridge() + gfx_run_window() + gfx_run_window_gl() + gfx_run_faults() +
           gfx_run_switch();
}

/* Whether it starts; prints the reason when not. */
static bool starts(const RendererBackend *backend)
{
    char error[256] = "no reason given";
    Renderer *renderer = backend->create(RENDERER_PARAMS(.label = "probe"), error, sizeof error);
    if (renderer == NULL) {
        printf("[skipped] %s does not start offscreen: %s\n", backend->name, error);
        return false;
    }
    printf("[running] %s on %s, %s\n", backend->name, renderer_info(renderer)->device_name,
           renderer_info(renderer)->api_version);
    renderer_destroy(&renderer);
    return true;
}

/* Drivers and layers stay loaded, so that the leak check at exit can name what is theirs
 * (tests/lsan.supp) instead of an unknown module. Those that are not there are not missed. */
static void keep_drivers_loaded(void)
{
    static const char *const libraries[] = {"libvulkan_lvp.so", "libVkLayer_khronos_validation.so"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        (void)dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            return list_backends();
        if (strcmp(argv[i], "--renderer") == 0 && i + 1 < argc) {
            only = argv[++i];
            continue;
        }
        fprintf(stderr, "usage: caliper_gfx_tests [--renderer NAME] [--list]\n");
        return 2;
    }
    if (!expected_load_tables()) {
        fprintf(stderr, "the published tables in %s cannot be read\n", GFX_LUT_DIR);
        return 1;
    }
    gfx_log_capture();
    keep_drivers_loaded();
    bool known = only == NULL;
    int ran = 0;
    int failed = 0;
    for (const RendererBackend *b = renderer_backends; b->name != NULL; b++) {
        if (only != NULL && strcmp(only, b->name) != 0)
            continue;
        known = true;
        if (!starts(b))
            continue;
        fflush(stdout);
        gfx_set_backend(b);
        ran++;
        failed += run_groups();
    }
    if (!known) {
        fprintf(stderr, "no renderer is called %s; try --list\n", only);
        return 2;
    }
    if (ran == 0)
        return 77;
    return failed > 0 ? 1 : 0;
}
