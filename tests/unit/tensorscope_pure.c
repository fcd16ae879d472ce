/* tests/unit/tensorscope_pure.c: TensorScope's pure parts: axes, ranges, summaries, colours, the
 * field, texts. Expected values are numpy's (the lines that gave them stand beside them), or worked
 * out by hand. One thread. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "axes.h"
#include "field.h"
#include "range.h"
#include "slice_data.h"
#include "summary.h"
#include "text.h"

/* ---- Summaries ---- */

/* h = arange(n) * 2654435761 % 2**32 */
static float sample(uint64_t i)
{
    uint32_t hash = (uint32_t)(i * 2654435761u);
    return (float)((double)hash / 4294967296.0 * 20.0 - 7.0);
}

static Summary summary_of(const float *values, size_t count, bool whole)
{
    Summary summary;
    assert_true(summary_make(values, count, whole, NULL, NULL, &summary));
    return summary;
}

/* np.percentile((h / 2**32 * 20 - 7).astype('f4').astype('f8'), [1, 99]) */
static void test_percentiles_as_numpy(void **state)
{
    static const struct {
        size_t count;
        double low, high, max;
    } wanted[] = {
        {1, -0x1.c000000000000p+2, -0x1.c000000000000p+2, -0x1.cp+2},
        {2, -0x1.b816d3851eb85p+2, 0x1.4f2c33851eb85p+2, 0x1.5715600000000p+2},
        {3, -0x1.b9f4e7a8f5c29p+2, 0x1.4d4e1f6147ae1p+2, 0x1.5715600000000p+2},
        {101, -0x1.b991780000000p+2, 0x1.9260740000000p+3, 0x1.9acbdc0000000p+3},
        {10007, -0x1.b33b69eb851ecp+2, 0x1.998379999999ap+3, 0x1.9ff2fa0000000p+3},
    };
    float *values = malloc(10007 * sizeof(*values));
    (void)state;
    for (size_t i = 0; i < 10007; i++) {
        values[i] = sample(i);
    }
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        Summary summary = summary_of(values, wanted[i].count, false);
        assert_int_equal(summary.finite_count, wanted[i].count);
        assert_true((double)summary.min == -7.0);
        assert_true((double)summary.max == wanted[i].max);
        assert_true(summary.low_percentile == wanted[i].low);
        assert_true(summary.high_percentile == wanted[i].high);
    }
    free(values);
}

/* np.histogram(v, bins=128) of the same 10007 values */
static void test_histogram_as_numpy(void **state)
{
    static const uint64_t first[] = {79, 78, 79, 77, 79, 78, 79, 78}, last[] = {78, 79, 78, 78};
    float *values = malloc(10007 * sizeof(*values));
    uint64_t sum = 0;
    (void)state;
    for (size_t i = 0; i < 10007; i++) {
        values[i] = sample(i);
    }
    Summary summary = summary_of(values, 10007, false);
    assert_int_equal(summary.bin_count, 128);
    assert_memory_equal(summary.bins, first, sizeof(first));
    assert_memory_equal(summary.bins + 124, last, sizeof(last));
    for (uint32_t i = 0; i < summary.bin_count; i++) {
        sum += summary.bins[i];
    }
    assert_int_equal(sum, 10007);
    assert_int_equal(summary.most, 80);
    free(values);
}

/* np.unique(h % 7 - 3, return_counts=True) */
static void test_whole_numbers_have_a_bin_each(void **state)
{
    static const uint64_t counts[] = {1423, 1425, 1430, 1435, 1435, 1433, 1426};
    float *values = malloc(10007 * sizeof(*values));
    (void)state;
    for (uint64_t i = 0; i < 10007; i++) {
        values[i] = (float)((uint32_t)(i * 2654435761u) % 7) - 3.0f;
    }
    Summary summary = summary_of(values, 10007, true);
    assert_int_equal(summary.bin_count, 7);
    assert_true(summary.bins_low == -3.5 && summary.bins_high == 3.5);
    assert_memory_equal(summary.bins, counts, sizeof(counts));
    free(values);
}

static void test_what_is_not_finite_is_left_out(void **state)
{
    const float values[] = {NAN,    -INFINITY, INFINITY, -0.0f,   0.0f,
                            1e-42f, -1e-42f,   3.4e38f,  -3.4e38f};
    const float none[] = {NAN, INFINITY};
    (void)state;
    Summary summary = summary_of(values, 9, false);
    assert_int_equal(summary.count, 9);
    assert_int_equal(summary.finite_count, 6);
    assert_true(summary.min == -3.4e38f && summary.max == 3.4e38f);
    assert_true(summary.low_percentile == -0x1.e5ff12999999ap+127);
    assert_true(summary.high_percentile == 0x1.e5ff12999999bp+127);
    summary = summary_of(none, 2, false);
    assert_int_equal(summary.finite_count, 0);
    assert_int_equal(summary.bin_count, 0);
    summary = summary_of(values, 0, false);
    assert_int_equal(summary.finite_count, 0);
}

/* Ends of a colormap have no sign of zero. */
static void test_zeros_have_no_sign(void **state)
{
    const float all[] = {-0.0f, -0.0f, -0.0f}, mixed[] = {0.0f, -0.0f, 1.0f};
    const float below[] = {-1.0f, 0.0f, -0.0f};
    (void)state;
    Summary summary = summary_of(all, 3, false);
    assert_false(signbit(summary.min) || signbit(summary.max) || signbit(summary.bins_low));
    assert_false(signbit(summary.low_percentile) || signbit(summary.high_percentile));
    summary = summary_of(mixed, 3, false);
    assert_false(signbit(summary.min) || signbit(summary.low_percentile));
    summary = summary_of(below, 3, false);
    assert_false(signbit(summary.max) || signbit(summary.high_percentile));
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void test_summary_can_be_cancelled(void **state)
{
    const float value = 1.0f;
    Summary summary;
    (void)state;
    assert_false(summary_make(&value, 1, false, always, NULL, &summary));
}

/* ---- Ranges ---- */

static void check_range(Range range, float low, float high, bool noted)
{
    assert_true(range.low == low);
    assert_true(range.high == high);
    assert_true(range_is_accepted(range.low, range.high));
    assert_int_equal(range.note != NULL, noted);
}

static void test_modes(void **state)
{
    Summary summary = {.count = 10,
                       .finite_count = 10,
                       .min = -2.0f,
                       .max = 6.0f,
                       .low_percentile = -1.5,
                       .high_percentile = 5.25};
    Summary none = {.count = 3};
    (void)state;
    check_range(range_resolve(RANGE_MODE_MIN_MAX, ARRAY_DTYPE_F32, &summary, 0, 0), -2, 6, false);
    check_range(range_resolve(RANGE_MODE_SYMMETRIC, ARRAY_DTYPE_F32, &summary, 0, 0), -6, 6, false);
    check_range(range_resolve(RANGE_MODE_PERCENTILE, ARRAY_DTYPE_F32, &summary, 0, 0), -1.5f, 5.25f,
                false);
    check_range(range_resolve(RANGE_MODE_BY_HAND, ARRAY_DTYPE_F32, &summary, 3, 1), 3, 1, false);
    check_range(range_resolve(RANGE_MODE_MIN_MAX, ARRAY_DTYPE_F32, &none, 0, 0), 0, 1, true);
    check_range(range_resolve(RANGE_MODE_NATURAL, ARRAY_DTYPE_F32, &none, 0, 0), 0, 1, false);
    check_range(range_resolve(RANGE_MODE_NATURAL, ARRAY_DTYPE_BOOL, &none, 0, 0), 0, 1, false);
    check_range(range_resolve(RANGE_MODE_NATURAL, ARRAY_DTYPE_U8, &none, 0, 0), 0, 255, false);
    check_range(range_resolve(RANGE_MODE_NATURAL, ARRAY_DTYPE_I8, &none, 0, 0), -128, 127, false);
    check_range(range_resolve(RANGE_MODE_NATURAL, ARRAY_DTYPE_U16, &none, 0, 0), 0, 65535, false);
    check_range(range_resolve(RANGE_MODE_NATURAL, ARRAY_DTYPE_I64, &none, 0, 0), -0x1p63f, 0x1p63f,
                false);
}

/* Whatever is asked, what comes out is a range that the bridge takes. */
static void test_ranges_are_always_accepted(void **state)
{
    static const double ends[] = {0.0,
                                  -0.0,
                                  1.0,
                                  -1.0,
                                  0x1p-149,
                                  0x1p-100,
                                  -0x1p-91,
                                  1e-30,
                                  0x1p125,
                                  -0x1p125,
                                  3.4e38,
                                  -3.4e38,
                                  1e300,
                                  -1e300,
                                  (double)NAN,
                                  (double)INFINITY,
                                  -(double)INFINITY,
                                  16777216.0,
                                  16777216.5};
    const size_t count = sizeof(ends) / sizeof(ends[0]);
    Summary summary = {.count = 1, .finite_count = 1};
    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            Range range =
                range_resolve(RANGE_MODE_BY_HAND, ARRAY_DTYPE_F64, &summary, ends[i], ends[j]);
            float span = fabsf(range.high - range.low);
            assert_true(isfinite(range.low) && isfinite(range.high));
            assert_true(range.low == range.high || (span >= 0x1p-90f && span <= 0x1p126f));
            bool kept = (double)range.low == ends[i] && (double)range.high == ends[j];
            if (!kept && range.note == NULL) { /* only rounding may go unsaid */
                assert_true((float)ends[i] == range.low && (float)ends[j] == range.high);
            }
        }
    }
}

/* By the published formula in binary32, worked out by hand for a range of 0 to 255. */
static void test_entries(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        assert_int_equal(range_entry((float)i, 0.0f, 255.0f), i);
        assert_int_equal(range_entry((float)i, 255.0f, 0.0f), 255 - i);
    }
    assert_int_equal(range_entry(NAN, 0.0f, 1.0f), 0);
    assert_int_equal(range_entry(INFINITY, 0.0f, 1.0f), 255);
    assert_int_equal(range_entry(-INFINITY, 0.0f, 1.0f), 0);
    assert_int_equal(range_entry(INFINITY, 1.0f, 0.0f), 0);
    assert_int_equal(range_entry(-INFINITY, 1.0f, 0.0f), 255);
    assert_int_equal(range_entry(5.0f, 5.0f, 5.0f), 0);
    assert_int_equal(range_entry(-9.0f, 0.0f, 1.0f), 0);
    assert_int_equal(range_entry(9.0f, 0.0f, 1.0f), 255);
}

/* ---- Axes ---- */

static SourceArray array_of(ArrayDtype dtype, uint32_t rank, const uint64_t *shape)
{
    SourceArray array = {.name = (char *)(uintptr_t) "", .dtype = dtype, .rank = rank};
    array.element_count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        array.shape[i] = shape[i];
        array.element_count *= shape[i];
    }
    return array;
}

static void check_axes(const AxisChoice *axes, int row, int col, int colour)
{
    assert_int_equal(axes->row, row);
    assert_int_equal(axes->col, col);
    assert_int_equal(axes->colour, colour);
}

static void test_default_axes(void **state)
{
    const uint64_t batch[] = {10, 28, 30}, rgb[] = {5, 20, 30, 3}, two[] = {3, 5, 2};
    AxisChoice axes;
    SourceArray array = array_of(ARRAY_DTYPE_F32, 0, batch);
    (void)state;
    axes_default(&array, &axes);
    check_axes(&axes, -1, -1, -1);
    array = array_of(ARRAY_DTYPE_F32, 1, batch);
    axes_default(&array, &axes);
    check_axes(&axes, -1, 0, -1);
    array = array_of(ARRAY_DTYPE_F32, 3, batch);
    axes_default(&array, &axes);
    check_axes(&axes, 1, 2, -1);
    array = array_of(ARRAY_DTYPE_U8, 4, rgb);
    axes_default(&array, &axes);
    check_axes(&axes, 1, 2, 3);
    array = array_of(ARRAY_DTYPE_F32, 4, rgb);
    axes_default(&array, &axes);
    check_axes(&axes, 2, 3, -1);
    array = array_of(ARRAY_DTYPE_U16, 3, two);
    array.last_axis_is_colour = true;
    axes_default(&array, &axes);
    check_axes(&axes, 0, 1, 2);
}

static void test_axes_swap_and_stay_apart(void **state)
{
    const uint64_t shape[] = {3, 20, 30, 4};
    SourceArray array = array_of(ARRAY_DTYPE_U8, 4, shape);
    AxisChoice axes;
    (void)state;
    axes_default(&array, &axes);
    check_axes(&axes, 1, 2, 3);
    assert_true(axes_set_row(&array, &axes, 2)); /* columns takes what rows had */
    check_axes(&axes, 2, 1, 3);
    assert_true(axes_set_row(&array, &axes, 3)); /* 30 entries cannot be colour */
    check_axes(&axes, 3, 1, -1);
    assert_false(axes_set_row(&array, &axes, 3));
    assert_false(axes_set_colour(&array, &axes, 2));
    assert_true(axes_set_colour(&array, &axes, 0));
    check_axes(&axes, 3, 1, 0);
    assert_true(axes_set_row(&array, &axes, 0));
    check_axes(&axes, 0, 1, 3);
    assert_true(axes_set_row(&array, &axes, ARRAY_AXIS_NONE));
    check_axes(&axes, -1, 1, 3);
    assert_false(axes_set_row(&array, &axes, 4));
    assert_false(axes_set_row(&array, &axes, -2));
}

/* Any sequence of choices leaves three different roles, and sliders for exactly the rest. */
static void test_any_choices_keep_the_roles_apart(void **state)
{
    const uint64_t shape[] = {3, 7, 1, 4, 2};
    SourceArray array = array_of(ARRAY_DTYPE_U8, 5, shape);
    AxisChoice axes;
    uint32_t seed = 1;
    (void)state;
    axes_default(&array, &axes);
    for (int i = 0; i < 2000; i++) {
        seed = seed * 1664525u + 1013904223u;
        int axis = (int)(seed >> 16) % 7 - 1, sliders[ARRAY_RANK_MAX];
        switch (seed >> 28 & 3u) {
        case 0:
            axes_set_row(&array, &axes, axis);
            break;
        case 1:
            axes_set_col(&array, &axes, axis);
            break;
        default:
            axes_set_colour(&array, &axes, axis);
            break;
        }
        int roles[3] = {axes.row, axes.col, axes.colour};
        unsigned taken = 0;
        for (int k = 0; k < 3; k++) {
            assert_in_range(roles[k] + 1, 0, 5);
            assert_true(roles[k] < 0 || (taken & 1u << roles[k]) == 0);
            taken |= roles[k] < 0 ? 0 : 1u << roles[k];
        }
        assert_true(axes.colour < 0 || shape[axes.colour] <= 4);
        uint32_t count = axes_sliders(&array, &axes, sliders);
        for (uint32_t k = 0; k < count; k++) {
            assert_true((taken & 1u << sliders[k]) == 0 && shape[sliders[k]] > 1);
            taken |= 1u << sliders[k];
        }
        assert_int_equal(taken | 1u << 2, 31); /* axis 2 has one entry only */
    }
}

static void test_steps_stop_at_the_ends(void **state)
{
    const uint64_t shape[] = {3, UINT64_C(1) << 40};
    SourceArray array = array_of(ARRAY_DTYPE_F32, 2, shape);
    AxisChoice axes = {.row = -1, .col = -1, .colour = -1};
    (void)state;
    assert_false(axes_step(&array, &axes, 0, -1));
    assert_true(axes_step(&array, &axes, 0, 1));
    assert_true(axes_step(&array, &axes, 0, 1));
    assert_int_equal(axes.index[0], 2);
    assert_false(axes_step(&array, &axes, 0, 1));
    assert_true(axes_step(&array, &axes, 1, INT64_MAX));
    assert_true(axes.index[1] == (UINT64_C(1) << 40) - 1);
    assert_true(axes_step(&array, &axes, 1, INT64_MIN));
    assert_int_equal(axes.index[1], 0);
    assert_false(axes_step(&array, &axes, 2, 1));
}

static void test_element_of_a_cell(void **state)
{
    const AxisChoice axes = {.row = 3, .col = 0, .colour = 2, .index = {9, 5, 9, 9}};
    uint64_t index[ARRAY_RANK_MAX];
    (void)state;
    axes_element(4, &axes, 70, 80, 1, index);
    assert_int_equal(index[0], 80);
    assert_int_equal(index[1], 5);
    assert_int_equal(index[2], 1);
    assert_int_equal(index[3], 70);
}

/* ---- Areas and colours ---- */

static void test_overview_covers_within_its_limits(void **state)
{
    static const uint64_t extents[] = {1, 2, 100, 4096, 8191, 8192, 8193, 100000, 1ull << 40};
    (void)state;
    for (size_t i = 0; i < 9; i++) {
        for (size_t j = 0; j < 9; j++) {
            uint64_t rows = extents[i], cols = extents[j];
            SliceArea area = slice_area_overview(rows, cols, 8192, 1 << 24);
            assert_true(area.row_count <= 8192 && area.col_count <= 8192);
            assert_true(area.row_count * area.col_count <= 1 << 24);
            assert_true((area.row_count - 1) * area.row_step < rows);
            assert_true((area.col_count - 1) * area.col_step < cols);
            assert_true(area.row_count * area.row_step >= rows);
            assert_true(area.col_count * area.col_step >= cols);
            if (rows <= 4096 && cols <= 4096) {
                assert_true(area.row_step == 1 && area.col_step == 1);
            }
            /* Not much coarser than it must be, and found in few steps: 2^40 ends at once. */
            assert_true(area.row_count * area.col_count > 1 << 22 ||
                        (area.row_step <= rows / 4096 + 1 && area.col_step <= cols / 4096 + 1));
        }
    }
}

/* np.clip(np.floor(x * f4(255) + f4(.5)), 0, 255), and np.round(v / 257) for u16 */
static void test_colour_conversions(void **state)
{
    const float values[] = {0, 0.5f, 1, 254.5f / 255, 0.001f, 0.00196f, 1.5f, -1, NAN, INFINITY};
    const uint8_t wanted[] = {0, 128, 255, 255, 0, 0, 255, 0, 0, 255};
    uint8_t out[10];
    (void)state;
    assert_true(slice_to_colour(ARRAY_DTYPE_F32, values, out, 10));
    assert_memory_equal(out, wanted, 10);
    for (uint32_t v = 0; v < 65536; v++) {
        uint16_t value = (uint16_t)v;
        assert_true(slice_to_colour(ARRAY_DTYPE_U16, &value, out, 1));
        assert_int_equal(out[0], (int)floor((double)v / 257.0 + 0.5));
    }
    assert_true(slice_to_colour(ARRAY_DTYPE_U8, "\x00\x7f\xff", out, 3));
    assert_memory_equal(out, "\x00\x7f\xff", 3);
    assert_false(slice_to_colour(ARRAY_DTYPE_I32, values, out, 1));
}

/* ---- The field ---- */

static void test_field_is_pure_and_within_its_range(void **state)
{
    enum { SIDE = 96 };
    float *a = malloc(SIDE * SIDE * sizeof(*a)), *b = malloc(SIDE * SIDE * sizeof(*b));
    static const double times[] = {0.0, 0.016, 1.5, 1e3, 1e9, -7.0, (double)NAN, 1e300};
    (void)state;
    for (size_t t = 0; t < sizeof(times) / sizeof(times[0]); t++) {
        field_write(a, SIDE, times[t]);
        field_write(b, SIDE, times[t]);
        assert_memory_equal(a, b, SIDE * SIDE * sizeof(*a));
        double sum = 0;
        for (int i = 0; i < SIDE * SIDE; i++) {
            assert_true(a[i] >= 0.0f && a[i] <= 1.0f);
            sum += (double)a[i];
        }
        assert_true(sum / (SIDE * SIDE) > 0.3 && sum / (SIDE * SIDE) < 0.7);
    }
    field_write(a, SIDE, 0.0);
    field_write(b, SIDE, 0.016);
    assert_memory_not_equal(a, b, SIDE * SIDE * sizeof(*a));
    free(a);
    free(b);
}

/* ---- Texts ---- */

static void test_texts(void **state)
{
    const uint64_t shape[] = {60000, 28, 28};
    SourceArray array = array_of(ARRAY_DTYPE_U8, 3, shape);
    AxisChoice axes;
    char text[TEXT_BYTES], tiny[8];
    (void)state;
    assert_string_equal(text_shape(&array, text, sizeof(text)), "60000 \xc3\x97 28 \xc3\x97 28");
    axes_default(&array, &axes);
    axes.index[0] = 17;
    assert_string_equal(text_slice(&array, &axes, text, sizeof(text)), "[17, :, :]");
    assert_string_equal(text_index(&array, axes.index, text, sizeof(text)), "[17, 0, 0]");
    assert_string_equal(text_index(&array, axes.index, tiny, sizeof(tiny)), "[17, 0,");
    assert_string_equal(text_size(47040016, text, sizeof(text)), "47.0 MB");
    assert_string_equal(text_size(0, text, sizeof(text)), "0 B");
    assert_string_equal(text_size(999, text, sizeof(text)), "999 B");
    assert_string_equal(text_size(999960, text, sizeof(text)), "1.0 MB");
    assert_string_equal(text_size(UINT64_MAX, text, sizeof(text)), "18.4 EB");
    assert_string_equal(text_count(0, text, sizeof(text)), "0");
    assert_string_equal(text_count(9999, text, sizeof(text)), "9999");
    assert_string_equal(text_count(16000000, text, sizeof(text)), "16 000 000");
    array.rank = 0;
    assert_string_equal(text_shape(&array, text, sizeof(text)), "scalar");
    assert_string_equal(text_index(&array, axes.index, text, sizeof(text)), "[]");
}

static void test_nice_steps(void **state)
{
    (void)state;
    assert_true(text_nice_step(0.7) == 1.0);
    assert_true(text_nice_step(1.0) == 1.0);
    assert_true(text_nice_step(1.1) == 2.0);
    assert_true(text_nice_step(30.0) == 50.0);
    assert_true(text_nice_step(60.0) == 100.0);
    assert_true(text_nice_step(0.0) == 1.0);
    assert_true(text_nice_step((double)NAN) == 1.0);
    assert_true(text_nice_step((double)INFINITY) == 1.0);
}

/* A file that is written between the two passes has any values in the second: each is counted in
 * the nearest bin, and none is converted out of its range. */
static void test_a_second_pass_of_other_values(void **state)
{
    static const float first[] = {0.0f, 1.0f, 2.0f, 3.0f};
    static const float second[] = {3e38f, -3e38f, 1.5f, 2.5f};
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        Summary summary;
        SummaryCount *count = summary_count_create(whole != 0);
        summary_first(count, first, 4);
        summary_turn(count);
        summary_second(count, second, 4);
        summary_count_end(&count, &summary);
        assert_true(summary.bins[0] >= 1);
        assert_int_equal(summary.bins[summary.bin_count - 1], whole != 0 ? 2 : 1);
        uint64_t all = 0;
        for (uint32_t i = 0; i < summary.bin_count; i++) {
            all += summary.bins[i];
        }
        assert_int_equal(all, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_as_numpy),
        cmocka_unit_test(test_histogram_as_numpy),
        cmocka_unit_test(test_whole_numbers_have_a_bin_each),
        cmocka_unit_test(test_what_is_not_finite_is_left_out),
        cmocka_unit_test(test_zeros_have_no_sign),
        cmocka_unit_test(test_summary_can_be_cancelled),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_ranges_are_always_accepted),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_default_axes),
        cmocka_unit_test(test_axes_swap_and_stay_apart),
        cmocka_unit_test(test_any_choices_keep_the_roles_apart),
        cmocka_unit_test(test_steps_stop_at_the_ends),
        cmocka_unit_test(test_element_of_a_cell),
        cmocka_unit_test(test_overview_covers_within_its_limits),
        cmocka_unit_test(test_colour_conversions),
        cmocka_unit_test(test_field_is_pure_and_within_its_range),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_nice_steps),
        cmocka_unit_test(test_a_second_pass_of_other_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
