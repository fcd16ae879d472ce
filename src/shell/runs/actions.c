/* What a person can do here, by key and by pointer. Frame thread. */
#include <stdio.h>
#include <string.h>

#include "shell/runs/runs_impl.h"

#define EVERYWHERE RUNS_ACTION_COUNT

const RunsActionInfo runs_actions[RUNS_ACTION_COUNT] = {
    [RUNS_ACTION_SEARCH] = {"search", '/', "/", "search the runs", EVERYWHERE},
    [RUNS_ACTION_TAGS] = {"tags", 'T', "t", "show only some tags", RUNS_ACTION_SCALARS},
    [RUNS_ACTION_CURSOR] = {"cursor", CALIPER_KEY_DOWN, "down", "go to the next run", EVERYWHERE},
    [RUNS_ACTION_CURSOR_UP] = {"cursor-up", CALIPER_KEY_UP, "up", "go to the run before",
                               EVERYWHERE},
    [RUNS_ACTION_CHOOSE] = {"choose", 'C', "c", "choose this run, or not", EVERYWHERE},
    [RUNS_ACTION_ONLY] = {"only", 'S', "s", "choose this run alone", EVERYWHERE},
    [RUNS_ACTION_ALL] = {"all", 'A', "a", "choose all that are found", EVERYWHERE},
    [RUNS_ACTION_NONE] = {"none", 'N', "n", "choose none", EVERYWHERE},
    [RUNS_ACTION_AXIS] = {"axis", 'X', "x", "the next x axis", RUNS_ACTION_SCALARS},
    [RUNS_ACTION_SMOOTHING] = {"smoothing", ']', "]", "smooth more", RUNS_ACTION_SCALARS},
    [RUNS_ACTION_SMOOTHING_LESS] = {"smoothing-less", '[', "[", "smooth less", RUNS_ACTION_SCALARS},
    [RUNS_ACTION_LOG_X] = {"log-x", 'K', "k", "x on a logarithmic axis", RUNS_ACTION_SCALARS},
    [RUNS_ACTION_LOG_Y] = {"log-y", 'L', "l", "y on a logarithmic axis", RUNS_ACTION_SCALARS},
    [RUNS_ACTION_OUTLIERS] = {"outliers", 'O', "o", "leave outliers out of sight",
                              RUNS_ACTION_SCALARS},
    [RUNS_ACTION_BANDS] = {"bands", 'B', "b", "bands from the least to the greatest",
                           RUNS_ACTION_SCALARS},
    [RUNS_ACTION_FIT] = {"fit", 'R', "r", "show all of each curve", RUNS_ACTION_SCALARS},
    [RUNS_ACTION_SECTION] = {"section", 'G', "g", "fold or open the section at the top",
                             RUNS_ACTION_SCALARS},
    [RUNS_ACTION_SECTIONS] = {"sections", 'H', "h", "fold or open all sections",
                              RUNS_ACTION_SCALARS},
    [RUNS_ACTION_SCALARS] = {"scalars", '1', "1", "curves", EVERYWHERE},
    [RUNS_ACTION_PARAMETERS] = {"parameters", '2', "2", "hyper-parameters side by side",
                                EVERYWHERE},
    [RUNS_ACTION_HISTOGRAMS] = {"histograms", '3', "3", "histograms over steps", EVERYWHERE},
    [RUNS_ACTION_IMAGES] = {"images", '4', "4", "images over steps", EVERYWHERE},
    [RUNS_ACTION_TEXTS] = {"texts", '5', "5", "texts over steps", EVERYWHERE},
    [RUNS_ACTION_ABOUT] = {"about", '6', "6", "about this run", EVERYWHERE},
    [RUNS_ACTION_ARTIFACTS] = {"artifacts", '7', "7", "what this run has put", EVERYWHERE},
    [RUNS_ACTION_DATA] = {"data", '8', "8", "tables, datasets, SQL", EVERYWHERE},
    [RUNS_ACTION_HISTOGRAM_TAG] = {"histogram-tag", 'T', "t", "the next tag",
                                   RUNS_ACTION_HISTOGRAMS},
    [RUNS_ACTION_IMAGE_TAG] = {"image-tag", 'T', "t", "the next tag", RUNS_ACTION_IMAGES},
    [RUNS_ACTION_IMAGE_BACK] = {"image-back", ',', ",", "the image before", RUNS_ACTION_IMAGES},
    [RUNS_ACTION_IMAGE_ON] = {"image-on", '.', ".", "the next image", RUNS_ACTION_IMAGES},
    [RUNS_ACTION_TEXT_TAG] = {"text-tag", 'T', "t", "the next tag", RUNS_ACTION_TEXTS},
    [RUNS_ACTION_TEXT_BACK] = {"text-back", ',', ",", "the text before", RUNS_ACTION_TEXTS},
    [RUNS_ACTION_TEXT_ON] = {"text-on", '.', ".", "the next text", RUNS_ACTION_TEXTS},
    [RUNS_ACTION_NOTE] = {"note", 'E', "e", "write a note", RUNS_ACTION_ABOUT},
    [RUNS_ACTION_ARTIFACT_BACK] = {"artifact-back", ',', ",", "the artifact before",
                                   RUNS_ACTION_ARTIFACTS},
    [RUNS_ACTION_ARTIFACT_ON] = {"artifact-on", '.', ".", "the next artifact",
                                 RUNS_ACTION_ARTIFACTS},
    [RUNS_ACTION_ARTIFACTS_ALL] = {"artifacts-all", 'W', "w", "the artifacts of all runs",
                                   RUNS_ACTION_ARTIFACTS},
    [RUNS_ACTION_VERIFY] = {"verify", 'V', "v", "read this one and compare its hash",
                            RUNS_ACTION_ARTIFACTS},
    [RUNS_ACTION_VERIFY_ALL] = {"verify-all", CALIPER_MOD_SHIFT | 'V', "shift+v",
                                "read all that are listed and compare their hashes",
                                RUNS_ACTION_ARTIFACTS},
    [RUNS_ACTION_SHOW_FOLDER] = {"show-in-folder", 'F', "f", "open the folder where it lies",
                                 RUNS_ACTION_ARTIFACTS},
    [RUNS_ACTION_ARTIFACT_RUN] = {"artifact-run", 'G', "g", "go to the run that put it",
                                  RUNS_ACTION_ARTIFACTS},
    [RUNS_ACTION_TABLE_BACK] = {"table-back", ',', ",", "show the table before", RUNS_ACTION_DATA},
    [RUNS_ACTION_TABLE_ON] = {"table-on", '.', ".", "show the next table", RUNS_ACTION_DATA},
    [RUNS_ACTION_REFRESH] = {"refresh", 'R', "r", "list the tables again", RUNS_ACTION_DATA},
    [RUNS_ACTION_SQL] = {"sql", 'Q', "q", "write a statement", RUNS_ACTION_DATA},
    [RUNS_ACTION_SQL_RUN] = {"sql-run", CALIPER_MOD_CTRL | CALIPER_KEY_ENTER, "ctrl+enter",
                             "run the statement", RUNS_ACTION_DATA},
    [RUNS_ACTION_SQL_CANCEL] = {"sql-cancel", CALIPER_MOD_CTRL | '.', "ctrl+.",
                                "end the statement that runs", RUNS_ACTION_DATA},
    [RUNS_ACTION_SQL_SOURCE] = {"sql-source", 'D', "d", "data, or what runs logged",
                                RUNS_ACTION_DATA},
    [RUNS_ACTION_RESULT_PLOT] = {"result-plot", 'V', "v", "as a table, or as curves",
                                 RUNS_ACTION_DATA},
    [RUNS_ACTION_SORT] = {"sort", 'O', "o", "sort by the next column", RUNS_ACTION_DATA},
    [RUNS_ACTION_SORT_DOWN] = {"sort-down", 'I', "i", "the greatest first", RUNS_ACTION_DATA},
    [RUNS_ACTION_PLOT_X] = {"plot-x", 'X', "x", "the next column across", RUNS_ACTION_DATA},
    [RUNS_ACTION_PLOT_Y] = {"plot-y", 'Y', "y", "the next column upwards", RUNS_ACTION_DATA},
    [RUNS_ACTION_PLOT_POINTS] = {"plot-points", 'P', "p", "points, or a line", RUNS_ACTION_DATA},
    [RUNS_ACTION_EXPORT] = {"export", 'P', "p", "write the chosen runs to a file", EVERYWHERE},
    [RUNS_ACTION_IMPORT] = {"import", 'M', "m", "take over TensorBoard's runs", EVERYWHERE},
    [RUNS_ACTION_DELETE] = {"delete", CALIPER_KEY_DELETE, "delete", "put the chosen runs away",
                            EVERYWHERE},
    [RUNS_ACTION_UNDO] = {"undo", CALIPER_MOD_MAIN | 'Z', "ctrl+z", "bring them back", EVERYWHERE},
};

bool runs_key(Runs *runs, RunsAction action)
{
    const RunsActionInfo *info = &runs_actions[action];
    bool is_page = action >= RUNS_ACTION_SCALARS && action <= RUNS_ACTION_LAST_PAGE;
    bool typing = action == RUNS_ACTION_SQL_RUN || action == RUNS_ACTION_SQL_CANCEL;
    if ((info->page != EVERYWHERE && info->page != runs->page) ||
        /* Nothing is done to runs that are not in sight. */
        (info->page == EVERYWHERE && runs->page == RUNS_ACTION_DATA && !is_page) ||
        !widgets_table()->shortcut(info->chord, typing ? CALIPER_SHORTCUT_WHILE_TYPING
                                                       : CALIPER_SHORTCUT_REPEAT))
        return false;
    runs->seen[action].by_key++;
    return true;
}

void runs_pointed(Runs *runs, RunsAction action)
{
    runs->seen[action].by_pointer++;
}

void runs_seen(Runs *runs, RunsAction action)
{
    RunsActionSeen *seen = &runs->seen[action];
    uint32_t count = 0;
    const UiItem *items = ui_items(runs->ui, &count);
    if (!runs->listens || count == 0)
        return;
    const UiItem *last = &items[count - 1];
    seen->x = last->x;
    seen->y = last->y;
    seen->w = last->in_sight ? last->w : 0.0f;
    seen->h = last->h;
}

static void tell(const RunsActionInfo *info)
{
    char tip[160];
    snprintf(tip, sizeof tip, "%c%s  (%s)", info->words[0] - ('a' - 'A'), info->words + 1,
             info->key);
    widgets_table()->tooltip(tip);
}

bool runs_button(Runs *runs, RunsAction action, const char *label, bool on)
{
    bool pressed = widgets_table()->button(label, 0, 0, on ? CALIPER_BUTTON_PRIMARY : 0);
    runs_seen(runs, action);
    tell(&runs_actions[action]);
    if (pressed)
        runs_pointed(runs, action);
    return pressed;
}

bool runs_box(Runs *runs, RunsAction action, const char *label, bool *value)
{
    bool changed = widgets_table()->checkbox(label, value);
    runs_seen(runs, action);
    tell(&runs_actions[action]);
    if (changed)
        runs_pointed(runs, action);
    return changed;
}

static void take_view_keys(Runs *runs)
{
    static const double notch = 0.1;
    if (runs_key(runs, RUNS_ACTION_AXIS))
        runs->axis = (runs->axis + 1) % 4;
    if (runs_key(runs, RUNS_ACTION_SMOOTHING))
        runs->smoothing = runs->smoothing + notch > 0.95 ? 0.99 : runs->smoothing + notch;
    if (runs_key(runs, RUNS_ACTION_SMOOTHING_LESS))
        runs->smoothing = runs->smoothing > 0.95           ? 0.9
                          : runs->smoothing > notch + 1e-9 ? runs->smoothing - notch
                                                           : 0.0;
    runs->log_x ^= runs_key(runs, RUNS_ACTION_LOG_X);
    runs->log_y ^= runs_key(runs, RUNS_ACTION_LOG_Y);
    runs->no_outliers ^= runs_key(runs, RUNS_ACTION_OUTLIERS);
    runs->bands ^= runs_key(runs, RUNS_ACTION_BANDS);
    runs->fit |= runs_key(runs, RUNS_ACTION_FIT);
}

void runs_take_keys(Runs *runs)
{
    runs->focus = RUNS_ACTION_COUNT;
    for (int page = RUNS_ACTION_SCALARS; page <= RUNS_ACTION_LAST_PAGE; page++) {
        if (runs_key(runs, (RunsAction)page)) {
            runs->page = (RunsAction)page;
            runs->turn_page = true;
        }
    }
    if (runs_key(runs, RUNS_ACTION_SEARCH))
        runs->focus = RUNS_ACTION_SEARCH;
    if (runs_key(runs, RUNS_ACTION_TAGS))
        runs->focus = RUNS_ACTION_TAGS;
    if (runs_key(runs, RUNS_ACTION_NOTE))
        runs->focus = RUNS_ACTION_NOTE;
    if (runs_key(runs, RUNS_ACTION_CURSOR))
        runs_move_cursor(runs, 1);
    if (runs_key(runs, RUNS_ACTION_CURSOR_UP))
        runs_move_cursor(runs, -1);
    if (runs_key(runs, RUNS_ACTION_CHOOSE) && runs->cursor != 0)
        runs_choose(runs, runs->cursor, !runs_is_chosen(runs, runs->cursor));
    if (runs_key(runs, RUNS_ACTION_ONLY) && runs->cursor != 0)
        runs_choose_only(runs, runs->cursor);
    if (runs_key(runs, RUNS_ACTION_ALL))
        runs_choose_rows(runs, true);
    if (runs_key(runs, RUNS_ACTION_NONE))
        runs_choose_rows(runs, false);
    if (runs_key(runs, RUNS_ACTION_DELETE))
        runs_delete_chosen(runs);
    if (runs_key(runs, RUNS_ACTION_UNDO))
        runs_undo(runs);
    take_view_keys(runs);
}
