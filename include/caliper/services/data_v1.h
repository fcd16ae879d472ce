/* caliper.data.v1: tables to share and to ask, with SQL.
 *
 * Frozen. One embedded database a host. An applet's SQL sees its own schema first and then the
 * shared one, "main". Every slot is [any], waits for its work and may touch the disk: call from a
 * job, not from frame(). false means refused or failed, outputs are untouched and last_error says
 * why. Thread tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_DATA_V1_H
#define CALIPER_SERVICES_DATA_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/arrow_c.h>
#include <caliper/layout.h>

#define CALIPER_DATA_V1 "caliper.data.v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperDataV1 {
    uint32_t struct_size;

    /* Runs one SQL statement of any kind. Fills *out with its result, which the caller releases;
     * statements without rows give an empty stream. Each call has a connection of its own, so
     * BEGIN, COMMIT, ROLLBACK, USE and SET are refused. [any] */
    bool (*query)(const char *sql, struct ArrowArrayStream *out);

    /* Gives a name (a letter or underscore, then letters, digits, underscores) to a path ending in
     * .parquet, .csv, .tsv or .json, or to a table. Registering again replaces. The file is read
     * when the dataset is opened. [any] */
    bool (*register_dataset)(const char *name, const char *uri);

    /* Streams a registered dataset whole. Fills *out, which the caller releases. [any] */
    bool (*open_dataset)(const char *name, struct ArrowArrayStream *out);

    /* Why this thread's last call failed, UTF-8; "" if it did not. Never NULL. Host-owned, valid
     * until this thread's next call of this service. [any] */
    const char *(*last_error)(void);
} CaliperDataV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperDataV1, 40);
CALIPER_LAYOUT_AT(CaliperDataV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperDataV1, query, 8);
CALIPER_LAYOUT_AT(CaliperDataV1, register_dataset, 16);
CALIPER_LAYOUT_AT(CaliperDataV1, open_dataset, 24);
CALIPER_LAYOUT_AT(CaliperDataV1, last_error, 32);

#endif
