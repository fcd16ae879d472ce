/* The worker of the Data page; see data_reader.h. But for the functions at the end, all of this is
 * the worker's thread. */
#include "shell/runs/data_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/paths.h"
#include "services/data_service.h"
#include "shell/runs/data_list.h"

struct DataReader {
    MetricsStore *store;
    char *data_path; /* <data root>/data.duckdb */
    RunsWorker *worker;
    DatabaseStop *stop;
    atomic_ullong running, cancelled; /* serials; running 0: nothing runs */
    atomic_bool stopping;             /* the batch loop is to end */

    uint64_t listed;
    DataView now; /* its parts are held */
};

void data_question_free(void *given)
{
    DataQuestion *question = given;
    if (question != NULL)
        free(question->sql);
    free(question);
}

static void order_drop(DataOrder **address)
{
    DataOrder *order = *address;
    *address = NULL;
    if (order == NULL || atomic_fetch_sub(&order->references, 1) != 1)
        return;
    free(order->rows);
    free(order);
}

static void plot_drop(DataPlot **address)
{
    DataPlot *plot = *address;
    *address = NULL;
    if (plot == NULL || atomic_fetch_sub(&plot->references, 1) != 1)
        return;
    free(plot->values);
    free(plot);
}

static void view_clear(DataView *view)
{
    data_list_drop(&view->list);
    result_drop(&view->result);
    order_drop(&view->order);
    plot_drop(&view->plot);
}

static void drop_view(void *given)
{
    DataView *view = given;
    view_clear(view);
    free(view);
}

static DataView *view_copy(const DataView *from)
{
    DataView *view = malloc(sizeof *view);
    if (view == NULL)
        return NULL;
    *view = *from;
    if (view->list != NULL)
        atomic_fetch_add(&view->list->references, 1);
    if (view->result != NULL)
        (void)result_hold(view->result);
    if (view->order != NULL)
        atomic_fetch_add(&view->order->references, 1);
    if (view->plot != NULL)
        atomic_fetch_add(&view->plot->references, 1);
    return view;
}

/* ---- Running ---- */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* One line, without the excerpt of the statement that DuckDB puts below. */
static void one_line(char *text)
{
    char *excerpt = strstr(text, "\n\nLINE ");
    if (excerpt != NULL)
        *excerpt = '\0';
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20)
            *text = ' ';
    }
}

static bool start(DataReader *reader, const DataQuestion *question, struct ArrowArrayStream *stream,
                  char *why, size_t why_bytes)
{
    const CaliperDataV1 *data = data_service_table();
    bool started = question->logged ? metrics_store_query(reader->store, question->sql, stream)
                                    : data->query(question->sql, stream);
    if (!started)
        snprintf(why, why_bytes, "%s",
                 question->logged ? metrics_store_last_error() : data->last_error());
    return started;
}

static void set_words(DataView *view)
{
    const Result *result = view->result;
    if (result->column_count == 0)
        snprintf(view->words, sizeof view->words, "Done");
    else
        snprintf(view->words, sizeof view->words, "%s%lld row%s, %d column%s",
                 result->more ? "the first " : "", (long long)result->row_count,
                 result->row_count == 1 ? "" : "s", result->column_count,
                 result->column_count == 1 ? "" : "s");
}

static void run(DataReader *reader, const DataQuestion *question)
{
    struct ArrowArrayStream stream;
    DataView *view = &reader->now;
    double started_ms = now_ms();
    result_drop(&view->result);
    order_drop(&view->order);
    plot_drop(&view->plot);
    view->serial = question->serial;
    view->words[0] = '\0';
    atomic_store(&reader->stopping, false);
    database_stop_watch(reader->stop);
    atomic_store(&reader->running, question->serial);
    if (atomic_load(&reader->cancelled) >= question->serial)
        atomic_store(&reader->stopping, true);
    else if (start(reader, question, &stream, view->words, sizeof view->words))
        view->result = result_read(&stream, &reader->stopping, view->words, sizeof view->words);
    atomic_store(&reader->running, 0);
    database_stop_watch(NULL);
    view->ms = now_ms() - started_ms;
    view->failed = view->result == NULL;
    view->cancelled = view->failed && atomic_load(&reader->cancelled) >= question->serial;
    if (view->cancelled)
        snprintf(view->words, sizeof view->words, "Cancelled");
    else if (!view->failed)
        set_words(view);
    one_line(view->words);
    if (!question->logged && !view->failed)
        reader->listed = 0; /* it may have made a table */
}

/* ---- Order and curves ---- */

static void sort(DataView *view, const DataQuestion *question)
{
    DataOrder *order = view->order;
    int32_t column = question->sort < view->result->column_count ? question->sort : -1;
    if (order != NULL && order->sort == column && order->descending == question->descending)
        return;
    order_drop(&view->order);
    if (column < 0 && !question->descending)
        return;
    order = calloc(1, sizeof *order);
    if (order != NULL) {
        atomic_init(&order->references, 1);
        order->serial = view->serial;
        order->sort = column;
        order->descending = question->descending;
        order->rows = result_order(view->result, column, question->descending);
    }
    if (order == NULL || order->rows == NULL) {
        log_item(OUT_OF_MEMORY, "data_reader", (unsigned long long)view->result->row_count);
        order_drop(&order);
    }
    view->order = order;
}

static void fill_plot(DataPlot *plot, const Result *result)
{
    double *x = plot->values;
    plot->rising = true;
    for (int64_t i = 0; i < plot->count; i++) {
        x[i] = plot->x < 0 ? (double)(i + 1) : result_number(result, plot->x, i);
        plot->rising &= i == 0 || x[i] >= x[i - 1];
    }
    for (uint32_t k = 0; k < plot->y_count; k++) {
        double *y = plot->values + plot->count * (int64_t)(k + 1);
        for (int64_t i = 0; i < plot->count; i++)
            y[i] = result_number(result, plot->y[k], i);
    }
}

static bool plot_is(const DataPlot *plot, const DataQuestion *question)
{
    return plot != NULL && plot->x == question->x && plot->y_count == question->y_count &&
           memcmp(plot->y, question->y, question->y_count * sizeof plot->y[0]) == 0;
}

static void make_plot(DataView *view, const DataQuestion *question)
{
    static uint32_t revision; /* worker's thread; another one for each plot */
    const Result *result = view->result;
    if (!question->wants_plot || plot_is(view->plot, question))
        return;
    plot_drop(&view->plot);
    if (question->y_count == 0 || question->x >= result->column_count)
        return;
    for (uint32_t i = 0; i < question->y_count; i++) {
        if (question->y[i] >= result->column_count)
            return;
    }
    DataPlot *plot = calloc(1, sizeof *plot);
    if (plot == NULL)
        return;
    atomic_init(&plot->references, 1);
    plot->serial = view->serial;
    plot->x = question->x;
    plot->y_count = question->y_count;
    memcpy(plot->y, question->y, sizeof plot->y);
    plot->count = result->row_count;
    plot->time = plot->x >= 0 && result->columns[plot->x].kind == RESULT_KIND_TIME;
    plot->revision = ++revision;
    plot->values = malloc(((size_t)plot->count * (plot->y_count + 1) + 1) * sizeof *plot->values);
    if (plot->values == NULL) {
        log_item(OUT_OF_MEMORY, "data_reader", (unsigned long long)plot->count);
        plot_drop(&plot);
        return;
    }
    fill_plot(plot, result);
    view->plot = plot;
}

static void list(DataReader *reader, uint64_t number)
{
    DataList *read = data_list_read(reader->store, access(reader->data_path, F_OK) == 0);
    reader->listed = number;
    if (read == NULL)
        return;
    read->number = number;
    data_list_drop(&reader->now.list);
    reader->now.list = read;
}

static void *answer(void *user, void *given)
{
    DataReader *reader = user;
    DataQuestion *question = given;
    DataView *view = &reader->now;
    if (question->serial != view->serial && question->serial != 0)
        run(reader, question);
    if (question->list != reader->listed)
        list(reader, question->list);
    if (view->result != NULL) {
        sort(view, question);
        make_plot(view, question);
    }
    data_question_free(question);
    return view_copy(view);
}

/* ---- The frame thread ---- */

DataReader *data_reader_create(MetricsStore *store, const char *data_root)
{
    DataReader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        goto no_memory;
    reader->store = store;
    reader->data_path = paths_join(data_root, "data.duckdb");
    reader->stop = database_stop_create();
    if (reader->data_path == NULL || reader->stop == NULL)
        goto no_memory;
    reader->worker = runs_worker_create(&(RunsWork){.user = reader,
                                                    .answer = answer,
                                                    .drop_question = data_question_free,
                                                    .drop_answer = drop_view});
    if (reader->worker == NULL)
        data_reader_destroy(&reader);
    return reader;
no_memory:
    log_item(OUT_OF_MEMORY, "data_reader_create", (unsigned long long)sizeof *reader);
    data_reader_destroy(&reader);
    return NULL;
}

void data_reader_destroy(DataReader **address)
{
    DataReader *reader = *address;
    *address = NULL;
    if (reader == NULL)
        return;
    while (reader->worker != NULL && runs_worker_is_busy(reader->worker)) {
        data_reader_cancel(reader, UINT64_MAX);
        (void)runs_worker_settle(reader->worker, 10);
    }
    runs_worker_destroy(&reader->worker);
    view_clear(&reader->now);
    database_stop_destroy(&reader->stop);
    free(reader->data_path);
    free(reader);
}

RunsWorker *data_reader_worker(DataReader *reader)
{
    return reader->worker;
}

void data_reader_cancel(DataReader *reader, uint64_t serial)
{
    unsigned long long running = atomic_load(&reader->running);
    if (atomic_load(&reader->cancelled) < serial)
        atomic_store(&reader->cancelled, serial);
    if (running == 0 || running > serial)
        return;
    atomic_store(&reader->stopping, true);
    database_stop_ask(reader->stop);
}

bool data_reader_runs(const DataReader *reader)
{
    return atomic_load(&reader->running) != 0;
}
