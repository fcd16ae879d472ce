/* shell/runs/data_reader.h: what the Data page shows: tables and datasets, an answer to SQL in an
 * order, columns of it as curves.
 *
 * One worker (worker.h) asks caliper.data.v1 and the metrics store; the frame thread says what it
 * wants, as a whole, each time that something changes. Parts of an answer are counted: the next one
 * shares what is the same. */
#ifndef CALIPER_SHELL_RUNS_DATA_READER_H
#define CALIPER_SHELL_RUNS_DATA_READER_H

#include "shell/runs/result.h"
#include "shell/runs/worker.h"
#include "store/metrics/metrics_store.h"

enum { DATA_CURVES_MAX = 8, DATA_WORDS_BYTES = 512 };

typedef struct DataQuestion {
    uint64_t list;   /* another number: the tables are listed anew */
    uint64_t serial; /* another number: the statement is run; 0: none yet */
    char *sql;       /* the question's */
    bool logged;     /* it is for what runs logged, else for caliper.data.v1 */
    int32_t sort;    /* a column; -1: as the rows came, or backwards */
    bool descending;
    bool wants_plot;
    int32_t x; /* a column; -1: the row's number */
    int32_t y[DATA_CURVES_MAX];
    uint32_t y_count;
} DataQuestion;

typedef enum DataSection {
    DATA_SECTION_DATASET = 0, /* caliper.data.v1 */
    DATA_SECTION_TABLE = 1,   /* the same's tables and views */
    DATA_SECTION_LOGGED = 2   /* the metrics store's */
} DataSection;

typedef struct DataItem {
    DataSection section;
    char *name, *detail, *sql; /* for people; the SELECT that shows it */
} DataItem;

typedef struct DataList {
    atomic_uint references;
    uint64_t number;
    DataItem *items;
    uint32_t count;
    char data_error[DATA_WORDS_BYTES], logged_error[DATA_WORDS_BYTES]; /* "": none */
} DataList;

typedef struct DataOrder {
    atomic_uint references;
    uint64_t serial;
    int32_t sort;
    bool descending;
    uint32_t *rows;
} DataOrder;

typedef struct DataPlot { /* columns in the order in which the rows came */
    atomic_uint references;
    uint64_t serial;
    int32_t x, y[DATA_CURVES_MAX];
    uint32_t y_count;
    int64_t count;
    bool rising; /* x never goes back */
    bool time;   /* x is one */
    uint32_t revision;
    double *values; /* count of x, then count of each y; NaN where there is no number */
} DataPlot;

typedef struct DataView {
    uint64_t serial; /* of the statement that was run last */
    DataList *list;
    Result *result; /* NULL: none */
    DataOrder *order;
    DataPlot *plot;
    bool failed, cancelled;
    char words[DATA_WORDS_BYTES]; /* what came of the statement */
    double ms;
} DataView;

typedef struct DataReader DataReader;

/* `data_root` is copied; the store outlives it. NULL after one line. */
DataReader *data_reader_create(MetricsStore *store, const char *data_root);
/* A statement that runs is cancelled. */
void data_reader_destroy(DataReader **reader);
RunsWorker *data_reader_worker(DataReader *reader);
void data_question_free(void *question);

/* The statement `serial` and those before it are to end. Asked each frame until they did. */
void data_reader_cancel(DataReader *reader, uint64_t serial);
/* Rows read so far of a statement that runs are not told: whether one runs. */
bool data_reader_runs(const DataReader *reader);

#endif
