/* What the tests of the metrics store share: folders that go away, log lines by item, and reading a
 * data root from outside, after its owner is gone. */
#ifndef METRICS_FIXTURE_H
#define METRICS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "core/log.h"
#include "store/metrics/metrics_store.h"
#include "store_folder.h"

/* A fresh folder; store_folder_remove takes it away. */
void fixture_root(char out[256]);
/* root/name. */
const char *fixture_path(const char *root, const char *name);
bool fixture_exists(const char *root, const char *name);
void fixture_write(const char *root, const char *name, const void *bytes, size_t length);

/* A test's folder, its log counted, no failure planned; and the end of that. */
extern char fixture_folder[256];
int fixture_set_up(void **state);
int fixture_tear_down(void **state);

/* A process that owns the data root and does nothing, until it is ended or this one is. */
pid_t fixture_owner_start(const char *root);
void fixture_owner_end(pid_t owner);

/* Counts lines by item from now on, and silences stderr. */
void fixture_log_start(void);
void fixture_log_stop(void);
uint32_t fixture_log_count(LogItem item);
/* The last line of that item; "" if there was none. */
const char *fixture_log_text(LogItem item);

MetricsStore *fixture_store(const char *root);

/* One number of the database at rest, read by a connection of its own (nobody may own it). */
int64_t fixture_number(const char *root, const char *sql);
double fixture_real(const char *root, const char *sql);
/* The first column of the first row as text; "NULL" for NULL. Lives until the next call. */
const char *fixture_text(const char *root, const char *sql);
/* Runs statements on it. */
void fixture_run(const char *root, const char *sql);
/* The same through a store's own query: one BIGINT. */
int64_t fixture_query(MetricsStore *store, const char *sql);

/* Whether CALIPER_TEST_LONG asks for the long form. */
bool fixture_long(void);

#endif
