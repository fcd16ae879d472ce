/* tests/e2e/mlscope_panel_test.c: MLScope's panel in the host's own frames, over a network that
 * only counts: settings that are refused, failures that are told, all of it in sight at any width,
 * and a pair of the matrix that is chosen by the keyboard. Without torch, for ASan and TSan.
 *
 * Usage: e2e_mlscope_panel LUT_FOLDER */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlscope_counting.h"
#include "mlscope_stage.h"

static void expect_refused(const char *words)
{
    uint64_t job = stage.app->job;
    int lines = stage.told_count, step = stage_check_pictures();
    TrainerView view;
    stage.app->wants_start = true;
    stage_frame();
    assert_int_equal(stage.told_count, lines + 1); /* once, and what was meant */
    assert_non_null(strstr(stage.told, words));
    trainer_view(stage.app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_FAILED);
    assert_non_null(strstr(view.status, words));
    assert_true(stage.app->job == job); /* none was started */
    stage_frame();
    assert_int_equal(stage.told_count, lines + 1);
    assert_int_equal(stage_check_pictures(), step); /* the last run's */
}

static void test_bad_settings(void **state)
{
    (void)state;
    stage_run_whole();
    stage.app->seed = -1;
    expect_refused("the seed must be 0 or more");
    stage.app->seed = 1;
    stage.app->learning_rate = 0.0;
    expect_refused("the learning rate must be more than 0");
    stage.app->learning_rate = -1e-3;
    expect_refused("the learning rate must be more than 0");
    stage.app->learning_rate = 1.0 / 0.0;
    expect_refused("the learning rate must be more than 0");
    stage.app->learning_rate = 0.0 / 0.0;
    expect_refused("the learning rate must be more than 0");
    stage.app->learning_rate = 1e-3;
    static const int64_t wrong[] = {0, -1, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        stage.app->batch = wrong[i];
        expect_refused("batch and epochs must be 1 or more");
        stage.app->batch = 10;
        stage.app->epochs = wrong[i];
        expect_refused("batch and epochs must be 1 or more");
        stage.app->epochs = STAGE_SHORT;
    }
    stage_run_whole();
    stage_check_pictures();
}

/* A run that cannot begin is told once, on the panel and in the log. */
static void test_failures_are_told(void **state)
{
    int lines = stage.told_count;
    TrainerView view;
    (void)state;
    stage.app->data = 2;
    snprintf(stage.app->folder, sizeof stage.app->folder, "%s/nowhere", stage.root);
    stage.app->wants_start = true;
    stage_frame();
    stage_wait_for_job();
    stage_frame();
    stage_frame();
    trainer_view(stage.app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_FAILED);
    assert_int_equal(stage.told_count, lines + 1);
    assert_non_null(strstr(stage.told, "nowhere: there is no train-images-idx3-ubyte.gz"));
    snprintf(stage.app->folder, sizeof stage.app->folder, "%s", stage.data);
}

/* The loss is lost at step 3: the panel knows it, and draws what there is. */
static void test_learning_too_fast(void **state)
{
    TrainerView view;
    (void)state;
    stage.app->learning_rate = COUNTING_TOO_FAST;
    stage_run_whole();
    trainer_view(stage.app->trainer, &view);
    assert_int_equal(view.state, TRAINER_STATE_DONE);
    assert_int_equal(view.lost_step, 3);
    stage_frame();
    stage.app->learning_rate = 1e-3;
    stage_run_whole();
    trainer_view(stage.app->trainer, &view);
    assert_int_equal(view.lost_step, 0);
}

/* Whatever the window's width, no picture leaves its region; of digits and of clothes, whose names
 * are longer. Where all of a row of the matrix is wrong, its cell has the strongest colour. */
static void test_all_of_it_fits(void **state)
{
    static const char *const tabs[] = {"Learning", "Confusion", "Misclassified"};
    float width = stage.bench.width, height = stage.bench.height;
    (void)state;
    stage_run_whole();
    stage.bench.unseen = true; /* where things are is known without pixels */
    for (int tab = 0; tab < 3; tab++) {
        stage_click("tab", tabs[tab]);
        for (int clothes = 0; clothes < 2; clothes++) {
            stage.app->run_data = clothes == 1 ? 1 : 2;
            for (stage.bench.width = 610; stage.bench.width < 1700; stage.bench.width += 30) {
                stage.bench.height = 400 + (float)((int)stage.bench.width % 7) * 90;
                stage_frame(); /* regions are laid out anew */
                stage.images = stage.too_wide = 0;
                stage.strongest = 0;
                stage_frame();
                if (stage.too_wide != 0 || stage.images != (tab == 0 ? 17 : tab == 1 ? 0 : 1))
                    fail_msg("%s, %g wide: %d of %d too wide", tabs[tab], (double)stage.bench.width,
                             stage.too_wide, stage.images);
                if (tab == 1)
                    assert_int_equal(stage.strongest, 255);
            }
            stage.bench.width = width;
            stage.bench.height = height;
        }
    }
    stage.bench.unseen = false;
    stage_click("tab", "Learning");
    stage.app->run_data = 2;
}

/* One pair of the matrix is chosen by a list, too, which the keyboard reaches. */
static void test_a_pair_is_chosen(void **state)
{
    (void)state;
    stage_run_whole();
    stage_click("tab", "Misclassified");
    stage.app->wrong_page = 0;
    stage_go_to("combo", "show");
    stage_press(' ');
    stage_press(CALIPER_KEY_DOWN);
    stage_press(' ');
    assert_true(stage.app->has_filter && stage.app->filter_truth == 4 &&
                stage.app->filter_said == 0);
    stage.images = 0;
    stage_frame();
    assert_int_equal(stage.images, 1); /* the one that is kept */
    stage.app->filter_said = 7;        /* a pair that is over stays chosen, and shows nothing */
    stage.images = 0;
    stage_frame();
    assert_true(stage.images == 0 && stage.app->has_filter && stage.app->filter_said == 7);
    stage.app->has_filter = false;
    stage_click("tab", "Learning");
}

/* A count of steps that is none is refused in one line, and no run begins by itself. */
static void test_steps_that_are_no_number(void **state)
{
    static const char *const wrong[] = {"abc", "-1", "10x", " ", "99999999999999999999", "0x10"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int lines = stage.told_count;
        MlScope *other = stage.applet->api.create();
        assert_non_null(other);
        setenv("CALIPER_MLSCOPE_STEPS", wrong[i], 1);
        assert_true(stage.applet->api.initialize(other, &stage.given));
        unsetenv("CALIPER_MLSCOPE_STEPS");
        assert_int_equal(stage.told_count, lines + 1);
        assert_non_null(strstr(stage.told, "CALIPER_MLSCOPE_STEPS is"));
        assert_non_null(strstr(stage.told, wrong[i]));
        assert_true(other->steps_max == 0 && !other->wants_start);
        stage.applet->api.destroy(other);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_settings),      cmocka_unit_test(test_failures_are_told),
        cmocka_unit_test(test_learning_too_fast), cmocka_unit_test(test_all_of_it_fits),
        cmocka_unit_test(test_a_pair_is_chosen),  cmocka_unit_test(test_steps_that_are_no_number),
    };
    if (argc != 2)
        return 2;
    stage.lut_folder = argv[1];
    return cmocka_run_group_tests(tests, stage_set_up, stage_tear_down);
}
