/* tests/e2e/gallery_test.c: the gallery's pages, and some of their states, on every renderer
 * against the cpu renderer's pictures and those that the reference pages show (docs/images/gallery;
 * skipped where the fonts are others, see kept_fonts.h). At most half a percent of the pixels above
 * the status bar may differ, by more than 2 of 255: renderers round blends and edges differently.
 * With CALIPER_TEST_WRITE_REFERENCES=1 the pictures are made anew.
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
#include "kept_pictures.h"

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
static const char *gallery;
static KeptPictures kept;
static const char *const renderers[] = {"cpu", "gl", "vulkan"};
static bool drawn[3];

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

static void path_drawn(char *path, size_t path_bytes, const Shot *shot, size_t which)
{
    snprintf(path, path_bytes, "%s/%s-%s.png", room.path, shot->name, renderers[which]);
}

/* Each is compared with the cpu renderer's, which come first. */
static void pictures_of(size_t which)
{
    char path[512], of_cpu[512], probe[64];
    snprintf(probe, sizeof probe, "home --headless --frames 1 --renderer %s", renderers[which]);
    if (room_run(&room, "DISPLAY=:no-display", probe) != 0 ||
        strstr(room.output, renderers[which]) == NULL) {
        print_message("skipped: no %s here\n", renderers[which]);
        skip();
    }
    drawn[which] = true;
    for (size_t i = 0; i < sizeof shots / sizeof shots[0]; i++) {
        path_drawn(path, sizeof path, &shots[i], which);
        path_drawn(of_cpu, sizeof of_cpu, &shots[i], 0);
        take(&shots[i], renderers[which], path);
        if (which > 0)
            pictures_agree(path, of_cpu, 1.0f);
    }
}

static void pictures_of_cpu(void **unused)
{
    (void)unused;
    pictures_of(0);
}

static void pictures_of_gl(void **unused)
{
    (void)unused;
    pictures_of(1);
}

static void pictures_of_vulkan(void **unused)
{
    (void)unused;
    pictures_of(2);
}

/* With any font: a state is seen beside the one before it, a page is not the page before it. */
static void each_picture_is_another(void **unused)
{
    enum { LEAST_PX = 400 };
    char path[512], before[512];
    (void)unused;
    if (kept.fonts == KEPT_FONTS_ABSENT) {
        print_message("skipped: without fonts nothing lies where the scripts point: %s\n",
                      kept.why);
        skip();
    }
    for (size_t i = 1; i < sizeof shots / sizeof shots[0]; i++) {
        path_drawn(path, sizeof path, &shots[i], 0);
        path_drawn(before, sizeof before, &shots[i - 1], 0);
        pictures_differ(path, before, LEAST_PX);
    }
}

static void pictures_are_those_kept(void **unused)
{
    char path[512], kept_path[512];
    (void)unused;
    for (size_t which = 0; kept.fonts == KEPT_FONTS_SAME && which < 3; which++) {
        for (size_t i = 0; drawn[which] && i < sizeof shots / sizeof shots[0]; i++) {
            path_drawn(path, sizeof path, &shots[i], which);
            snprintf(kept_path, sizeof kept_path, "%s/%s.png", kept.folder, shots[i].name);
            pictures_agree(path, kept_path, 1.0f);
        }
    }
    assert_true(drawn[0]);
    kept_pictures_end(&kept);
}

static void write_all(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof shots / sizeof shots[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.png", kept.folder, shots[i].name);
        take(&shots[i], "cpu", path);
    }
    kept_pictures_written(&kept);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest writing[] = {cmocka_unit_test(write_all)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_cpu),         cmocka_unit_test(pictures_of_gl),
        cmocka_unit_test(pictures_of_vulkan),      cmocka_unit_test(each_picture_is_another),
        cmocka_unit_test(pictures_are_those_kept),
    };
    const char *write = getenv("CALIPER_TEST_WRITE_REFERENCES");
    if (argc < 5 || !room_make(&room, argv[1], argv[2], argv[2], argv[2]))
        return 1;
    gallery = argv[3];
    kept_pictures_look(&kept, &room, argv[4]);
    int failed = write != NULL && write[0] == '1'
                     ? cmocka_run_group_tests_name("gallery", writing, NULL, NULL)
                     : cmocka_run_group_tests_name("gallery", tests, NULL, NULL);
    room_remove(&room);
    return failed;
}
