/* bench_metrics [ROWS [FOLDER]]: scalars a second, accepted by the calls and committed to disk,
 * from 1 and 4 threads, with percentiles of one call; and the same rows into SQLite where its
 * library was there at build time. The floor beside it is the copy: rows into the queue's own
 * layout with memcpy. FOLDER is on the disk that is to be measured. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "store/metrics/metrics_store.h"

#ifdef BENCH_SQLITE
#include <sqlite3.h>
#endif

enum { THREADS_MAX = 4, ROUNDS = 3 };

static MetricsStore *store;
static uint64_t run;
static uint32_t *call_ns; /* of every call */

typedef struct Part {
    pthread_t thread;
    uint64_t first, count;
    bool timed;
} Part;

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *log_part(void *user)
{
    Part *part = user;
    for (uint64_t i = part->first; i < part->first + part->count; i++) {
        if (!part->timed) {
            metrics_store_scalar(store, run, "train/loss", (int64_t)i, (double)i * 0.5);
            continue;
        }
        uint64_t began = now_ns();
        metrics_store_scalar(store, run, "train/loss", (int64_t)i, (double)i * 0.5);
        uint64_t took = now_ns() - began;
        call_ns[i] = took < UINT32_MAX ? (uint32_t)took : UINT32_MAX;
    }
    return NULL;
}

static int by_value(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void log_rows(int threads, uint64_t rows, bool timed)
{
    Part parts[THREADS_MAX];
    for (int i = 0; i < threads; i++) {
        parts[i].first = rows / (uint64_t)threads * (uint64_t)i;
        parts[i].count = rows / (uint64_t)threads;
        parts[i].timed = timed;
        if (pthread_create(&parts[i].thread, NULL, log_part, &parts[i]) != 0)
            exit(1);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(parts[i].thread, NULL);
}

static void measure(const char *folder, int threads, uint64_t rows)
{
    double accepted = 1e9;
    double committed = 1e9;
    MetricsStatus status = {0};
    for (int round = 0; round < ROUNDS; round++) {
        char root[512];
        snprintf(root, sizeof root, "%s/bench-metrics-XXXXXX", folder);
        if (mkdtemp(root) == NULL) {
            perror(root);
            exit(1);
        }
        store = metrics_store_create(
            &(MetricsParams){.struct_size = sizeof(MetricsParams), .data_root = root});
        run = metrics_store_begin_run(store, "bench", "bench");
        metrics_store_flush(store, 60000); /* the database is open */
        double began = now_sec();
        log_rows(threads, rows, false);
        double in_queue = now_sec() - began;
        metrics_store_flush(store, 600000);
        double on_disk = now_sec() - began;
        accepted = in_queue < accepted ? in_queue : accepted;
        committed = on_disk < committed ? on_disk : committed;
        log_rows(threads, rows, true);
        metrics_store_flush(store, 600000);
        metrics_store_status(store, &status);
        metrics_store_destroy(&store);
        char command[600];
        snprintf(command, sizeof command, "rm -rf '%s'", root);
        if (system(command) != 0)
            perror(command);
    }
    uint64_t timed = rows / (uint64_t)threads * (uint64_t)threads;
    qsort(call_ns, timed, sizeof *call_ns, by_value);
    printf("caliper, %d thread%s    accepted %7.0f k/s   committed %7.0f k/s   one call: median "
           "%4u ns, 99 %% %5u ns, 99.9 %% %6u ns, worst %.2f ms   dropped %" PRIu64 "\n",
           threads, threads > 1 ? "s" : " ", (double)rows / accepted / 1e3,
           (double)rows / committed / 1e3, call_ns[timed / 2], call_ns[timed / 100 * 99],
           call_ns[timed / 1000 * 999], (double)call_ns[timed - 1] / 1e6, status.rows_dropped);
}

/* A call now and then, as a training loop makes it: how long until it is durable. */
static void measure_lag(const char *folder)
{
    enum { CALLS = 100 };
    char root[512];
    snprintf(root, sizeof root, "%s/bench-metrics-XXXXXX", folder);
    if (mkdtemp(root) == NULL)
        return;
    store = metrics_store_create(
        &(MetricsParams){.struct_size = sizeof(MetricsParams), .data_root = root});
    run = metrics_store_begin_run(store, "bench", "lag");
    metrics_store_flush(store, 60000);
    double sum = 0;
    double most = 0;
    double commit = 0;
    for (int i = 0; i < CALLS; i++) {
        MetricsStatus before;
        MetricsStatus after;
        metrics_store_status(store, &before);
        metrics_store_scalar(store, run, "train/loss", i, i);
        do {
            usleep(1000);
            metrics_store_status(store, &after);
        } while (after.commits == before.commits);
        sum += after.last_lag_ms;
        commit += after.commit_ms;
        most = after.last_lag_ms > most ? after.last_lag_ms : most;
    }
    printf(
        "one scalar at a time: durable after %.1f ms on average, %.1f ms at most; the commit takes "
        "%.1f ms of it\n",
        sum / CALLS, most, commit / CALLS);
    metrics_store_destroy(&store);
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        perror(command);
}

#ifdef BENCH_SQLITE
static void must(int result, const char *what)
{
    if (result != SQLITE_OK && result != SQLITE_DONE) {
        fprintf(stderr, "sqlite: %s: %d\n", what, result);
        exit(1);
    }
}

/* The same rows on the calling thread, in transactions of `batch`. */
static void measure_sqlite(const char *folder, uint64_t rows, uint64_t batch, const char *sync)
{
    char path[512];
    char pragma[64];
    snprintf(path, sizeof path, "%s/bench-metrics-XXXXXX", folder);
    int fd = mkstemp(path);
    if (fd < 0)
        return;
    close(fd);
    sqlite3 *database = NULL;
    sqlite3_stmt *insert = NULL;
    must(sqlite3_open(path, &database), "open");
    snprintf(pragma, sizeof pragma, "PRAGMA synchronous = %s", sync);
    must(sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), "wal");
    must(sqlite3_exec(database, pragma, NULL, NULL, NULL), "synchronous");
    must(sqlite3_exec(database,
                      "CREATE TABLE scalars(run INTEGER, tag TEXT, step INTEGER, value REAL, seq "
                      "INTEGER, wall_time INTEGER)",
                      NULL, NULL, NULL),
         "create");
    must(sqlite3_prepare_v2(database, "INSERT INTO scalars VALUES (?, ?, ?, ?, ?, ?)", -1, &insert,
                            NULL),
         "prepare");
    double began = now_sec();
    for (uint64_t i = 0; i < rows; i++) {
        if (i % batch == 0)
            must(sqlite3_exec(database, "BEGIN", NULL, NULL, NULL), "begin");
        struct timespec wall;
        clock_gettime(CLOCK_REALTIME, &wall);
        sqlite3_bind_int64(insert, 1, 1);
        sqlite3_bind_text(insert, 2, "train/loss", -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 3, (sqlite3_int64)i);
        sqlite3_bind_double(insert, 4, (double)i * 0.5);
        sqlite3_bind_int64(insert, 5, (sqlite3_int64)i);
        sqlite3_bind_int64(insert, 6, (sqlite3_int64)wall.tv_sec * 1000000 + wall.tv_nsec / 1000);
        must(sqlite3_step(insert), "step");
        sqlite3_reset(insert);
        if (i % batch == batch - 1 || i == rows - 1)
            must(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL), "commit");
    }
    printf("sqlite WAL %-6s       committed %7.0f k/s   in transactions of %" PRIu64
           ", on the calling thread\n",
           sync, (double)rows / (now_sec() - began) / 1e3, batch);
    sqlite3_finalize(insert);
    sqlite3_close(database);
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[600];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}
#endif

/* What remains of a call when the queue costs nothing: the time and the bytes. */
static void measure_floor(uint64_t rows)
{
    enum { ROW_BYTES = 64 };
    uint8_t *bytes = malloc(rows * ROW_BYTES);
    if (bytes == NULL)
        return;
    memset(bytes, 1, rows * ROW_BYTES);
    uint64_t began = now_ns();
    for (uint64_t i = 0; i < rows; i++) {
        struct timespec wall;
        uint64_t row[ROW_BYTES / 8] = {i};
        clock_gettime(CLOCK_REALTIME, &wall);
        row[1] = (uint64_t)wall.tv_nsec;
        memcpy(bytes + i * ROW_BYTES, row, sizeof row);
    }
    printf("floor: the time and 64 bytes, %.0f ns a row (%u)\n",
           (double)(now_ns() - began) / (double)rows, bytes[rows]);
    free(bytes);
}

int main(int argc, char **argv)
{
    uint64_t rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 800000;
    const char *folder = argc > 2 ? argv[2] : "/var/tmp";
    if (rows < 10000 || rows > 100000000) {
        fprintf(stderr, "usage: bench_metrics [ROWS [FOLDER]]; 10000 rows at least\n");
        return 2;
    }
    log_set_threshold("warn");
    call_ns = calloc(rows, sizeof *call_ns);
    if (call_ns == NULL)
        return 1;
    printf("%" PRIu64 " scalars in %s, best of %d rounds\n", rows, folder, ROUNDS);
    measure_floor(rows);
    measure(folder, 1, rows);
    measure(folder, 4, rows);
    measure_lag(folder);
#ifdef BENCH_SQLITE
    measure_sqlite(folder, rows, 1000, "NORMAL");
    measure_sqlite(folder, rows, 1000, "FULL");
    measure_sqlite(folder, rows / 1000, 1, "FULL");
#else
    printf("sqlite: not installed when this was built\n");
#endif
    free(call_ns);
    return 0;
}
