/* shell/shell_impl.h: what the shell's files share. Frame thread, but for console_sink. */
#ifndef CALIPER_SHELL_SHELL_IMPL_H
#define CALIPER_SHELL_SHELL_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "bridge/bridge.h"
#include "core/host.h"
#include "render/renderer.h"
#include "services/metrics_service.h"
#include "services/ui.h"
#include "services/ui_paint.h"
#include "services/widgets.h"
#include "shell/runs/runs.h"
#include "shell/script.h"
#include "shell/shell.h"
#include "shell/window.h"

#define SHELL_RUNS UINT32_MAX

enum { SHELL_PANELS_MAX = SHELL_NAMES_MAX, SHELL_DROPS_MAX = 64 };

typedef struct Console Console;   /* console.c */
typedef struct Backdrop Backdrop; /* backdrop.c */
typedef struct Tray Tray;         /* tray.c */

typedef struct Panel {
    uint32_t applet; /* index in the host; SHELL_RUNS: the Runs dashboard */
    bool focus;      /* takes the keyboard in its next frame */
    bool closing;    /* goes when its applet has closed */
    float x, y, w, h;
} Panel;

typedef struct Rect {
    float x, y, w, h;
} Rect;

/* CALIPER_REDRAW: draw what changed; everything; what changed, and prove that the rest did not. */
typedef enum Redraw { REDRAW_CHANGES = 0, REDRAW_ALWAYS, REDRAW_CHECK } Redraw;

/* The status bar's numbers, as they are read now and then. */
typedef struct StatusNumbers {
    bool has_any;
    double taken_sec; /* by CaliperFrameInfo.time_sec */
    double frame_ms;
    RendererCounters frame, all; /* of the last frame, and since the start */
    MetricsStatus metrics;
    bool has_metrics;
} StatusNumbers;

typedef struct Shell {
    const ShellParams *params;
    Host *host;
    Renderer *renderer;
    Bridge *bridge;
    Ui *ui;
    ShellWindow *window; /* NULL: headless */
    Script *script;
    Console *console;
    Backdrop *backdrop;
    Runs *runs; /* NULL until its panel is opened */
    Tray *tray;
    RendererParams renderer_params;

    Panel panels[SHELL_PANELS_MAX];
    uint32_t panel_count;
    bool at_home;
    bool was_home; /* in the frame before */
    bool console_open;
    bool tray_open;
    uint32_t focused_applet; /* whose panel had the keyboard last */
    bool welcome;            /* the first-run hints */
    bool fixed_clock;

    /* Dropped in this frame, and where. */
    const char *drops[SHELL_DROPS_MAX];
    uint32_t drop_count;
    float drop_x, drop_y;
    int32_t drops_for; /* the applet they are for, wherever they fell; -1: the panel they fell on */

    CaliperFrameInfo info;
    int32_t width_px, height_px;
    float width, height; /* logical */
    uint64_t frame;
    uint64_t lost_frame; /* when a renderer was lost last */
    uint32_t losses;
    bool is_whole;   /* the last frame was drawn, and no renderer was lost in it */
    double frame_ms; /* smoothed, of frames that were drawn */
    Redraw redraw;
    double drawn_sec; /* when one was drawn last, by shell_now_sec */
    StatusNumbers status;
    bool failed; /* the exit status will not be 0 */
    bool quit;
} Shell;

/* Logical heights of the fixed strips. */
#define SHELL_TOP    46.0f
#define SHELL_STATUS 28.0f

/* services.c: registers every table of this build and what gives back an applet's things. */
bool shell_services_register(Shell *shell);

/* device.c: the compute device, and what the renderer has to know of it. */
bool shell_device_choose(Shell *shell);

/* frame.c: one frame from input to presentation; false: nothing can be drawn any more. */
bool shell_frame(Shell *shell);
bool shell_start_renderer(Shell *shell, const char *wanted);
/* The renderer is lost, or useless: goes on with another of its kind where that may help, else with
 * the next one in order; one line says which. False: there is none. */
bool shell_replace_renderer(Shell *shell);

/* present.c: what is drawn of a frame, and when the next one begins. */
double shell_now_sec(void);       /* a clock that only goes on */
Redraw shell_redraw_wanted(void); /* one line when the variable says something else */
/* Draws the frame that is ready, unless what is on screen is that frame already; a lost renderer is
 * replaced and the same frame drawn again. False: nothing can be drawn any more. */
bool shell_present(Shell *shell, RendererShown *out_shown);
/* Waits until the next frame is due. */
void shell_pace(const Shell *shell, double started_sec, RendererShown shown);

/* panels.c */
/* False: it does not run. One that is followed has its panel all the same. */
bool panels_open(Shell *shell, uint32_t applet);
void panels_draw(Shell *shell, Rect area);
void panels_close(Shell *shell, uint32_t panel);
/* The Runs dashboard, as a panel among the applets'. */
bool panels_open_runs(Shell *shell);
void panels_destroy_runs(Shell *shell);
/* Gives files dropped on the home page to the viewer. */
void panels_view_drops(Shell *shell);
/* The applet that shows files; -1: not there. */
int32_t panels_viewer(const Shell *shell);

/* The pages. */
void home_draw(Shell *shell, Rect area);
void bars_draw_top(Shell *shell);
void bars_draw_status(Shell *shell);

Console *console_create(void);
void console_destroy(Console **console);
void console_draw(Console *console, Rect area);
uint32_t console_alerts(const Console *console); /* warnings and errors not yet looked at */

/* The jobs: a drawer on the right. Waits for no lock and allocates nothing. */
Tray *tray_create(void);
void tray_destroy(Tray **tray);
void tray_toggle(Shell *shell);
void tray_draw(Shell *shell, Rect area);

Backdrop *backdrop_create(void);
void backdrop_destroy(Backdrop **backdrop, Bridge *bridge);
/* Moves the field to `time_sec` and draws it behind everything. */
void backdrop_draw(Backdrop *backdrop, Shell *shell);

/* Interpolated state words and colours of a card. */
uint32_t applet_state_color(AppletState state);
const char *applet_state_word(AppletState state);

#endif
