/* tests/e2e/ui_bench.h: a toolkit layer on the cpu renderer without a shell, for tests of the
 * widgets tables: one panel, frames on demand, events, the log counted. */
#ifndef CALIPER_TESTS_UI_BENCH_H
#define CALIPER_TESTS_UI_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "core/log.h"
#include "render/renderer.h"
#include "services/ui.h"
#include "services/widgets.h"

enum { BENCH_W = 400, BENCH_H = 300 };

typedef struct UiBench {
    Renderer *renderer;
    Bridge *bridge;
    Ui *ui;
    const CaliperWidgetsV1 *w;
    const CaliperPlotV1 *plot;
    int sink;
    float width, height;            /* BENCH_W, BENCH_H unless told otherwise */
    bool unseen;                    /* frames are not drawn */
    uint32_t refused, wrong_thread; /* lines of those items so far */
    char last[400];
} UiBench;

bool bench_start(UiBench *bench, float scale);
bool bench_start_sized(UiBench *bench, float scale, float width, float height);
void bench_stop(UiBench *bench);
/* One frame: the panel fills the window; `draw` is what the applet does. */
void bench_frame(UiBench *bench, void (*draw)(UiBench *bench, void *user), void *user);
void bench_move(UiBench *bench, float x, float y);
void bench_button(UiBench *bench, uint32_t button, bool down);
void bench_key(UiBench *bench, uint32_t key, uint32_t modifiers);
void bench_type(UiBench *bench, const char *ascii);

#endif
