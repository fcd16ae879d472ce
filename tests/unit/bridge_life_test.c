/* The bridge in bad times: failing, lost and replaced renderers, leaking owners, other threads,
 * many lives. The frame thread is the test's; others are started for the calls that are refused
 * there. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bridge_fixture.h"
#include "core/caller.h"

/* ---- Failures and losses ---- */

static void a_failing_renderer_is_one_line_of_its_own(void **state)
{
    Fixture *f = *state;
    f->fake->fail_create = 1;
    assert_int_equal(ramp_texture(f->bridge), 0);
    assert_one_line(LOG_RENDERER_FAILED);
    f->fake->fail_update = 1;
    assert_int_equal(ramp_texture(f->bridge), 0);
    assert_one_line(LOG_RENDERER_FAILED);
    assert_int_equal(f->fake->textures, 0);
    CaliperTextureId id = ramp_texture(f->bridge);
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    f->fake->fail_update = 1;
    assert_false(bridge_update_texture(f->bridge, id, &t));
    assert_one_line(LOG_RENDERER_FAILED);
    uint8_t pixels[24];
    f->fake->fail_read = 1;
    assert_false(bridge_texture_read_rgba8(f->bridge, id, pixels, 24));
    assert_one_line(LOG_RENDERER_FAILED);
    assert_int_equal(stats_of(f->bridge).refusals, 4);
    f->fake->base.lost = true; /* silent from now on: the line is the bridge's */
    assert_int_equal(ramp_texture(f->bridge), 0);
    assert_refused("RENDERER_LOST");
    assert_false(bridge_update_texture(f->bridge, id, &t));
    assert_refused("RENDERER_LOST");
    const int64_t shape[2] = {2, 3};
    assert_false(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
    assert_refused("RENDERER_LOST");
    assert_int_equal(bridge_import_allocation(f->bridge, NULL, 4096, 2), 0);
    assert_refused("RENDERER_LOST");
}

static void textures_move_to_the_next_renderer(void **state)
{
    Fixture *f = *state;
    CaliperTensor block;
    CaliperTextureId shared;
    const int64_t shape[2] = {2, 3};
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &block, &shared));
    memcpy(block.data, ramp, sizeof ramp);
    CaliperTextureId kept = ramp_texture(f->bridge);
    CaliperTextureId unread = ramp_texture(f->bridge);
    CaliperTextureId released = ramp_texture(f->bridge);
    bridge_release_texture(f->bridge, released);
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CaliperAllocId pointer = bridge_import_allocation(f->bridge, memory, 4096, 0x100);
    CaliperAllocId fd = bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096, 2);
    Renderer *next = fake_renderer_create(RENDERER_CAP_IMPORT_HOST_POINTER, -1);
    f->fake->base.lost = true;
    f->fake->fail_read = 2; /* slots go in order: kept, then unread */
    assert_int_equal(bridge_set_renderer(f->bridge, next), 3); /* not `unread` */
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_MOVED], 1);
    log_capture_reset();
    assert_int_equal(f->fake->textures + f->fake->attached + f->fake->allocs, 0);
    assert_int_equal(fake_renderer(next)->textures, 4);
    assert_int_equal(fake_renderer(next)->allocs, 1);
    assert_shows_ramp(f->bridge, kept, 0, false);
    assert_shows_ramp(f->bridge, shared, 0, false);
    assert_non_null(bridge_texture_for_draw(f->bridge, released));
    assert_null(bridge_texture_for_draw(f->bridge, unread));
    assert_silent();
    uint8_t pixels[24];
    assert_false(bridge_texture_read_rgba8(f->bridge, unread, pixels, 24));
    assert_refused("NO_PIXELS");
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    assert_true(bridge_update_texture_from_alloc(f->bridge, unread, pointer, 0, &t));
    assert_silent();
    assert_false(bridge_update_texture_from_alloc(f->bridge, unread, fd, 0, &t));
    assert_refused("ALLOC_GONE");
    bridge_release_allocation(f->bridge, fd);
    assert_silent();
    /* A renderer that cannot make one yet: made with the next update. */
    f->fake->base.lost = false;
    f->fake->fail_create = 2;
    bridge_set_renderer(f->bridge, f->renderer);
    assert_null(bridge_texture_for_draw(f->bridge, kept));
    assert_true(bridge_update_texture(f->bridge, kept, &t));
    assert_shows_ramp(f->bridge, kept, 0, false);
    renderer_destroy(&next);
    munmap(memory, 4096);
}

/* ---- Owners ---- */

static void reclaiming_takes_one_owner_only(void **state)
{
    Fixture *f = *state;
    CallerId before = caller_enter(5);
    CaliperTextureId his = ramp_texture(f->bridge);
    CaliperTensor block;
    CaliperTextureId shared;
    const int64_t shape[2] = {2, 3};
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &block, &shared));
    assert_int_not_equal(bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096, 2), 0);
    caller_enter(6);
    CaliperTextureId hers = ramp_texture(f->bridge);
    caller_leave(before);
    assert_int_equal(bridge_reclaim(f->bridge, 7, true), 0);
    assert_silent();
    assert_int_equal(bridge_reclaim(f->bridge, 5, true), 2);
    assert_one_line(LOG_BRIDGE_LEAK);
    assert_int_equal(stats_of(f->bridge).textures, 1);
    assert_int_equal(stats_of(f->bridge).allocations, 0);
    assert_non_null(bridge_texture_for_draw(f->bridge, his)); /* this frame */
    bridge_frame_end(f->bridge);
    ((float *)block.data)[0] = 1.0f; /* a thread of his may still write */
    assert_shows_ramp(f->bridge, hers, 0, false);
    assert_int_equal(bridge_reclaim(f->bridge, 6, false), 1);
    assert_silent();
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    assert_false(bridge_update_texture(f->bridge, hers, &t));
    assert_refused("ID_STALE");
}

/* CALIPER_LEAKS=1: each thing that was left is named, besides the one line of the owner. */
static void leaks_are_named_when_asked(void **state)
{
    Fixture *f = *state;
    CaliperTensor block;
    CaliperTextureId shared;
    const int64_t shape[2] = {2, 3};
    CallerId before = caller_enter(5);
    ramp_texture(f->bridge);
    assert_true(bridge_alloc_shared(f->bridge, CALIPER_DT_F32, 2, shape, &block, &shared));
    assert_int_not_equal(bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096, 2), 0);
    caller_enter(6);
    ramp_texture(f->bridge);
    caller_leave(before);
    setenv("CALIPER_LEAKS", "1", 1);
    assert_int_equal(bridge_reclaim(f->bridge, 6, false), 1); /* abandoned: no leak of its own */
    assert_silent();
    assert_int_equal(bridge_reclaim(f->bridge, 5, true), 2);
    unsetenv("CALIPER_LEAKS");
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_LEFT_TEXTURE], 2);
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_LEFT_ALLOCATION], 1);
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_LEAK], 1);
    assert_int_equal(log_capture.lines, 4);
}

static void destroying_logs_a_leak_per_owner(void **state)
{
    Fixture *f = *state;
    for (CallerId owner = 0; owner < 3; owner++) {
        CallerId before = caller_enter(owner);
        ramp_texture(f->bridge);
        ramp_texture(f->bridge);
        if (owner == 2)
            bridge_import_allocation(f->bridge, (void *)(uintptr_t)3, 4096, 2);
        caller_leave(before);
    }
    bridge_destroy(&f->bridge);
    assert_null(f->bridge);
    assert_int_equal(log_capture.lines, 3);
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_LEAK], 3);
    bridge_destroy(&f->bridge);
    bridge_destroy(NULL);
}

/* ---- Threads ---- */

typedef struct Foreign {
    Bridge *bridge;
    CaliperTextureId id;
} Foreign;

static void *call_everything(void *argument)
{
    Foreign *g = argument;
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    CaliperTextureId id;
    const int64_t shape[2] = {2, 3};
    int32_t w, h;
    uint8_t pixels[24];
    assert_int_equal(bridge_texture_from_tensor(g->bridge, &t, 0), 0);
    assert_int_equal(bridge_texture_from_tensor_mapped(g->bridge, &t, 0, 0, 1, 0), 0);
    assert_false(bridge_update_texture(g->bridge, g->id, &t));
    bridge_release_texture(g->bridge, g->id);
    assert_false(bridge_alloc_shared(g->bridge, CALIPER_DT_F32, 2, shape, &t, &id));
    bridge_free_shared(g->bridge, g->id);
    assert_int_equal(bridge_caps(g->bridge), 0);
    assert_int_equal(bridge_import_allocation(g->bridge, NULL, 4096, 2), 0);
    bridge_release_allocation(g->bridge, 1);
    assert_false(bridge_update_texture_from_alloc(g->bridge, g->id, 1, 0, &t));
    assert_false(bridge_texture_size(g->bridge, g->id, &w, &h));
    assert_false(bridge_texture_read_rgba8(g->bridge, g->id, pixels, 24));
    assert_null(bridge_texture_for_draw(g->bridge, g->id));
    bridge_frame_end(g->bridge);
    assert_int_equal(bridge_reclaim(g->bridge, 0, true), 0);
    assert_int_equal(bridge_set_renderer(g->bridge, NULL), 0);
    bridge_destroy(&g->bridge);
    return NULL;
}
enum { FOREIGN_CALLS = 17 };

/* While the frame thread goes on: nothing is executed, each is one line. */
static void other_threads_are_refused(void **state)
{
    Fixture *f = *state;
    Foreign foreign = {f->bridge, ramp_texture(f->bridge)};
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_everything, &foreign), 0);
    for (int i = 0; i < 200; i++) {
        assert_true(bridge_update_texture(f->bridge, foreign.id, &t));
        assert_non_null(bridge_texture_for_draw(f->bridge, foreign.id));
        bridge_frame_end(f->bridge);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(log_capture.lines, 3 * FOREIGN_CALLS);
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_REFUSED], 3 * FOREIGN_CALLS);
    assert_non_null(strstr(log_capture.text, "(WRONG_THREAD)"));
    assert_int_equal(stats_of(f->bridge).refusals, 3 * FOREIGN_CALLS);
    assert_shows_ramp(f->bridge, foreign.id, 0, false);
    bridge_release_texture(f->bridge, foreign.id);
}

static void without_a_bridge_calls_are_refused(void **state)
{
    (void)state;
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    assert_int_equal(bridge_texture_from_tensor(NULL, &t, 0), 0);
    assert_refused("NO_BRIDGE");
    assert_int_equal(bridge_caps(NULL), 0);
    assert_refused("NO_BRIDGE");
    assert_int_equal(stats_of(NULL).textures, 0);
    fault_set_plan("bridge.create:1");
    assert_null(bridge_create(NULL));
    assert_one_line(LOG_OUT_OF_MEMORY);
}

/* ---- Many ---- */

static void many_lives_leave_nothing(void **state)
{
    Fixture *f = *state;
    CaliperTextureId last = 0;
    for (int i = 0; i < 100000; i++) {
        CaliperTextureId id = ramp_texture(f->bridge);
        assert_true(id != 0 && id != last);
        last = id;
        bridge_release_texture(f->bridge, id);
        if (i % 7 == 0)
            bridge_frame_end(f->bridge);
    }
    bridge_frame_end(f->bridge);
    assert_int_equal(f->fake->textures, 0);
    assert_silent();
    fault_set_plan("bridge.slots:1");
    uint32_t made = 0;
    while (ramp_texture(f->bridge) != 0)
        made++;
    assert_int_equal(made, 256); /* the chunk that is there */
    assert_int_equal(log_capture.of_item[LOG_BRIDGE_REFUSED], 1);
    assert_non_null(strstr(log_capture.text, "(IDS_SPENT)"));
}

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {
        CASE(a_failing_renderer_is_one_line_of_its_own), CASE(textures_move_to_the_next_renderer),
        CASE(reclaiming_takes_one_owner_only),           CASE(leaks_are_named_when_asked),
        CASE(destroying_logs_a_leak_per_owner),          CASE(other_threads_are_refused),
        CASE(without_a_bridge_calls_are_refused),        CASE(many_lives_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
