/* Failures of the Vulkan renderer on demand: a device lost at each submission and wait in turn,
 * every step of creation, memory and imports. Lost is a state: told once, silent afterwards, and
 * the next renderer is exact with the same counts. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <caliper/services/tensor_bridge_v1_2.h>

#include "core/fault.h"
#include "render/vulkan/vk_renderer.h"
#include "vulkan_support.h"

enum { SIDE = 48, PIXELS = SIDE * SIDE, TEXTURES = 3, SHARED_BYTES = 16384 };

typedef struct Scene {
    Renderer *renderer;
    RendererTexture *textures[TEXTURES];
    RendererShared *shared;
    RendererAlloc *alloc;
    uint8_t *memory;
    VulkanLive live;
    bool finished; /* every call answered true */
    bool is_exact; /* and every pixel was right */
} Scene;

static bool draw(Scene *scene)
{
    UiVertex vertices[4] = {{0, 0, 0, 0, 0xffffffffu},
                            {SIDE, 0, 1, 0, 0xffffffffu},
                            {SIDE, SIDE, 1, 1, 0xffffffffu},
                            {0, SIDE, 0, 1, 0xffffffffu}};
    uint16_t indices[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < TEXTURES; i++) {
        UiCommand command = {
            .clip_x1 = SIDE, .clip_y1 = SIDE, .texture = scene->textures[i], .index_count = 6};
        UiList list = {vertices, 4, indices, 6, &command, 1};
        UiDraw ui = {.lists = &list, .list_count = 1, .scale = 1.0f};
        if (!renderer_draw_ui(scene->renderer, &ui))
            return false;
    }
    return true;
}

static bool update_all(Scene *scene, uint8_t value)
{
    const RendererSourceKind kinds[TEXTURES] = {RENDERER_SOURCE_HOST, RENDERER_SOURCE_SHARED,
                                                RENDERER_SOURCE_ALLOC};
    static uint8_t bytes[PIXELS];
    memset(bytes, value, sizeof bytes);
    memset(scene->memory, value, SHARED_BYTES);
    for (int i = 0; i < TEXTURES; i++) {
        RendererSource source = {.kind = kinds[i],
                                 .host = bytes,
                                 .shared = scene->shared,
                                 .alloc = scene->alloc,
                                 .extent_bytes = PIXELS};
        if (!renderer_texture_update(scene->renderer, scene->textures[i], &source))
            return false;
    }
    return true;
}

static bool all_are(const uint8_t *rgba, uint8_t value)
{
    for (int i = 0; i < PIXELS; i++)
        if (rgba[i * 4] != value || rgba[i * 4 + 1] != value || rgba[i * 4 + 2] != value ||
            rgba[i * 4 + 3] != 255)
            return false;
    return true;
}

/* Everything a session does, until something answers false. */
static void scene_run(Scene *scene)
{
    static uint8_t given[PIXELS * 4];
    Renderer *renderer = scene->renderer;
    scene->is_exact = true;
    for (int i = 0; i < TEXTURES; i++) {
        scene->textures[i] = renderer_texture_create(
            renderer,
            RENDERER_TEXTURE_PARAMS(.width_px = SIDE, .height_px = SIDE, .pass = pass_expand(1)));
        if (scene->textures[i] == NULL)
            return;
    }
    scene->shared = renderer_shared_attach(renderer, scene->memory, SHARED_BYTES);
    scene->alloc = renderer_alloc_import(renderer, scene->memory, SHARED_BYTES,
                                         CALIPER_ALLOC_HANDLE_HOST_POINTER);
    if (scene->shared == NULL || scene->alloc == NULL)
        return;
    for (int frame = 0; frame < 9; frame++) {
        uint8_t value = (uint8_t)(20 + frame);
        if (!update_all(scene, value) || !renderer_frame_begin(renderer, SIDE, SIDE, 0) ||
            !draw(scene) || !renderer_frame_end(renderer))
            return;
        if (frame % 3 == 1) {
            if (!renderer_frame_read(renderer, given, sizeof given))
                return;
            scene->is_exact &= all_are(given, value);
        }
        for (int i = 0; frame % 4 == 2 && i < TEXTURES; i++) {
            if (!renderer_texture_read(renderer, scene->textures[i], given, sizeof given))
                return;
            scene->is_exact &= all_are(given, value);
        }
    }
    scene->finished = true;
}

static void scene_clear(Scene *scene)
{
    renderer_alloc_release(scene->renderer, &scene->alloc);
    renderer_shared_detach(scene->renderer, &scene->shared);
    for (int i = 0; i < TEXTURES; i++)
        renderer_texture_destroy(scene->renderer, &scene->textures[i]);
    vk_renderer_live(scene->renderer, &scene->live);
}

static void scene_begin(Scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->renderer = vulkan_test_renderer();
    scene->memory = aligned_alloc(4096, SHARED_BYTES);
    assert_non_null(scene->memory);
}

static void scene_end(Scene *scene)
{
    renderer_destroy(&scene->renderer);
    free(scene->memory);
}

/* A whole, undisturbed run: its counts are what later ones must have. */
static VulkanLive undisturbed(void)
{
    Scene scene;
    scene_begin(&scene);
    scene_run(&scene);
    assert_true(scene.finished);
    assert_true(scene.is_exact);
    scene_clear(&scene);
    VulkanLive live = scene.live;
    scene_end(&scene);
    return live;
}

static uint32_t calls_of(const char *site)
{
    char plan[64];
    Scene scene;
    scene_begin(&scene);
    snprintf(plan, sizeof plan, "%s:999999", site);
    assert_true(fault_set_plan(plan));
    scene_run(&scene);
    assert_true(scene.finished);
    scene_clear(&scene);
    uint32_t calls = fault_calls();
    fault_set_plan(NULL);
    scene_end(&scene);
    return calls;
}

static void nothing_answers(Scene *scene)
{
    assert_false(update_all(scene, 1));
    assert_false(renderer_frame_begin(scene->renderer, SIDE, SIDE, 0));
    assert_null(renderer_texture_create(
        scene->renderer,
        RENDERER_TEXTURE_PARAMS(.width_px = 1, .height_px = 1, .pass = pass_expand(1))));
    assert_null(renderer_shared_attach(scene->renderer, scene->memory, SHARED_BYTES));
    assert_null(renderer_alloc_import(scene->renderer, scene->memory, SHARED_BYTES,
                                      CALIPER_ALLOC_HANDLE_HOST_POINTER));
}

/* `least`: how many of these calls a session certainly makes. */
static void lost_at_each(const char *site, uint32_t least)
{
    VulkanLive wanted = undisturbed();
    uint32_t fds = open_fd_count();
    uint32_t calls = calls_of(site), lost = 0;
    for (uint32_t n = 1; n <= calls; n++) {
        char plan[64];
        Scene scene;
        snprintf(plan, sizeof plan, "%s:%u", site, n);
        scene_begin(&scene);
        log_capture_reset();
        assert_true(fault_set_plan(plan));
        scene_run(&scene);
        if (scene.finished) /* the call that fails is in the clearing up */
            scene_clear(&scene);
        bool injected = fault_injected() > 0;
        fault_set_plan(NULL);
        assert_int_equal(renderer_lost(scene.renderer), injected);
        if (!injected) { /* how often the device is waited for varies */
            assert_true(scene.finished && scene.is_exact);
            scene_end(&scene);
            continue;
        }
        lost++;
        assert_int_equal(log_captured(LOG_RENDERER_LOST), 1);
        if (!scene.finished)
            nothing_answers(&scene);
        scene_clear(&scene);
        scene_end(&scene);
        assert_int_equal(log_captured_problems(), 1); /* once, then silence */
        VulkanLive live = undisturbed();
        assert_int_equal(live.descriptor_sets, wanted.descriptor_sets);
        assert_int_equal(live.allocations, wanted.allocations);
        assert_int_equal(open_fd_count(), fds);
    }
    print_message("%s: lost at each of %u calls\n", site, lost);
    assert_true(lost >= least);
    assert_int_equal(vk_validation_messages(), 0);
}

static void lost_at_each_submission(void **state)
{
    (void)state;
    lost_at_each("vk.submit", 3);
}

static void lost_at_each_wait(void **state)
{
    (void)state;
    /* On a busy machine the device is done before it is waited for, each time. */
    lost_at_each("vk.wait", 0);
}

/* Both renderers live while textures move over, as the bridge does it. */
static void the_lost_one_beside_its_successor(void **state)
{
    (void)state;
    Scene lost, next;
    scene_begin(&lost);
    assert_true(fault_set_plan("vk.submit:4"));
    scene_run(&lost);
    fault_set_plan(NULL);
    assert_true(renderer_lost(lost.renderer));
    scene_begin(&next);
    scene_run(&next);
    assert_true(next.finished);
    assert_true(next.is_exact);
    scene_clear(&lost);
    scene_end(&lost);
    assert_true(update_all(&next, 77));
    scene_clear(&next);
    scene_end(&next);
    assert_int_equal(vk_validation_messages(), 0);
}

/* ---- Creation, memory, imports
 * --------------------------------------------------------------------- */

static void every_step_of_creation_fails_cleanly(void **state)
{
    (void)state;
    Renderer *made = NULL;
    uint32_t fds = open_fd_count(), steps = 0;
    log_capture_reset();
    for (uint32_t n = 1; made == NULL; n++) {
        char plan[64], error[256] = "";
        snprintf(plan, sizeof plan, "vk.create:%u,vk.memory:%u", n, n);
        assert_true(fault_set_plan(plan));
        made = vk_renderer_create(RENDERER_PARAMS(.validate = true), error, sizeof error);
        steps = n;
        if (made != NULL)
            break;
        assert_true(error[0] != '\0');
        assert_int_equal(open_fd_count(), fds);
    }
    fault_set_plan(NULL);
    renderer_destroy(&made);
    assert_true(steps > 20);
    assert_int_equal(log_captured_problems(), 0); /* the caller logs the reason */
    assert_int_equal(open_fd_count(), fds);
    assert_int_equal(vk_validation_messages(), 0);
}

static void no_memory_is_a_refusal(void **state)
{
    (void)state;
    const char *sites[] = {"vk.memory", "vk.texture", "vk.target"};
    for (int s = 0; s < 3; s++) {
        for (uint32_t n = 1; n < 40; n++) {
            char plan[64];
            Scene scene;
            scene_begin(&scene);
            log_capture_reset();
            snprintf(plan, sizeof plan, "%s:%u", sites[s], n);
            assert_true(fault_set_plan(plan));
            scene_run(&scene);
            uint32_t injected = fault_injected();
            fault_set_plan(NULL);
            assert_false(renderer_lost(scene.renderer));
            assert_int_equal(scene.finished, injected == 0);
            assert_int_equal(log_captured(LOG_RENDERER_FAILED), injected);
            assert_int_equal(log_captured_problems(), injected);
            scene_clear(&scene);
            scene_end(&scene);
            if (injected == 0)
                break;
        }
    }
    assert_int_equal(vk_validation_messages(), 0);
}

static void refused(Renderer *renderer, void *handle, uint64_t size_bytes, uint32_t type)
{
    uint32_t fds = open_fd_count();
    VulkanLive before, after;
    vk_renderer_live(renderer, &before);
    log_capture_reset();
    assert_null(renderer_alloc_import(renderer, handle, size_bytes, type));
    assert_int_equal(log_captured_problems(), 1);
    assert_false(renderer_lost(renderer));
    vk_renderer_live(renderer, &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(open_fd_count(), fds);
}

static void bad_imports_are_refused_with_one_line(void **state)
{
    (void)state;
    const uint32_t fd_type = CALIPER_ALLOC_HANDLE_OPAQUE_FD;
    const uint32_t host_type = CALIPER_ALLOC_HANDLE_HOST_POINTER;
    Renderer *renderer = vulkan_test_renderer();
    Exporter *exporter = exporter_create();
    uint8_t *bytes = aligned_alloc(4096, 65536);
    uint64_t size_bytes = 0;
    memset(bytes, 3, 65536);
    int fd = exporter_export(exporter, bytes, 65536, &size_bytes);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[] = "/tmp/caliper-import-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    assert_int_equal(ftruncate(file, 1 << 20), 0);

    refused(renderer, (void *)(intptr_t)fd, size_bytes + 4096, fd_type); /* not that large */
    refused(renderer, (void *)(intptr_t)fd, size_bytes * 4, fd_type);
    refused(renderer, (void *)(intptr_t)fd, UINT64_MAX, fd_type);
    refused(renderer, (void *)(intptr_t)fd, UINT64_MAX - 2, fd_type);
    refused(renderer, (void *)(intptr_t)-1, 4096, fd_type);
    refused(renderer, (void *)(intptr_t)9999, 4096, fd_type);
    refused(renderer, (void *)(intptr_t)ends[0], 4096, fd_type);
    refused(renderer, (void *)(intptr_t)file, 65536, fd_type); /* a file, but no allocation */
    refused(renderer, bytes + 16, 4096, host_type);
    refused(renderer, bytes, 4095, host_type);
    refused(renderer, NULL, 4096, host_type);
    refused(renderer, bytes, 0, host_type);
    refused(renderer, bytes, 4096, 0);
    refused(renderer, bytes, 4096, CALIPER_ALLOC_HANDLE_OPAQUE_WIN32);
    refused(renderer, bytes, 4096, CALIPER_ALLOC_HANDLE_MTLBUFFER);
    refused(renderer, bytes, 4096, UINT32_MAX);

    close(file);
    close(ends[0]);
    close(ends[1]);
    close(fd);
    free(bytes);
    exporter_destroy(&exporter);
    renderer_destroy(&renderer);
    assert_int_equal(vk_validation_messages(), 0);
}

static void imports_fail_balanced(void **state)
{
    (void)state;
    Renderer *renderer = vulkan_test_renderer();
    Exporter *exporter = exporter_create();
    uint8_t bytes[4096] = {0};
    uint64_t size_bytes = 0;
    int fd = exporter_export(exporter, bytes, sizeof bytes, &size_bytes);
    for (int i = 0; i < 500; i++) {
        assert_true(fault_set_plan(i % 2 == 0 ? "vk.import:1" : "vk.import:2"));
        refused(renderer, (void *)(intptr_t)fd, size_bytes, CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    }
    fault_set_plan(NULL);
    uint32_t fds = open_fd_count();
    VulkanLive before, after;
    vk_renderer_live(renderer, &before);
    for (int i = 0; i < 1000; i++) {
        RendererAlloc *alloc = renderer_alloc_import(renderer, (void *)(intptr_t)fd, size_bytes,
                                                     CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        assert_non_null(alloc);
        renderer_alloc_release(renderer, &alloc);
    }
    vk_renderer_live(renderer, &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(open_fd_count(), fds);
    close(fd);
    exporter_destroy(&exporter);
    renderer_destroy(&renderer);
    assert_int_equal(vk_validation_messages(), 0);
}

/* Each optional extension away: its feature goes, with one line, and nothing else. */
static void optional_extensions_may_be_missing(void **state)
{
    (void)state;
    const struct {
        const char *names;
        uint32_t missing_caps, lines;
    } cases[] = {
        {"VK_KHR_external_memory_fd", RENDERER_CAP_IMPORT_FD, 1},
        {"VK_EXT_external_memory_host",
         RENDERER_CAP_IMPORT_HOST_POINTER | RENDERER_CAP_SHARED_IN_PLACE, 1},
        {"VK_KHR_external_semaphore_fd", 0, 0},
        {"VK_KHR_external_memory_fd,VK_EXT_external_memory_host",
         RENDERER_CAP_IMPORT_FD | RENDERER_CAP_IMPORT_HOST_POINTER | RENDERER_CAP_SHARED_IN_PLACE,
         2}};
    const uint32_t all_caps = RENDERER_CAP_RECOVERS | RENDERER_CAP_IMPORT_FD |
                              RENDERER_CAP_IMPORT_HOST_POINTER | RENDERER_CAP_SHARED_IN_PLACE;
    uint8_t *memory = aligned_alloc(4096, 4096);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setenv("CALIPER_VULKAN_WITHOUT", cases[i].names, 1);
        log_capture_reset();
        Renderer *renderer = vulkan_test_renderer();
        unsetenv("CALIPER_VULKAN_WITHOUT");
        assert_int_equal(log_captured(LOG_VULKAN_WITHOUT), cases[i].lines);
        assert_int_equal(renderer_info(renderer)->caps, all_caps & ~cases[i].missing_caps);
        if (cases[i].missing_caps & RENDERER_CAP_SHARED_IN_PLACE) {
            log_capture_reset();
            assert_null(renderer_shared_attach(renderer, memory, 4096));
            assert_int_equal(log_captured_problems(), 0);
            refused(renderer, memory, 4096, CALIPER_ALLOC_HANDLE_HOST_POINTER);
        }
        if (cases[i].missing_caps & RENDERER_CAP_IMPORT_FD)
            refused(renderer, (void *)(intptr_t)1, 4096, CALIPER_ALLOC_HANDLE_OPAQUE_FD);
        renderer_destroy(&renderer);
    }
    free(memory);
    assert_int_equal(vk_validation_messages(), 0);
}

int main(void)
{
    vulkan_test_begin();
    log_stderr_enable(false);
    log_capture_start();
    const struct CMUnitTest tests[] = {cmocka_unit_test(lost_at_each_submission),
                                       cmocka_unit_test(lost_at_each_wait),
                                       cmocka_unit_test(the_lost_one_beside_its_successor),
                                       cmocka_unit_test(every_step_of_creation_fails_cleanly),
                                       cmocka_unit_test(no_memory_is_a_refusal),
                                       cmocka_unit_test(bad_imports_are_refused_with_one_line),
                                       cmocka_unit_test(imports_fail_balanced),
                                       cmocka_unit_test(optional_extensions_may_be_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
