/* tests/e2e/lost_test.c: the command while the Nth call of its renderer fails, for each N, without
 * a window and in one: it goes on with another renderer, says so in exactly one line, ends with
 * status 0, and its picture is the one that the cpu renderer makes of the same frame (tensor cells
 * to the byte).
 *
 * argv: program, hello applet, crash applet, ImGui applet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"
#include "hello_picture.h"

/* Two more than a run shows: a loss may cost one frame, in the last frame or in reading it. */
enum { FRAMES = 6, FRAMES_MAX = FRAMES + 2, CALLS_MAX = 400 };

typedef struct Walk {
    const char *renderer, *site;
    bool windowed;
    int step;      /* every call, or a sample of them */
    int calls_min; /* fewer and the walk has not met what it is for */
} Walk;

static Room room;
static Picture references[FRAMES_MAX + 1]; /* by the number of frames hello saw */
static bool has_gl, has_vulkan, has_xvfb;

static int run_hello(const char *renderer, const char *plan, bool windowed, int frames)
{
    char environment[256], arguments[256];
    snprintf(environment, sizeof environment,
             "CALIPER_LOG=debug CALIPER_FIXED_CLOCK=0.0166666667 CALIPER_FAIL_AT=%s %s", plan,
             windowed ? "xvfb-run -a -s '-screen 0 1280x800x24 +extension GLX'"
                      : "DISPLAY=:no-display");
    snprintf(arguments, sizeof arguments,
             "run hello %s --frames %d --applet-dir applets --size 800x640 --renderer %s "
             "--screenshot hello.png",
             windowed ? "" : "--headless", frames, renderer);
    room_forget(&room);
    return room_run(&room, environment, arguments);
}

static bool read_picture(Picture *out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/hello.png", room.path);
    bool read = picture_read(path, out);
    remove(path);
    return read;
}

static uint32_t count_of(const char *text)
{
    uint32_t count = 0;
    for (const char *at = room.output; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

static const char *last_of(const char *text)
{
    const char *last = NULL;
    for (const char *at = room.output; (at = strstr(at, text)) != NULL; at += strlen(text))
        last = at + strlen(text);
    return last;
}

static int frames_seen(void)
{
    const char *closed = last_of("hello closed after ");
    return closed != NULL ? atoi(closed) : 0;
}

/* Without a line the same renderer went on after a call that it can do without. With one, what it
 * says goes on is what started last. */
static bool lines_are_right(const char *renderer)
{
    char lost[64], refused[64];
    snprintf(lost, sizeof lost, "%s is lost at ", renderer);
    snprintf(refused, sizeof refused, "%s was asked for and does not start", renderer);
    uint32_t lost_lines = count_of(lost), refused_lines = count_of(refused);
    uint32_t lines = count_of("going on with "), started = count_of("[renderer] ");
    if (strstr(room.output, "GLFW error") != NULL || lost_lines + refused_lines > 1)
        return false;
    if (lines == 0)
        return lost_lines + refused_lines == 0 && started == 1 && count_of(" failed: ") == 1;
    if (lines != 1 || started != (refused_lines == 1 ? 1u : 2u))
        return false;
    const char *said = last_of("going on with "), *runs = last_of("[renderer] ");
    size_t length = strcspn(runs, "\n");
    return strncmp(said, runs, length) == 0 && strchr(",\n", said[length]) != NULL;
}

/* A lost GL context can still be read: every texture comes along at once. */
static bool textures_came_along(void)
{
    unsigned came = 0, all = 0;
    const char *line = strstr(room.output, " textures came along");
    while (line != NULL && line > room.output && line[-1] != '\n')
        line--;
    return line == NULL ||
           (sscanf(line, "%*s info bridge %u of %u", &came, &all) == 2 && came == all);
}

static const char *picture_fault(void)
{
    Picture picture;
    const char *fault = NULL;
    int frames = frames_seen();
    if (frames < FRAMES || frames > FRAMES_MAX)
        return "an odd number of frames";
    if (!read_picture(&picture))
        return "no picture";
    if (hello_cells_differ(&picture, &references[frames]) != 0)
        fault = "other cells";
    else if (page_differs(&picture, &references[frames], 1.0f) * 200 >
             picture.width_px * picture.height_px)
        fault = "another page";
    picture_free(&picture);
    return fault;
}

/* Memory for one texture of an applet is refused and Vulkan goes on: the applet is told. */
static bool is_applets_refusal(const Walk *walk, int status)
{
    return strcmp(walk->site, "vk") == 0 && status == 1 &&
           strstr(room.output, "injected failure at vk.texture") != NULL &&
           strstr(room.output, "VK_ERROR_OUT_OF_DEVICE_MEMORY") != NULL &&
           count_of("hello was not opened") == 1;
}

static void walk_calls(const Walk *walk)
{
    int calls = 0, refusals = 0;
    for (int call = 1; call <= CALLS_MAX; call += walk->step) {
        char plan[64];
        snprintf(plan, sizeof plan, "%s:%d", walk->site, call);
        int status = run_hello(walk->renderer, plan, walk->windowed, FRAMES);
        if (strstr(room.output, "injected failure") == NULL)
            break; /* there are no more calls of it in a run */
        calls++;
        if (is_applets_refusal(walk, status)) {
            refusals++;
            continue;
        }
        const char *fault = status != 0                        ? "another exit status"
                            : !lines_are_right(walk->renderer) ? "other lines"
                            : strcmp(walk->site, "gl") == 0 && !textures_came_along()
                                ? "textures left behind"
                                : picture_fault();
        if (fault != NULL)
            fail_msg("%s%s: %s (status %d)\n%s", plan, walk->windowed ? " in a window" : "", fault,
                     status, room.output);
    }
    if (calls < walk->calls_min || refusals > 1)
        fail_msg("%s: %d calls failed, %d of them the applet's", walk->site, calls, refusals);
    print_message("           %d calls of %s failed in turn\n", calls, walk->site);
}

static bool is_missing(bool there, const char *what)
{
    if (!there)
        print_message("skipped: no %s here\n", what);
    return !there;
}

static void gl_at_each_call(void **unused)
{
    (void)unused;
    if (is_missing(has_gl, "OpenGL"))
        skip();
    walk_calls(&(Walk){"gl", "gl", false, 1, 30});
}

static void vulkan_at_each_call(void **unused)
{
    (void)unused;
    if (is_missing(has_vulkan, "Vulkan"))
        skip();
    walk_calls(&(Walk){"vulkan", "vk", false, 1, 30});
}

static void gl_in_a_window(void **unused)
{
    (void)unused;
    if (is_missing(has_gl, "OpenGL") || is_missing(has_xvfb, "xvfb-run"))
        skip();
    walk_calls(&(Walk){"gl", "gl", true, 1, 30});
}

static void vulkan_in_a_window(void **unused)
{
    (void)unused;
    if (is_missing(has_vulkan, "Vulkan") || is_missing(has_xvfb, "xvfb-run"))
        skip();
    walk_calls(&(Walk){"vulkan", "vk", true, 3, 10});
}

/* The last of the list: a frame that is not shown is followed by one that is. */
static void cpu_in_a_window(void **unused)
{
    (void)unused;
    if (is_missing(has_xvfb, "xvfb-run"))
        skip();
    walk_calls(&(Walk){"cpu", "cpu.present", true, 1, FRAMES});
}

/* Lost again at once, it is not trusted: the next one of the list, and when that is refused too the
 * one after. */
static void vulkan_twice_lost_is_replaced(void **unused)
{
    (void)unused;
    if (is_missing(has_vulkan, "Vulkan"))
        skip();
    int status = run_hello("vulkan", "vk.submit:2+,gl.context:1+", false, FRAMES);
    const char *fault = status == 0 ? picture_fault() : "another exit status";
    if (fault != NULL || strncmp(last_of("[renderer] "), "cpu\n", 4) != 0 ||
        count_of("vulkan is lost; going on with vulkan, started again\n") != 1 ||
        count_of("vulkan is lost; going on with cpu\n") != 1)
        fail_msg("%s (status %d)\n%s", fault != NULL ? fault : "other lines", status, room.output);
}

/* Reading fails each time and nothing is lost: an end and one line, not a loop. */
static void a_picture_that_cannot_be_read_is_status_1(void **unused)
{
    (void)unused;
    if (is_missing(has_vulkan, "Vulkan"))
        skip();
    int status = 0;
    for (int call = 1; call <= 16; call++) { /* which piece of memory is the one for reading? */
        char plan[64];
        snprintf(plan, sizeof plan, "vk.memory:%d+", call);
        status = run_hello("vulkan", plan, false, FRAMES);
        if (strstr(room.output, "the read-back buffer failed") != NULL)
            break;
    }
    if (status != 1 || count_of("--screenshot hello.png: ") != 1)
        fail_msg("status %d\n%s", status, room.output);
}

static bool make_references(void)
{
    bool good = true;
    for (int frames = FRAMES; good && frames <= FRAMES_MAX; frames++)
        good = run_hello("cpu", "", false, frames) == 0 && frames_seen() == frames &&
               read_picture(&references[frames]);
    if (!good)
        fprintf(stderr, "no pictures of the cpu renderer:\n%s", room.output);
    /* The tensor moves: the picture of another frame is no substitute. */
    return good && hello_cells_differ(&references[FRAMES], &references[FRAMES + 1]) > 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gl_at_each_call),
        cmocka_unit_test(vulkan_at_each_call),
        cmocka_unit_test(vulkan_twice_lost_is_replaced),
        cmocka_unit_test(a_picture_that_cannot_be_read_is_status_1),
        cmocka_unit_test(gl_in_a_window),
        cmocka_unit_test(vulkan_in_a_window),
        cmocka_unit_test(cpu_in_a_window),
    };
    if (argc != 5 || !room_make(&room, argv[1], argv[2], argv[3], argv[4])) {
        fprintf(stderr, "usage: %s PROGRAM HELLO CRASH IMGUI\n", argv[0]);
        return 2;
    }
    (void)room_run(&room, "", "doctor");
    has_gl = strstr(room.output, "  yes  gl ") != NULL;
    has_vulkan = strstr(room.output, "  yes  vulkan ") != NULL;
    has_xvfb = system("command -v xvfb-run >/dev/null 2>&1") == 0;
    int failed = make_references() ? cmocka_run_group_tests_name("lost", tests, NULL, NULL) : 1;
    for (int i = 0; i <= FRAMES_MAX; i++)
        picture_free(&references[i]);
    room_remove(&room);
    return failed;
}
