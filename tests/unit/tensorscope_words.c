/* tests/unit/tensorscope_words.c: what the panel says of a picture: ends that tell numbers apart,
 * notes that are true to what is stored, NaN told from the lowest value, texts cut to their room.
 * The whole applet through its descriptor, and its panel's parts. The calling thread is the frame
 * thread. */
#include <math.h>

#include "app.h"
#include "tensorscope_host.h"

static void say_nothing_else(const char *text)
{
    if (strstr(host.text, text) != NULL) {
        fail_msg("'%s' is in\n%s", text, host.text);
    }
}

static void test_ends_are_told_apart(void **state)
{
    static const struct {
        double low, high;
        const char *low_text, *high_text;
    } cases[] = {{1000000, 1000000.5, "\n1000000\n", "\n1000000.5\n"},
                 {0.1, 0.10000000000000002, "\n0.1\n", "\n0.10000000000000002\n"},
                 {-1e30, 1e30, "\n-1e+30\n", "\n1e+30\n"},
                 {123456.7, 123456.8, "\n123456.7\n", "\n123456.8\n"},
                 {0, 1e300, "\n0\n0\n", "maximum: 1e+300\n"}}; /* no bar is of the second */
    const uint64_t shape[2] = {1, 2};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const double values[2] = {cases[i].low, cases[i].high};
        write_array(ARRAY_DTYPE_F64, 2, shape, values);
        void *self = start(path);
        wait_for(self, "maximum: ");
        assert_non_null(strstr(host.text, cases[i].low_text));
        assert_non_null(strstr(host.text, cases[i].high_text));
        stop(self);
    }
}

/* The note says what is true of the stored values, not of their binary32. */
static void test_notes_are_true(void **state)
{
    static const char one[] = "one value only", lost[] = "differ by less than binary32 holds",
                      beyond[] = "every finite value is beyond binary32",
                      none[] = "no finite value: ";
    static const struct {
        ArrayDtype dtype;
        double f64[4];
        int64_t i64[4];
        const char *note;
    } cases[] = {
        {ARRAY_DTYPE_F64, {1.0, 1.0, 1.0, 1.0}, {0}, one},
        {ARRAY_DTYPE_F64, {1.0, 1.0 + 1e-12, 1.0, 1.0}, {0}, lost},
        {ARRAY_DTYPE_F64, {1e300, 2e300, -1e300, 1e301}, {0}, beyond},
        {ARRAY_DTYPE_F64, {1e300, 1e300, 1e300, 1e300}, {0}, beyond},
        {ARRAY_DTYPE_F64, {NAN, INFINITY, -INFINITY, NAN}, {0}, none},
        {ARRAY_DTYPE_I64, {0}, {INT64_MAX, INT64_MAX - 1, INT64_MAX, INT64_MAX}, lost},
        {ARRAY_DTYPE_I64, {0}, {7, 7, 7, 7}, one},
        {ARRAY_DTYPE_F64, {1.0, 2.0, 1.0, 1.0}, {0}, NULL},
    };
    const char *const notes[] = {one, lost, beyond, none};
    const uint64_t shape[2] = {2, 2};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool real = cases[i].dtype == ARRAY_DTYPE_F64;
        write_array(cases[i].dtype, 2, shape,
                    real ? (const void *)cases[i].f64 : (const void *)cases[i].i64);
        void *self = start(path);
        wait_for(self, "maximum: ");
        for (size_t n = 0; n < sizeof(notes) / sizeof(notes[0]); n++) {
            if ((strstr(host.text, notes[n]) != NULL) != (notes[n] == cases[i].note)) {
                fail_msg("case %d: %s\n%s", (int)i, notes[n], host.text);
            }
        }
        stop(self);
    }
}

/* Percentiles that fall together among other values are no array of one value. */
static void test_equal_percentiles_are_not_one_value(void **state)
{
    static float values[1000];
    const uint64_t shape[2] = {10, 100};
    (void)state;
    values[17] = 5.0f;
    write_array(ARRAY_DTYPE_F32, 2, shape, values);
    void *self = start(path);
    wait_for(self, "maximum: 5");
    host.combo = "range";
    host.choice = RANGE_MODE_PERCENTILE;
    frame(self);
    wait_for(self, "both ends are the same: entry 0 everywhere");
    say_nothing_else("one value only");
    stop(self);
}

static int lines_of(const float *values, const char *wait)
{
    const uint64_t shape[2] = {4, 5};
    write_array(ARRAY_DTYPE_F32, 2, shape, values);
    void *self = start(path);
    host.sight[0] = 5.0;
    host.sight[1] = 4.0;
    wait_for(self, wait);
    frame(self);
    int lines = host.draws;
    stop(self);
    return lines;
}

/* Two strokes for each NaN in sight, where the cells are large; and the panel says what they are.
 */
static void test_nan_is_told_from_the_lowest_value(void **state)
{
    float values[20];
    (void)state;
    for (int i = 0; i < 20; i++) {
        values[i] = (float)i;
    }
    const int plain = lines_of(values, "0 NaN, ");
    values[7] = values[19] = NAN;
    values[3] = -INFINITY;
    assert_int_equal(lines_of(values, "NaN gets the colour of entry 0"), plain + 4);
}

/* A great window full of NaN has more cells than the host would draw strokes for: without crosses
 * the rest of the panel is still drawn. At any shape of what is in sight. */
static void test_crosses_have_a_most(void **state)
{
    static float values[400 * 400];
    static const struct {
        double across, down;
        bool crossed;
    } cases[] = {{181, 181, true}, {182, 181, false}, {400, 81, true},   {400, 82, false},
                 {81, 400, true},  {82, 400, false},  {400, 400, false}, {1, 1, true}};
    const uint64_t shape[2] = {400, 400};
    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        values[i] = NAN;
    }
    write_array(ARRAY_DTYPE_F32, 2, shape, values);
    void *self = start(path);
    wait_for(self, "NaN gets the colour of entry 0");
    const float width = host.width;
    host.width = 8000.0f; /* cells of 20 units and more */
    int others = 0;
    for (size_t i = sizeof(cases) / sizeof(cases[0]); i-- > 0;) {
        host.sight[0] = cases[i].across;
        host.sight[1] = cases[i].down;
        frame(self);
        others = i + 1 == sizeof(cases) / sizeof(cases[0]) ? host.draws - 2 : others;
        const int strokes = cases[i].crossed ? (int)(2 * cases[i].across * cases[i].down) : 0;
        assert_int_equal(host.draws - others, strokes);
    }
    host.width = width;
    stop(self);
}

/* A bar of one value is labelled with it. */
static void test_the_bar_of_a_constant_has_its_value(void **state)
{
    const float values[4] = {0.1f, 0.1f, 0.1f, 0.1f};
    const uint64_t shape[2] = {2, 2};
    (void)state;
    write_array(ARRAY_DTYPE_F32, 2, shape, values);
    void *self = start(path);
    wait_for(self, "maximum: 0.1\n");
    /* The histogram's ends, and the bar's. */
    int times = 0;
    for (const char *at = host.text; (at = strstr(at, "\n0.1\n")) != NULL; at++) {
        times++;
    }
    assert_int_equal(times, 3);
    stop(self);
}

/* ---- Widths ---- */

/* Every letter 7 units wide. */
static void seven_a_letter(const char *text, int64_t len, float wrap, uint32_t flags, float *w,
                           float *h)
{
    size_t letters = 0;
    (void)len, (void)wrap, (void)flags;
    for (; *text != '\0'; text++) {
        letters += ((unsigned char)*text & 0xc0) != 0x80;
    }
    *w = 7.0f * (float)letters;
    *h = 10.0f;
}

static const CaliperWidgetsV1 measuring = {.struct_size = sizeof(CaliperWidgetsV1),
                                           .text_size = seven_a_letter};

static void test_a_text_is_cut_to_its_room(void **state)
{
    static const char *const texts[] = {
        "short", "exactly twenty chars", "a name of a file that is longer than its room.npy",
        "\xc3\xa4\xc3\xb6\xc3\xbc\xe4\xb8\xad\xe6\x96\x87\xf0\x9f\x98\x80 and more letters\xc3\x9f",
        "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (float room = -20.0f; room < 400.0f; room += 3.5f) {
            char text[128];
            float before, after, unused;
            const size_t length = strlen(texts[i]);
            strcpy(text, texts[i]);
            seven_a_letter(text, -1, 0, 0, &before, &unused);
            panel_fit_text(&measuring, text, room, 0);
            seven_a_letter(text, -1, 0, 0, &after, &unused);
            if (before <= room) {
                assert_string_equal(text, texts[i]);
                continue;
            }
            /* In its room, or as short as it may become; the end is kept, behind dots. */
            assert_true(after <= room || strlen(text) <= 8 + 3);
            if (strcmp(text, texts[i]) != 0) {
                const size_t kept = strlen(text) - 3;
                assert_memory_equal(text, "\xe2\x80\xa6", 3);
                assert_true(kept < length);
                assert_string_equal(text + 3, texts[i] + length - kept);
                assert_true(((unsigned char)text[3] & 0xc0) != 0x80); /* at a letter's begin */
            } else {
                assert_true(length <= 8);
            }
        }
    }
}

/* The bar is as wide as its widest label and no wider than it must, whatever the numbers are. */
static void test_the_bar_is_as_wide_as_its_labels(void **state)
{
    static const App app = {.ui = &measuring};
    const float least = panel_bar_width(&app, 500.0f, 0.0, 1.0);
    (void)state;
    assert_true(least == 74.0f);
    assert_true(panel_bar_width(&app, 500.0f, 5.0, 5.0) == least);
    /* 16 + 20 for the strip and the gaps, 7 a letter. */
    assert_true(panel_bar_width(&app, 500.0f, 123456789.0, 123456789.0) == 36.0f + 7.0f * 9.0f);
    assert_true(panel_bar_width(&app, 500.0f, 1000000.0, 1000000.5) >= 36.0f + 7.0f * 9.0f);
    assert_true(panel_bar_width(&app, 500.0f, -1e-30, 1e-30) > least);
    assert_true(panel_bar_width(&app, 500.0f, 1.0, -1.0) == least); /* turned round */
    assert_true(panel_bar_width(&app, 10.0f, 1000000.0, 1000000.5) ==
                least); /* no room for ticks */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_are_told_apart),
        cmocka_unit_test(test_notes_are_true),
        cmocka_unit_test(test_equal_percentiles_are_not_one_value),
        cmocka_unit_test(test_nan_is_told_from_the_lowest_value),
        cmocka_unit_test(test_crosses_have_a_most),
        cmocka_unit_test(test_the_bar_of_a_constant_has_its_value),
        cmocka_unit_test(test_a_text_is_cut_to_its_room),
        cmocka_unit_test(test_the_bar_is_as_wide_as_its_labels),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
