/* tests/unit/tensorscope_demo.c: the live demo in the session, over a bridge that notices writes to
 * memory that a frame still reads. The calling thread is the frame thread. */
#include "tensorscope_session.h"

/* What a GPU would still be reading has not changed since it was drawn. */
static void check_untorn(uint64_t now)
{
    for (int i = 0; i < TEXTURES_MAX; i++) {
        FakeTexture *texture = &fake.textures[i];
        size_t bytes = (size_t)(texture->h * texture->w) * sizeof(float);
        if (texture->live && texture->copy != NULL && now - texture->drawn_frame <= AHEAD) {
            assert_memory_equal(texture->copy, texture->memory, bytes);
        }
    }
}

static void draw(CaliperTextureId id, uint64_t now)
{
    FakeTexture *texture = live(id, true);
    size_t bytes = (size_t)(texture->h * texture->w) * sizeof(float);
    texture->drawn_frame = now;
    if (texture->copy == NULL) {
        texture->copy = malloc(bytes);
    }
    memcpy(texture->copy, texture->memory, bytes);
}

static void test_a_drawn_field_is_never_torn(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    fake.max_px = 16384;
    for (int repeatable = 0; repeatable < 2; repeatable++) {
        Demo *demo = demo_create(&bridge, 64);
        assert_non_null(demo);
        for (uint64_t now = 1; now <= 300; now++) {
            CaliperTextureId texture = demo_frame(demo, (double)now * 0.016, repeatable != 0);
            if (texture != 0) {
                draw(texture, now);
            }
            usleep(200); /* time for the thread to write where it must not, if it did */
            check_untorn(now);
        }
        assert_true(demo_fields(demo) > 0);
        if (repeatable != 0) {
            assert_true(demo_fields(demo) == 300);
        }
        demo_destroy(&demo);
        assert_null(demo);
        assert_int_equal(live_count(), 0);
    }
}

static void test_repeatable_fields_depend_on_the_time_alone(void **state)
{
    enum { SIDE = 48 };
    float first[SIDE * SIDE];
    (void)state;
    memset(&fake, 0, sizeof(fake));
    fake.max_px = 16384;
    Demo *demo = demo_create(&bridge, SIDE);
    for (int i = 0; i < 9; i++) {
        demo_frame(demo, i == 8 ? 0.25 : i, true);
    }
    memcpy(first, demo_values(demo), sizeof(first));
    demo_destroy(&demo);
    demo = demo_create(&bridge, SIDE);
    demo_frame(demo, 0.25, true);
    assert_memory_equal(first, demo_values(demo), sizeof(first));
    demo_destroy(&demo);
}

static void test_a_host_without_shared_memory(void **state)
{
    Session *session = start(true);
    (void)state;
    fake.no_shared = true;
    for (int i = 0; i < 3; i++) {
        frame(session);
    }
    assert_true(session->demo_failed);
    assert_null(session->demo);
    assert_int_equal(session->demo_texture, 0);
    session_open(session, small_path);
    frame(session);
    assert_non_null(session->view.whole.data);
    stop(session);
}

/* A file named at the start comes without a field before it. */
static void test_a_file_at_once_starts_no_demo(void **state)
{
    Session *session = start(true);
    (void)state;
    session_open(session, small_path);
    frame(session);
    assert_null(session->demo);
    session_show_demo(session);
    frame(session);
    assert_non_null(session->demo);
    stop(session);
    session = start(true);
    session_open(session, bad_path); /* what cannot be read leaves the demo */
    frame(session);
    frame(session);
    assert_non_null(session->demo);
    stop(session);
}

static void test_a_paused_demo_stands_still(void **state)
{
    Session *session = start(true);
    (void)state;
    frame(session);
    session->demo_paused = true;
    frame(session);
    double at = session->demo_time_sec;
    frame(session);
    assert_true(session->demo_time_sec == at);
    session->demo_paused = false;
    frame(session);
    assert_true(session->demo_time_sec > at);
    stop(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drawn_field_is_never_torn),
        cmocka_unit_test(test_repeatable_fields_depend_on_the_time_alone),
        cmocka_unit_test(test_a_host_without_shared_memory),
        cmocka_unit_test(test_a_file_at_once_starts_no_demo),
        cmocka_unit_test(test_a_paused_demo_stands_still),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
