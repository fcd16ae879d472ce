/* tests/e2e/kept_pictures.c: see kept_pictures.h. */
#include "kept_pictures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hello_picture.h"

void kept_pictures_look(KeptPictures *kept, Room *room, const char *folder)
{
    kept->folder = folder;
    (void)room_run(room, "", "doctor");
    memcpy(kept->doctor, room->output, sizeof kept->doctor);
    kept->fonts = kept_fonts(kept->doctor, folder, kept->why, sizeof kept->why);
}

void kept_pictures_end(const KeptPictures *kept)
{
    if (kept->fonts == KEPT_FONTS_BROKEN)
        fail_msg("%s: %s", kept->folder, kept->why);
    if (kept->fonts != KEPT_FONTS_SAME) {
        print_message("skipped: no letter is compared with %s: %s\n", kept->folder, kept->why);
        skip();
    }
}

void kept_pictures_written(const KeptPictures *kept)
{
    char why[1024];
    if (!kept_fonts_write(kept->doctor, kept->folder, why, sizeof why))
        fail_msg("%s: %s", kept->folder, why);
}

static void read_two(const char *path, const char *other_path, Picture *one, Picture *other)
{
    assert_true(picture_read(path, one));
    assert_true(picture_read(other_path, other));
}

void pictures_agree(const char *path, const char *other_path, float scale)
{
    Picture one, other;
    read_two(path, other_path, &one, &other);
    uint32_t pixels = one.width_px * one.height_px;
    uint32_t different = page_differs(&one, &other, scale);
    if (different * 200 > pixels)
        fail_msg("%s and %s: %u of %u pixels differ by more than 2", path, other_path, different,
                 pixels);
    picture_free(&one);
    picture_free(&other);
}

void pictures_agree_in_cells(const char *path, const char *other_path)
{
    Picture one, other;
    read_two(path, other_path, &one, &other);
    uint32_t different = hello_cells_differ(&one, &other);
    if (different > 0)
        fail_msg("%s and %s: %u pixels of the tensor differ", path, other_path, different);
    picture_free(&one);
    picture_free(&other);
}

void pictures_differ(const char *path, const char *other_path, uint32_t least)
{
    Picture one, other;
    read_two(path, other_path, &one, &other);
    uint32_t different = page_differs(&one, &other, 1.0f);
    if (different < least)
        fail_msg("%s and %s show the same: %u pixels differ", path, other_path, different);
    picture_free(&one);
    picture_free(&other);
}
