/* tensorscope/session.h: what is open and what is shown: turns wishes into requests to the loader,
 * and its answers into textures. Knows no widgets.
 *
 * Frame thread only. */
#ifndef TENSORSCOPE_SESSION_H
#define TENSORSCOPE_SESSION_H

#include <caliper/services/log_v1.h>

#include "demo.h"
#include "exact.h"
#include "loader.h"
#include "slice_view.h"

enum { SESSION_RECENT_MAX = 12, SESSION_PATH_BYTES = 4096 };

typedef struct Hover {
    bool inside; /* the picture */
    bool known;  /* the elements below are there; else the file is being asked */
    uint64_t row, col;
    uint32_t tile;  /* of a grid of slices */
    uint32_t count; /* elements: the colour channels, or 1 */
    uint64_t elements[LOADER_ELEMENTS_MAX];
} Hover;

typedef struct Session {
    const CaliperLogV1 *log; /* may be NULL */
    const CaliperTensorBridgeV1 *bridge;
    Loader *loader;
    Demo *demo;       /* NULL: not started, or the host shares no memory */
    bool demo_failed; /* it was tried */
    bool repeatable;  /* wait for answers, so that pictures depend on the frame's time alone */

    /* The demo. */
    bool shows_demo;
    bool demo_paused;
    double demo_time_sec;
    CaliperTextureId demo_texture; /* in this frame */

    /* The file. */
    Source *source;       /* NULL: none */
    uint64_t file_number; /* another one with each file; a new content of the same keeps it */
    uint32_t array;
    AxisChoice axes;
    SliceView view;
    Exact *exact; /* counts every element where the picture has samples alone */
    Stamp stamp;  /* of the content that is read */
    bool slice_failed;
    bool first_look; /* what is being read is coarse, for something to see; the finer one follows */
    char *recent[SESSION_RECENT_MAX];
    char opening[SESSION_PATH_BYTES]; /* asked for and not answered yet; "" */
    char refused[SESSION_PATH_BYTES]; /* the last one, if its bytes are of no known format */

    /* The last failure; NONE: nothing to tell. */
    ArrayError error;
    bool error_is_of_content; /* what the file then held could not be read; another may be */

    /* The watch: whether the file is followed, how often a new content was shown, and why the
     * newest one is not (NONE: it is); then the picture is of the last content that was whole. */
    bool follows;
    bool refreshing; /* the slice that was asked for last is of a new content */
    uint64_t refresh_count;
    ArrayError stale;

    /* How it is shown. */
    RangeMode mode;
    double hand_low, hand_high;
    int32_t colormap;
    uint32_t tiles_wanted; /* in a grid of slices; 0: the first so many */
    uint64_t side_max;     /* of a texture; falls when the host refuses */
    double view3[3];       /* of image_view */
    double demo_view3[3];

    /* What the loader was asked for. */
    SliceArea detail_area;
    uint64_t element_row, element_col;
    bool element_asked;
    Hover element; /* its answer */
} Session;

/* False when no thread can be started. `session` is zeroed memory. */
bool session_start(Session *session, const CaliperTensorBridgeV1 *bridge, const CaliperLogV1 *log);
/* Joins the threads and gives back every texture. */
void session_stop(Session *session);

void session_open(Session *session, const char *path);
/* Puts a path into the list of recent files without opening it. */
void session_offer(Session *session, const char *path);
void session_show_demo(Session *session);
void session_show_file(Session *session); /* the one that is open */
void session_forget_error(Session *session);
void session_follow(Session *session, bool follow);

/* Once a frame, before drawing: takes answers, moves the demo to `time_sec`. */
void session_update(Session *session, double time_sec, double delta_sec);

const SourceArray *session_array(const Session *session); /* NULL: none */
void session_select_array(Session *session, uint32_t array);
/* After a change of session->axes: asks for the slice. `reshaped`: the view fits again. */
void session_axes_changed(Session *session, bool reshaped);
bool session_step(Session *session, uint32_t slider, int64_t delta);

/* Counts every element of a slice that is shown by samples; begun by itself, and again after it was
 * stopped. */
void session_count(Session *session);
/* The statistics to show: of every element where they are known, else of the samples. */
const ArrayStats *session_stats(const Session *session);
const Summary *session_summary(const Session *session);

void session_set_mode(Session *session, RangeMode mode);
void session_set_hand(Session *session, double low, double high);
void session_set_colormap(Session *session, int32_t colormap);

/* Rows and columns that one row and column of the picture take in the view, so that a vector or a
 * very flat array can be seen: 1, 1 for most. */
void session_stretch(const Session *session, uint64_t *rows, uint64_t *cols);

/* The part of the picture in sight, in cells, and how many physical pixels a cell takes: asks for a
 * finer part where the picture is stepped and that would be seen. */
void session_look(Session *session, double row0, double col0, double row1, double col1,
                  double row_px, double col_px);
/* The exact elements of a cell; where they are in the file alone it is asked. */
Hover session_hover(Session *session, uint64_t row, uint64_t col);
/* The same in a grid of slices, by the sample of the picture; not `inside` in a gap. */
Hover session_hover_tile(const Session *session, uint64_t row, uint64_t col);
/* How many slices the grid shows from where it begins; 0: no grid. */
uint32_t session_tile_count(const Session *session);

#endif
