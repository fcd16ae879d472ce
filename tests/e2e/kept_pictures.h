/* tests/e2e/kept_pictures.h: what the command drew, compared: one renderer with another, on every
 * machine, and with kept pictures where the fonts are those that they were drawn with. Fails the
 * running cmocka test. */
#ifndef CALIPER_TESTS_KEPT_PICTURES_H
#define CALIPER_TESTS_KEPT_PICTURES_H

#include "command.h"
#include "kept_fonts.h"

typedef struct KeptPictures {
    const char *folder;
    KeptFonts fonts;
    char why[1024];
    char doctor[sizeof((Room *)0)->output];
} KeptPictures;

/* Asks doctor for the fonts. */
void kept_pictures_look(KeptPictures *kept, Room *room, const char *folder);
/* The end of a test that compared what it could: fails when the list of digests is broken, and is
 * skipped with the reason when letters could not be compared. */
void kept_pictures_end(const KeptPictures *kept);
/* Writes the list of digests, after the pictures were written. */
void kept_pictures_written(const KeptPictures *kept);

/* At most one pixel of 200 above the status bar has a channel that differs by more than 2. */
void pictures_agree(const char *path, const char *other_path, float scale);
/* The cells of hello's tensor are equal to the byte. */
void pictures_agree_in_cells(const char *path, const char *other_path);
/* At least so many pixels above the status bar differ: a state is seen, a page is another one. */
void pictures_differ(const char *path, const char *other_path, uint32_t least);

#endif
