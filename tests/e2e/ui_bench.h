/* tests/e2e/ui_bench.h: a toolkit layer on the cpu renderer without a shell, for tests of the
 * widgets tables: one panel, frames on demand, events, the log counted, items looked for. */
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
/* bench_start_sized, and every frame lists its items for bench_item. */
bool bench_start_listening(UiBench *bench, float scale, float width, float height);
void bench_stop(UiBench *bench);
/* One frame: the panel fills the window; `draw` is what the applet does. */
void bench_frame(UiBench *bench, void (*draw)(UiBench *bench, void *user), void *user);
void bench_move(UiBench *bench, float x, float y);
void bench_button(UiBench *bench, uint32_t button, bool down);
void bench_key(UiBench *bench, uint32_t key, uint32_t modifiers);
void bench_type(UiBench *bench, const char *ascii);

/* Of the items that the last frame listed, in the order in which they were drawn, the nth from 0 of
 * that kind and label; a label of NULL: of any. NULL: there is none. Stays until the next frame. */
const UiItem *bench_item(const UiBench *bench, const char *kind, const char *label, uint32_t nth);
/* How many of a kind there are; whether one of that kind and label, or any, has the keyboard. */
uint32_t bench_item_count(const UiBench *bench, const char *kind);
bool bench_has_focus(const UiBench *bench, const char *kind, const char *label);

#endif
