/* shell/runs/runs_impl.h: what the pages of the dashboard share. Frame thread. */
#ifndef CALIPER_SHELL_RUNS_RUNS_IMPL_H
#define CALIPER_SHELL_RUNS_RUNS_IMPL_H

#include <stdio.h>

#include "services/ui.h"
#include "services/ui_paint.h"
#include "services/widgets.h"
#include "shell/runs/parameters.h"
#include "shell/runs/reader.h"
#include "shell/runs/runs.h"

/* What a person can do. Each has a key and something to point at; actions.c says which. */
typedef enum RunsAction {
    RUNS_ACTION_SEARCH = 0,
    RUNS_ACTION_TAGS,
    RUNS_ACTION_CURSOR,
    RUNS_ACTION_CURSOR_UP,
    RUNS_ACTION_CHOOSE,
    RUNS_ACTION_ONLY,
    RUNS_ACTION_ALL,
    RUNS_ACTION_NONE,
    RUNS_ACTION_AXIS,
    RUNS_ACTION_SMOOTHING,
    RUNS_ACTION_SMOOTHING_LESS,
    RUNS_ACTION_LOG_X,
    RUNS_ACTION_LOG_Y,
    RUNS_ACTION_OUTLIERS,
    RUNS_ACTION_BANDS,
    RUNS_ACTION_FIT,
    RUNS_ACTION_SECTION,
    RUNS_ACTION_SECTIONS,
    RUNS_ACTION_SCALARS,
    RUNS_ACTION_PARAMETERS,
    RUNS_ACTION_HISTOGRAMS,
    RUNS_ACTION_IMAGES,
    RUNS_ACTION_TEXTS,
    RUNS_ACTION_ABOUT,
    RUNS_ACTION_ARTIFACTS,
    RUNS_ACTION_DATA,
    RUNS_ACTION_HISTOGRAM_TAG,
    RUNS_ACTION_IMAGE_TAG,
    RUNS_ACTION_IMAGE_BACK,
    RUNS_ACTION_IMAGE_ON,
    RUNS_ACTION_TEXT_TAG,
    RUNS_ACTION_TEXT_BACK,
    RUNS_ACTION_TEXT_ON,
    RUNS_ACTION_NOTE,
    RUNS_ACTION_ARTIFACT_BACK,
    RUNS_ACTION_ARTIFACT_ON,
    RUNS_ACTION_ARTIFACTS_ALL,
    RUNS_ACTION_VERIFY,
    RUNS_ACTION_VERIFY_ALL,
    RUNS_ACTION_SHOW_FOLDER,
    RUNS_ACTION_ARTIFACT_RUN,
    RUNS_ACTION_TABLE_BACK,
    RUNS_ACTION_TABLE_ON,
    RUNS_ACTION_REFRESH,
    RUNS_ACTION_SQL,
    RUNS_ACTION_SQL_RUN,
    RUNS_ACTION_SQL_CANCEL,
    RUNS_ACTION_SQL_SOURCE,
    RUNS_ACTION_RESULT_PLOT,
    RUNS_ACTION_SORT,
    RUNS_ACTION_SORT_DOWN,
    RUNS_ACTION_PLOT_X,
    RUNS_ACTION_PLOT_Y,
    RUNS_ACTION_PLOT_POINTS,
    RUNS_ACTION_EXPORT,
    RUNS_ACTION_IMPORT,
    RUNS_ACTION_DELETE,
    RUNS_ACTION_UNDO,
    RUNS_ACTION_COUNT,
    RUNS_ACTION_LAST_PAGE = RUNS_ACTION_DATA
} RunsAction;

typedef struct RunsActionInfo {
    const char *name; /* in the state's JSON */
    uint32_t chord;
    const char *key; /* as a script writes it */
    const char *words;
    RunsAction page; /* only there; COUNT: everywhere */
} RunsActionInfo;
extern const RunsActionInfo runs_actions[RUNS_ACTION_COUNT];

typedef struct RunsActionSeen {
    float x, y, w, h; /* where it was drawn in this panel; w 0: not in sight */
    uint32_t by_key, by_pointer;
} RunsActionSeen;

enum {
    RUNS_TEXT_BYTES = 128,
    RUNS_LABEL_BYTES = 120,
    RUNS_NOTE_BYTES = 2048,
    RUNS_COLUMNS = 4,
    RUNS_FOLDER_BYTES = 2048
};

typedef struct RunsPutAway {
    uint64_t run;
    uint32_t group; /* those of one number were put away together, and come back so */
} RunsPutAway;

typedef struct RunsArtifacts RunsArtifacts; /* artifacts_page.c */
typedef struct ExportJob ExportJob;         /* export_job.h */
typedef struct ImportJob ImportJob;         /* import_job.h */
typedef struct RunsData RunsData;           /* data_impl.h */

struct Runs {
    MetricsStore *store;
    Bridge *bridge;
    Ui *ui;
    bool listens; /* the state is wanted: where each action is shown is noted */
    RunsReader *reader;
    const RunsSnapshot *snapshot; /* NULL: none yet */
    const RunsCatalog *catalog;   /* the snapshot's */
    uint64_t named;               /* number of the one that labels and rows are of */

    /* Of each run of the catalog. */
    char (*labels)[RUNS_LABEL_BYTES];
    uint64_t *ids;
    uint32_t *colors;
    uint32_t named_count;
    uint32_t colored, colored_as; /* how many have one, and the theme's first */
    /* Those that the search finds, in the table's order. */
    uint32_t *rows;
    uint32_t row_count;
    int32_t sort_column;
    bool sort_down;
    bool rows_stale;

    uint64_t *chosen; /* by id */
    uint32_t chosen_count, chosen_capacity;
    bool has_chosen;     /* the first choice was made */
    uint64_t newest_run; /* runs after it are chosen by themselves */
    uint64_t cursor;     /* a run; 0: none */
    bool cursor_moved;   /* by key: bring it into sight */

    char search[RUNS_TEXT_BYTES], tags[RUNS_TEXT_BYTES];
    int32_t axis; /* MetricsAxis */
    double smoothing;
    bool log_x, log_y, no_outliers, bands, fit;
    RunsAction page; /* SCALARS .. the last page */
    bool turn_page;  /* by key */
    float list_w;

    /* Charts of the last frame that are in sight, and what they show. */
    RunsChartRequest in_sight[RUNS_CHARTS_MAX];
    uint32_t in_sight_count;
    uint32_t chart_total;
    char **folded; /* sections that are, by what stands before the slash */
    uint32_t folded_count, section_count;
    char top_section[RUNS_TEXT_BYTES * 2]; /* in sight; "\1": none */
    bool any_open;                         /* of the sections, in the last frame */
    bool fold_all;                         /* its button was pressed */
    char *media_tag;                       /* NULL: none yet */
    int64_t media_seq;                     /* 0: the newest */
    CaliperTextureId texture;
    const RunsMedia *textured;
    int64_t textured_seq;
    uint32_t texture_w, texture_h, texture_c;

    Parameters parameters;
    uint64_t compared; /* number of a catalog */
    uint64_t compared_hash;

    /* Of one run, which the pages of one run tell about: places among the catalog's tags. */
    uint32_t *run_tags;
    uint32_t run_tags_count;
    uint64_t run_tags_run, run_tags_catalog; /* it, and a catalog's number */

    char note[RUNS_NOTE_BYTES];
    uint64_t note_run;
    bool note_focus;
    RunsPutAway *deleted; /* here, the last ones at the end */
    uint32_t deleted_count, deleted_capacity;
    uint64_t *restored; /* that come back, and will be chosen */
    uint32_t restored_count, restored_capacity;
    char told[RUNS_TEXT_BYTES * 2]; /* what was just done */

    RunsArtifacts *artifacts; /* NULL: not looked at yet */
    RunsData *data;
    ImportJob *import; /* the last; NULL: none yet */
    char import_folder[RUNS_FOLDER_BYTES];
    ExportJob *export; /* the last; NULL: none yet */
    char export_path[RUNS_FOLDER_BYTES];
    bool export_replaces;
    bool no_artifacts, no_data; /* they could not be set up */
    const char *data_root;

    uint64_t serial, asked_hash;
    RunsActionSeen seen[RUNS_ACTION_COUNT];
    RunsAction focus; /* a field that takes the keyboard next; COUNT: none */
};

/* actions.c */
bool runs_key(Runs *runs, RunsAction action); /* its key was pressed here */
void runs_pointed(Runs *runs, RunsAction action);
/* Remembers where the last item is: that is how to point at it. */
void runs_seen(Runs *runs, RunsAction action);
/* A button that does it; true when pressed. */
bool runs_button(Runs *runs, RunsAction action, const char *label, bool on);
/* A box that does it; true when *value was changed. */
bool runs_box(Runs *runs, RunsAction action, const char *label, bool *value);
void runs_take_keys(Runs *runs);

/* choice.c */
bool runs_is_chosen(const Runs *runs, uint64_t run);
void runs_choose(Runs *runs, uint64_t run, bool on);
void runs_choose_only(Runs *runs, uint64_t run);
void runs_choose_rows(Runs *runs, bool on);
void runs_move_cursor(Runs *runs, int step);
/* Takes a new catalog: names, colours, the first choice, runs that began since. */
void runs_take_catalog(Runs *runs);
/* Colours of today's theme. */
void runs_color(Runs *runs);
void runs_find_rows(Runs *runs);
/* The chosen runs that the search finds; how many chosen ones it does not find. */
uint32_t runs_chosen_found(const Runs *runs, uint32_t *out_hidden);
/* Fills run_tags: looked for when it is another run, or the catalog is. False: no memory. */
bool runs_find_tags(Runs *runs, uint64_t run);
/* Puts the chosen runs away that are found: nothing is done to others, which are not in sight. */
void runs_delete_chosen(Runs *runs);
/* How many the next undo brings back: those that went together last. */
uint32_t runs_undo_count(const Runs *runs);
void runs_undo(Runs *runs);
uint64_t runs_chosen_hash(const Runs *runs);

/* The pages. */
void runs_draw_list(Runs *runs);
void runs_draw_charts(Runs *runs);
void runs_put_sections(FILE *file, const Runs *runs); /* of the state */
void runs_draw_parameters(Runs *runs);
void runs_draw_histograms(Runs *runs);
void runs_draw_images(Runs *runs);
void runs_draw_texts(Runs *runs);
void runs_draw_about(Runs *runs);
void runs_draw_artifacts(Runs *runs);

/* media_page.c: what the pages of one run's histograms, images and texts begin with. */
/* The run, and its tags of that kind to choose from. What has come of the chosen one; NULL: nothing
 * yet, or there is none, which `none` says. */
const RunsMedia *runs_media_head(Runs *runs, MetricsKind kind, RunsAction tag, const char *none);
/* Goes through `count` things, whose seqs lie `stride_bytes` apart; the place of the one that is
 * shown. */
int64_t runs_media_slider(Runs *runs, RunsAction back, RunsAction on, const int64_t *seqs,
                          size_t stride_bytes, uint32_t count);

/* export_page.c */
void runs_draw_export(Runs *runs);
void runs_export_settle(Runs *runs);

/* first_page.c */
void runs_draw_empty(Runs *runs);
void runs_draw_import_button(Runs *runs);
void runs_import_settle(Runs *runs);

/* artifacts_page.c */
void runs_artifacts_destroy(RunsArtifacts **page);
void runs_artifacts_settle(Runs *runs);
void runs_artifacts_put_state(FILE *file, const Runs *runs);

/* data_page.c: the list stands where the runs stand on other pages. */
void runs_draw_tables(Runs *runs);
void runs_draw_data(Runs *runs);
void runs_data_destroy(RunsData **data);
void runs_data_settle(Runs *runs);
void runs_data_put_state(FILE *file, const Runs *runs);

/* A chart of the snapshot; NULL: it has not come yet. */
const RunsChart *runs_chart(const Runs *runs, const char *tag);
const RunsTag *runs_tag_at(const Runs *runs, MetricsKind kind, uint32_t place);

#endif
