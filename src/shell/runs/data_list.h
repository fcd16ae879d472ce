/* shell/runs/data_list.h: which datasets and tables there are. For data_reader.c; its thread. */
#ifndef CALIPER_SHELL_RUNS_DATA_LIST_H
#define CALIPER_SHELL_RUNS_DATA_LIST_H

#include "shell/runs/data_reader.h"
#include "store/database/database.h"

/* NULL without memory. `has_data`: data.duckdb is there; it is not made by looking. */
DataList *data_list_read(MetricsStore *store, bool has_data);
void data_list_drop(DataList **list);

#endif
