/* Reading runs, tags, histograms, images and texts: see metrics_read.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "core/log.h"
#include "store/metrics/query.h"
#include "store/metrics/read_impl.h"
#include "store/owner_lock.h"

MetricsReader *metrics_reader_create(MetricsStore *store)
{
    MetricsReader *reader = fault_here("metrics.read.alloc") ? NULL : calloc(1, sizeof *reader);
    if (reader == NULL)
        log_item(OUT_OF_MEMORY, "metrics_reader_create", (unsigned long long)sizeof *reader);
    else
        reader->store = store;
    return reader;
}

static void drop_session(MetricsReader *reader)
{
    database_session_close(&reader->session);
    database_let_go(&reader->database);
}

void metrics_reader_destroy(MetricsReader **reader)
{
    if (reader == NULL || *reader == NULL)
        return;
    drop_session(*reader);
    free(*reader);
    *reader = NULL;
}

const char *metrics_reader_error(const MetricsReader *reader)
{
    return reader->error.text;
}

int64_t metrics_reader_snapshot_us(const MetricsReader *reader)
{
    return reader->snapshot_us;
}

static bool refused(MetricsReader *reader)
{
    log_item(METRICS_READ_FAILED, reader->error.text);
    return false;
}

bool read_enter(MetricsReader *reader)
{
    reader->error.text[0] = '\0';
    Database *now = query_database(reader->store, frame_thread_until_ns(), &reader->snapshot_us,
                                   &reader->error);
    if (now == NULL)
        return refused(reader);
    if (now != reader->database || reader->session == NULL) {
        drop_session(reader);
        reader->session = database_session_open(now, &reader->error);
        if (reader->session != NULL) {
            database_hold(now);
            reader->database = now;
        }
    }
    database_let_go(&now);
    if (reader->session != NULL && database_session_enter(reader->session, &reader->error))
        return true;
    drop_session(reader);
    return refused(reader);
}

void read_leave(MetricsReader *reader)
{
    database_session_leave(reader->session);
}

bool read_failed(MetricsReader *reader)
{
    read_leave(reader);
    /* A session after an error may hold an ended transaction: the next call begins a fresh one. */
    drop_session(reader);
    return refused(reader);
}

DuckdbPrepared read_prepare(MetricsReader *reader, const char *sql)
{
    const DuckdbApi *api = database_session_api(reader->session);
    DuckdbPrepared prepared = NULL;
    if (api->prepare(database_session_connection(reader->session), sql, &prepared) ==
        DUCKDB_STATE_SUCCESS)
        return prepared;
    const char *words = prepared != NULL ? api->prepare_error(prepared) : NULL;
    database_error_set(&reader->error, 0, "%s", words != NULL ? words : "no statement");
    api->destroy_prepare(&prepared);
    return NULL;
}

bool read_run(MetricsReader *reader, DuckdbPrepared *prepared, Cursor *cursor)
{
    bool ok = database_session_execute(reader->session, *prepared, &reader->error);
    database_session_api(reader->session)->destroy_prepare(prepared);
    if (ok)
        cursor_begin(cursor, reader->session);
    return ok;
}

bool read_end(MetricsReader *reader, Cursor *cursor, Block *block, void **out_block)
{
    const char *words = cursor->api->result_error(cursor->result);
    bool ok = (words == NULL || words[0] == '\0') && !block->failed;
    if (words != NULL && words[0] != '\0')
        database_error_set(&reader->error, 0, "%s", words);
    else if (block->failed)
        database_error_set(&reader->error, 0, "no memory for the answer");
    cursor_end(cursor);
    if (!ok) {
        block_free(block->pieces);
        return read_failed(reader);
    }
    *out_block = block->pieces;
    read_leave(reader);
    return true;
}

/* One row into a zeroed item; false: it is left out. */
typedef bool (*ReadRow)(const Cursor *cursor, Block *block, void *user, void *item);

typedef struct ReadList { /* what the rows become */
    ReadRow row;
    void *user; /* for `row` */
    size_t item_bytes;
    void *items;
    uint32_t count;
    void *block;
} ReadList;

/* Runs a statement (NULL: there is none) and leaves, with its rows in the list, or with false and
 * none. */
static bool read_list(MetricsReader *reader, DuckdbPrepared prepared, ReadList *list)
{
    Cursor cursor;
    Block block = {0};
    uint32_t capacity = 0;
    uint32_t count = 0;
    if (prepared == NULL || !read_run(reader, &prepared, &cursor))
        return read_failed(reader);
    while (cursor_next(&cursor)) {
        list->items = block_grow(&block, list->items, count, &capacity, list->item_bytes);
        if (list->items == NULL)
            break;
        void *item = (uint8_t *)list->items + count * list->item_bytes;
        memset(item, 0, list->item_bytes);
        count += list->row(&cursor, &block, list->user, item);
    }
    if (!read_end(reader, &cursor, &block, &list->block))
        return false;
    list->count = count;
    return true;
}

/* ---- Runs ---- */

/* Another process's runs that a snapshot shows as running have ended if nobody owns the data root
 * any more. */
static bool nobody_writes(const MetricsReader *reader)
{
    return reader->snapshot_us != 0 && !owner_lock_is_held(reader->store->data_root, NULL);
}

/* `user`: whether nobody writes any more. */
static bool run_row(const Cursor *cursor, Block *block, void *user, void *item)
{
    MetricsRunInfo *out = item;
    bool ended = *(const bool *)user;
    uint32_t length = 0;
    out->id = (uint64_t)cursor_number(cursor, 0);
    const char *bytes = cursor_bytes(cursor, 1, &length);
    out->experiment = block_text(block, bytes != NULL ? bytes : "", length);
    bytes = cursor_bytes(cursor, 2, &length);
    out->name = block_text(block, bytes != NULL ? bytes : "", length);
    bytes = cursor_bytes(cursor, 4, &length);
    out->hparams = bytes != NULL ? block_text(block, bytes, length) : NULL;
    out->started_us = cursor_number(cursor, 5);
    out->ended_us = cursor_number(cursor, 6);
    out->dropped = (uint64_t)cursor_number(cursor, 7);
    bytes = cursor_bytes(cursor, 9, &length);
    out->note = block_text(block, bytes != NULL ? bytes : "", length);
    out->deleted = cursor_truth(cursor, 10);
    out->state = cursor_truth(cursor, 3)            ? METRICS_RUN_STATE_DONE
                 : ended || cursor_truth(cursor, 8) ? METRICS_RUN_STATE_INTERRUPTED
                                                    : METRICS_RUN_STATE_RUNNING;
    return true;
}

bool metrics_read_runs(MetricsReader *reader, MetricsRuns *out)
{
    static const char sql[] =
        "SELECT r.id, r.experiment, r.name, r.done, r.hparams, epoch_us(r.started_at), "
        "epoch_us(r.ended_at), CAST(d.count AS BIGINT), i.run IS NOT NULL, n.note, "
        "x.run IS NOT NULL FROM runs r LEFT JOIN (SELECT run, sum(count) AS count FROM "
        "dropped_rows GROUP BY run) d ON d.run = r.id LEFT JOIN interrupted_runs i ON i.run = r.id "
        "LEFT JOIN run_notes n ON n.run = r.id LEFT JOIN deleted_runs x ON x.run = r.id "
        "ORDER BY r.id";
    *out = (MetricsRuns){0};
    if (!read_enter(reader))
        return false;
    bool ended = nobody_writes(reader);
    ReadList list = {.row = run_row, .user = &ended, .item_bytes = sizeof *out->items};
    if (!read_list(reader, read_prepare(reader, sql), &list))
        return false;
    *out = (MetricsRuns){.items = list.items, .count = list.count, .block = list.block};
    return true;
}

void metrics_runs_free(MetricsRuns *runs)
{
    block_free(runs->block);
    *runs = (MetricsRuns){0};
}

/* ---- Tags ---- */

static bool tag_row(const Cursor *cursor, Block *block, void *user, void *item)
{
    uint32_t length = 0;
    (void)user;
    const char *tag = cursor_bytes(cursor, 1, &length);
    *(MetricsTag *)item = (MetricsTag){.kind = (MetricsKind)cursor_number(cursor, 0),
                                       .tag = block_text(block, tag != NULL ? tag : "", length),
                                       .run = (uint64_t)cursor_number(cursor, 2),
                                       .rows = (uint64_t)cursor_number(cursor, 3),
                                       .first_step = cursor_number(cursor, 4),
                                       .last_step = cursor_number(cursor, 5),
                                       .newest_seq = cursor_number(cursor, 6)};
    return true;
}

/* Of one table: its tags, each with what a MetricsTag says. */
#define TAGS_OF(kind, table, wanted)                                                               \
    "SELECT CAST(" kind " AS BIGINT) AS kind, tag, run, count(*), min(step), max(step), max(seq) " \
    "FROM " table " WHERE " wanted " GROUP BY tag, run"
#define TAGS_OF_NUMBERS(wanted)     \
    TAGS_OF("0", "scalars", wanted) \
    " UNION ALL " TAGS_OF("1", "histograms", wanted) " UNION ALL " TAGS_OF("2", "images", wanted)
#define TAGS_OF_ALL(wanted) TAGS_OF_NUMBERS(wanted) " UNION ALL " TAGS_OF("3", "texts", wanted)
#define IN_ORDER(tags)      "SELECT * FROM (" tags ") ORDER BY kind, tag, run"

/* Rows of what metrics_read_tags says; $1 is `value`. The copy that an older owner made has no
 * texts: `without` is for it. */
static bool read_tags(MetricsReader *reader, const char *sql, const char *without, int64_t value,
                      MetricsTags *out)
{
    *out = (MetricsTags){0};
    if (!read_enter(reader))
        return false;
    DuckdbPrepared prepared = read_prepare(reader, sql);
    if (prepared == NULL && reader->snapshot_us != 0)
        prepared = read_prepare(reader, without);
    if (prepared != NULL)
        database_session_api(reader->session)->bind_int64(prepared, 1, value);
    ReadList list = {.row = tag_row, .item_bytes = sizeof *out->items};
    if (!read_list(reader, prepared, &list))
        return false;
    *out = (MetricsTags){.items = list.items, .count = list.count, .block = list.block};
    return true;
}

bool metrics_read_tags(MetricsReader *reader, uint64_t run, MetricsTags *out)
{
    return read_tags(reader, IN_ORDER(TAGS_OF_ALL("$1 = 0 OR run = $1")),
                     IN_ORDER(TAGS_OF_NUMBERS("$1 = 0 OR run = $1")), (int64_t)run, out);
}

bool metrics_read_news(MetricsReader *reader, int64_t after_seq, MetricsTags *out)
{
    return read_tags(reader, IN_ORDER(TAGS_OF_ALL("seq > $1")),
                     IN_ORDER(TAGS_OF_NUMBERS("seq > $1")), after_seq, out);
}

void metrics_tags_free(MetricsTags *tags)
{
    block_free(tags->block);
    *tags = (MetricsTags){0};
}

/* ---- Histograms ---- */

static void bind_series(MetricsReader *reader, DuckdbPrepared prepared, uint64_t run,
                        const char *tag)
{
    const DuckdbApi *api = database_session_api(reader->session);
    api->bind_int64(prepared, 1, (int64_t)run);
    api->bind_varchar_length(prepared, 2, tag, strlen(tag));
}

/* `user`: how many rows there are. */
static bool histogram_row(const Cursor *cursor, Block *block, void *user, void *item)
{
    uint32_t length = 0;
    const char *bytes = cursor_bytes(cursor, 4, &length);
    float *values = block_take(block, (uint64_t)length + 1);
    if (values != NULL && length > 0)
        memcpy(values, bytes, length);
    *(MetricsHistogram *)item = (MetricsHistogram){.step = cursor_number(cursor, 0),
                                                   .seq = cursor_number(cursor, 1),
                                                   .wall_us = cursor_number(cursor, 2),
                                                   .count = length / sizeof(float),
                                                   .values = values};
    *(uint64_t *)user = (uint64_t)cursor_number(cursor, 5);
    return true;
}

bool metrics_read_histograms(MetricsReader *reader, uint64_t run, const char *tag, int64_t from,
                             int64_t to, uint32_t most, MetricsHistograms *out)
{
    /* Row i of n is taken when the i-th part of `most` begins with it: the first and every
     * n/most-th after it, and the last one in any case. Which rows is settled before their bytes
     * are read. */
    static const char sql[] =
        "WITH picked AS (SELECT seq, n FROM (SELECT seq, row_number() OVER (ORDER BY step, seq) - "
        "1 "
        "AS i, count(*) OVER () AS n FROM histograms WHERE run = $1 AND tag = $2 AND step BETWEEN "
        "$3 "
        "AND $4) WHERE n <= $5 OR i = n - 1 OR (i < n - 1 AND i * ($5 - 1) // (n - 1) <> "
        "(i - 1) * ($5 - 1) // (n - 1)) OR i = 0) "
        "SELECT h.step, h.seq, epoch_us(h.wall_time), h.count, h.data, p.n FROM histograms h "
        "JOIN picked p ON p.seq = h.seq WHERE h.run = $1 AND h.tag = $2 ORDER BY h.step, h.seq";
    *out = (MetricsHistograms){0};
    if (!read_enter(reader))
        return false;
    DuckdbPrepared prepared = read_prepare(reader, sql);
    if (prepared != NULL) {
        const DuckdbApi *api = database_session_api(reader->session);
        bind_series(reader, prepared, run, tag);
        api->bind_int64(prepared, 3, from);
        api->bind_int64(prepared, 4, to);
        api->bind_int64(prepared, 5, most > 1 ? most : 2);
    }
    uint64_t rows = 0;
    ReadList list = {.row = histogram_row, .user = &rows, .item_bytes = sizeof *out->items};
    if (!read_list(reader, prepared, &list))
        return false;
    *out = (MetricsHistograms){.items = list.items, .rows = rows, .block = list.block};
    out->count = most == 1 && list.count > 1 ? 1 : list.count;
    return true;
}

void metrics_histograms_free(MetricsHistograms *histograms)
{
    block_free(histograms->block);
    *histograms = (MetricsHistograms){0};
}

/* ---- Images ---- */

static bool image_row(const Cursor *cursor, Block *block, void *user, void *item)
{
    MetricsImage *image = item;
    uint32_t length = 0;
    (void)user;
    *image = (MetricsImage){.step = cursor_number(cursor, 0),
                            .seq = cursor_number(cursor, 1),
                            .wall_us = cursor_number(cursor, 2),
                            .width = (uint32_t)cursor_number(cursor, 3),
                            .height = (uint32_t)cursor_number(cursor, 4),
                            .channels = (uint32_t)cursor_number(cursor, 5)};
    const char *bytes = cursor_bytes(cursor, 6, &length);
    /* A file that others may write: its words are not believed. */
    if (bytes != NULL && length != (uint64_t)image->width * image->height * image->channels)
        return false;
    uint8_t *copy = bytes != NULL ? block_take(block, (uint64_t)length + 1) : NULL;
    if (copy != NULL)
        memcpy(copy, bytes, length);
    image->bytes = copy;
    return true;
}

/* Rows of step, seq, wall time, w, h, c, data. */
static bool read_images(MetricsReader *reader, DuckdbPrepared prepared, MetricsImages *out)
{
    ReadList list = {.row = image_row, .item_bytes = sizeof *out->items};
    if (!read_list(reader, prepared, &list))
        return false;
    *out = (MetricsImages){.items = list.items, .count = list.count, .block = list.block};
    return true;
}

bool metrics_read_image_list(MetricsReader *reader, uint64_t run, const char *tag,
                             MetricsImages *out)
{
    *out = (MetricsImages){0};
    if (!read_enter(reader))
        return false;
    DuckdbPrepared prepared = read_prepare(
        reader, "SELECT step, seq, epoch_us(wall_time), w::BIGINT, h::BIGINT, c::BIGINT, "
                "NULL::BLOB FROM images WHERE run = $1 AND tag = $2 ORDER BY step, seq");
    if (prepared != NULL)
        bind_series(reader, prepared, run, tag);
    return read_images(reader, prepared, out);
}

bool metrics_read_image(MetricsReader *reader, uint64_t run, int64_t seq, MetricsImages *out)
{
    *out = (MetricsImages){0};
    if (!read_enter(reader))
        return false;
    DuckdbPrepared prepared =
        read_prepare(reader, "SELECT step, seq, epoch_us(wall_time), w::BIGINT, h::BIGINT, "
                             "c::BIGINT, data FROM images WHERE run = $1 AND seq = $2");
    if (prepared == NULL)
        return read_failed(reader);
    const DuckdbApi *api = database_session_api(reader->session);
    api->bind_int64(prepared, 1, (int64_t)run);
    api->bind_int64(prepared, 2, seq);
    return read_images(reader, prepared, out);
}

void metrics_images_free(MetricsImages *images)
{
    block_free(images->block);
    *images = (MetricsImages){0};
}

/* ---- Texts ---- */

static bool text_row(const Cursor *cursor, Block *block, void *user, void *item)
{
    uint32_t length = 0;
    (void)user;
    const char *bytes = cursor_bytes(cursor, 4, &length);
    *(MetricsText *)item =
        (MetricsText){.step = cursor_number(cursor, 0),
                      .seq = cursor_number(cursor, 1),
                      .wall_us = cursor_number(cursor, 2),
                      .bytes = (uint64_t)cursor_number(cursor, 3),
                      .value = bytes != NULL ? block_text(block, bytes, length) : NULL,
                      .value_bytes = length};
    return true;
}

/* Rows of step, seq, wall time, bytes, value. */
static bool read_texts(MetricsReader *reader, DuckdbPrepared prepared, MetricsTexts *out)
{
    ReadList list = {.row = text_row, .item_bytes = sizeof *out->items};
    if (!read_list(reader, prepared, &list))
        return false;
    *out = (MetricsTexts){.items = list.items, .count = list.count, .block = list.block};
    return true;
}

bool metrics_read_text_list(MetricsReader *reader, uint64_t run, const char *tag, MetricsTexts *out)
{
    *out = (MetricsTexts){0};
    if (!read_enter(reader))
        return false;
    DuckdbPrepared prepared = read_prepare(
        reader, "SELECT step, seq, epoch_us(wall_time), strlen(value), NULL::VARCHAR FROM texts "
                "WHERE run = $1 AND tag = $2 ORDER BY step, seq");
    if (prepared != NULL)
        bind_series(reader, prepared, run, tag);
    return read_texts(reader, prepared, out);
}

bool metrics_read_text(MetricsReader *reader, uint64_t run, int64_t seq, uint32_t most,
                       MetricsTexts *out)
{
    *out = (MetricsTexts){0};
    if (!read_enter(reader))
        return false;
    DuckdbPrepared prepared =
        read_prepare(reader, "SELECT step, seq, epoch_us(wall_time), strlen(value), left(value, "
                             "$3) FROM texts WHERE run = $1 AND seq = $2");
    if (prepared == NULL)
        return read_failed(reader);
    const DuckdbApi *api = database_session_api(reader->session);
    api->bind_int64(prepared, 1, (int64_t)run);
    api->bind_int64(prepared, 2, seq);
    api->bind_int64(prepared, 3, most);
    return read_texts(reader, prepared, out);
}

void metrics_texts_free(MetricsTexts *texts)
{
    block_free(texts->block);
    *texts = (MetricsTexts){0};
}
