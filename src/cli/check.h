/* cli/check.h: `caliper check PATH`: what an applet's author wants to know before anybody else
 * does.
 *
 * check.c is the command: it runs each row of the table in a child process and prints what came of
 * it. check_rows.c has the rows, check_stage.c the host that they run on, check_elf.c looks into
 * the file. Included by cli/check*.c; first thread of a process. */
#ifndef CALIPER_CLI_CHECK_H
#define CALIPER_CLI_CHECK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/applet_place.h"
#include "core/descriptor.h"

enum {
    CHECK_DETAIL_BYTES = 512,
    CHECK_LOG_BYTES = 16384,
    CHECK_SERVICES_MAX = 64,
    CHECK_NAME_BYTES = 192
};

/* In order of weight: a row says its heaviest. */
typedef enum CheckResult {
    CHECK_RESULT_NONE = 0, /* the child never came to say anything */
    CHECK_RESULT_OK = 1,
    CHECK_RESULT_SKIP = 2,
    CHECK_RESULT_WARN = 3,
    CHECK_RESULT_FAIL = 4
} CheckResult;

/* Memory that a child shares with its parent: what it says outlives it. */
typedef struct CheckShared {
    CheckResult result;
    char detail[CHECK_DETAIL_BYTES];
    char doing[64]; /* the call that was begun last */
    char id[DESCRIPTOR_TEXT_BYTES];
    char version[DESCRIPTOR_TEXT_BYTES];
    atomic_uint asked_count; /* services that were asked for, in order, with repetitions */
    char asked[CHECK_SERVICES_MAX][DESCRIPTOR_SERVICE_BYTES];
    uint32_t log_bytes;
    char log[CHECK_LOG_BYTES]; /* warnings and errors of the host, and all lines of the applet */
} CheckShared;

/* One row in its child. */
typedef struct CheckRun {
    const AppletPlace *place;
    const char *data_dir;
    const char *device;
    const char *hidden; /* this service is answered NULL; "": all are; NULL: none is */
    float scale;        /* 0: 1 */
    int32_t width_px, height_px;
    CheckShared *shared;
} CheckRun;

typedef struct CheckRow {
    const char *name;
    void (*run)(CheckRun *run);
    bool needed; /* when it fails the rest is skipped */
    float scale;
    int32_t width_px, height_px;
} CheckRow;

/* Ended by a NULL name. The first block; then check_without once for each service that the row
 * check_frames asked for, and once for all of them. */
extern const CheckRow check_rows[];
void check_frames(CheckRun *run);
void check_without(CheckRun *run);

/* Keeps the heaviest result, and the first words at that weight. */
__attribute__((format(printf, 3, 4))) void check_say(CheckRun *run, CheckResult result,
                                                     const char *format, ...);

#endif
