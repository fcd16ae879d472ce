/* tests/e2e/widgets_slider_test.c: a slider's number and its knob are both seen wherever the knob
 * is. The number stays the same while the range moves under it, so the picture with the knob at one
 * end says what each pixel of the number is. One thread. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui_bench.h"

enum { PLACES = 60, MOST_PX = BENCH_W * 2 * BENCH_H * 2, GUIDE_UNITS = 4, EDGE_UNITS = 3 };
enum { CUT_LEVELS = 24 }; /* of 255: a letter that is cut is sampled a little aside */

typedef struct Slider {
    const char *name;
    void (*draw)(UiBench *bench, void *place); /* place: 0 to 1, where the knob is */
    bool upright;
} Slider;

static UiBench bench;
static uint8_t alone[MOST_PX * 4], met[MOST_PX * 4];

static void draw_real(UiBench *b, void *place)
{
    double value = 0.5, min = 0.5 - *(double *)place;
    b->w->slider("##s", &value, min, min + 1.0, 4, "mm", 0);
}

static void draw_log(UiBench *b, void *place)
{
    double value = 0.0072, min = 0.0072 * pow(1e-6, *(double *)place);
    b->w->slider("##s", &value, min, min * 1e6, 0, NULL, CALIPER_NUMBER_LOG);
}

static void draw_whole(UiBench *b, void *place)
{
    int64_t value = 5280, min = 5280 - (int64_t)(*(double *)place * 900.0);
    b->w->slider_int("##s", &value, min, min + 900, NULL, 0);
}

static void draw_few(UiBench *b, void *place) /* the knob is as wide as a step */
{
    int64_t value = 38, min = 38 - (int64_t)(*(double *)place * 4.0 + 0.5);
    b->w->slider_int("##s", &value, min, min + 4, "of 40", 0);
}

/* As wide as the widest of value and ends: all three are written alike. */
static void draw_upright(UiBench *b, void *place)
{
    double value = 5.582, min = 5.582 - 0.001 * *(double *)place;
    b->w->slider("##s", &value, min, min + 0.001, 2, NULL, CALIPER_NUMBER_VERTICAL);
}

static const Slider sliders[] = {
    {"real", draw_real, false}, {"log", draw_log, false},        {"whole", draw_whole, false},
    {"few", draw_few, false},   {"upright", draw_upright, true},
};

/* WCAG 2.1, relative luminance and contrast. */
static double luminance(const uint8_t *rgba)
{
    static const double weights[3] = {0.2126, 0.7152, 0.0722};
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double c = rgba[i] / 255.0;
        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(const uint8_t *a, const uint8_t *b)
{
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

static int distance(const uint8_t *a, const uint8_t *b)
{
    int most = 0;
    for (int i = 0; i < 3; i++)
        most = abs(a[i] - b[i]) > most ? abs(a[i] - b[i]) : most;
    return most;
}

/* A knob's round edge is within so many bytes. */
static bool is_at_edge(const uint8_t *picture, size_t at, size_t aside)
{
    return distance(&picture[at], &picture[at + aside]) > 2 ||
           distance(&picture[at], &picture[at - aside]) > 2;
}

static void take(const Slider *slider, double place, uint8_t *out)
{
    bench_frame(&bench, slider->draw, &place);
    bench_frame(&bench, slider->draw, &place);
    assert_true(renderer_frame_read(bench.renderer, out, sizeof alone));
}

typedef struct Seen {
    uint64_t on_knob, beside;
} Seen;

/* Every pixel of the slider, `x0` to `x1` and `y0` to `y1`, with what is on the same line along a
 * guide that no letter reaches: there the knob is, or it is not. */
static void check(const Slider *slider, double scale, double place, Seen *seen)
{
    const UiItem *item = bench_item(&bench, "slider", NULL, 0);
    int width = (int)(BENCH_W * scale), inset = (int)(GUIDE_UNITS * scale);
    int x0 = (int)(item->x * scale) + inset, y0 = (int)(item->y * scale) + inset;
    int x1 = (int)((item->x + item->w) * scale) - inset;
    int y1 = (int)((item->y + item->h) * scale) - inset;
    const uint8_t *bare = &alone[((size_t)(slider->upright ? y0 : (y0 + y1) / 2) * (size_t)width +
                                  (size_t)(slider->upright ? x0 : x1)) *
                                 4];
    int full = 0; /* how far the number's colour is from the field's */
    for (int y = y0; y < y1; y++)
        for (int x = (x0 + x1) / 2 - (int)(10 * scale); x < (x0 + x1) / 2 + (int)(10 * scale);
             x++) {
            int far = distance(&alone[((size_t)y * (size_t)width + (size_t)x) * 4], bare);
            full = !(slider->upright && y > y0 + (int)(18 * scale)) && far > full ? far : full;
        }
    assert_true(full > 100);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            size_t at = ((size_t)y * (size_t)width + (size_t)x) * 4;
            size_t guide = ((size_t)(slider->upright ? y : y0) * (size_t)width +
                            (size_t)(slider->upright ? x0 : x)) *
                           4;
            if (distance(&alone[guide], bare) > 2) /* where the knob was alone */
                continue;
            int far = distance(&alone[at], bare);
            size_t aside = (slider->upright ? (size_t)width : 1) * 4 * (size_t)(EDGE_UNITS * scale);
            if (is_at_edge(alone, guide, aside) || is_at_edge(met, guide, aside))
                continue;
            if (distance(&met[guide], bare) <= 2) { /* beside it */
                assert_true(distance(&met[at], &alone[at]) <= CUT_LEVELS);
                seen->beside += far > 100;
                continue;
            }
            assert_true(contrast(&met[guide], bare) >= 3.0); /* the knob on its field */
            if (far <= 2)
                assert_true(distance(&met[at], &met[guide]) <= 6);
            if (far * 20 < full * 19)
                continue;
            seen->on_knob++;
            if (contrast(&met[at], &met[guide]) < 4.3) /* the whole colour has 4.5 : 1 */
                fail_msg("%s at %g, scale %g: %02x%02x%02x on %02x%02x%02x at %d, %d", slider->name,
                         place, scale, met[at], met[at + 1], met[at + 2], met[guide],
                         met[guide + 1], met[guide + 2], x, y);
        }
}

static void number_and_knob_are_seen_at_each_place(void **unused)
{
    static const float scales[] = {1.0f, 1.5f, 2.0f};
    (void)unused;
    for (int s = 0; s < 3; s++) {
        assert_true(bench_start_listening(&bench, scales[s], BENCH_W, BENCH_H));
        for (int light = 0; light < 2; light++) {
            ui_set_light(bench.ui, light == 1);
            for (size_t i = 0; i < sizeof sliders / sizeof sliders[0]; i++) {
                Seen seen = {0};
                take(&sliders[i], 0.0, alone);
                for (int place = 1; place <= PLACES; place++) {
                    double where = (double)place / PLACES;
                    take(&sliders[i], where, met);
                    check(&sliders[i], scales[s], where, &seen);
                }
                assert_true(seen.on_knob > 20); /* they did meet */
                assert_true(seen.beside > 1000);
            }
        }
        bench_stop(&bench);
    }
}

/* ---- Held and disabled ---- */

static double held = 0.3;
static bool off;

static void draw_held(UiBench *b, void *unused)
{
    (void)unused;
    b->w->disabled(off);
    b->w->slider("held", &held, 0.0, 1.0, 3, NULL, 0);
    b->w->end(CALIPER_SCOPE_DISABLED);
}

/* The knob is asked for once more than the toolkit does: that moves nothing. */
static void a_slider_moves_only_when_it_is_held(void **unused)
{
    (void)unused;
    assert_true(bench_start_listening(&bench, 1.0f, BENCH_W, BENCH_H));
    for (int i = 0; i < 3; i++)
        bench_frame(&bench, draw_held, NULL);
    assert_true(held == 0.3);
    const UiItem *item = bench_item(&bench, "slider", "held", 0);
    float x = item->x, y = item->y + 8;
    bench_move(&bench, x + 8, y); /* the knob's place for 0: 2 + 12 / 2 from the left */
    bench_frame(&bench, draw_held, NULL);
    bench_button(&bench, 0, true);
    bench_frame(&bench, draw_held, NULL);
    bench_frame(&bench, draw_held, NULL);
    assert_true(held == 0.0);
    bench_move(&bench, x + 1000, y);
    bench_frame(&bench, draw_held, NULL);
    assert_true(held == 1.0);
    bench_button(&bench, 0, false);
    bench_frame(&bench, draw_held, NULL);
    bench_move(&bench, x + 8, y);
    bench_frame(&bench, draw_held, NULL);
    bench_frame(&bench, draw_held, NULL);
    assert_true(held == 1.0);
    off = true;
    bench_button(&bench, 0, true);
    bench_frame(&bench, draw_held, NULL);
    bench_frame(&bench, draw_held, NULL);
    assert_true(held == 1.0);
    bench_stop(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_and_knob_are_seen_at_each_place),
        cmocka_unit_test(a_slider_moves_only_when_it_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
