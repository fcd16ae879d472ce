/* tests/e2e/mlscope_stage.h: MLScope's whole applet but its network (mlscope_counting.h) in frames
 * like the host's, for tests without torch: what they share of its start and end, of what it shows
 * and logs, and of a person's hands.
 *
 * One stage a process, for all tests of it; all of it on the test's own thread. What fails in a
 * function fails the test that called it. */
#ifndef CALIPER_TESTS_MLSCOPE_STAGE_H
#define CALIPER_TESTS_MLSCOPE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "mlscope.h"
#include "ui_bench.h"

/* Epochs of a run: of LONG ones none comes to its end while a test looks, of SHORT ones each does:
 * they are 100 steps. */
enum { STAGE_LONG = 40000, STAGE_SHORT = 20 };

typedef struct Stage {
    const char *lut_folder; /* the published colours; told before stage_set_up */
    UiBench bench;          /* lists its items */
    const CaliperAppletDescriptor *applet;
    MlScope *app;      /* of the frames; starts with batches of 10 and SHORT epochs */
    CaliperHost given; /* what an applet is initialized with */
    char root[32];     /* a folder of this process: the applet's and the host's */
    char data[64];     /* in it, of counting_write_all: the applet's data set */
    /* What the test changes of the host. */
    bool offers_cuda;   /* the device service does */
    const char *absent; /* a service that the host is without; NULL: none */
    /* What the applet logs. */
    char told[512]; /* the last error or warning */
    int told_count;
    /* What is drawn; a test begins the counts anew. */
    int images;         /* pictures */
    int too_wide;       /* pictures and canvases past their region's edge */
    uint32_t strongest; /* the largest alpha of a filled rectangle */
    int refusals_shown; /* how often the panel said that pictures are refused */
} Stage;

extern Stage stage;

/* For cmocka_run_group_tests. The end fails, too, where a texture, a job, a network or a snapshot
 * is left behind. */
int stage_set_up(void **state);
int stage_tear_down(void **state);

void stage_frame(void);
void stage_wait_for_job(void); /* draws nothing meanwhile */
void stage_run_whole(void);    /* starts a run, waits for its end, and shows it */
/* The kernels' textures are, to the pixel, of the snapshot that is shown. Answers its step. */
int stage_check_pictures(void);

void stage_press(uint32_t key);
void stage_click(const char *kind, const char *label); /* an item, in its middle */
void stage_go_to(const char *kind, const char *label); /* by Tab alone */

#endif
