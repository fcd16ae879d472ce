/* shell/runs/runs.h: the Runs dashboard: see, compare and keep training runs.
 *
 * src/shell/runs/ holds its arithmetic (curve.h, parameters.h, run_text.h), the thread that asks
 * the store (reader.h, charts.h), what that thread hands over (snapshot.h) and the pages. Only the
 * shell includes this header; the rest is the folder's own and its tests'. Frame thread. */
#ifndef CALIPER_SHELL_RUNS_RUNS_H
#define CALIPER_SHELL_RUNS_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "services/ui.h"
#include "store/metrics/metrics_store.h"

typedef struct Runs Runs;

/* All outlive it. `listens`: the state will be wanted. NULL after one line. */
Runs *runs_create(MetricsStore *store, Bridge *bridge, Ui *ui, const char *data_root, bool listens);
void runs_destroy(Runs **runs);

/* Inside widgets_begin and widgets_end of an open panel. Asks nothing, waits for nothing. */
void runs_draw(Runs *runs);

/* Between frames of a headless run: waits until what the last frame asked for has come. */
void runs_settle(Runs *runs);

/* The view as JSON (docs/explanation/runs.md); false after one line. */
bool runs_write_state(const Runs *runs, const char *path);

#endif
