/* See reader.h. What belongs to which thread: `current` to the frame thread; catalog, charts and
 * media to the reader's; everything that both touch is atomic. */
#include "shell/runs/reader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fault.h"
#include "core/log.h"
#include "core/mutex_wait.h"
#include "shell/runs/charts.h"

enum {
    CHARTS_KEPT = 2 * RUNS_CHARTS_MAX, /* also those that were scrolled out of sight */
    POLL_MS = 10,                      /* two atomics and a short lock */
    RUNS_EVERY_MS = 250,               /* what is told of runs and tags, when only rows are new */
    ELSEWHERE_EVERY_MS = 1000,         /* another process's copy is looked at */
    AGAIN_AFTER_MS = 3000              /* when not even the runs could be read */
};

struct RunsReader {
    MetricsStore *store;
    MetricsReader *reader;
    pthread_t thread, creator;
    pthread_mutex_t wake_lock; /* held for the two below alone */
    pthread_cond_t wake;
    bool woken;
    bool has_wake; /* lock and condition are made */
    atomic_bool stop;

    _Atomic(RunsRequest *) wanted;   /* left by the frame thread */
    _Atomic(RunsCommand *) commands; /* the newest first */
    _Atomic(RunsSnapshot *) ready;   /* left by the reader */
    _Atomic(RunsSnapshot *) retired; /* to be freed by the reader */
    RunsSnapshot *current;

    RunsRequest *request;
    RunsCatalog *catalog;
    RunsMedia *media;
    WorkChart *charts; /* CHARTS_KEPT */
    uint64_t round_number;
    uint64_t seen_commits;
    int64_t seen_copy_us;
    MetricsTags news; /* of this round */
    int64_t news_seq; /* they tell of all rows up to it */
    uint64_t *late;
    uint32_t late_capacity;
    uint64_t runs_ns, elsewhere_ns; /* when each was read last; 0: never */
    bool catalog_due, media_due;
    atomic_bool hurry; /* somebody waits for all of it */
    char error[RUNS_ERROR_BYTES];

    atomic_ullong commands_left, commands_done, queries, frame_queries, snapshots, rounds;
    atomic_ullong answered;         /* serial */
    atomic_ullong answered_commits; /* of the store, when the last round began */
    atomic_bool complete;           /* the last round left nothing to be read */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_due(uint64_t last_ns, uint64_t now, uint64_t period_ns)
{
    return last_ns == 0 || now - last_ns >= period_ns;
}

void runs_request_free(RunsRequest *request)
{
    if (request == NULL)
        return;
    for (uint32_t i = 0; i < request->chart_count; i++)
        free(request->charts[i].tag);
    free(request->media_tag);
    free(request->runs);
    free(request);
}

/* ---- The reader's thread ---- */

static void count_queries(RunsReader *reader, uint64_t count)
{
    atomic_fetch_add(&reader->queries, count);
    if (pthread_equal(pthread_self(), reader->creator))
        atomic_fetch_add(&reader->frame_queries, count);
}

static void note_error(RunsReader *reader)
{
    const char *words = metrics_reader_error(reader->reader);
    size_t length = strlen(words[0] != '\0' ? words : "no memory");
    if (length >= sizeof reader->error)
        length = sizeof reader->error - 1;
    memcpy(reader->error, words[0] != '\0' ? words : "no memory", length);
    reader->error[length] = '\0';
}

/* True: there were some. */
static bool do_commands(RunsReader *reader)
{
    RunsCommand *newest = atomic_exchange(&reader->commands, NULL);
    RunsCommand *first = NULL;
    uint64_t done = 0;
    while (newest != NULL) { /* in the order in which they were given */
        RunsCommand *next = newest->next;
        newest->next = first;
        first = newest;
        newest = next;
    }
    while (first != NULL) {
        RunsCommand *next = first->next;
        if (first->sets_note)
            metrics_store_set_note(reader->store, first->run, first->note);
        else
            metrics_store_set_deleted(reader->store, first->run, first->deleted);
        free(first);
        first = next;
        done++;
        reader->catalog_due = true;
    }
    atomic_fetch_add(&reader->commands_done, done);
    return done > 0;
}

static void free_retired(RunsReader *reader)
{
    RunsSnapshot *snapshot = atomic_exchange(&reader->retired, NULL);
    while (snapshot != NULL) {
        RunsSnapshot *next = snapshot->next;
        runs_snapshot_free(snapshot);
        snapshot = next;
    }
}

/* What is newer than the last news, and nothing else. False: it has to be the whole catalog. */
static bool read_news_only(RunsReader *reader)
{
    const RunsCatalog *catalog = reader->catalog;
    count_queries(reader, 1);
    if (!metrics_read_news(reader->reader, reader->news_seq, &reader->news))
        return false;
    for (uint32_t i = 0; i < reader->news.count; i++) {
        const MetricsTag *item = &reader->news.items[i];
        if (runs_catalog_find(catalog, item->run) < 0)
            return false;
        if (item->newest_seq > reader->news_seq)
            reader->news_seq = item->newest_seq;
    }
    return true;
}

/* The runs, and their tags, which `news` are added to. */
static void read_catalog(RunsReader *reader)
{
    RunsCatalog *before = reader->catalog;
    metrics_tags_free(&reader->news);
    reader->catalog_due = false; /* the next commit tries again */
    reader->runs_ns = now_ns();
    count_queries(reader, 2);
    bool ok =
        before == NULL || metrics_read_news(reader->reader, before->newest_seq, &reader->news);
    RunsCatalog *read = ok ? runs_catalog_read(reader->reader, before, &reader->news) : NULL;
    if (read == NULL) {
        metrics_tags_free(&reader->news);
        note_error(reader);
        return;
    }
    runs_catalog_drop(&reader->catalog);
    reader->catalog = read;
    reader->news_seq = read->newest_seq;
}

/* The runs and the tags; news are what there is more than before: since the last catalog when it is
 * read, else since the last news. A run that writes is not waited for: charts follow every commit,
 * what is told of runs and tags four times a second. True: another catalog. */
static bool update_catalog(RunsReader *reader, bool newer, bool now_at_once)
{
    uint64_t now = now_ns();
    metrics_tags_free(&reader->news);
    reader->catalog_due |= newer;
    if (reader->catalog == NULL && !is_due(reader->runs_ns, now, AGAIN_AFTER_MS * 1000000ull))
        return false;
    if (!reader->catalog_due && reader->catalog != NULL)
        return false;
    bool later = reader->catalog != NULL && !now_at_once &&
                 !is_due(reader->runs_ns, now, RUNS_EVERY_MS * 1000000ull);
    if (later && (!newer || read_news_only(reader)))
        return false;
    read_catalog(reader);
    return true;
}

static WorkChart *chart_of(RunsReader *reader, const RunsChartRequest *wanted, MetricsAxis axis)
{
    WorkChart *oldest = &reader->charts[0];
    for (uint32_t i = 0; i < CHARTS_KEPT; i++) {
        WorkChart *chart = &reader->charts[i];
        if (chart->tag != NULL && chart->axis == axis && strcmp(chart->tag, wanted->tag) == 0)
            return chart;
        if (chart->used < oldest->used)
            oldest = chart;
    }
    charts_clear(oldest);
    return oldest;
}

/* The chosen runs that have newer rows under a tag, into reader->late. Both lists are sorted. */
static uint32_t find_late(RunsReader *reader, const char *tag)
{
    const RunsRequest *request = reader->request;
    uint32_t count = 0;
    for (uint32_t i = 0, k = 0; i < reader->news.count; i++) {
        const MetricsTag *item = &reader->news.items[i];
        if (item->kind != METRICS_KIND_SCALAR || strcmp(item->tag, tag) != 0)
            continue;
        while (k < request->run_count && request->runs[k] < item->run)
            k++;
        if (k < request->run_count && request->runs[k] == item->run)
            reader->late[count++] = item->run;
    }
    return count;
}

static bool has_room_for_late(RunsReader *reader)
{
    uint32_t wanted = reader->request->run_count;
    if (wanted <= reader->late_capacity)
        return true;
    uint64_t *late = realloc(reader->late, wanted * sizeof *late);
    if (late == NULL)
        return false;
    reader->late = late;
    reader->late_capacity = wanted;
    return true;
}

/* True: some chart is another one than before. */
static bool update_charts(RunsReader *reader)
{
    const RunsRequest *request = reader->request;
    bool changed = false;
    if (request == NULL || !has_room_for_late(reader))
        return false;
    for (uint32_t i = 0; i < request->chart_count; i++) {
        const RunsChartRequest *given = &request->charts[i];
        uint64_t queries = 0;
        ChartWanted wanted = {.tag = given->tag,
                              .axis = request->axis,
                              .smoothing = request->smoothing,
                              .runs = request->runs,
                              .run_count = request->run_count,
                              .news = reader->late,
                              .news_count = find_late(reader, given->tag),
                              .news_seq = reader->news_seq,
                              .has_range = given->has_range,
                              .from = given->from,
                              .to = given->to};
        WorkChart *chart = chart_of(reader, given, request->axis);
        RunsChart *before = chart->published;
        /* One that was out of sight has missed what came meanwhile. */
        bool missed = chart->used != reader->round_number - 1;
        chart->used = reader->round_number;
        if (!charts_update(chart, reader->reader, &wanted, missed, &queries))
            note_error(reader);
        count_queries(reader, queries);
        changed |= chart->published != before;
        if (atomic_load(&reader->stop))
            break;
    }
    return changed;
}

/* True: another one than before. */
static bool update_media(RunsReader *reader, bool asked, bool newer)
{
    const RunsRequest *request = reader->request;
    bool wanted = request != NULL && request->media_tag != NULL;
    reader->media_due |= newer;
    if (!asked && !reader->media_due)
        return false;
    if (!wanted && reader->media == NULL)
        return false;
    RunsMedia *read = NULL;
    if (wanted) {
        read = runs_media_read(reader->reader, request->media_run, request->media_tag,
                               request->media_kind, request->media_seq);
        count_queries(reader, 1);
        if (read == NULL)
            note_error(reader);
    }
    reader->media_due = false;
    runs_media_drop(&reader->media);
    reader->media = read;
    return true;
}

static void publish(RunsReader *reader, double slowest_ms)
{
    RunsSnapshot *made = calloc(1, sizeof *made);
    MetricsStatus status;
    if (made == NULL)
        return;
    const RunsRequest *request = reader->request;
    made->request = request != NULL ? request->serial : 0;
    made->catalog = reader->catalog;
    if (made->catalog != NULL)
        atomic_fetch_add(&made->catalog->references, 1);
    for (uint32_t i = 0; request != NULL && i < request->chart_count; i++) {
        RunsChart *chart = chart_of(reader, &request->charts[i], request->axis)->published;
        if (chart != NULL)
            made->charts[made->chart_count++] = runs_chart_hold(chart);
    }
    made->media = reader->media;
    if (made->media != NULL)
        atomic_fetch_add(&made->media->references, 1);
    metrics_store_status(reader->store, &status);
    made->owner = status.mode == METRICS_MODE_OWNER;
    made->copy_us = metrics_reader_snapshot_us(reader->reader);
    made->queries = atomic_load(&reader->queries);
    made->slowest_ms = slowest_ms;
    memcpy(made->error, reader->error, sizeof made->error);
    atomic_fetch_add(&reader->snapshots, 1);
    runs_snapshot_free(atomic_exchange(&reader->ready, made));
}

static bool store_has_more(RunsReader *reader, MetricsStatus *status)
{
    uint64_t now = now_ns();
    metrics_store_status(reader->store, status);
    bool newer = status->commits != reader->seen_commits;
    reader->seen_commits = status->commits;
    if (status->mode != METRICS_MODE_OWNER &&
        is_due(reader->elsewhere_ns, now, (uint64_t)ELSEWHERE_EVERY_MS * 1000000u)) {
        reader->elsewhere_ns = now;
        newer = true;
    }
    return newer;
}

static void one_round(RunsReader *reader)
{
    MetricsStatus status;
    uint64_t started = now_ns();
    bool changed_here = do_commands(reader);
    RunsRequest *asked = atomic_exchange(&reader->wanted, NULL);
    bool newer = store_has_more(reader, &status);
    bool first =
        reader->catalog == NULL && is_due(reader->runs_ns, started, AGAIN_AFTER_MS * 1000000ull);
    if (asked != NULL) {
        runs_request_free(reader->request);
        reader->request = asked;
    }
    if (asked == NULL && !newer && !first && !reader->catalog_due)
        goto idle;
    if (reader->catalog != NULL || first)
        reader->error[0] = '\0';
    reader->round_number++;
    bool at_once =
        changed_here || atomic_exchange(&reader->hurry, false) || status.mode != METRICS_MODE_OWNER;
    bool changed = update_catalog(reader, newer, at_once);
    if (reader->catalog != NULL) {
        changed |= update_charts(reader);
        changed |= update_media(reader, asked != NULL, newer);
    }
    if (changed || asked != NULL)
        publish(reader, (double)(now_ns() - started) / 1e6);
    if (reader->request != NULL)
        atomic_store(&reader->answered, reader->request->serial);
    atomic_fetch_add(&reader->rounds, 1);
idle:
    free_retired(reader);
    atomic_store(&reader->complete,
                 reader->error[0] != '\0' || (!reader->catalog_due && reader->catalog != NULL));
    atomic_store(&reader->answered_commits, status.commits);
}

static bool make_wake(RunsReader *reader)
{
    if (pthread_mutex_init(&reader->wake_lock, NULL) != 0)
        return false;
    if (mutex_wait_condition_init(&reader->wake))
        return true;
    pthread_mutex_destroy(&reader->wake_lock);
    return false;
}

static void destroy_wake(RunsReader *reader)
{
    pthread_cond_destroy(&reader->wake);
    pthread_mutex_destroy(&reader->wake_lock);
}

static void wake_up(RunsReader *reader)
{
    pthread_mutex_lock(&reader->wake_lock);
    reader->woken = true;
    pthread_cond_signal(&reader->wake);
    pthread_mutex_unlock(&reader->wake_lock);
}

/* Several wishes are one. */
static void wait_for_wish(RunsReader *reader)
{
    int64_t until_ns = mutex_wait_now_ns() + (int64_t)POLL_MS * 1000000;
    pthread_mutex_lock(&reader->wake_lock);
    while (!reader->woken && mutex_wait_condition(&reader->wake, &reader->wake_lock, until_ns))
        ;
    reader->woken = false;
    pthread_mutex_unlock(&reader->wake_lock);
}

static void *read_for_ever(void *user)
{
    RunsReader *reader = user;
    while (!atomic_load(&reader->stop)) {
        one_round(reader);
        wait_for_wish(reader);
    }
    return NULL;
}

/* ---- Life ---- */

RunsReader *runs_reader_create(MetricsStore *store)
{
    RunsReader *reader = fault_here("runs.reader") ? NULL : calloc(1, sizeof *reader);
    if (reader == NULL)
        goto no_memory;
    reader->store = store;
    reader->creator = pthread_self();
    reader->charts = calloc(CHARTS_KEPT, sizeof *reader->charts);
    reader->reader = metrics_reader_create(store);
    if (reader->charts == NULL || reader->reader == NULL)
        goto no_memory;
    reader->has_wake = make_wake(reader);
    if (!reader->has_wake || fault_here("runs.thread") ||
        pthread_create(&reader->thread, NULL, read_for_ever, reader) != 0) {
        log_item(RUNS_NO_THREAD, "the dashboard stays empty");
        goto failed;
    }
    return reader;
no_memory:
    log_item(OUT_OF_MEMORY, "runs_reader_create", (unsigned long long)sizeof *reader);
failed:
    if (reader != NULL) {
        if (reader->has_wake)
            destroy_wake(reader);
        metrics_reader_destroy(&reader->reader);
        free(reader->charts);
    }
    free(reader);
    return NULL;
}

void runs_reader_destroy(RunsReader **reader)
{
    if (reader == NULL || *reader == NULL)
        return;
    RunsReader *ended = *reader;
    *reader = NULL;
    atomic_store(&ended->stop, true);
    wake_up(ended);
    pthread_join(ended->thread, NULL);
    (void)do_commands(ended); /* a note that was just written is kept */
    destroy_wake(ended);
    for (uint32_t i = 0; i < CHARTS_KEPT; i++)
        charts_clear(&ended->charts[i]);
    free(ended->charts);
    free(ended->late);
    metrics_tags_free(&ended->news);
    runs_request_free(ended->request);
    runs_request_free(atomic_load(&ended->wanted));
    runs_catalog_drop(&ended->catalog);
    runs_media_drop(&ended->media);
    runs_snapshot_free(atomic_load(&ended->ready));
    runs_snapshot_free(ended->current);
    free_retired(ended);
    metrics_reader_destroy(&ended->reader);
    free(ended);
}

/* ---- The frame thread ---- */

void runs_reader_ask(RunsReader *reader, RunsRequest *request)
{
    runs_request_free(atomic_exchange(&reader->wanted, request));
    wake_up(reader);
}

void runs_reader_command(RunsReader *reader, RunsCommand *command)
{
    atomic_fetch_add(&reader->commands_left, 1);
    command->next = atomic_load(&reader->commands);
    while (!atomic_compare_exchange_weak(&reader->commands, &command->next, command))
        ;
    wake_up(reader);
}

const RunsSnapshot *runs_reader_snapshot(RunsReader *reader)
{
    RunsSnapshot *ready = atomic_exchange(&reader->ready, NULL);
    if (ready == NULL)
        return reader->current;
    RunsSnapshot *old = reader->current;
    reader->current = ready;
    if (old != NULL) { /* given back: freeing much memory takes time */
        old->next = atomic_load(&reader->retired);
        while (!atomic_compare_exchange_weak(&reader->retired, &old->next, old))
            ;
    }
    return ready;
}

void runs_reader_counters(const RunsReader *reader, RunsReaderCounters *out)
{
    *out = (RunsReaderCounters){.queries = atomic_load(&reader->queries),
                                .frame_queries = atomic_load(&reader->frame_queries),
                                .snapshots = atomic_load(&reader->snapshots),
                                .rounds = atomic_load(&reader->rounds)};
}

bool runs_reader_settle(RunsReader *reader, uint64_t serial, uint32_t timeout_ms)
{
    MetricsStatus status;
    bool settled = false;
    for (uint32_t waited_ms = 0; waited_ms < timeout_ms && !settled; waited_ms++) {
        metrics_store_status(reader->store, &status);
        settled = atomic_load(&reader->answered) >= serial && atomic_load(&reader->complete) &&
                  atomic_load(&reader->commands_done) == atomic_load(&reader->commands_left) &&
                  atomic_load(&reader->answered_commits) >= status.commits &&
                  status.rows_committed + status.rows_dropped >= status.rows_accepted;
        if (settled)
            break;
        atomic_store(&reader->hurry, true);
        wake_up(reader);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return settled;
}
