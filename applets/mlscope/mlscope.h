/* applets/mlscope/mlscope.h: what the applet's files share. Frame thread.
 *
 * app.c has its life, panel.c what a person sees, views.c the textures of snapshots, trainer.h the
 * job, model.h the network, digits.h the data. */
#ifndef MLSCOPE_MLSCOPE_H
#define MLSCOPE_MLSCOPE_H

#include <caliper/caliper.h>

#include "trainer.h"

typedef struct Views {
    CaliperTextureId kernels[MODEL_KERNELS], digit, maps[MODEL_KERNELS], wrong;
    float kernel_range; /* what they were made with: the trainer's of the run */
    bool has_any;
    bool on_device; /* what the last update really took */
    ModelSnapshot *shown;
    bool refused;        /* by the bridge, the last time; nothing is shown then */
    int64_t wrong_index; /* shown in `wrong`; -1: none */
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
    bool has_cuda;
    Views views;
    /* What the person chose. */
    int32_t data, device; /* indexes of combos */
    char folder[4096];
    int64_t seed, batch, epochs;
    double learning_rate;
    int64_t steps_max; /* 0: all; CALIPER_MLSCOPE_STEPS */
    int64_t awaited;   /* the step that a frame waits for, where steps_max is set */
    bool wants_start;  /* at the next frame's begin, when no view of the last run is in use */
    int32_t run_data;  /* what `data` was at the start of the run that is shown */
    /* Where the data sets are. */
    char mnist_folder[4096];
    bool has_mnist, has_fashion;
    ModelScore score;
    uint64_t score_serial;
    int64_t wrong;
} MlScope;

/* app.c */
void mlscope_cancel(MlScope *app);
bool mlscope_is_training(const MlScope *app);

/* views.c: takes the newest snapshot, if any, into the textures. */
void views_update(MlScope *app);
/* Shows a misclassified test image; false while there is none of that number. */
bool views_show_wrong(MlScope *app, int64_t number);
void views_release(MlScope *app);

/* panel.c */
void panel_draw(MlScope *app);

#endif
