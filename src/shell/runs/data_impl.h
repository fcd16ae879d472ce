/* shell/runs/data_impl.h: what the files of the Data page share: data_page.c asks, data_result.c
 * draws what came. Frame thread. */
#ifndef CALIPER_SHELL_RUNS_DATA_IMPL_H
#define CALIPER_SHELL_RUNS_DATA_IMPL_H

#include "shell/runs/data_reader.h"
#include "shell/runs/runs_impl.h"

enum { DATA_SQL_BYTES = 16384, DATA_COLUMNS_MAX = 64 };

struct RunsData {
    DataReader *reader;
    const DataView *view; /* the newest; NULL: none yet */
    char sql[DATA_SQL_BYTES];
    bool logged;    /* the statement is for what runs logged */
    int32_t chosen; /* in the list; -1: none */
    char chosen_name[RUNS_TEXT_BYTES];
    DataSection chosen_section;
    bool chosen_moved; /* by key: bring it into sight */

    DataQuestion wanted;     /* without its text */
    char *asked_sql;         /* the text of wanted.serial */
    bool changed;            /* wanted is another than what was asked */
    uint64_t cancel_to;      /* serials up to it are to end */
    uint64_t waited_for;     /* scripted input gave up waiting for this one */
    uint64_t columns_are_of; /* serial for which columns of the plot were chosen */
    bool shows_plot, points, points_chosen;
    uint32_t table_number;      /* another id for the table when keys changed its order */
    int64_t first_row, end_row; /* of the table, in sight */
    TextBuffer cell;
};

/* data_page.c */
void data_want(RunsData *data);
/* data_result.c */
void data_draw_result(Runs *runs, RunsData *data);
void data_put_result(FILE *file, const RunsData *data);

#endif
