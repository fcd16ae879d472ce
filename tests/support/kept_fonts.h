/* tests/support/kept_fonts.h: whether this machine's letters are those of a folder of kept
 * pictures. Letters are drawn from the font files of the machine, and another release of a font has
 * other pixels; so beside the pictures lies fonts.sha256, as sha256sum writes it, of the files that
 * they were drawn with. For tests that compare with kept pictures; one thread. */
#ifndef CALIPER_TESTS_KEPT_FONTS_H
#define CALIPER_TESTS_KEPT_FONTS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum KeptFonts {
    KEPT_FONTS_SAME = 0, /* compare */
    KEPT_FONTS_OTHER,    /* all are found, one has another digest: letters cannot be compared */
    KEPT_FONTS_ABSENT,   /* one is not found: rows of text have other heights, too */
    KEPT_FONTS_BROKEN    /* fonts.sha256 or what doctor said is not as it should be: a failure */
} KeptFonts;

/* `doctor` is what `caliper doctor` printed. The answer and, unless it is SAME, why in one line:
 * the font, the first digits of both digests, what to do. */
KeptFonts kept_fonts(const char *doctor, const char *folder, char *why, size_t why_bytes);

/* Writes fonts.sha256 for the fonts of this machine; false, with why, if one is missing. */
bool kept_fonts_write(const char *doctor, const char *folder, char *why, size_t why_bytes);

#endif
