/* tests/e2e/gallery_test.c: the gallery's pages, and some of their states, on every renderer
 * against the pictures that the reference pages show (docs/images/gallery). At most half a percent
 * of the pixels above the status bar may differ, by more than 2 of 255: renderers round blends and
 * edges differently. With CALIPER_TEST_WRITE_REFERENCES=1 the pictures are made anew.
 *
 * argv: program, hello applet, gallery applet, the folder of pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"
#include "hello_picture.h"

typedef struct Shot {
    const char *name;
    char key;            /* of the page */
    const char *script;  /* from frame 6 on */
    const char *options; /* beside the size */
} Shot;

static const Shot shots[] = {
    {"text", 'a', "", ""},
    {"any-text", 'b', "", ""},
    {"buttons", 'c', "", ""},
    {"buttons-hovered", 'c', "move 300 163\n", ""},
    {"buttons-pressed", 'c', "move 300 163\nat 8\npress left\n", ""},
    {"buttons-focused", 'c',
     "key tab\nat 8\nkey right\nat 10\nkey up\nat 12\nkey up\nat 14\nkey up\n", ""},
    {"numbers", 'd', "", ""},
    {"entries", 'e', "", ""},
    {"entries-open", 'e', "move 400 445\nclick left\nat 10\ntext 999\n", ""},
    {"layout", 'f', "", ""},
    {"trees", 'g', "", ""},
    {"menus", 'h', "", ""},
    {"table", 'i', "", ""},
    {"images", 'j', "", ""},
    {"images-hovered", 'j', "move 560 200\n", ""},
    {"drawing", 'k', "", ""},
    {"lines", 'l', "", ""},
    {"lines-hovered", 'l', "move 330 270\n", ""},
    {"points", 'm', "", ""},
    {"axes", 'n', "", ""},
    {"axes-light", 'n', "", "--light"},
    {"marks", 'o', "", ""},
    {"long", 'p', "", ""},
    {"misuse", 'q', "", ""},
};

static Room room;
static const char *gallery, *references;

static void take(const Shot *shot, const char *renderer, const char *path)
{
    char script[320], arguments[1024];
    snprintf(script, sizeof script, "%s/script.txt", room.path);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fprintf(file, "at 3\nkey %c\nat 6\n%s", shot->key, shot->script);
    fclose(file);
    snprintf(arguments, sizeof arguments,
             "run '%s' --headless --frames 16 --size 1000x760 --renderer %s --input '%s' "
             "--log-level error --screenshot '%s' %s",
             gallery, renderer, script, path, shot->options);
    room_forget(&room);
    int status = room_run(&room, "DISPLAY=:no-display", arguments);
    if (status != 0)
        fail_msg("caliper %s: status %d\n%s", arguments, status, room.output);
}

static void compare(const Shot *shot, const char *path)
{
    char reference_path[512];
    Picture picture, reference;
    snprintf(reference_path, sizeof reference_path, "%s/%s.png", references, shot->name);
    assert_true(picture_read(path, &picture));
    assert_true(picture_read(reference_path, &reference));
    uint32_t pixels = picture.width_px * picture.height_px;
    uint32_t different = page_differs(&picture, &reference, 1.0f);
    if (different * 200 > pixels)
        fail_msg("%s: %u of %u pixels differ by more than 2", shot->name, different, pixels);
    picture_free(&picture);
    picture_free(&reference);
}

static void pictures_of(const char *renderer)
{
    char path[320];
    snprintf(path, sizeof path, "%s/shot.png", room.path);
    char probe[64];
    snprintf(probe, sizeof probe, "home --headless --frames 1 --renderer %s", renderer);
    if (room_run(&room, "DISPLAY=:no-display", probe) != 0 ||
        strstr(room.output, renderer) == NULL) {
        print_message("skipped: no %s here\n", renderer);
        skip();
    }
    for (size_t i = 0; i < sizeof shots / sizeof shots[0]; i++) {
        take(&shots[i], renderer, path);
        compare(&shots[i], path);
    }
}

static void pictures_of_cpu(void **unused)
{
    (void)unused;
    pictures_of("cpu");
}

static void pictures_of_gl(void **unused)
{
    (void)unused;
    pictures_of("gl");
}

static void pictures_of_vulkan(void **unused)
{
    (void)unused;
    pictures_of("vulkan");
}

static void write_all(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof shots / sizeof shots[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.png", references, shots[i].name);
        take(&shots[i], "cpu", path);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest writing[] = {cmocka_unit_test(write_all)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_cpu),
        cmocka_unit_test(pictures_of_gl),
        cmocka_unit_test(pictures_of_vulkan),
    };
    const char *write = getenv("CALIPER_TEST_WRITE_REFERENCES");
    if (argc < 5 || !room_make(&room, argv[1], argv[2], argv[2], argv[2]))
        return 1;
    gallery = argv[3];
    references = argv[4];
    int failed = write != NULL && write[0] == '1'
                     ? cmocka_run_group_tests_name("gallery", writing, NULL, NULL)
                     : cmocka_run_group_tests_name("gallery", tests, NULL, NULL);
    room_remove(&room);
    return failed;
}
