/* tests/e2e/widgets_letters_test.c: TensorScope's list of letters against the fonts that the host
 * draws with: a name is shown as it is only where the fonts that names are drawn in have all its
 * letters, so that no two names look alike. One thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "services/ui_paint.h"
#include "text.h"
#include "ui_bench.h"

static UiBench bench;

static void put_utf8(char out[5], uint32_t code)
{
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | code >> 6 * more);
    for (int i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3f));
    out[more + 1] = '\0';
}

static void no_name_has_a_letter_that_is_not_drawn(void **unused)
{
    static const UiFont fonts[] = {UI_FONT_BODY, UI_FONT_SMALL};
    uint32_t shown = 0, wrong = 0;
    char letter[5], text[32];
    (void)unused;
    if (!ui_font_has(bench.ui, UI_FONT_BODY, 0x0416) ||
        !ui_font_has(bench.ui, UI_FONT_BODY, 0xfffd)) {
        printf("skipped: the fonts of docs/dependencies.md are not installed\n");
        skip();
    }
    for (uint32_t code = 1; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code < 0xe000)
            continue;
        put_utf8(letter, code);
        if (strcmp(text_name(letter, text, sizeof text), letter) != 0)
            continue;
        shown++;
        for (size_t i = 0; i < sizeof fonts / sizeof fonts[0]; i++) {
            if (!ui_font_has(bench.ui, fonts[i], code)) {
                printf("U+%04X is not in font %d\n", (unsigned)code, (int)fonts[i]);
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(shown > 500); /* Latin, Greek and Cyrillic are */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_name_has_a_letter_that_is_not_drawn),
    };
    if (!bench_start(&bench, 1.0f))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    bench_stop(&bench);
    return failed;
}
