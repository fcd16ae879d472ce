/* libcaliper_fixture, used as an applet's author uses it: <caliper_fixture.h> and nothing else of
 * the host: lives, libraries, textures, the log, input and pictures. Argument 1: kit_applet.c as a
 * library; argument 2, "renderers": the test with graphics drivers alone. Expected colours are
 * viridis' first and last published entries. */
#include "kit_fixture.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *library;

static void test_life(void **state)
{
    (void)state;
    struct stat status;
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    assert_non_null(fixture);
    assert_int_equal(caliper_fixture_state(fixture), CALIPER_FIXTURE_EMPTY);
    assert_false(caliper_fixture_frame(fixture));
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_WARN, "fixture_frame: given"), 1);
    assert_false(caliper_fixture_open(fixture));
    assert_true(caliper_fixture_load_linked(fixture, caliper_applet_descriptor));
    assert_int_equal(caliper_fixture_state(fixture), CALIPER_FIXTURE_READY);
    assert_null(caliper_fixture_self(fixture));
    for (int life = 0; life < 2; life++) {
        assert_true(caliper_fixture_open(fixture));
        const KitApplet *applet = caliper_fixture_self(fixture);
        assert_non_null(applet);
        assert_int_equal(applet->frames, 0);
        assert_true(caliper_fixture_frames(fixture, 3));
        assert_int_equal(applet->frames, 3);
        assert_string_equal(caliper_fixture_applet_dir(fixture), kit_applet_last_dir);
        assert_int_equal(stat(kit_applet_last_dir, &status), 0);
        assert_true(caliper_fixture_close(fixture));
        assert_int_equal(caliper_fixture_state(fixture), CALIPER_FIXTURE_READY);
        assert_null(caliper_fixture_self(fixture));
        assert_false(caliper_fixture_close(fixture));
    }
    assert_int_equal(caliper_fixture_leaks(fixture), 0);
    char *folder = strdup(caliper_fixture_applet_dir(fixture));
    assert_false(caliper_fixture_load_linked(fixture, caliper_applet_descriptor));
    caliper_fixture_destroy(&fixture);
    assert_null(fixture);
    assert_int_not_equal(stat(folder, &status), 0); /* the temporary root went with it */
    free(folder);
    caliper_fixture_destroy(&fixture);
    caliper_fixture_destroy(NULL);
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    assert_null(caliper_fixture_create(NULL));
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_WARN, "a second fixture"), 1);
    caliper_fixture_destroy(&fixture);
    fixture = caliper_fixture_create(NULL);
    assert_non_null(fixture);
    caliper_fixture_destroy(&fixture);
}

static void test_by_path(void **state)
{
    (void)state;
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    assert_false(caliper_fixture_load(fixture, "/no/such/library.so"));
    assert_int_equal(caliper_fixture_state(fixture), CALIPER_FIXTURE_FAILED);
    assert_non_null(strstr(caliper_fixture_reason(fixture), "/no/such/library.so"));
    assert_true(caliper_fixture_load(fixture, library));
    assert_true(caliper_fixture_open(fixture));
    assert_true(caliper_fixture_frames(fixture, 2));
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 2);
    assert_true(caliper_fixture_close(fixture));
    caliper_fixture_destroy(&fixture);
}

/* A manifest beside the library is heard first. */
static void test_by_manifest(void **state)
{
    (void)state;
    static const char *const needs[] = {"caliper.tensor_bridge.v1", "org.example.absent.v1"};
    char folder[] = "/tmp/caliper_fixture_XXXXXX", path[64], copy[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kit.caliper.toml", folder);
    snprintf(copy, sizeof copy, "%s/kit.so", folder);
    assert_int_equal(symlink(library, copy), 0);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file,
                "[applet]\nid='org.caliper.test.kit'\nname='Kit'\nversion='1.2.3'\n"
                "[compat]\nabi_epoch=2\n[services]\nrequired=['%s']\n",
                needs[i]);
        fclose(file);
        CaliperFixture *fixture = caliper_fixture_create(NULL);
        assert_int_equal(caliper_fixture_load(fixture, i == 0 ? copy : path), i == 0);
        assert_int_equal(caliper_fixture_open(fixture), i == 0);
        if (i == 1)
            assert_non_null(strstr(caliper_fixture_reason(fixture), needs[1]));
        caliper_fixture_destroy(&fixture);
    }
    unlink(path);
    unlink(copy);
    rmdir(folder);
}

static void test_clock_and_size(void **state)
{
    (void)state;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    const KitApplet *applet = caliper_fixture_self(fixture);
    caliper_fixture_frame(fixture);
    assert_int_equal(applet->fb_width, 640);
    assert_int_equal(applet->fb_height, 480);
    assert_true(applet->time_sec == 0.0 && applet->delta_sec == 1.0 / 60.0);
    assert_true(caliper_fixture_set_delta(fixture, 0.25));
    assert_true(caliper_fixture_resize(fixture, 300, 200, 1.5f));
    caliper_fixture_frame(fixture);
    assert_true(applet->time_sec == 1.0 / 60.0 && applet->delta_sec == 0.25);
    caliper_fixture_frame(fixture);
    assert_true(applet->time_sec == 1.0 / 60.0 + 0.25);
    assert_int_equal(applet->fb_width, 300);
    assert_int_equal(applet->fb_height, 200);
    assert_true(applet->dpi_scale == 1.5f);
    assert_false(caliper_fixture_set_delta(fixture, 0.0));
    assert_false(caliper_fixture_set_delta(fixture, (double)NAN));
    assert_false(caliper_fixture_resize(fixture, 0, 200, 1.0f));
    assert_false(caliper_fixture_resize(fixture, 300, 200, (float)NAN));
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_WARN, "fixture_"), 4);
    caliper_fixture_destroy(&fixture);
}

static void test_textures(void **state)
{
    (void)state;
    static const uint8_t lowest[] = {68, 1, 84, 255}, highest[] = {253, 231, 36, 255};
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    CaliperTextureId ids[3] = {0, 0, 99};
    int32_t width_px = 0, height_px = 0;
    uint8_t pixels[6][4];
    caliper_fixture_frame(fixture);
    assert_int_equal(caliper_fixture_textures(fixture, ids, 1), 2);
    assert_int_equal(ids[1], 0);
    assert_int_equal(caliper_fixture_textures(fixture, ids, 3), 2);
    assert_int_equal(ids[2], 99);
    const KitApplet *applet = caliper_fixture_self(fixture);
    assert_true(ids[0] == applet->texture && ids[1] == applet->shared);
    assert_true(caliper_fixture_texture_size(fixture, ids[0], &width_px, &height_px));
    assert_int_equal(width_px, 3);
    assert_int_equal(height_px, 2);
    assert_true(caliper_fixture_texture_read(fixture, ids[0], &pixels[0][0], sizeof pixels));
    for (int i = 0; i < 6; i++)
        assert_memory_equal(pixels[i], i < 3 ? lowest : highest, 4);
    assert_false(caliper_fixture_texture_read(fixture, ids[0], &pixels[0][0], sizeof pixels - 1));
    assert_true(caliper_fixture_texture_read(fixture, ids[1], &pixels[0][0], 16));
    for (int i = 0; i < 16; i++)
        assert_int_equal(pixels[i / 4][i % 4], i * 10 + 1);
    caliper_fixture_destroy(&fixture);
}

/* The other renderers, where they start, give the same bytes. */
static void test_renderers(void **state)
{
    (void)state;
    static const char *const names[] = {"gl", "vulkan"};
    static const uint8_t lowest[] = {68, 1, 84, 255}, highest[] = {253, 231, 36, 255};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CaliperTextureId id = 0;
        uint8_t pixels[6][4];
        CaliperFixture *fixture = caliper_fixture_create(&(CaliperFixtureParams){
            .struct_size = sizeof(CaliperFixtureParams), .renderer = names[i]});
        if (fixture == NULL) {
            print_message("skipped: %s does not start here\n", names[i]);
            continue;
        }
        assert_true(caliper_fixture_load_linked(fixture, caliper_applet_descriptor));
        assert_true(caliper_fixture_open(fixture));
        assert_true(caliper_fixture_frames(fixture, 2));
        assert_int_equal(caliper_fixture_textures(fixture, &id, 1), 2);
        assert_true(caliper_fixture_texture_read(fixture, id, &pixels[0][0], sizeof pixels));
        for (int k = 0; k < 6; k++)
            assert_memory_equal(pixels[k], k < 3 ? lowest : highest, 4);
        caliper_fixture_destroy(&fixture);
    }
}

/* The wrong release keeps the texture; the right one, and only that, takes it off the list. */
static void test_releases(void **state)
{
    (void)state;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    KitApplet *applet = caliper_fixture_self(fixture);
    applet->bridge->release_texture(applet->shared);
    applet->bridge->free_shared(applet->texture);
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 2);
    applet->bridge->release_texture(applet->texture);
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 1);
    applet->bridge->release_texture(applet->texture);
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 1);
    caliper_fixture_destroy(&fixture);
}

static void test_leaks_are_counted(void **state)
{
    (void)state;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    ((KitApplet *)caliper_fixture_self(fixture))->keeps = true;
    assert_true(caliper_fixture_close(fixture));
    assert_int_equal(caliper_fixture_leaks(fixture), 2);
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 0);
    caliper_fixture_destroy(&fixture);
}

static void test_refused_textures(void **state)
{
    (void)state;
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    caliper_fixture_load_linked(fixture, caliper_applet_descriptor);
    caliper_fixture_refuse_textures(fixture, true);
    assert_false(caliper_fixture_open(fixture));
    assert_int_equal(caliper_fixture_state(fixture), CALIPER_FIXTURE_FAILED);
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_ERROR, "no texture, no applet"), 1);
    caliper_fixture_refuse_textures(fixture, false);
    assert_true(caliper_fixture_open(fixture));
    assert_false(caliper_fixture_open(fixture)); /* it is */
    assert_true(caliper_fixture_frame(fixture));
    assert_true(caliper_fixture_close(fixture));
    caliper_fixture_destroy(&fixture);
}

static void test_log(void **state)
{
    (void)state;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    CaliperFixtureLine line;
    caliper_fixture_clear_lines(fixture);
    caliper_fixture_frames(fixture, 2);
    assert_int_equal(caliper_fixture_lines(fixture), 2);
    assert_true(caliper_fixture_line(fixture, 1, &line));
    assert_int_equal(line.level, CALIPER_LOG_INFO);
    assert_string_equal(line.module, "applet");
    assert_string_equal(line.applet, "org.caliper.test.kit");
    assert_string_equal(line.text, "frame 2");
    assert_false(caliper_fixture_line(fixture, 2, &line));
    assert_false(caliper_fixture_line(fixture, -1, &line));
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_DEBUG, "frame"), 2);
    assert_int_equal(caliper_fixture_said(fixture, CALIPER_LOG_WARN, "frame"), 0);
    caliper_fixture_destroy(&fixture);
}

static void test_input(void **state)
{
    (void)state;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    KitApplet *applet = caliper_fixture_self(fixture);
    caliper_fixture_frames(fixture, 2);
    caliper_fixture_point(fixture, 60, 40); /* on the button, whose corner is the panel's */
    caliper_fixture_frame(fixture);
    assert_int_equal(applet->clicks, 0);
    caliper_fixture_button(fixture, 0, true);
    caliper_fixture_button(fixture, 0, false);
    caliper_fixture_frames(fixture, 3);
    assert_int_equal(applet->clicks, 1);
    applet->wants_text = true;
    caliper_fixture_frames(fixture, 3);
    caliper_fixture_type(fixture, "h\xc3\xa9\xe2\x82\xac"); /* h, e acute, euro sign */
    caliper_fixture_frames(fixture, 3);
    assert_string_equal(applet->typed, "h\xc3\xa9\xe2\x82\xac");
    caliper_fixture_key(fixture, CALIPER_KEY_BACKSPACE);
    caliper_fixture_frames(fixture, 3);
    assert_string_equal(applet->typed, "h\xc3\xa9");
    caliper_fixture_type(fixture, NULL);
    caliper_fixture_type(fixture, "\xff");
    caliper_fixture_frames(fixture, 2);
    assert_string_equal(applet->typed, "h\xc3\xa9");
    caliper_fixture_destroy(&fixture);
}

/* The image of six cells is in the picture: both colours, at either scale, and nowhere else. */
static void test_picture(void **state)
{
    (void)state;
    static const char signature[] = "\x89PNG\r\n\x1a\n";
    for (int scale = 1; scale <= 2; scale++) {
        CaliperFixture *fixture = caliper_fixture_create(&(CaliperFixtureParams){
            .struct_size = sizeof(CaliperFixtureParams), .scale = (float)scale});
        caliper_fixture_load_linked(fixture, caliper_applet_descriptor);
        caliper_fixture_open(fixture);
        uint64_t size_bytes = 640u * 480u * 4u * (uint64_t)(scale * scale);
        uint8_t *pixels = malloc(size_bytes);
        assert_false(caliper_fixture_picture(fixture, pixels, size_bytes));
        caliper_fixture_frames(fixture, 2);
        assert_false(caliper_fixture_picture(fixture, pixels, size_bytes - 1));
        assert_true(caliper_fixture_picture(fixture, pixels, size_bytes));
        int low = 0, high = 0;
        for (uint64_t i = 0; i < size_bytes; i += 4) {
            low += memcmp(pixels + i, "\x44\x01\x54\xff", 4) == 0;
            high += memcmp(pixels + i, "\xfd\xe7\x24\xff", 4) == 0;
        }
        assert_int_equal(low, 90 * 30 * scale * scale);
        assert_int_equal(high, 90 * 30 * scale * scale);
        char path[] = "/tmp/caliper_fixture_XXXXXX.png";
        int fd = mkstemps(path, 4);
        assert_true(fd >= 0);
        close(fd);
        assert_true(caliper_fixture_resize(fixture, 20, 20, 1.0f)); /* it is of the last frame */
        assert_true(caliper_fixture_save_png(fixture, path));
        FILE *file = fopen(path, "rb");
        unsigned char head[24] = {0};
        assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
        fclose(file);
        unlink(path);
        assert_memory_equal(head, signature, 8);
        assert_int_equal(head[18] << 8 | head[19], 640 * scale); /* IHDR's width */
        assert_false(caliper_fixture_save_png(fixture, "/no/such/folder/x.png"));
        assert_false(caliper_fixture_save_png(fixture, NULL));
        free(pixels);
        caliper_fixture_destroy(&fixture);
    }
}

static void test_fault(void **state)
{
    (void)state;
    CaliperFixture *fixture = opened(CALIPER_FIXTURE_JOBS_INLINE);
    ((KitApplet *)caliper_fixture_self(fixture))->faults_in = 2;
    assert_true(caliper_fixture_frame(fixture));
    assert_false(caliper_fixture_frame(fixture));
    assert_int_equal(caliper_fixture_state(fixture), CALIPER_FIXTURE_QUARANTINED);
    assert_non_null(strstr(caliper_fixture_reason(fixture), "SIGSEGV at 0x8 in frame()"));
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 0);
    assert_null(caliper_fixture_self(fixture));
    assert_false(caliper_fixture_frame(fixture));
    assert_true(caliper_fixture_open(fixture));
    assert_true(caliper_fixture_frames(fixture, 3));
    assert_int_equal(caliper_fixture_textures(fixture, NULL, 0), 2);
    assert_true(caliper_fixture_close(fixture));
    caliper_fixture_destroy(&fixture);
}

static void test_bad_params(void **state)
{
    (void)state;
    assert_null(caliper_fixture_create(&(CaliperFixtureParams){.struct_size = 4}));
    assert_null(caliper_fixture_create(&(CaliperFixtureParams){
        .struct_size = sizeof(CaliperFixtureParams), .renderer = "no-such"}));
    assert_null(caliper_fixture_create(
        &(CaliperFixtureParams){.struct_size = sizeof(CaliperFixtureParams), .width_px = -1}));
    assert_null(caliper_fixture_create(&(CaliperFixtureParams){
        .struct_size = sizeof(CaliperFixtureParams), .data_dir = "/proc/none"}));
    CaliperFixture *fixture = caliper_fixture_create(NULL);
    assert_non_null(fixture);
    assert_false(caliper_fixture_load_linked(fixture, NULL));
    assert_false(caliper_fixture_load(fixture, NULL));
    caliper_fixture_destroy(&fixture);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        WITH_TEAR_DOWN(test_life),
        WITH_TEAR_DOWN(test_one_at_a_time),
        WITH_TEAR_DOWN(test_by_path),
        WITH_TEAR_DOWN(test_by_manifest),
        WITH_TEAR_DOWN(test_clock_and_size),
        WITH_TEAR_DOWN(test_textures),
        WITH_TEAR_DOWN(test_releases),
        WITH_TEAR_DOWN(test_leaks_are_counted),
        WITH_TEAR_DOWN(test_refused_textures),
        WITH_TEAR_DOWN(test_log),
        WITH_TEAR_DOWN(test_input),
        WITH_TEAR_DOWN(test_picture),
        WITH_TEAR_DOWN(test_fault),
        WITH_TEAR_DOWN(test_bad_params),
    };
    /* Apart, since the drivers' own threads are not TSan's business. */
    const struct CMUnitTest drivers[] = {WITH_TEAR_DOWN(test_renderers)};
    if (argc < 2)
        return 2;
    library = argv[1];
    if (argc == 3 && strcmp(argv[2], "renderers") == 0)
        return cmocka_run_group_tests(drivers, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
