/* tests/unit/tensorscope_session.c: files in the session over a bridge of the test's own, which
 * keeps count of textures, pins ranges and has a largest size. The calling thread is the frame
 * thread. */
#include "tensorscope_session.h"

/* ---- Files in the session ---- */

static void test_a_file_and_its_slices(void **state)
{
    Session *session = start(true);
    (void)state;
    session_open(session, small_path);
    frame(session);
    assert_false(session->shows_demo);
    assert_non_null(session->view.whole.data);
    const FakeTexture *texture = live(session->view.whole.texture, false);
    assert_true(texture->low == 0.0f && texture->high == 47.0f);
    assert_int_equal(texture->h, 6);
    assert_int_equal(texture->w, 8);
    Hover hover = session_hover(session, 2, 3);
    float value;
    memcpy(&value, &hover.elements[0], 4);
    assert_true(hover.inside && hover.known && value == 19.0f);

    assert_true(session_step(session, 0, 1)); /* another range: another texture */
    frame(session);
    assert_int_equal(session->view.recreated_count, 1);
    hover = session_hover(session, 2, 3);
    memcpy(&value, &hover.elements[0], 4);
    assert_true(value == 67.0f);

    session_set_mode(session, RANGE_MODE_NATURAL);
    assert_int_equal(session->view.recreated_count, 2);
    assert_true(session_step(session, 0, 1)); /* the range stays: the same texture */
    frame(session);
    assert_int_equal(session->view.recreated_count, 2);
    assert_int_equal(fake.updated, 1);

    session_set_colormap(session, CALIPER_CMAP_RDBU);
    assert_int_equal(session->view.recreated_count, 3);
    session_set_colormap(session, CALIPER_CMAP_RDBU);
    assert_int_equal(session->view.recreated_count, 3);
    assert_int_equal(live(session->view.whole.texture, false)->colormap, CALIPER_CMAP_RDBU);

    session_set_mode(session, RANGE_MODE_BY_HAND); /* starts where it is */
    assert_int_equal(session->view.recreated_count, 3);
    session_set_hand(session, -5.0, 5.0);
    assert_true(live(session->view.whole.texture, false)->low == -5.0f);
    session_set_hand(session, -5.0, 6.0); /* either end alone */
    assert_true(live(session->view.whole.texture, false)->high == 6.0f);
    session_set_hand(session, -4.0, 6.0);
    assert_true(live(session->view.whole.texture, false)->low == -4.0f);
    assert_int_equal(session->view.recreated_count, 6);
    assert_false(session_step(session, 1, 1));
    assert_int_equal(live_count(), 1);
    stop(session);
}

static void test_colour_goes_direct(void **state)
{
    Session *session = start(true);
    (void)state;
    session_open(session, rgb_path);
    frame(session);
    assert_int_equal(live(session->view.whole.texture, false)->c, 3);
    session_set_mode(session, RANGE_MODE_SYMMETRIC); /* no range: nothing to make again */
    assert_int_equal(fake.made, 1);
    Hover hover = session_hover(session, 1, 2);
    assert_int_equal(hover.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(((const uint8_t *)&hover.elements[i])[0], (1 * 6 + 2) * 3 + i);
    }
    assert_true(axes_set_colour(session_array(session), &session->axes, ARRAY_AXIS_NONE));
    session_axes_changed(session, true);
    frame(session);
    assert_int_equal(live(session->view.whole.texture, false)->c, 0);
    stop(session);
}

/* A host whose textures end at 1000 pixels: fewer samples, a finer part where one looks, and the
 * exact value of every element all the same. */
static void test_larger_than_a_texture(void **state)
{
    Session *session = start(true);
    (void)state;
    fake.max_px = 1000;
    session_open(session, wide_path);
    frame(session);
    const SliceArea *area = &session->view.whole.data->request.area;
    assert_true(area->col_step > 1 && area->row_step == 1);
    assert_true(area->col_count <= 1000 && area->col_count * area->col_step >= 3000);
    assert_int_equal(fake.refused, 2); /* at 3000 and at 1500 samples */
    assert_int_equal(log_lines, 0);

    Hover hover = session_hover(session, 1, 1234);
    for (int i = 0; i < 3 && !hover.known; i++) {
        frame(session);
        hover = session_hover(session, 1, 1234);
    }
    float value;
    memcpy(&value, &hover.elements[0], 4);
    assert_true(hover.known && value == 4234.0f);

    session_look(session, 0.0, 1000.0, 3.0, 1200.0, 8.0, 4.0);
    frame(session);
    const SliceData *detail = session->view.detail.data;
    assert_non_null(detail);
    assert_int_equal(detail->request.area.col_step, 1);
    assert_true(detail->request.area.col_begin <= 1000);
    assert_true(detail->request.area.col_begin + detail->request.area.col_count >= 1200);
    int made = fake.made;
    session_look(session, 0.0, 1000.0, 3.0, 1200.0, 8.0, 4.0); /* it is there already */
    frame(session);
    assert_int_equal(fake.made, made);
    session_set_hand(session, 1.0, 2.0); /* both parts in the new range */
    assert_true(live(session->view.detail.texture, false)->low == 1.0f);
    assert_true(live(session->view.whole.texture, false)->low == 1.0f);
    stop(session);
}

/* A part that was asked for beside a coarser picture and comes late does not cover a finer one. */
static void test_a_late_part_covers_nothing_finer(void **state)
{
    Session *session = start(true);
    (void)state;
    fake.max_px = 1000;
    session_open(session, wide_path);
    frame(session);
    const SliceArea *whole = &session->view.whole.data->request.area;
    SliceRequest late = {.array = session->array, .axes = session->axes};
    late.area = (SliceArea){.row_count = 3, .row_step = 1, .col_count = 100};
    for (late.area.col_step = whole->col_step; late.area.col_step <= 24;
         late.area.col_step += whole->col_step) {
        loader_detail(session->loader, &late);
        frame(session);
        assert_null(session->view.detail.data);
    }
    session_look(session, 0.0, 1000.0, 3.0, 1200.0, 8.0, 4.0); /* and a finer one comes still */
    frame(session);
    assert_non_null(session->view.detail.data);
    stop(session);
}

/* What is said of a range is said of the slice that is shown, though the ends stay the same. */
static void test_the_note_is_of_the_slice_shown(void **state)
{
    const uint64_t shape[3] = {3, 2, 2};
    const float values[12] = {NAN, NAN, NAN, NAN, 0, 0.25f, 0.5f, 1, NAN, NAN, NAN, NAN};
    char path[128];
    (void)state;
    write_file(path, "notes.npy", ARRAY_DTYPE_F32, 3, shape, values);
    Session *session = start(true);
    session_open(session, path);
    for (int slice = 0; slice < 3; slice++) {
        frame(session);
        assert_true(session->view.whole.range.low == 0 && session->view.whole.range.high == 1);
        assert_int_equal(session->view.whole.range.note != NULL, slice != 1);
        assert_int_equal(session_step(session, 0, 1), slice < 2);
    }
    assert_int_equal(session->view.recreated_count, 0);
    stop(session);
    unlink(path);
}

enum { SORTED_MAX = 40 * 5000 };

static int compare_floats(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return left < right ? -1 : left > right;
}

/* A slice that is shown by samples, whose extremes, NaN and infinities all lie between them: the
 * numbers are the samples' at first and every element's in the end, and the range follows. */
static void test_every_element_is_counted(void **state)
{
    const uint64_t shape[3] = {2, 40, 5000};
    char path[128];
    float *values = malloc(2 * 40 * 5000 * sizeof(*values));
    (void)state;
    for (int i = 0; i < 2 * 40 * 5000; i++) {
        values[i] = (float)(i % 97);
    }
    float *second = values + 40 * 5000;
    second[17 * 5000 + 1] = -1234.5f;
    second[31 * 5000 + 4997] = 5678.25f;
    second[3] = NAN;
    second[39 * 5000 + 4999] = -INFINITY;
    second[20 * 5000 + 7] = INFINITY;
    write_file(path, "count.npy", ARRAY_DTYPE_F32, 3, shape, values);
    Session *session = start(true);
    fake.max_px = 1000;
    session_open(session, path);
    frame(session);
    assert_true(session_step(session, 0, 1));
    frame(session);
    assert_true(session->view.whole.data->request.area.col_step > 1);
    assert_true(session->view.whole.data->stats.element_count < 40 * 5000);
    for (int i = 0; i < 1000 && exact_state(session->exact) == EXACT_STATE_COUNTING; i++) {
        frame(session);
    }
    assert_int_equal(exact_state(session->exact), EXACT_STATE_KNOWN);
    const ArrayStats *stats = session_stats(session);
    assert_int_equal(stats->element_count, 40 * 5000);
    assert_true(stats->min.value.f64 == -1234.5 && stats->max.value.f64 == 5678.25);
    assert_int_equal(stats->nan_count, 1);
    assert_int_equal(stats->infinite_count, 2);
    static float sorted[SORTED_MAX];
    size_t finite = 0;
    for (size_t i = 0; i < 40 * 5000; i++) {
        if (isfinite(second[i])) {
            sorted[finite++] = second[i];
        }
    }
    qsort(sorted, finite, sizeof(sorted[0]), compare_floats);
    const Summary *summary = session_summary(session);
    assert_int_equal(summary->finite_count, finite);
    const double ends[2] = {summary->low_percentile, summary->high_percentile};
    for (int i = 0; i < 2; i++) { /* numpy's default: a straight line between neighbours */
        double place = (i == 0 ? 0.01 : 0.99) * (double)(finite - 1), below = floor(place);
        double low = (double)sorted[(size_t)below], high = (double)sorted[(size_t)below + 1];
        assert_true(fabs(ends[i] - (low + (high - low) * (place - below))) < 1e-9);
    }
    uint64_t in_bins = 0;
    for (uint32_t i = 0; i < summary->bin_count; i++) {
        in_bins += summary->bins[i];
    }
    assert_int_equal(in_bins, finite);
    assert_true(session->view.whole.range.low == -1234.5f);
    assert_true(session->view.whole.range.high == 5678.25f);
    assert_true(session_step(session, 0, -1)); /* another slice: its own numbers */
    frame(session);
    for (int i = 0; i < 1000 && exact_state(session->exact) == EXACT_STATE_COUNTING; i++) {
        frame(session);
    }
    assert_true(session_stats(session)->max.value.f64 == 96.0);
    assert_true(session->view.whole.range.high == 96.0f);
    session_count(session);
    exact_stop(session->exact);
    assert_int_equal(exact_state(session->exact), EXACT_STATE_STOPPED);
    assert_true(session_stats(session) == &session->view.whole.data->stats);
    session_count(session);
    for (int i = 0; i < 1000 && exact_state(session->exact) == EXACT_STATE_COUNTING; i++) {
        frame(session);
    }
    assert_int_equal(exact_state(session->exact), EXACT_STATE_KNOWN);
    session_follow(session, false); /* what was counted of another content is not taken */
    write_file(path, "count.npy", ARRAY_DTYPE_F32, 3, shape, values);
    session_count(session);
    for (int i = 0; i < 1000 && exact_state(session->exact) == EXACT_STATE_COUNTING; i++) {
        frame(session);
    }
    assert_int_equal(exact_state(session->exact), EXACT_STATE_FAILED);
    assert_non_null(strstr(exact_error(session->exact)->message, "changed"));
    free(values);
    unlink(path);
    stop(session);
}

static void test_a_damaged_file_is_told_once(void **state)
{
    Session *session = start(true);
    (void)state;
    session_open(session, bad_path);
    for (int i = 0; i < 5; i++) {
        frame(session);
    }
    assert_int_equal(log_lines, 1);
    assert_int_not_equal(session->error.fault, ARRAY_FAULT_NONE);
    assert_true(session->shows_demo);
    session_open(session, small_path);
    frame(session);
    assert_int_equal(session->error.fault, ARRAY_FAULT_NONE);
    session_open(session, bad_path); /* the one before stays */
    frame(session);
    assert_int_equal(log_lines, 2);
    assert_non_null(session->view.whole.data);
    assert_string_equal(session->source->path, small_path);
    session_forget_error(session);
    assert_int_equal(session->error.fault, ARRAY_FAULT_NONE);
    stop(session);
}

/* What was asked of the file before, when another was wished for that cannot be opened, is shown in
 * the end: the sliders and the picture never disagree. */
static void test_a_failed_open_loses_no_wish(void **state)
{
    const char *const refused[] = {bad_path, "/no such file", folder};
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        Session *session = start(true);
        session_open(session, small_path);
        frame(session);
        assert_true(session_step(session, 0, 1));
        session_open(session, refused[i]); /* before the slice was read */
        frame(session);
        assert_int_not_equal(session->error.fault, ARRAY_FAULT_NONE);
        assert_string_equal(session->source->path, small_path);
        Hover hover = session_hover(session, 2, 3);
        float value;
        memcpy(&value, &hover.elements[0], 4);
        assert_true(hover.known && value == 67.0f);
        stop(session);
    }
}

static void test_a_file_rewritten_smaller_is_an_error(void **state)
{
    Session *session = start(true);
    char path[128];
    const uint64_t shape[2] = {64, 64};
    float *values = calloc(64 * 64, sizeof(*values));
    (void)state;
    write_file(path, "shrinks.npy", ARRAY_DTYPE_F32, 2, shape, values);
    session_open(session, path);
    frame(session);
    assert_non_null(session->view.whole.data);
    assert_int_equal(truncate(path, 200), 0);
    session_axes_changed(session, false);
    frame(session);
    assert_int_equal(session->error.fault, ARRAY_FAULT_TRUNCATED);
    assert_true(session->slice_failed);
    unlink(path);
    free(values);
    stop(session);
}

/* What is said of a content that could not be read is over as soon as the next one is shown; what
 * is said of another file that was asked for is not. */
static void test_an_error_ends_with_the_content_it_is_of(void **state)
{
    const uint64_t shape[2] = {40, 50};
    static float values[2000];
    char path[128];
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        Session *session = start(true);
        write_file(path, "again.npy", ARRAY_DTYPE_F32, 2, shape, values);
        session->follows = true;
        session_open(session, path);
        while (session->source == NULL) {
            session_update(session, 0.0, 0.016);
        }
        frame(session);
        if (cut == 0) {
            assert_int_equal(truncate(path, 200), 0);
            slice_view_clear(&session->view); /* nothing is left to be shown meanwhile */
            session_axes_changed(session, true);
        } else {
            session_open(session, bad_path);
        }
        frame(session);
        assert_int_not_equal(session->error.fault, ARRAY_FAULT_NONE);
        unlink(path);
        values[0] = 5.0f;
        write_file(path, "again.npy", ARRAY_DTYPE_F32, 2, shape, values);
        for (int i = 0; i < 2000 && session->refresh_count == 0; i++) {
            frame(session);
            usleep(1000);
        }
        assert_true(session->refresh_count > 0);
        frame(session);
        assert_true(session->view.whole.texture != 0 && !session->slice_failed);
        assert_int_equal(session->error.fault == ARRAY_FAULT_NONE, cut == 0);
        stop(session);
        unlink(path);
    }
}

static void test_recent_files(void **state)
{
    Session *session = start(true);
    char name[32];
    (void)state;
    session_open(session, small_path);
    frame(session);
    session_offer(session, wide_path);
    session_offer(session, wide_path);
    assert_string_equal(session->recent[0], small_path);
    assert_string_equal(session->recent[1], wide_path);
    assert_null(session->recent[2]);
    session_open(session, wide_path);
    frame(session);
    assert_string_equal(session->recent[0], wide_path);
    assert_string_equal(session->recent[1], small_path);
    assert_null(session->recent[2]);
    for (int i = 0; i < 2 * SESSION_RECENT_MAX; i++) {
        snprintf(name, sizeof(name), "file %d", i);
        session_offer(session, name);
    }
    session_open(session, rgb_path);
    frame(session);
    assert_string_equal(session->recent[0], rgb_path);
    assert_string_equal(session->recent[1], wide_path);
    stop(session);
}

/* Without waiting: whatever arrives when, nothing leaks and the last wish is what is shown. */
static void test_hasty_wishes(void **state)
{
    const char *const paths[] = {small_path, wide_path, rgb_path, bad_path};
    Session *session = start(false);
    uint32_t seed = 7;
    (void)state;
    for (int i = 0; i < 400; i++) {
        seed = seed * 1664525u + 1013904223u;
        switch (seed >> 29) {
        case 0:
            session_open(session, paths[seed >> 16 & 3u]);
            break;
        case 1:
            session_step(session, 0, seed & 0x10000u ? 1 : -1);
            break;
        case 2:
            session_set_mode(session, (RangeMode)(seed >> 16 & 3u));
            break;
        case 3:
            session_select_array(session, seed >> 16 & 1u);
            break;
        case 4:
            session_hover(session, seed >> 16 & 7u, seed >> 20 & 7u);
            break;
        case 5:
            session_look(session, 0, 0, 3, 50, 9, 9);
            break;
        case 6:
            session_show_demo(session);
            break;
        default:
            session_set_colormap(session, (int32_t)(seed >> 16) % 3);
            break;
        }
        frame(session);
    }
    session_open(session, rgb_path);
    session->repeatable = true;
    frame(session);
    assert_string_equal(session->source->path, rgb_path);
    assert_int_equal(live(session->view.whole.texture, false)->c, 3);
    stop(session);
}

/* A picture stays while one of another shape is read: the pointer on a cell that only the new one
 * has is on nothing, asks for nothing outside the array and tells no failure. */
static void test_hover_while_another_shape_is_read(void **state)
{
    (void)state;
    Session *session = start(true);
    session_open(session, small_path); /* 4 x 6 x 8 */
    frame(session);
    assert_true(session_hover(session, 5, 7).known);
    const SourceArray *array = session_array(session);
    assert_true(axes_set_row(array, &session->axes, 2)); /* 8 x 6 */
    session_axes_changed(session, true);
    for (uint64_t row = 0; row < 9; row++) {
        for (uint64_t col = 0; col < 9; col++) {
            Hover hover = session_hover(session, row, col); /* of the 6 x 8 that is still shown */
            assert_true(hover.inside == (row < 6 && col < 8));
            assert_true(hover.known == hover.inside);
        }
    }
    frame(session);
    assert_int_equal(session->error.fault, ARRAY_FAULT_NONE);
    assert_int_equal(log_lines + warnings, 0);
    assert_true(session_hover(session, 7, 5).known);
    assert_false(session_hover(session, 5, 7).inside);
    stop(session);
}

/* Where nothing of the picture is in sight, or what is said of it is no place, nothing is asked. */
static void test_looking_elsewhere_asks_for_nothing(void **state)
{
    static const double places[] = {
        -1e300, -1e30, -1.0, 1e19, 1e30, 1e300, (double)INFINITY, -(double)INFINITY, (double)NAN};
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    (void)state;
    Session *session = start(true);
    session->side_max = 1000;
    session_open(session, wide_path); /* 3 x 3000, by samples */
    frame(session);
    for (int a = 0; a < PLACES; a++) {
        for (int b = 0; b < PLACES; b++) {
            session_look(session, places[a], places[a], places[b], places[b], 50.0, 50.0);
            const SliceArea *area = &session->detail_area;
            assert_true(area->row_begin + area->row_count <= 3 &&
                        area->col_begin + area->col_count <= 3000);
            memset(&session->detail_area, 0, sizeof(session->detail_area));
        }
    }
    frame(session);
    assert_int_equal(log_lines + warnings, 0);
    stop(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_and_its_slices),
        cmocka_unit_test(test_colour_goes_direct),
        cmocka_unit_test(test_larger_than_a_texture),
        cmocka_unit_test(test_a_late_part_covers_nothing_finer),
        cmocka_unit_test(test_the_note_is_of_the_slice_shown),
        cmocka_unit_test(test_every_element_is_counted),
        cmocka_unit_test(test_a_damaged_file_is_told_once),
        cmocka_unit_test(test_a_failed_open_loses_no_wish),
        cmocka_unit_test(test_a_file_rewritten_smaller_is_an_error),
        cmocka_unit_test(test_an_error_ends_with_the_content_it_is_of),
        cmocka_unit_test(test_recent_files),
        cmocka_unit_test(test_hasty_wishes),
        cmocka_unit_test(test_hover_while_another_shape_is_read),
        cmocka_unit_test(test_looking_elsewhere_asks_for_nothing),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
