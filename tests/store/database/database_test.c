/* Opening and closing: settings that hold, files that are locked, damaged, of another kind or not
 * to be had, and what is left of each. */
#include "database_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/fault.h"
#include "core/log.h"
#include "store/database/database_impl.h"

static char folder[64];
static char path[128];
static int damaged_lines, alone_lines;
static char damaged_text[4096];

static void capture(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->item != LOG_DATABASE_DAMAGED && entry->item != LOG_DATABASE_LOG_ALONE)
        return;
    damaged_lines += entry->item == LOG_DATABASE_DAMAGED;
    alone_lines += entry->item == LOG_DATABASE_LOG_ALONE;
    snprintf(damaged_text, sizeof damaged_text, "%s", entry->text);
}

static int begin(void **state)
{
    (void)state;
    fixture_folder(folder);
    snprintf(path, sizeof path, "%s/d.duckdb", folder);
    damaged_lines = alone_lines = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    fixture_remove(folder);
    return 0;
}

static Database *open_file(bool move_damaged, DatabaseError *error)
{
    const DatabaseParams params = {.path = path, .move_damaged = move_damaged};
    return database_open(&params, error);
}

static Database *open_good(void)
{
    DatabaseError error;
    Database *database = open_file(true, &error);
    if (database == NULL)
        fail_msg("%s", error.text);
    return database;
}

/* A file with a checkpointed table and, in a child that does not close it, a log with another. */
static void make_file(bool with_log)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        Database *database = open_good();
        fixture_run(database, "CREATE TABLE t AS SELECT range AS a, 'row ' || range AS b FROM "
                              "range(20000); CHECKPOINT");
        if (with_log)
            fixture_run(database, "CREATE TABLE u AS SELECT 7::BIGINT AS a");
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int files_named(const char *part)
{
    int count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        count += strstr(entry->d_name, part) != NULL;
    closedir(entries);
    return count;
}

static void test_settings(void **state)
{
    (void)state;
    Database *database = open_good();
    DatabaseError error;
    static const char *const wanted[] = {
        "SELECT count(*) FROM duckdb_settings() WHERE name = 'lock_configuration' AND value = "
        "'true'",
        "SELECT count(*) FROM duckdb_settings() WHERE name = 'enable_external_access' AND value = "
        "'false'",
        "SELECT count(*) FROM duckdb_settings() WHERE name = 'autoinstall_known_extensions' AND "
        "value = 'false'",
        "SELECT count(*) FROM duckdb_settings() WHERE name = 'autoload_known_extensions' AND value "
        "= 'false'",
        "SELECT count(*) FROM duckdb_settings() WHERE name = 'allow_persistent_secrets' AND value "
        "= 'false'",
        "SELECT count(*) FROM duckdb_settings() WHERE name = 'allow_unsigned_extensions' AND value "
        "= 'false'",
        "SELECT count(*) FROM duckdb_settings() WHERE name = 'threads' AND value::INT BETWEEN 1 "
        "AND 4",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (fixture_number(database, wanted[i]) != 1)
            fail_msg("%s", wanted[i]);
    }
    static const char *const refused[] = {
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET threads = 16",
        "SET autoload_known_extensions = true",
        "SET extension_directory = '/tmp'",
        "RESET memory_limit",
        "COPY (SELECT 1) TO '/tmp/caliper-database-refused.csv'",
        "SELECT * FROM read_text('/etc/passwd')",
        "ATTACH '/tmp/caliper-database-refused.duckdb' AS x",
        "LOAD httpfs",
        "INSTALL httpfs",
    };
    DuckdbConnection connection = database_connect(database, &error);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (database_run(database_api(database), connection, refused[i], &error))
            fail_msg("not refused: %s", refused[i]);
        assert_true(error.text[0] != '\0');
    }
    database_api(database)->disconnect(&connection);
    database_close(&database);
    database_close(&database); /* NULL */
    assert_int_equal(access("/tmp/caliper-database-refused.csv", F_OK), -1);
}

static void test_params(void **state)
{
    (void)state;
    DatabaseError error;
    const char *const settings[] = {"checkpoint_threshold", "1MB", "default_order", "DESC", NULL};
    DatabaseParams params = {.path = path,
                             .threads = 2,
                             .memory_bytes = (uint64_t)300 << 20,
                             .settings = settings,
                             .external_access = true};
    Database *database = database_open(&params, &error);
    assert_non_null(database);
    assert_true(fixture_number(database, "SELECT value::INT FROM duckdb_settings() WHERE name = "
                                         "'threads'") == 2);
    assert_true(fixture_number(database, "SELECT count(*) FROM duckdb_settings() WHERE name = "
                                         "'memory_limit' AND value = '300.0 MiB'") == 1);
    assert_true(fixture_number(database, "SELECT count(*) FROM duckdb_settings() WHERE name = "
                                         "'default_order' AND value LIKE 'DESC%'") == 1);
    assert_true(fixture_number(database, "SELECT count(*) FROM read_text('/etc/hostname')") == 1);
    fixture_run(database, "CREATE TABLE t AS SELECT 1 AS a");
    database_close(&database);
    params.read_only = true;
    database = database_open(&params, &error);
    assert_non_null(database);
    struct ArrowArrayStream stream;
    assert_false(fixture_stream(database, "INSERT INTO t VALUES (2)", &stream, &error));
    assert_true(fixture_number(database, "SELECT count(*) FROM t") == 1);
    database_close(&database);
    const char *const bad[] = {"no_such_setting", "1", NULL};
    params = (DatabaseParams){.path = path, .settings = bad};
    assert_null(database_open(&params, &error));
    assert_non_null(strstr(error.text, "no_such_setting"));
    params = (DatabaseParams){.path = "/nonexistent/folder/d.duckdb", .move_damaged = true};
    assert_null(database_open(&params, &error));
    assert_non_null(strstr(error.text, "/nonexistent/folder"));
}

/* A second process is refused, and nothing is moved. */
static void test_locked(void **state)
{
    (void)state;
    int ready[2];
    int done[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char byte = 'y';
        Database *database = open_good();
        if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1)
            _exit(1);
        database_close(&database);
        _exit(0);
    }
    char byte;
    DatabaseError error;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_null(open_file(true, &error));
    assert_non_null(strstr(error.text, "lock"));
    assert_int_equal(write(done[1], "y", 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(files_named("damaged"), 0);
    assert_int_equal(damaged_lines, 0);
    Database *database = open_good();
    database_close(&database);
}

static void test_no_access(void **state)
{
    (void)state;
    DatabaseError error;
    assert_int_equal(mkdir(path, 0700), 0); /* a folder has the name */
    assert_null(open_file(true, &error));
    assert_int_equal(files_named("damaged"), 0);
    assert_int_equal(rmdir(path), 0);
}

static void overwrite(const char *file, off_t at, const void *bytes, size_t length)
{
    int fd = open(file, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, length, at), length);
    close(fd);
}

static off_t size_of(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 ? status.st_size : -1;
}

static void check_moved(off_t size_before)
{
    DatabaseError error;
    assert_null(open_file(false, &error)); /* without leave nothing is touched */
    assert_int_equal(files_named("damaged"), 0);
    Database *database = open_file(true, &error);
    if (database == NULL)
        fail_msg("%s", error.text);
    const char *moved = database_moved_to(database);
    assert_true(size_of(moved) == size_before);
    assert_int_equal(damaged_lines, 1);
    assert_non_null(strstr(damaged_text, moved));
    assert_non_null(strstr(damaged_text, path));
    fixture_run(database, "CREATE TABLE fresh(a INT)");
    database_close(&database);
    database = open_good();
    assert_string_equal(database_moved_to(database), "");
    database_close(&database);
}

static void test_damaged_file(void **state)
{
    (void)state;
    make_file(false);
    overwrite(path, 4096 + 20, "damage", 6);
    overwrite(path, 8192 + 20, "damage", 6);
    check_moved(size_of(path));
}

static void test_cut_file(void **state)
{
    (void)state;
    make_file(false);
    assert_int_equal(truncate(path, 9000), 0);
    check_moved(9000);
}

static void test_other_file(void **state)
{
    (void)state;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 5000; i++)
        assert_true(fputs("this is a letter, not a database\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    check_moved(size_of(path));
}

/* The database was taken away and its log was left: nothing of it goes into the fresh one. */
static void test_lone_log(void **state)
{
    (void)state;
    char log_path[160];
    snprintf(log_path, sizeof log_path, "%s.wal", path);
    make_file(true);
    off_t log_size = size_of(log_path);
    assert_true(log_size > 100);
    assert_int_equal(unlink(path), 0);
    DatabaseError error;
    assert_null(open_file(false, &error));
    assert_non_null(strstr(error.text, log_path));
    assert_true(size_of(log_path) == log_size);
    Database *database = open_file(true, &error);
    if (database == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(alone_lines, 1);
    assert_int_equal(damaged_lines, 0);
    assert_non_null(strstr(damaged_text, database_moved_to(database)));
    assert_non_null(strstr(database_moved_to(database), ".wal"));
    assert_true(size_of(database_moved_to(database)) == log_size);
    assert_true(fixture_number(database, "SELECT count(*) FROM duckdb_tables()") == 0);
    database_close(&database);
}

/* The log alone is damaged: it is moved, and the file goes on from its last checkpoint. */
static void test_damaged_log(void **state)
{
    (void)state;
    char log_path[160];
    snprintf(log_path, sizeof log_path, "%s.wal", path);
    make_file(true);
    off_t log_size = size_of(log_path);
    assert_true(log_size > 100);
    overwrite(log_path, 60, "damage", 6);
    DatabaseError error;
    Database *database = open_file(true, &error);
    if (database == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(damaged_lines, 1);
    assert_non_null(strstr(database_moved_to(database), ".wal"));
    assert_true(size_of(database_moved_to(database)) == log_size);
    assert_true(fixture_number(database, "SELECT count(*) FROM t") == 20000);
    database_close(&database);
    assert_int_equal(files_named("damaged"), 1);
}

/* A file and its log move together and still make a pair. */
static void test_pair_moves(void **state)
{
    (void)state;
    make_file(true);
    overwrite(path, 0, "not the header of anything", 26);
    DatabaseError error;
    Database *database = open_file(true, &error);
    assert_non_null(database);
    char log_path[512];
    snprintf(log_path, sizeof log_path, "%s.wal", database_moved_to(database));
    assert_int_equal(access(log_path, F_OK), 0);
    assert_true(fixture_number(database, "SELECT count(*) FROM duckdb_tables()") == 0);
    database_close(&database);
}

/* Bytes here and there, and cuts anywhere: an answer each time, a crash or a hang never. */
static void test_random_damage(void **state)
{
    (void)state;
    unsigned seed = 20261202;
    char keep[600];
    make_file(true);
    snprintf(keep, sizeof keep, "cp %s %s.kept && cp %s.wal %s.wal.kept", path, path, path, path);
    assert_int_equal(system(keep), 0);
    for (int round = 0; round < 40; round++) {
        char restore[700];
        char target[160];
        snprintf(restore, sizeof restore,
                 "rm -f %s.damaged-* && cp %s.kept %s && cp %s.wal.kept %s.wal", path, path, path,
                 path, path);
        assert_int_equal(system(restore), 0);
        snprintf(target, sizeof target, "%s%s", path, round % 4 == 0 ? ".wal" : "");
        off_t size = size_of(target);
        if (round % 3 == 0) {
            assert_int_equal(truncate(target, rand_r(&seed) % size), 0);
        } else {
            for (int i = 0; i < 1 + round % 5; i++) {
                unsigned char byte = (unsigned char)rand_r(&seed);
                off_t within = rand_r(&seed) % 2 == 0 && size > 12288 ? 12288 : size;
                overwrite(target, rand_r(&seed) % within, &byte, 1);
            }
        }
        DatabaseError error;
        Database *database = open_file(true, &error);
        if (database == NULL)
            fail_msg("round %d: %s", round, error.text);
        struct ArrowArrayStream stream;
        struct ArrowArray batch;
        if (fixture_stream(database, "SELECT a, b FROM t", &stream, &error)) {
            while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL)
                batch.release(&batch);
            stream.release(&stream);
        }
        database_close(&database);
    }
}

/* What DuckDB says, sorted into damage and anything else. */
static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        DatabaseDamage damage;
    } cases[] = {
        {"IO Error: Could not set lock on file \"d\": Conflicting lock is held in a (PID 1)",
         DATABASE_DAMAGE_NONE},
        {"IO Error: Cannot open file \"d\": Permission denied", DATABASE_DAMAGE_NONE},
        {"IO Error: Trying to read a database file with version number 99, but we can only read "
         "versions between 64 and 67.\nThe database file was created with a newer version",
         DATABASE_DAMAGE_NONE},
        {"IO Error: Could not write all bytes to file \"d\": No space left on device",
         DATABASE_DAMAGE_NONE},
        {"IO Error: Could not read from file \"d\": Input/output error", DATABASE_DAMAGE_NONE},
        {"Out of Memory Error: failed to allocate", DATABASE_DAMAGE_NONE},
        {"", DATABASE_DAMAGE_NONE},
        {"IO Error: The file \"d\" exists, but it is not a valid DuckDB database file!",
         DATABASE_DAMAGE_FILE},
        {"IO Error: Corrupt database file: computed checksum 1 does not match stored checksum 2",
         DATABASE_DAMAGE_FILE},
        {"IO Error: Could not read enough bytes from file \"d\": attempted to read 1 bytes from "
         "location 2",
         DATABASE_DAMAGE_FILE},
        {"IO Error: Failure while replaying WAL file \"d.wal\": Corrupt WAL file: entry at byte",
         DATABASE_DAMAGE_LOG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (database_damage_of(cases[i].text) != cases[i].damage)
            fail_msg("%s", cases[i].text);
    }
}

/* What cannot be moved stays where it is, as it was. */
static void test_cannot_move(void **state)
{
    (void)state;
    static const char *const plans[] = {"store.damage.rename:1", "store.damage.rename:2",
                                        "store.damage.alloc:1"};
    make_file(true);
    overwrite(path, 0, "not the header of anything", 26);
    off_t size = size_of(path);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        char log_path[160];
        DatabaseError error;
        assert_true(fault_set_plan(plans[i]));
        assert_null(open_file(true, &error));
        fault_set_plan(NULL);
        assert_non_null(strstr(error.text, "damaged"));
        assert_true(size_of(path) == size);
        snprintf(log_path, sizeof log_path, "%s.wal", path);
        assert_int_equal(access(log_path, F_OK), 0);
        assert_int_equal(files_named("damaged"), 0);
    }
}

/* A result that does not fit the memory given spills to the disk, and the spill is gone after. */
static void test_spill(void **state)
{
    (void)state;
    DatabaseError error;
    const DatabaseParams params = {.path = path, .threads = 1, .memory_bytes = (uint64_t)64 << 20};
    Database *database = database_open(&params, &error);
    assert_non_null(database);
    assert_true(fixture_number(database, "SELECT count(*) FROM (SELECT md5(range::VARCHAR) AS h "
                                         "FROM range(3000000) ORDER BY h)") == 3000000);
    fixture_run(database, "CREATE TABLE sorted AS SELECT md5(range::VARCHAR) AS h FROM "
                          "range(1500000) ORDER BY h");
    database_close(&database);
    assert_int_equal(files_named(".tmp"), 0);
}

/* Sessions that are opened while others come and go, and one that outlives its database. */
static void test_sessions(void **state)
{
    (void)state;
    Database *database = fixture_memory();
    DatabaseError error;
    DatabaseSession *first = database_session_open(database, &error);
    DatabaseSession *second = database_session_open(database, &error);
    DatabaseSession *third = database_session_open(database, &error);
    assert_true(first != NULL && second != NULL && third != NULL);
    database_session_close(&second);
    assert_null(second);
    database_session_close(&second);
    assert_true(database_session_enter(first, &error));
    assert_true(database_session_run(first, "SELECT 1", &error));
    assert_null(database_session_result(first));
    database_session_leave(first);
    database_close(&database);
    assert_false(database_session_enter(first, &error));
    assert_string_equal(error.text, DATABASE_CLOSED_TEXT);
    database_session_close(&third);
    assert_false(database_session_enter(first, &error));
    database_session_close(&first);
}

/* Long words are cut at a whole character, and traces of the library are left out. */
static void test_error_text(void **state)
{
    (void)state;
    DatabaseError error;
    char longest[2 * DATABASE_ERROR_BYTES];
    memset(longest, 'a', sizeof longest);
    for (size_t i = 0; i + 3 < sizeof longest; i += 3)
        memcpy(longest + i, "\xe6\xbc\xa2", 3);
    longest[sizeof longest - 1] = '\0';
    database_error_set(&error, 7, "%s", longest);
    size_t length = strlen(error.text);
    assert_true(length < DATABASE_ERROR_BYTES && length > DATABASE_ERROR_BYTES - 5);
    assert_int_equal(length % 3, 0);
    assert_int_equal(error.kind, 7);
    database_error_set(&error, 0, "INTERNAL Error: x\n\nStack Trace:\n\n/lib/y(z)");
    assert_string_equal(error.text, "INTERNAL Error: x");
    database_error_set(NULL, 0, "nobody");
}

int main(void)
{
    log_stderr_enable(false);
    log_sink_add(capture, NULL);
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(test_settings),    TEST(test_params),        TEST(test_locked),
        TEST(test_no_access),   TEST(test_damaged_file),  TEST(test_cut_file),
        TEST(test_other_file),  TEST(test_damaged_log),   TEST(test_lone_log),
        TEST(test_pair_moves),  TEST(test_random_damage), TEST(test_words),
        TEST(test_cannot_move), TEST(test_spill),         TEST(test_sessions),
        TEST(test_error_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
