/* Curves, windowed and thinned by the database: see metrics_read.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/metrics/read_impl.h"

/* The x of a row, as SQL over s (scalars) and r (its run). */
static const char *axis_sql(MetricsAxis axis)
{
    switch (axis) {
    case METRICS_AXIS_WALL:
        return "epoch_us(s.wall_time) / 1e6";
    case METRICS_AXIS_RELATIVE:
        return "(epoch_us(s.wall_time) - epoch_us(r.started_at)) / 1e6";
    case METRICS_AXIS_ARRIVAL:
        return "CAST(s.seq AS DOUBLE)";
    default:
        return "CAST(s.step AS DOUBLE)";
    }
}

/* $1 tag, $2 after seq, $3 from, $4 to, $5 buckets. A run whose rows are no more than the buckets
 * has each row to itself: its key is then the row's place. */
static const char head[] =
    "WITH w AS (SELECT s.run, s.step, s.value, s.seq, epoch_us(s.wall_time) AS wall, %s AS x "
    "FROM scalars s JOIN runs r ON r.id = s.run WHERE s.run IN (%s) AND s.tag = $1 AND s.seq > "
    "$2), "
    "v AS (SELECT * FROM w WHERE x BETWEEN $3 AND $4), "
    "n AS (SELECT run, count(*) AS rows FROM v GROUP BY run), "
    "e AS (SELECT min(x) AS low, max(x) AS high FROM v), "
    "k AS (SELECT v.*, CASE WHEN n.rows <= $5 THEN "
    "row_number() OVER (PARTITION BY v.run ORDER BY v.x, v.seq) "
    "WHEN %s > %s THEN least($5 - 1, CAST(floor((v.x - %s) * $5 / (%s - %s)) AS BIGINT)) ELSE 0 "
    "END "
    "AS bucket FROM v JOIN n USING (run) CROSS JOIN e) "
    "SELECT run, min(x), max(x), arg_min(value, seq), arg_max(value, seq), "
    "min(value) FILTER (WHERE isfinite(value)), max(value) FILTER (WHERE isfinite(value)), "
    "avg(value) FILTER (WHERE isfinite(value)), count(*), "
    "count(*) FILTER (WHERE NOT isfinite(value)), arg_max(step, seq), max(seq), "
    "arg_max(wall, seq) FROM k GROUP BY run, bucket ORDER BY run, min(x), min(seq)";

/* The caller's; NULL without memory. */
static char *window_sql(const MetricsWindow *window)
{
    enum { NUMBER_BYTES = 22 };
    size_t list_bytes = (size_t)window->run_count * NUMBER_BYTES + 2;
    size_t bytes = sizeof head + list_bytes + 512;
    char *list = malloc(list_bytes);
    char *sql = malloc(bytes);
    if (list == NULL || sql == NULL) {
        free(list);
        free(sql);
        return NULL;
    }
    size_t at = 0;
    list[0] = '\0';
    for (uint32_t i = 0; i < window->run_count; i++)
        at += (size_t)snprintf(list + at, list_bytes - at, "%s%lld", i == 0 ? "" : ",",
                               (long long)window->runs[i]);
    const char *low = window->has_range ? "$3" : "e.low";
    const char *high = window->has_range ? "$4" : "e.high";
    int length =
        snprintf(sql, bytes, head, axis_sql(window->axis), list, high, low, low, high, low);
    free(list);
    if (length < 0 || (size_t)length >= bytes) {
        free(sql);
        return NULL;
    }
    return sql;
}

static bool window_is_good(MetricsReader *reader, const MetricsWindow *window)
{
    const char *why = window->run_count == 0 || window->run_count > METRICS_WINDOW_RUNS_MAX
                          ? "a number of runs outside 1..4096"
                      : window->tag == NULL ? "no tag"
                      : window->buckets == 0 || window->buckets > METRICS_BUCKETS_MAX
                          ? "a number of buckets outside 1..65536"
                      : window->has_range && !(window->from <= window->to) ? "a range that is none"
                                                                           : NULL;
    if (why != NULL)
        database_error_set(&reader->error, 0, "metrics_read_scalars: given %s", why);
    return why == NULL;
}

static MetricsBucket bucket_of(const Cursor *cursor)
{
    return (MetricsBucket){.run = (uint64_t)cursor_number(cursor, 0),
                           .first_x = cursor_real(cursor, 1),
                           .last_x = cursor_real(cursor, 2),
                           .first = cursor_real(cursor, 3),
                           .last = cursor_real(cursor, 4),
                           .least = cursor_real(cursor, 5),
                           .greatest = cursor_real(cursor, 6),
                           .mean = cursor_real(cursor, 7),
                           .rows = (uint64_t)cursor_number(cursor, 8),
                           .gaps = (uint64_t)cursor_number(cursor, 9),
                           .last_step = cursor_number(cursor, 10),
                           .last_seq = cursor_number(cursor, 11),
                           .last_wall_us = cursor_number(cursor, 12)};
}

static DuckdbPrepared prepare_window(MetricsReader *reader, const MetricsWindow *window)
{
    char *sql = window_sql(window);
    if (sql == NULL) {
        database_error_set(&reader->error, 0, "no memory for the question");
        return NULL;
    }
    DuckdbPrepared prepared = read_prepare(reader, sql);
    free(sql);
    if (prepared == NULL)
        return NULL;
    const DuckdbApi *api = database_session_api(reader->session);
    api->bind_varchar_length(prepared, 1, window->tag, strlen(window->tag));
    api->bind_int64(prepared, 2, window->after_seq);
    api->bind_double(prepared, 3, window->has_range ? window->from : -INFINITY);
    api->bind_double(prepared, 4, window->has_range ? window->to : INFINITY);
    api->bind_int64(prepared, 5, window->buckets);
    return prepared;
}

bool metrics_read_scalars(MetricsReader *reader, const MetricsWindow *window, MetricsScalars *out)
{
    *out = (MetricsScalars){0};
    if (!read_enter(reader))
        return false;
    Cursor cursor;
    DuckdbPrepared prepared =
        window_is_good(reader, window) ? prepare_window(reader, window) : NULL;
    if (prepared == NULL || !read_run(reader, &prepared, &cursor))
        return read_failed(reader);
    Block block = {0};
    MetricsBucket *items = NULL;
    uint32_t count = 0;
    uint32_t capacity = 0;
    while (cursor_next(&cursor)) {
        items = block_grow(&block, items, count, &capacity, sizeof *items);
        if (items == NULL)
            break;
        items[count++] = bucket_of(&cursor);
    }
    if (!read_end(reader, &cursor, &block, &out->block))
        return false;
    out->items = items;
    out->count = count;
    return true;
}

void metrics_scalars_free(MetricsScalars *scalars)
{
    block_free(scalars->block);
    *scalars = (MetricsScalars){0};
}
