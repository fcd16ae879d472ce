/* applets/mlscope/mlscope.h: what the applet's files share. Frame thread.
 *
 * app.c has its life, panel.c what a person sees, panel_wrong.c of it what the net gets wrong,
 * views.c the textures of snapshots, trainer.h the training's job, fetcher.h the one that fetches,
 * model.h the network, digits.h the data. */
#ifndef MLSCOPE_MLSCOPE_H
#define MLSCOPE_MLSCOPE_H

#include <caliper/caliper.h>

#include "fetcher.h"
#include "trainer.h"

enum { MLSCOPE_PAGE = 64 }; /* misclassified images shown at once, at most */

typedef struct Views {
    CaliperTextureId kernels[MODEL_KERNELS], digit, maps[MODEL_KERNELS], wrong[MLSCOPE_PAGE];
    float kernel_range; /* what they were made with: the trainer's of the run */
    bool has_any;
    bool on_device; /* what the last update really took */
    ModelSnapshot *shown;
    bool refused;                      /* by the bridge, the last time; nothing is shown then */
    int64_t wrong_index[MLSCOPE_PAGE]; /* of the test image in `wrong`; -1: none */
} Views;

typedef struct MlScope {
    const CaliperHost *host;
    const CaliperTensorBridgeV1_1 *bridge;
    const CaliperWidgetsV1 *ui;
    const CaliperPlotV1 *plot;
    const CaliperJobsV1 *jobs;
    const CaliperMetricsV1 *metrics; /* NULL: not offered */
    Trainer *trainer;
    uint64_t job;
    Fetcher *fetcher;
    uint64_t fetch_job;
    bool has_cuda;
    bool lacks_cuda;                        /* a CUDA device, and a libtorch without CUDA */
    bool has_told_training, has_told_fetch; /* their last failures are in the log */
    Views views;
    TrainerView run;     /* what the panel says of the run: views_update */
    double run_read_sec; /* when that was read, by CaliperFrameInfo.time_sec */
    /* What the person chose. */
    int32_t data, device; /* indexes of combos */
    char folder[4096];
    int64_t seed, batch, epochs;
    double learning_rate;
    int64_t steps_max; /* 0: all; CALIPER_MLSCOPE_STEPS */
    int64_t awaited;   /* the step that a frame waits for, where steps_max is set */
    int32_t wait_ms;   /* and how long at most; CALIPER_MLSCOPE_WAIT_MS */
    bool wants_start;  /* at the next frame's begin, when no view of the last run is in use */
    int32_t run_data;  /* what `data` was at the start of the run that is shown */
    /* Where the data sets are. */
    char mnist_folder[DATASETS_PATH_BYTES];
    bool has_mnist, has_fashion;
    ModelScore score;
    uint64_t score_serial;
    /* Of the misclassified ones: the page, and the one cell of the matrix that is looked at. */
    int64_t wrong_page;
    bool has_filter;
    int32_t filter_truth, filter_said;
} MlScope;

/* app.c */
void mlscope_cancel(MlScope *app);
void mlscope_cancel_fetch(MlScope *app);
bool mlscope_is_training(const MlScope *app);
void mlscope_fetch(MlScope *app);
bool mlscope_is_fetching(const MlScope *app);
/* "7" for a digit, "sneaker" for clothes, of the run that is shown. */
const char *mlscope_class_name(const MlScope *app, int32_t number, char *text, size_t text_bytes);

/* views.c: takes the newest snapshot, if any, into the textures, and what is said of the run into
 * `run`: with each snapshot, each evaluation and each change of state, and else a few times a
 * second. Faster nobody reads, and a panel that stays as it is is not drawn again by the host. */
void views_update(MlScope *app, double time_sec);
/* Shows a misclassified test image in one of the page's places; false while there is none of that
 * number. */
bool views_show_wrong(MlScope *app, int32_t slot, int64_t number);
void views_forget_wrong(MlScope *app);
void views_release(MlScope *app);

/* panel.c */
void panel_draw(MlScope *app);

/* panel_wrong.c: the pages beside the pictures. */
void panel_draw_confusion(MlScope *app);
void panel_draw_wrong(MlScope *app);

#endif
