/* See the header. */
#include "metrics_life.h"

#include <stdio.h>
#include <string.h>

void life_values(MetricsStore *store, uint64_t run)
{
    static const float values[3] = {1, 2, 3};
    static uint8_t pixels[12];
    CaliperTensor picture = {.struct_size = sizeof picture,
                             .data = pixels,
                             .dtype = CALIPER_DT_U8,
                             .ndim = 3,
                             .shape = {2, 2, 3},
                             .strides = {6, 3, 1}};
    for (int i = 0; i < LIFE_SCALARS; i++)
        metrics_store_scalar(store, run, "x", i, i);
    metrics_store_histogram(store, run, "h", 1, values, 3);
    metrics_store_image(store, run, "i", 1, &picture);
    metrics_store_hparams(store, run, "{}");
    metrics_store_end_run(store, run);
}

uint64_t life_begin(MetricsStore *store)
{
    uint64_t run = 0;
    for (int i = 0; run == 0 && i < 50; i++)
        run = metrics_store_begin_run(store, "e", "n");
    return run;
}

void life_log(MetricsStore *store)
{
    uint64_t run = life_begin(store);
    assert_true(run != 0);
    life_values(store, run);
}

/* Asked in one go, since opening takes its time. */
void life_check(const char *root, int lives, const char *plan)
{
    static const char sql[] =
        "SELECT format('done {} scalars {} steps {} seqs {} histograms {} images {} gaps {} "
        "interrupted {} spooled {}', "
        "(SELECT count(*) FROM runs WHERE done AND hparams = '{}'), "
        "(SELECT count(*) FROM scalars), "
        "(SELECT count(DISTINCT (run, step)) FROM scalars), "
        "(SELECT count(DISTINCT seq) FROM scalars), "
        "(SELECT count(*) FROM histograms), (SELECT count(*) FROM images), "
        "(SELECT count(*) FROM (SELECT step - lag(step) OVER (PARTITION BY run ORDER BY seq) AS d "
        "FROM scalars) WHERE d <> 1), "
        "(SELECT count(*) FROM interrupted_runs), (SELECT count(*) FROM spool_files))";
    char wanted[256];
    int rows = lives * LIFE_SCALARS;
    snprintf(wanted, sizeof wanted,
             "done %d scalars %d steps %d seqs %d histograms %d images %d gaps 0 interrupted 0 "
             "spooled 0",
             lives, rows, rows, rows, lives, lives);
    const char *got = fixture_text(root, sql);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: %s, wanted %s", plan, got, wanted);
    if (store_folder_count(root, "spool") > 0)
        assert_int_equal(store_folder_count(fixture_path(root, "spool"), ""), 0);
}
