/* See fault_fixture.h. One thread, but for the log, which is locked. */
#include "fault_fixture.h"

#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "applets/probe.h"
#include "services/bridge_services.h"
#include "services/services.h"

#include <caliper/services/texture_read_v1.h>

enum { NOTES_MAX = 64 };

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t logged[LOG_ITEM_COUNT];
static char newest[LOG_ITEM_COUNT][1024];
static uint32_t complaints;
static int sink;

static uint64_t healthy_count;
static uint64_t healthy_spoiled;
static CaliperTextureId healthy_texture;
static struct {
    char what[64];
    uint32_t count;
} notes[NOTES_MAX];

static void capture(void *user, const LogEntry *entry)
{
    (void)user;
    pthread_mutex_lock(&log_mutex);
    logged[entry->item]++;
    complaints += entry->level >= LOG_LEVEL_WARN ? 1u : 0u;
    snprintf(newest[entry->item], sizeof newest[0], "%s", entry->text);
    pthread_mutex_unlock(&log_mutex);
}

static void probe_healthy_frame(uint64_t count, uint64_t texture, bool painted, bool denormals_kept)
{
    if (count != healthy_count + 1 || !painted || !denormals_kept)
        healthy_spoiled++;
    healthy_count = count;
    healthy_texture = texture;
}

/* Any thread. */
static void probe_note(const char *what)
{
    bool counted = false;
    pthread_mutex_lock(&log_mutex);
    for (int i = 0; i < NOTES_MAX && !counted; i++) {
        if (notes[i].count == 0)
            snprintf(notes[i].what, sizeof notes[i].what, "%s", what);
        counted = strcmp(notes[i].what, what) == 0;
        notes[i].count += counted ? 1 : 0;
    }
    pthread_mutex_unlock(&log_mutex);
}

static const TestProbe probe = {
    .struct_size = sizeof probe, .healthy_frame = probe_healthy_frame, .note = probe_note};

const char *fixture_applet(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", FAULT_APPLET_DIR, name);
    return path;
}

uint32_t fixture_logged(LogItem item)
{
    pthread_mutex_lock(&log_mutex);
    uint32_t count = logged[item];
    pthread_mutex_unlock(&log_mutex);
    return count;
}

const char *fixture_text(LogItem item)
{
    return newest[item];
}

uint32_t fixture_complaints(void)
{
    pthread_mutex_lock(&log_mutex);
    uint32_t count = complaints;
    pthread_mutex_unlock(&log_mutex);
    return count;
}

uint32_t fixture_noted(const char *what)
{
    uint32_t count = 0;
    pthread_mutex_lock(&log_mutex);
    for (int i = 0; i < NOTES_MAX; i++) {
        if (strcmp(notes[i].what, what) == 0)
            count = notes[i].count;
    }
    pthread_mutex_unlock(&log_mutex);
    return count;
}

AppletView fixture_view(const FaultFixture *fixture, uint32_t index)
{
    AppletView view;
    assert_true(host_applet(fixture->host, index, &view));
    return view;
}

/* Not renderer_choose, which prints a line each time. TEST_RENDERER: another one than "cpu". */
static Renderer *make_renderer(void)
{
    const char *wanted = getenv("TEST_RENDERER");
    const RendererBackend *backend = renderer_backends;
    char why[256];
    while (backend->name != NULL && strcmp(backend->name, wanted != NULL ? wanted : "cpu") != 0)
        backend++;
    assert_non_null(backend->name);
    Renderer *renderer = backend->create(RENDERER_PARAMS(.label = "tests"), why, sizeof why);
    if (renderer == NULL) {
        printf("skipped: %s does not start: %s\n", backend->name, why);
        exit(77);
    }
    return renderer;
}

void fixture_watch_log(void)
{
    if (sink == 0)
        sink = log_sink_add(capture, NULL);
}

void fixture_begin(FaultFixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    memset(logged, 0, sizeof logged);
    memset(notes, 0, sizeof notes);
    complaints = 0;
    healthy_count = 0;
    healthy_spoiled = 0;
    log_stderr_enable(getenv("TEST_VERBOSE") != NULL);
    fixture_watch_log();
    snprintf(fixture->data_dir, sizeof fixture->data_dir, "/tmp/caliper-fault-XXXXXX");
    assert_non_null(mkdtemp(fixture->data_dir));
    fixture->renderer = make_renderer();
    fixture->bridge = bridge_create(fixture->renderer);
    assert_non_null(fixture->bridge);
    HostParams params = {.struct_size = sizeof params,
                         .data_dir = fixture->data_dir,
                         .builtin_applet_dir = "/nonexistent"};
    fixture->host = host_create(&params);
    assert_non_null(fixture->host);
    assert_true(services_register_all(fixture->host, fixture->bridge));
    assert_true(host_service_register(fixture->host, TEST_PROBE, &probe));
    int32_t index = host_add(fixture->host, fixture_applet("healthy.so"));
    assert_true(index >= 0);
    fixture->healthy = (uint32_t)index;
    assert_true(host_open(fixture->host, fixture->healthy));
    fixture_frames(fixture, 3);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void fixture_end(FaultFixture *fixture)
{
    host_destroy(&fixture->host);
    bridge_services_bind(NULL);
    bridge_destroy(&fixture->bridge);
    renderer_destroy(&fixture->renderer);
    nftw(fixture->data_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void fixture_frames(FaultFixture *fixture, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        CaliperFrameInfo info;
        host_clock_tick(fixture->host, 1280, 800, 1.0f, &info);
        for (uint32_t i = 0; i < host_applet_count(fixture->host); i++)
            host_frame(fixture->host, i, &info);
        bridge_frame_end(fixture->bridge);
        host_end_frame(fixture->host);
    }
}

/* Through the service that an applet would use. */
static void assert_healthy_pixels(const FaultFixture *fixture)
{
    const CaliperTextureReadV1 *read = host_service(fixture->host, CALIPER_TEXTURE_READ_V1);
    uint8_t pixels[TEST_PICTURE_BYTES];
    int32_t width = 0;
    int32_t height = 0;
    assert_true(read->size(healthy_texture, &width, &height));
    assert_int_equal(width, TEST_PICTURE_WIDTH);
    assert_int_equal(height, TEST_PICTURE_HEIGHT);
    assert_true(read->read_rgba8(healthy_texture, pixels, sizeof pixels));
    for (uint32_t i = 0; i < TEST_PICTURE_BYTES; i++)
        assert_int_equal(pixels[i], test_picture_byte(healthy_count, i));
}

void fixture_assert_healthy(FaultFixture *fixture, uint32_t count)
{
    uint64_t before = fixture_view(fixture, fixture->healthy).frames;
    assert_int_equal(healthy_count, before);
    for (uint32_t i = 0; i < count; i++) {
        fixture_frames(fixture, 1);
        assert_healthy_pixels(fixture);
    }
    AppletView view = fixture_view(fixture, fixture->healthy);
    assert_int_equal(view.state, APPLET_STATE_RUNNING);
    assert_int_equal(view.frames, before + count);
    assert_int_equal(healthy_count, before + count);
    assert_int_equal(healthy_spoiled, 0);
}

int fixture_run_self(const char *argument, const char *const *environment)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
            putenv((char *)(uintptr_t)environment[i]);
        execl("/proc/self/exe", "test", argument, (char *)NULL);
        _exit(126);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}
