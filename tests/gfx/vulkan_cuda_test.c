/* The renderer with the real vk_cuda.c and src/cuda, over the driver made of host memory
 * (tests/support/fake_cuda.c): its copies write lavapipe's memory, its kernels do not run. The
 * second rung's pixels are exact, both rungs' counters agree with what the driver was asked for,
 * and any one CUDA call that fails is a refusal or a detour, never a wrong picture or a lost fd. */
#include <dlfcn.h>
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
#include "vulkan_copy_count.h"
#include "vulkan_fake.h"
#include "vulkan_support.h"

enum { WIDTH = 33, HEIGHT = 21, COUNT = WIDTH * HEIGHT, DEVICE_MEMORY = 2 };

static long (*driver_live)(void);
static long (*driver_launches)(void);
static void (*driver_map)(unsigned long long, size_t, int, unsigned int);
static void (*driver_allocation)(size_t);
static void (*driver_busy)(int);
static void (*driver_copied)(unsigned long long *, unsigned long long *);
/* "Device memory" that the driver knows. */
static uint8_t tensor[COUNT * 4];

static void symbol(void *library, const char *name, void *out)
{
    void *address = dlsym(library, name);
    assert_non_null(address);
    memcpy(out, &address, sizeof address);
}

static int group_setup(void **state)
{
    (void)state;
    void *library = dlopen(getenv("CALIPER_CUDA_LIBRARY"), RTLD_NOW);
    assert_non_null(library);
    symbol(library, "fake_cuda_live", &driver_live);
    symbol(library, "fake_cuda_launches", &driver_launches);
    symbol(library, "fake_cuda_map", &driver_map);
    symbol(library, "fake_cuda_copied", &driver_copied);
    symbol(library, "fake_cuda_allocation_bytes", &driver_allocation);
    symbol(library, "fake_cuda_busy", &driver_busy);
    driver_map((uintptr_t)tensor, sizeof tensor, 0, DEVICE_MEMORY);
    return 0;
}

static Renderer *start(const char *rung)
{
    if (rung != NULL)
        setenv("CALIPER_CUDA_RUNG", rung, 1);
    vk_interop_set(NULL);
    RendererParams params = fake_params();
    Renderer *renderer = vulkan_test_renderer_with(&params);
    unsetenv("CALIPER_CUDA_RUNG");
    assert_true(renderer_info(renderer)->caps & RENDERER_CAP_DEVICE_SOURCE);
    copy_count_start(renderer);
    log_capture_reset();
    return renderer;
}

static void stop(Renderer **renderer, long live)
{
    renderer_destroy(renderer);
    assert_int_equal(driver_live(), live);
    assert_int_equal(vk_validation_messages(), 0);
}

typedef struct Driver {
    unsigned long long from_host, inside;
    long launches;
} Driver;

static Driver driver_now(void)
{
    Driver now;
    driver_copied(&now.from_host, &now.inside);
    now.launches = driver_launches();
    return now;
}

static void copies_are_exact_and_told(void **state)
{
    (void)state;
    static uint8_t wanted[COUNT * 4], given[COUNT * 4];
    long live = driver_live();
    Renderer *renderer = start("copy");
    RendererCounters counters;
    uint64_t copied = 0;
    Driver before = driver_now();
    for (int p = 0; p < 5; p++) {
        RendererPass pass = p == 0 ? pass_colormap(2, 0.25f, 1.0f) : pass_expand((uint32_t)p);
        RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass);
        RendererSource source = fake_source(tensor, source_bytes(&pass, COUNT));
        for (int i = 0; i < 12; i++) {
            source_fill(&pass, tensor, COUNT);
            reference_pixels(&pass, tensor, COUNT, wanted);
            assert_true(renderer_texture_update(renderer, texture, &source));
            fake_frame(renderer, texture, WIDTH, HEIGHT);
            copied += source.extent_bytes;
            if (i % 4 != 0)
                continue;
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
            assert_memory_equal(given, wanted, sizeof given);
        }
        assert_string_equal(renderer_path(renderer),
                            "GPU-resident (Vulkan + CUDA, one device copy, zero CPU staging)");
        renderer_texture_destroy(renderer, &texture);
    }
    Driver after = driver_now();
    renderer_counters(renderer, &counters);
    assert_int_equal(counters.device_copied_bytes, copied);
    assert_int_equal(after.inside - before.inside, copied);
    assert_int_equal(after.from_host, before.from_host);
    assert_int_equal(after.launches - before.launches, 5 * 12); /* copies, and no kernel */
    assert_int_equal(counters.passes, 5 * 12);
    assert_int_equal(counters.staged_bytes, 0);
    assert_int_equal(copy_count().buffer_to_image + copy_count().buffer_to_buffer, 0);
    assert_int_equal(log_captured_problems(), 0);
    stop(&renderer, live);
}

static void in_place_copies_nothing(void **state)
{
    (void)state;
    long live = driver_live();
    Renderer *renderer = start(NULL);
    RendererCounters counters;
    Driver before = driver_now();
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass_expand(4));
    RendererSource source = fake_source(tensor, COUNT * 4);
    for (int i = 0; i < 20; i++) {
        assert_true(renderer_texture_update(renderer, texture, &source));
        fake_frame(renderer, texture, WIDTH, HEIGHT);
    }
    assert_string_equal(renderer_path(renderer), "GPU-resident (Vulkan + CUDA, zero CPU staging)");
    renderer_texture_destroy(renderer, &texture);
    Driver after = driver_now();
    CopyCount commands = copy_count();
    renderer_counters(renderer, &counters);
    assert_int_equal(after.launches - before.launches, 20);
    assert_int_equal(counters.passes, 20);
    assert_int_equal(after.inside, before.inside);
    assert_int_equal(after.from_host, before.from_host);
    assert_int_equal(counters.device_copied_bytes, 0);
    assert_int_equal(counters.staged_bytes, 0);
    assert_int_equal(commands.buffer_to_image + commands.buffer_to_buffer +
                         commands.image_to_image + commands.inline_bytes,
                     0);
    stop(&renderer, live);
}

/* The surface calls fail, as they do on the drivers that this rung is for. */
static void surfaces_that_fail_are_copies(void **state)
{
    (void)state;
    static const char *const calls[] = {"cuExternalMemoryGetMappedMipmappedArray",
                                        "cuMipmappedArrayGetLevel", "cuSurfObjectCreate"};
    static uint8_t wanted[COUNT * 4], given[COUNT * 4];
    for (int c = 0; c < 3; c++) {
        char plan[80];
        long live = driver_live();
        uint32_t fds = open_fd_count();
        Renderer *renderer = start(NULL);
        RendererPass pass = pass_expand(3);
        RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass);
        RendererSource source = fake_source(tensor, source_bytes(&pass, COUNT));
        snprintf(plan, sizeof plan, "cuda.%s:1+", calls[c]);
        fault_set_plan(plan);
        for (int i = 0; i < 3; i++) {
            source_fill(&pass, tensor, COUNT);
            reference_pixels(&pass, tensor, COUNT, wanted);
            assert_true(renderer_texture_update(renderer, texture, &source));
            assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
            assert_memory_equal(given, wanted, sizeof given);
        }
        fault_set_plan(NULL);
        assert_int_equal(log_captured_problems(), 1);
        assert_int_equal(log_captured(LOG_CUDA_CALL_FAILED), 1);
        assert_int_equal(log_captured(LOG_VULKAN_IN_PLACE_OFF), 1);
        renderer_texture_destroy(renderer, &texture);
        stop(&renderer, live);
        assert_int_equal(open_fd_count(), fds);
    }
}

/* What may not be read is not copied either. */
static void sources_are_checked(void **state)
{
    (void)state;
    static uint8_t stranger[COUNT], given[COUNT * 4], old[COUNT * 4];
    long live = driver_live();
    Renderer *renderer = start("copy");
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass_expand(1));
    RendererSource good = fake_source(tensor, COUNT);
    assert_true(renderer_texture_update(renderer, texture, &good));
    assert_true(renderer_texture_read(renderer, texture, old, sizeof old));
    Driver before = driver_now();
    for (int i = 0; i < 3; i++) {
        RendererSource bad = good;
        if (i == 0)
            bad.device_ptr = (uintptr_t)stranger; /* no memory of the driver's */
        else if (i == 1)
            bad.device_ptr = (uintptr_t)tensor + sizeof tensor - COUNT + 1; /* ends past it */
        else
            bad.stream = (void *)2; /* the per-thread stream */
        log_capture_reset();
        assert_false(renderer_texture_update(renderer, texture, &bad));
        assert_int_equal(log_captured_problems(), 1);
        assert_int_equal(log_captured(LOG_CUDA_SOURCE_REFUSED), 1);
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given));
        assert_memory_equal(given, old, sizeof given);
    }
    Driver after = driver_now();
    assert_int_equal(after.inside, before.inside);
    renderer_texture_destroy(renderer, &texture);
    stop(&renderer, live);
}

/* Call number n of any update, frame or read-back fails. False when there were fewer. */
static bool with_failing_call(int n)
{
    static uint8_t old[COUNT * 4], wanted[COUNT * 4], given[COUNT * 4];
    char plan[32];
    long live = driver_live();
    uint32_t fds = open_fd_count();
    Renderer *renderer = start("copy");
    RendererPass pass = pass_expand(2);
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass);
    RendererSource source = fake_source(tensor, source_bytes(&pass, COUNT));
    source_fill(&pass, tensor, COUNT);
    reference_pixels(&pass, tensor, COUNT, old);
    RendererSource host = {
        .kind = RENDERER_SOURCE_HOST, .host = tensor, .extent_bytes = source.extent_bytes};
    assert_true(renderer_texture_update(renderer, texture, &host));
    snprintf(plan, sizeof plan, "cuda:%d", n);
    fault_set_plan(plan);
    for (int i = 0; i < 3 && !renderer_lost(renderer); i++) {
        source_fill(&pass, tensor, COUNT);
        reference_pixels(&pass, tensor, COUNT, wanted);
        log_capture_reset();
        bool updated = renderer_texture_update(renderer, texture, &source);
        assert_int_equal(log_captured_problems(), updated ? 0 : 1);
        memset(tensor, 0xee, sizeof tensor);
        bool given_back = renderer_texture_read(renderer, texture, given, sizeof given);
        assert_true(log_captured_problems() <= 1);
        assert_true(given_back || renderer_lost(renderer));
        if (!given_back)
            break;
        assert_memory_equal(given, updated ? wanted : old, sizeof given);
        memcpy(old, given, sizeof old);
    }
    bool injected = fault_injected() > 0;
    fault_set_plan(NULL);
    renderer_texture_destroy(renderer, &texture);
    stop(&renderer, live);
    assert_int_equal(open_fd_count(), fds);
    return injected;
}

static void every_call_may_fail(void **state)
{
    (void)state;
    int n = 1;
    driver_busy(1);
    while (with_failing_call(n))
        n++;
    driver_busy(0);
    assert_true(n > 20);
}

/* Producers that are done when the frame is submitted need no hand-over; others do. */
static void work_that_is_done_is_not_handed_over(void **state)
{
    (void)state;
    long live = driver_live();
    Renderer *renderer = start(NULL);
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass_expand(1));
    RendererSource source = fake_source(tensor, COUNT);
    RendererCounters before, after;
    for (int busy = 0; busy < 2; busy++) {
        driver_busy(busy);
        renderer_counters(renderer, &before);
        for (int i = 0; i < 5; i++) {
            assert_true(renderer_texture_update(renderer, texture, &source));
            fake_frame(renderer, texture, WIDTH, HEIGHT);
        }
        renderer_counters(renderer, &after);
        assert_int_equal(after.hand_overs - before.hand_overs, busy != 0 ? 5 : 0);
    }
    driver_busy(0);
    renderer_texture_destroy(renderer, &texture);
    stop(&renderer, live);
}

/* ---- Allocations that CUDA exported ------------------------------------------------------------
 */

enum { EXPORT_BYTES = 1 << 16 };

typedef struct Export { /* an fd that lavapipe imports and that the driver takes for its own */
    Exporter *exporter;
    int fd;
    uint64_t size_bytes;
} Export;

static Export export_begin(void)
{
    static uint8_t zeros[EXPORT_BYTES];
    Export made = {.exporter = exporter_create()};
    made.fd = exporter_export(made.exporter, zeros, EXPORT_BYTES, &made.size_bytes);
    driver_allocation(made.size_bytes);
    return made;
}

static void export_end(Export *made)
{
    close(made->fd);
    exporter_destroy(&made->exporter);
}

static RendererAlloc *import(Renderer *renderer, const Export *from, uint64_t size_bytes)
{
    return renderer_alloc_import(renderer, (void *)(intptr_t)from->fd, size_bytes,
                                 CALIPER_ALLOC_HANDLE_OPAQUE_FD);
}

/* Kernels read it on the producer's stream; it is unmapped when the hand-over after the last of
 * them is done, and not before. */
static void exports_are_read_by_kernels(void **state)
{
    (void)state;
    Export from = export_begin();
    long live = driver_live();
    Renderer *renderer = start(NULL);
    long idle = driver_live();
    RendererCounters counters;
    RendererAlloc *alloc = import(renderer, &from, from.size_bytes);
    assert_non_null(alloc);
    assert_true(driver_live() > idle);
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass_expand(4));
    RendererSource source = {
        .kind = RENDERER_SOURCE_ALLOC, .alloc = alloc, .extent_bytes = COUNT * 4};
    Driver before = driver_now();
    for (int i = 0; i < 20; i++) {
        source.offset_bytes = (uint64_t)i * 64;
        assert_true(renderer_texture_update(renderer, texture, &source));
        fake_frame(renderer, texture, WIDTH, HEIGHT);
    }
    assert_string_equal(renderer_path(renderer), "GPU-resident (Vulkan + CUDA, zero CPU staging)");
    assert_int_equal(driver_now().launches - before.launches, 20);
    assert_int_equal(driver_now().inside, before.inside);
    renderer_counters(renderer, &counters);
    assert_int_equal(counters.passes, 20);
    assert_int_equal(counters.staged_bytes + counters.device_copied_bytes, 0);
    assert_true(renderer_texture_update(renderer, texture, &source));
    long mapped = driver_live();
    renderer_alloc_release(renderer, &alloc); /* a kernel may still read it */
    assert_int_equal(driver_live(), mapped);
    fake_frame(renderer, texture, WIDTH, HEIGHT);
    fake_frame(renderer, texture, WIDTH, HEIGHT);
    assert_true(driver_live() < mapped);
    renderer_texture_destroy(renderer, &texture);
    assert_int_equal(log_captured_problems(), 0);
    stop(&renderer, live);
    export_end(&from);
}

static void sizes_are_proven(void **state)
{
    (void)state;
    Export from = export_begin();
    long live = driver_live();
    Renderer *renderer = start(NULL);
    long idle = driver_live();
    driver_allocation(from.size_bytes / 2);
    assert_null(import(renderer, &from, from.size_bytes));
    assert_int_equal(log_captured_problems(), 1);
    assert_int_equal(driver_live(), idle);
    stop(&renderer, live);
    export_end(&from);
}

/* Call number n of an import and its updates fails. False when there were fewer. */
static bool import_with_failing_call(const Export *from, int n)
{
    static uint8_t given[COUNT * 4];
    char plan[32];
    long live = driver_live();
    uint32_t fds = open_fd_count();
    Renderer *renderer = start(NULL);
    RendererTexture *texture = fake_texture(renderer, WIDTH, HEIGHT, pass_expand(2));
    RendererSource host = {.kind = RENDERER_SOURCE_HOST, .host = tensor, .extent_bytes = COUNT * 2};
    assert_true(renderer_texture_update(renderer, texture, &host));
    snprintf(plan, sizeof plan, "cuda:%d", n);
    fault_set_plan(plan);
    RendererAlloc *alloc = import(renderer, from, from->size_bytes);
    assert_int_equal(log_captured_problems(), alloc == NULL ? 1 : 0);
    for (int i = 0; i < 3 && alloc != NULL && !renderer_lost(renderer); i++) {
        RendererSource source = {.kind = RENDERER_SOURCE_ALLOC,
                                 .alloc = alloc,
                                 .offset_bytes = (uint64_t)i * 2,
                                 .extent_bytes = COUNT * 2};
        log_capture_reset();
        bool updated = renderer_texture_update(renderer, texture, &source);
        assert_true(log_captured_problems() <= 1);
        assert_true(updated || log_captured_problems() == 1);
        assert_true(renderer_texture_read(renderer, texture, given, sizeof given) ||
                    renderer_lost(renderer));
    }
    bool injected = fault_injected() > 0;
    fault_set_plan(NULL); /* calls that give back only fail with the whole context */
    if (alloc != NULL)
        renderer_alloc_release(renderer, &alloc);
    renderer_texture_destroy(renderer, &texture);
    stop(&renderer, live);
    assert_int_equal(open_fd_count(), fds);
    return injected;
}

static void every_call_of_an_import_may_fail(void **state)
{
    (void)state;
    Export from = export_begin();
    int n = 1;
    driver_busy(1);
    while (import_with_failing_call(&from, n))
        n++;
    driver_busy(0);
    assert_true(n > 15);
    export_end(&from);
}

int main(void)
{
    if (getenv("CALIPER_CUDA_LIBRARY") == NULL) {
        printf("skipped: CALIPER_CUDA_LIBRARY does not name the driver made of host memory\n");
        return 77;
    }
    if (!fake_begin())
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_are_exact_and_told),
                                       cmocka_unit_test(in_place_copies_nothing),
                                       cmocka_unit_test(surfaces_that_fail_are_copies),
                                       cmocka_unit_test(sources_are_checked),
                                       cmocka_unit_test(every_call_may_fail),
                                       cmocka_unit_test(work_that_is_done_is_not_handed_over),
                                       cmocka_unit_test(exports_are_read_by_kernels),
                                       cmocka_unit_test(sizes_are_proven),
                                       cmocka_unit_test(every_call_of_an_import_may_fail)};
    return cmocka_run_group_tests(tests, group_setup, NULL);
}
