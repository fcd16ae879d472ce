/* tests/e2e/command_test.c: the command from outside: exit statuses, usage errors, pictures of one
 * renderer against another's and against tests/e2e/reference/, crashed applets, windows under Xvfb.
 * Lost renderers: lost_test.c.
 *
 * Pictures. Cells of a tensor: equal to the byte, on every renderer. The rest: a channel may differ
 * by 2 (blending rounds differently), and in one pixel of 200 by more (edges of glyphs and rounded
 * corners). Not compared: the status bar, which names the machine. With other fonts than the kept
 * pictures' (kept_fonts.h) only the cells are compared with them. Renderers are compared with one
 * another with any fonts; without any the cells lie elsewhere and count as the rest.
 *
 * argv: program, hello applet, crash applet, ImGui applet, reference folder, and
 * where there is no sanitizer count_allocations.
 * CALIPER_TEST_WRITE_REFERENCES=1 writes the cpu renderer's pictures there instead of comparing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "command.h"
#include "hello_picture.h"
#include "kept_pictures.h"

static Room room;
static KeptPictures kept;
static const char *counter; /* count_allocations, or NULL */
static bool write_references;
static bool has_gl, has_vulkan, has_xvfb;

/* ---- Usage ---- */

static void usage_errors_are_one_line_and_2(void **unused)
{
    static const char *const wrong[] = {"--nonsense",
                                        "nonsense",
                                        "--size",
                                        "--size 0x10",
                                        "--size 10",
                                        "--size 10x10x10",
                                        "--size 99999x10",
                                        "--scale 0",
                                        "--scale nan",
                                        "--scale 1x",
                                        "--frames 0",
                                        "--frames 1e3",
                                        "--renderer software",
                                        "--log-level loud",
                                        "--screenshot ''",
                                        "run",
                                        "run --headless",
                                        "view",
                                        "list extra",
                                        "doctor extra",
                                        "home extra",
                                        "--frames=",
                                        "--applet-dir ''",
                                        "list --json=1",
                                        "--frames 99999999999999999999",
                                        "--device gpu"};
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int status = room_run(&room, "", wrong[i]);
        if (status != 2 || room.output_lines != 1 || strncmp(room.output, "caliper: ", 9) != 0)
            fail_msg("caliper %s: status %d, \"%s\"", wrong[i], status, room.output);
    }
}

static void help_and_version_answer(void **unused)
{
    (void)unused;
    assert_int_equal(room_run(&room, "", "--version"), 0);
    assert_int_equal(strncmp(room.output, "caliper ", 8), 0);
    assert_int_equal(room.output_lines, 1);
    assert_int_equal(room_run(&room, "", "--help"), 0);
    assert_non_null(strstr(room.output, "doctor"));
    assert_non_null(strstr(room.output, "cpu"));
}

/* One subcommand's help has its own options and everybody's, and no other's. */
static void help_of_a_subcommand_is_its_own(void **unused)
{
    static const char *const of[][3] = {{"sql", "--csv", "--frames"},
                                        {"run", "--frames", "--csv"},
                                        {"artifacts", "--dry-run", "--screenshot"},
                                        {"home", "--renderer", "--csv"}};
    char words[64];
    (void)unused;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        for (int first = 0; first < 2; first++) {
            snprintf(words, sizeof words, first ? "--help %s" : "%s --help", of[i][0]);
            assert_int_equal(room_run(&room, "", words), 0);
            snprintf(words, sizeof words, "usage: caliper %s", of[i][0]);
            if (strstr(room.output, words) == NULL || strstr(room.output, of[i][1]) == NULL ||
                strstr(room.output, "--data-dir") == NULL || strstr(room.output, of[i][2]) != NULL)
                fail_msg("%s: \"%s\"", of[i][0], room.output);
        }
    }
}

/* Options may stand before the subcommand. */
static void options_may_come_first(void **unused)
{
    (void)unused;
    assert_int_equal(room_run(&room, "", "--json --applet-dir applets list"), 0);
    assert_non_null(strstr(room.output, "\"id\":\t\"org.caliper.hello\""));
    assert_int_equal(room_run(&room, "", "--json nonsense list"), 2);
    assert_non_null(strstr(room.output, "unknown subcommand nonsense"));
    assert_int_equal(room_run(&room, "", "--json list extra"), 2);
    assert_non_null(strstr(room.output, "list"));
}

static void list_names_the_applets(void **unused)
{
    (void)unused;
    assert_int_equal(room_run(&room, "", "list --json --applet-dir applets"), 0);
    assert_non_null(strstr(room.output, "\"id\":\t\"org.caliper.hello\""));
    assert_non_null(strstr(room.output, "\"state\":\t\"ready\""));
    assert_int_equal(room_run(&room, "", "list --applet-dir applets"), 0);
    assert_non_null(strstr(room.output, "org.caliper.hello"));
}

static void doctor_says_what_is_there(void **unused)
{
    (void)unused;
    assert_int_equal(room_run(&room, "", "doctor"), 0);
    assert_non_null(strstr(room.output, "  yes  cpu"));
    assert_int_equal(room_run(&room, "", "doctor --json"), 0);
    assert_non_null(strstr(room.output, "\"renderers\""));
}

static void write_text(const char *name, const char *text, size_t bytes)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", room.path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

/* doctor looks where the shell does. */
static void doctor_finds_the_fonts_that_are_drawn(void **unused)
{
    static const char *const files[] = {"Inter-Regular.otf", "Inter-SemiBold.otf",
                                        "InterDisplay-SemiBold.otf", "JetBrainsMono-Regular.ttf"};
    char environment[320], path[300], wanted[128], name[64];
    (void)unused;
    snprintf(environment, sizeof environment, "CALIPER_FONT_DIR='%s/fonts'", room.path);
    snprintf(path, sizeof path, "%s/fonts", room.path);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t found = 0; found <= 4; found++) {
        assert_int_equal(room_run(&room, environment, "doctor"), 0);
        for (size_t i = 0; i < 4; i++) {
            snprintf(wanted, sizeof wanted, i < found ? "/fonts/%s\n" : " %s is not found; ",
                     files[i]);
            if (strstr(room.output, wanted) == NULL)
                fail_msg("of %zu fonts, \"%s\" is not in: %s", found, wanted, room.output);
        }
        snprintf(name, sizeof name, "fonts/%s", found < 4 ? files[found] : "none");
        write_text(name, "", 0);
    }
}

static void what_cannot_be_opened_is_status_1(void **unused)
{
    (void)unused;
    assert_int_equal(room_run(&room, "", "run nobody --headless --frames 2 --renderer cpu"), 1);
    assert_non_null(strstr(room.output, "no applet is called nobody"));
    assert_int_equal(room_run(&room, "", "run ./nobody.so --headless --frames 2 --renderer cpu"),
                     1);
    assert_int_equal(
        room_run(&room, "", "--headless --frames 1 --renderer cpu --screenshot no/a.png"), 1);
    assert_int_equal(room_run(&room, "", "--headless --frames 1 --renderer cpu --input nowhere"),
                     1);
}

static void scripts_that_cannot_be_played(void **unused)
{
    static const char *const files[] = {"/dev/zero", "/tmp", "/dev/full", "pipe"};
    static const char *const lines[] = {"at -5",      "at 5x",  "at",           "move nan 1",
                                        "move 1 inf", "move 1", "wheel 1 2 3x", "click nose",
                                        "key f13",    "drop",   "fly"};
    static const char zeros[64];
    char path[300], arguments[200], text[8192];
    (void)unused;
    snprintf(path, sizeof path, "%s/pipe", room.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(arguments, sizeof arguments, "--headless --frames 1 --renderer cpu --input %s",
                 files[i]);
        assert_int_equal(room_run(&room, "", arguments), 1);
        assert_int_equal(room.output_lines, 1);
        assert_non_null(strstr(room.output, "it is not a file"));
    }
    unlink(path);
    memset(text, 'x', sizeof text);
    memcpy(text, "text ", 5);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] + 2; i++) {
        if (i < sizeof lines / sizeof lines[0])
            write_text("wrong.txt", lines[i], strlen(lines[i]));
        else if (i == sizeof lines / sizeof lines[0])
            write_text("wrong.txt", zeros, sizeof zeros);
        else
            write_text("wrong.txt", text, sizeof text);
        int status = room_run(&room, "", "--headless --frames 1 --renderer cpu --input wrong.txt");
        if (status != 1 || room.output_lines != 1)
            fail_msg("script %zu: status %d, \"%s\"", i, status, room.output);
    }
}

/* Streams that the caller closed are not where the next file goes. */
static void closed_streams_stay_out_of_files(void **unused)
{
    static const char *const closed[] = {"<&- >&- 2>&-", "2>&-", ">&-", "<&-"};
    char around[100], path[300], line[512];
    (void)unused;
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        room_forget(&room);
        snprintf(around, sizeof around, "sh -c 'exec \"$@\" %s' sh", closed[i]);
        assert_int_equal(
            room_run(&room, around, "--headless --frames 2 --renderer cpu --screenshot closed.png"),
            0);
        snprintf(path, sizeof path, "%s/data/caliper.log", room.path);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file) != NULL) {
            int year = 0; /* every line of the file begins with its date; those of stderr do not */
            if (sscanf(line, "%4d-", &year) != 1)
                fail_msg("with %s the log file has \"%s\"", closed[i], line);
        }
        fclose(file);
    }
}

static void an_answer_that_is_not_printed_is_status_1(void **unused)
{
    static const char *const answers[] = {"list --applet-dir applets",
                                          "list --json",
                                          "doctor",
                                          "doctor --json",
                                          "--help",
                                          "--version"};
    char arguments[64];
    (void)unused;
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        snprintf(arguments, sizeof arguments, "%s >/dev/full", answers[i]);
        assert_int_equal(room_run(&room, "CALIPER_LOG=error", arguments), 1);
    }
}

/* ---- Pictures ---- */

typedef struct Shot {
    const char *name, *arguments;
    float scale;
    bool tensor; /* shows hello's tensor */
} Shot;

static const Shot shots[] = {
    {"home", "--headless --frames 3 --applet-dir applets", 1.0f, false},
    {"home_scaled", "--headless --frames 3 --applet-dir applets --scale 1.5 --size 1200x900", 1.5f,
     false},
    {"home_light", "--headless --frames 3 --applet-dir applets --light --size 900x700", 1.0f,
     false},
    {"hello", "run hello --headless --frames 6 --applet-dir applets --size 800x640", 1.0f, true},
};

static const char *const renderers[] = {"cpu", "gl", "vulkan"};

static bool has_renderer(size_t which)
{
    return which == 0 || (which == 1 && has_gl) || (which == 2 && has_vulkan);
}

static void path_of(char *path, size_t path_bytes, const char *folder, const char *name)
{
    snprintf(path, path_bytes, "%s/%s.png", folder, name);
}

/* Where the picture of a renderer, "window" before its name for one in a window, is laid. */
static void path_drawn(char *path, size_t path_bytes, const Shot *shot, const char *how)
{
    snprintf(path, path_bytes, "%s/%s-%s.png", room.path, shot->name, how);
}

/* Draws; any but the cpu renderer's picture is compared with that one. */
static void take_shot(const Shot *shot, const char *environment, const char *more, const char *how)
{
    char arguments[1024], path[512], of_cpu[512];
    room_forget(&room);
    path_drawn(path, sizeof path, shot, how);
    path_drawn(of_cpu, sizeof of_cpu, shot, "cpu");
    remove(path);
    snprintf(arguments, sizeof arguments, "%s --screenshot '%s' %s", shot->arguments, path, more);
    int status = room_run(&room, environment, arguments);
    if (status != 0)
        fail_msg("%s caliper %s: status %d\n%s", environment, arguments, status, room.output);
    if (strcmp(how, "cpu") != 0)
        pictures_agree(path, of_cpu, shot->scale);
    if (strcmp(how, "cpu") != 0 && shot->tensor && kept.fonts != KEPT_FONTS_ABSENT)
        pictures_agree_in_cells(path, of_cpu);
}

static void shots_of(size_t which)
{
    char more[64], started[64];
    if (!has_renderer(which)) {
        print_message("skipped: no %s here\n", renderers[which]);
        skip();
    }
    snprintf(more, sizeof more, "--renderer %s", renderers[which]);
    snprintf(started, sizeof started, "[renderer] %s", renderers[which]);
    for (size_t i = 0; i < sizeof shots / sizeof shots[0]; i++) {
        take_shot(&shots[i], "DISPLAY=:no-display", more, renderers[which]);
        assert_non_null(strstr(room.output, started));
    }
}

static void pictures_of_cpu(void **unused)
{
    (void)unused;
    shots_of(0);
}

static void pictures_of_gl(void **unused)
{
    (void)unused;
    shots_of(1);
}

static void pictures_of_vulkan(void **unused)
{
    (void)unused;
    shots_of(2);
}

/* The field behind has moved a little in the third frame; a missing page has not. */
static void is_third_frame(const char *third_path)
{
    char path[512];
    Picture first, third;
    path_of(path, sizeof path, room.path, "first");
    assert_true(picture_read(path, &first));
    assert_true(picture_read(third_path, &third));
    assert_int_equal(picture_differs(&first, &third, (Region){0, 0, 1280, 540}, 6), 0);
    picture_free(&first);
    picture_free(&third);
}

static void the_first_frame_is_whole(void **unused)
{
    char path[512];
    (void)unused;
    room_forget(&room);
    assert_int_equal(room_run(&room, "",
                              "--headless --frames 1 --renderer cpu --applet-dir applets "
                              "--screenshot first.png"),
                     0);
    path_drawn(path, sizeof path, &shots[0], "cpu");
    is_third_frame(path);
}

static void compare_with_kept(const Shot *shot, const char *how)
{
    char path[512], kept_path[512];
    path_drawn(path, sizeof path, shot, how);
    path_of(kept_path, sizeof kept_path, kept.folder, shot->name);
    if (kept.fonts == KEPT_FONTS_SAME)
        pictures_agree(path, kept_path, shot->scale);
    if (kept.fonts != KEPT_FONTS_ABSENT && shot->tensor)
        pictures_agree_in_cells(path, kept_path);
}

/* After all that draws: what was drawn is as it was kept. */
static void pictures_are_those_kept(void **unused)
{
    char path[512], window[64];
    (void)unused;
    for (size_t which = 0; which < 3; which++) {
        snprintf(window, sizeof window, "window-%s", renderers[which]);
        for (size_t i = 0; has_renderer(which) && i < sizeof shots / sizeof shots[0]; i++)
            compare_with_kept(&shots[i], renderers[which]);
        if (has_renderer(which) && has_xvfb)
            compare_with_kept(&shots[3], window);
    }
    path_of(path, sizeof path, kept.folder, shots[0].name);
    if (kept.fonts == KEPT_FONTS_SAME)
        is_third_frame(path);
    kept_pictures_end(&kept);
}

static unsigned long allocations_of(const char *frames)
{
    char environment[600], arguments[160];
    snprintf(environment, sizeof environment, "LD_PRELOAD='%s'", counter);
    snprintf(arguments, sizeof arguments,
             "run hello --headless --renderer cpu --applet-dir applets --frames %s", frames);
    assert_int_equal(room_run(&room, environment, arguments), 0);
    const char *line = strstr(room.output, "allocations: ");
    return line != NULL ? strtoul(line + strlen("allocations: "), NULL, 10) : 0;
}

static void a_steady_frame_allocates_nothing(void **unused)
{
    (void)unused;
    if (counter == NULL) {
        print_message("skipped: under a sanitizer, which brings its own allocator\n");
        skip();
    }
    unsigned long few = allocations_of("40"), many = allocations_of("140");
    assert_true(few > 0);
    assert_int_equal(few, many);
}

/* ---- Renderers that fail ---- */

static void without_any_renderer_the_status_is_1(void **unused)
{
    (void)unused;
    assert_int_equal(
        room_run(&room, "CALIPER_FAIL_AT=cpu:1+", "--headless --frames 2 --renderer cpu"), 1);
}

/* ---- Applets that fail ---- */

static void a_crash_is_status_1_and_the_neighbour_lives(void **unused)
{
    (void)unused;
    room_forget(&room);
    int status = room_run(&room, "",
                          "run crash/crash.so hello --headless --frames 30 --renderer cpu "
                          "--applet-dir applets --screenshot crash.png");
    assert_int_equal(status, 1);
    assert_non_null(strstr(room.output, "hello closed after 30 frames"));
    assert_int_equal(room_run(&room, "",
                              "run crash/crash.so --headless --frames 1 --renderer cpu "
                              "--applet-dir applets"),
                     0);
}

/* ---- caliper.ui.v1 ---- */

static bool is_color(const Picture *picture, uint32_t x, uint32_t y, uint8_t r, uint8_t g,
                     uint8_t b)
{
    const uint8_t *pixel = &picture->rgba[((size_t)y * picture->width_px + x) * 4];
    return pixel[0] == r && pixel[1] == g && pixel[2] == b;
}

static void an_applets_own_toolkit_stays_in_its_panel(void **unused)
{
    char path[512];
    Picture picture;
    (void)unused;
    int status = room_run(&room, "",
                          "run imgui/imgui.so --headless --frames 4 --renderer cpu --size 800x640 "
                          "--screenshot imgui.png");
    if (status != 0)
        fail_msg("status %d\n%s", status, room.output);
    path_of(path, sizeof path, room.path, "imgui");
    assert_true(picture_read(path, &picture));
    /* The panel's corner is at 8, 84 in this picture, as in hello.png. */
    assert_true(is_color(&picture, 8 + 40, 84 + 40, 0, 255, 0));
    assert_true(is_color(&picture, 8 + 160, 84 + 160, 255, 0, 0));
    assert_true(is_color(&picture, 8 + 5, 84 + 5, 0, 0, 255));
    assert_false(is_color(&picture, 4, 84 + 5, 0, 0, 255));
    assert_false(is_color(&picture, 8 + 5, 80, 0, 0, 255));
    picture_free(&picture);
}

/* ---- Input ---- */

static bool write_script(const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/script.txt", room.path);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    fputs(text, file);
    return fclose(file) == 0;
}

static void a_click_on_a_card_opens_the_applet(void **unused)
{
    (void)unused;
    room_forget(&room);
    assert_true(write_script("# the first card\nat 3\nmove 150 460\nclick left\n"));
    assert_int_equal(room_run(&room, "",
                              "--headless --frames 12 --renderer cpu --applet-dir applets --input "
                              "script.txt"),
                     0);
    assert_non_null(strstr(room.output, "org.caliper.hello 1.0.0 started"));
    assert_true(write_script("at 4\nkey ctrl+q\n"));
    assert_int_equal(room_run(&room, "",
                              "run hello --headless --frames 500 --renderer cpu --applet-dir "
                              "applets --input script.txt"),
                     0);
    assert_non_null(strstr(room.output, "hello closed after 4 frames"));
    assert_true(write_script("move 1 1\njump 3\n"));
    assert_int_equal(room_run(&room, "", "--headless --frames 2 --renderer cpu --input script.txt"),
                     1);
    assert_non_null(strstr(room.output, "script.txt, line 2"));
}

/* ---- Windows ---- */

static void windows_under_xvfb(void **unused)
{
    static const Shot window = {"hello", "run hello --frames 6 --applet-dir applets --size 800x640",
                                1.0f, true};
    (void)unused;
    if (!has_xvfb) {
        print_message("skipped: no xvfb-run here\n");
        skip();
    }
    for (size_t which = 0; which < 3; which++) {
        char more[64], how[64], started[64];
        if (!has_renderer(which))
            continue;
        snprintf(more, sizeof more, "--renderer %s", renderers[which]);
        snprintf(how, sizeof how, "window-%s", renderers[which]);
        snprintf(started, sizeof started, "[renderer] %s", renderers[which]);
        take_shot(&window,
                  "CALIPER_FIXED_CLOCK=0.0166666667 xvfb-run -a -s "
                  "'-screen 0 1280x800x24 +extension GLX'",
                  more, how);
        if (strstr(room.output, started) == NULL)
            fail_msg("window, %s: \n%s", renderers[which], room.output);
    }
}

static void write_all_references(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof shots / sizeof shots[0]; i++) {
        char arguments[1024];
        room_forget(&room);
        snprintf(arguments, sizeof arguments, "%s --renderer cpu --screenshot '%s/%s.png'",
                 shots[i].arguments, kept.folder, shots[i].name);
        assert_int_equal(room_run(&room, "", arguments), 0);
    }
    kept_pictures_written(&kept);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest writing[] = {cmocka_unit_test(write_all_references)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usage_errors_are_one_line_and_2),
        cmocka_unit_test(help_and_version_answer),
        cmocka_unit_test(help_of_a_subcommand_is_its_own),
        cmocka_unit_test(options_may_come_first),
        cmocka_unit_test(list_names_the_applets),
        cmocka_unit_test(doctor_says_what_is_there),
        cmocka_unit_test(doctor_finds_the_fonts_that_are_drawn),
        cmocka_unit_test(what_cannot_be_opened_is_status_1),
        cmocka_unit_test(scripts_that_cannot_be_played),
        cmocka_unit_test(closed_streams_stay_out_of_files),
        cmocka_unit_test(an_answer_that_is_not_printed_is_status_1),
        cmocka_unit_test(pictures_of_cpu),
        cmocka_unit_test(the_first_frame_is_whole),
        cmocka_unit_test(a_steady_frame_allocates_nothing),
        cmocka_unit_test(pictures_of_gl),
        cmocka_unit_test(pictures_of_vulkan),
        cmocka_unit_test(without_any_renderer_the_status_is_1),
        cmocka_unit_test(a_crash_is_status_1_and_the_neighbour_lives),
        cmocka_unit_test(an_applets_own_toolkit_stays_in_its_panel),
        cmocka_unit_test(a_click_on_a_card_opens_the_applet),
        cmocka_unit_test(windows_under_xvfb),
        cmocka_unit_test(pictures_are_those_kept),
    };
    const char *writes = getenv("CALIPER_TEST_WRITE_REFERENCES");
    if (argc < 6 || !room_make(&room, argv[1], argv[2], argv[3], argv[4])) {
        fprintf(stderr, "usage: %s PROGRAM HELLO CRASH IMGUI REFERENCES\n", argv[0]);
        return 2;
    }
    counter = argc > 6 ? argv[6] : NULL;
    write_references = writes != NULL && writes[0] == '1';
    kept_pictures_look(&kept, &room, argv[5]);
    has_gl = strstr(kept.doctor, "  yes  gl ") != NULL;
    has_vulkan = strstr(kept.doctor, "  yes  vulkan ") != NULL;
    has_xvfb = system("command -v xvfb-run >/dev/null 2>&1") == 0;
    int failed = write_references ? cmocka_run_group_tests_name("references", writing, NULL, NULL)
                                  : cmocka_run_group_tests_name("command", tests, NULL, NULL);
    room_remove(&room);
    return failed;
}
