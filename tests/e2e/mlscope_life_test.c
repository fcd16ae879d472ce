/* tests/e2e/mlscope_life_test.c: MLScope's life in the host's own frames, over a network that only
 * counts: cancelled and started again at random moments, its pictures read back and compared with
 * the snapshot that they are said to be of; what the frame thread does meanwhile; textures that are
 * refused, services that are absent, a CUDA device of no use. Without torch, so that ASan and TSan
 * see the trainer, the views and the panel.
 *
 * Usage: e2e_mlscope_life LUT_FOLDER */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "bridge/bridge_impl.h" /* its limits are made smaller */
#include "core/fault.h"
#include "mlscope_stage.h"

enum { ROUNDS = 20, LOOKS = 200 };

static void test_cancel_and_start_again(void **state)
{
    unsigned random = 11;
    int ended = 0, kept = 0;
    (void)state;
    stage.bench.unseen = true; /* moments are frames: they are to be short ones */
    for (int round = 0; round < ROUNDS; round++) {
        stage.app->epochs = round % 5 == 4 ? STAGE_SHORT : STAGE_LONG;
        stage.app->wants_start = true;
        stage_frame();
        assert_true(stage.app->job != 0);
        random = random * 1103515245u + 12345u;
        int moment = (int)(random >> 16) % 40;
        for (int i = 0; i < moment; i++) {
            stage_frame();
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            if (stage.app->views.has_any)
                stage_check_pictures();
        }
        bool had_any = stage.app->views.has_any;
        int step = had_any ? stage_check_pictures() : -1;
        mlscope_cancel(stage.app);
        stage_wait_for_job();
        TrainerView view;
        trainer_view(stage.app->trainer, &view);
        assert_true(view.state == TRAINER_STATE_CANCELLED || view.state == TRAINER_STATE_DONE);
        ended += view.state == TRAINER_STATE_DONE ? 1 : 0;
        /* What was shown last stays, or is the newer one that the worker had made. */
        for (int i = 0; i < 5; i++)
            stage_frame();
        if (had_any) {
            assert_true(stage_check_pictures() >= step);
            kept++;
        }
    }
    if (kept < ROUNDS / 2)
        fail_msg("only %d of %d rounds had a picture to keep", kept, ROUNDS);
    if (ended > ROUNDS / 2)
        fail_msg("%d of %d rounds came to their end before they were cancelled", ended, ROUNDS);
    stage.bench.unseen = false;
}

typedef struct Io {
    unsigned long long reads, writes;
} Io;

/* Of the calling thread; its own reading is in it, the same each time. */
static Io thread_io(void)
{
    Io io = {0, 0};
    char line[128];
    FILE *file = fopen("/proc/thread-self/io", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "syscr: %llu", &io.reads);
        (void)sscanf(line, "syscw: %llu", &io.writes);
    }
    if (file != NULL)
        fclose(file);
    return io;
}

/* While a run goes on the frame thread reads no file, writes none, and waits for no device. */
static void test_frame_thread(void **state)
{
    RendererCounters before, after;
    (void)state;
    stage.app->epochs = STAGE_LONG;
    stage.app->wants_start = true;
    stage_frame();
    for (int i = 0; i < 20000 && !stage.app->views.has_any; i++)
        stage_frame();
    Io first = thread_io(), second = thread_io();
    unsigned long long own = second.reads - first.reads;
    if (own == 0) {
        mlscope_cancel(stage.app);
        stage_wait_for_job();
        print_message("skipped: this kernel does not count a thread's reads\n");
        skip();
    }
    uint64_t serial = stage.app->score_serial;
    int64_t updates = 0;
    renderer_counters(stage.bench.renderer, &before);
    first = thread_io();
    for (int i = 0; i < LOOKS; i++) {
        const ModelSnapshot *shown = stage.app->views.shown;
        stage_frame();
        updates += stage.app->views.shown != shown ? 1 : 0;
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    second = thread_io();
    renderer_counters(stage.bench.renderer, &after);
    assert_true(mlscope_is_training(stage.app));
    mlscope_cancel(stage.app);
    stage_wait_for_job();
    if (second.reads - first.reads != own || second.writes != first.writes)
        fail_msg("%llu reads, %llu writes on the frame thread", second.reads - first.reads - own,
                 second.writes - first.writes);
    assert_int_equal(after.waits, before.waits);
    assert_true(updates > 0 && stage.app->score_serial > serial);
    assert_true(after.updates >= before.updates + (uint64_t)updates * 17);
    stage.app->epochs = STAGE_SHORT;
}

/* No texture can be made: the panel says so, the run goes on, and nothing is half shown. */
static void test_refused(void **state)
{
    (void)state;
    views_release(stage.app);
    assert_true(fault_set_plan("cpu.texture:1+"));
    stage.app->wants_start = true;
    stage_frame();
    for (int i = 0; i < 20000 && mlscope_is_training(stage.app); i++) {
        stage_frame();
        assert_false(stage.app->views.has_any);
    }
    stage_frame();
    TrainerView view;
    trainer_view(stage.app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_DONE);
    assert_true(stage.app->views.refused && stage.app->views.shown == NULL);
    /* The ninth, a kernel after its maps, is refused: those before it are not left behind, and the
     * next snapshot is shown whole. */
    assert_true(fault_set_plan("cpu.texture:9"));
    stage.app->epochs = STAGE_LONG;
    stage.app->wants_start = true;
    bool was_refused = false;
    for (int i = 0; i < 20000 && !stage.app->views.has_any; i++) {
        stage_frame();
        was_refused = was_refused || stage.app->views.refused;
    }
    assert_true(was_refused && !stage.app->views.refused);
    stage_check_pictures();
    mlscope_cancel(stage.app);
    stage_wait_for_job();
    stage.app->epochs = STAGE_SHORT;
    assert_true(fault_set_plan(""));
}

/* A CUDA device and a network that cannot use it: said in the log and on the panel. */
static void test_cuda_that_is_of_no_use(void **state)
{
    MlScope *first = stage.app;
    int lines = stage.told_count;
    (void)state;
    stage.offers_cuda = true;
    stage.app = stage.applet->api.create();
    assert_non_null(stage.app);
    assert_true(stage.applet->api.initialize(stage.app, &stage.given));
    stage.offers_cuda = false;
    assert_int_equal(stage.told_count, lines + 1);
    assert_non_null(strstr(stage.told, "training on the CPU"));
    assert_true(stage.app->lacks_cuda && !stage.app->has_cuda && stage.app->device == 0);
    stage.app->batch = 10;
    stage.app->epochs = STAGE_SHORT;
    stage_run_whole();
    stage_check_pictures();
    stage.applet->api.cleanup(stage.app);
    stage.applet->api.destroy(stage.app);
    stage.app = first;
}

/* A host without one of the services: it is named once, and destroy follows, as the host has it. */
static void test_a_service_is_absent(void **state)
{
    static const char *const needed[] = {CALIPER_TENSOR_BRIDGE_V1_1, CALIPER_WIDGETS_V1,
                                         CALIPER_PLOT_V1, CALIPER_JOBS_V1};
    (void)state;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        int lines = stage.told_count;
        void *other = stage.applet->api.create();
        assert_non_null(other);
        stage.absent = needed[i];
        assert_false(stage.applet->api.initialize(other, &stage.given));
        stage.absent = NULL;
        assert_int_equal(stage.told_count, lines + 1);
        assert_non_null(strstr(stage.told, needed[i]));
        stage.applet->api.destroy(other);
    }
}

/* A renderer whose largest texture is smaller than a kernel, than a map, than the digit: words in
 * place of pictures, the run goes to its end; and pictures again from a renderer that takes them.
 */
static void test_tiny_textures(void **state)
{
    static const int32_t sides[] = {1, 2, 25, 27};
    int32_t side = stage.bench.bridge->limits.max_texture_px;
    TrainerView view;
    (void)state;
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        views_release(stage.app); /* no picture of a run before is there to be updated */
        stage.bench.bridge->limits.max_texture_px = sides[i];
        stage_run_whole();
        stage.refusals_shown = 0;
        stage_frame();
        stage.bench.bridge->limits.max_texture_px = side;
        trainer_view(stage.app->trainer, &view);
        assert_int_equal(view.state, TRAINER_STATE_DONE);
        assert_true(stage.app->views.refused && !stage.app->views.has_any);
        assert_int_equal(stage.refusals_shown, 1);
    }
    stage_run_whole();
    stage_check_pictures();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cancel_and_start_again),
        cmocka_unit_test(test_frame_thread),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cuda_that_is_of_no_use),
        cmocka_unit_test(test_a_service_is_absent),
        cmocka_unit_test(test_tiny_textures),
    };
    if (argc != 2)
        return 2;
    stage.lut_folder = argv[1];
    return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
