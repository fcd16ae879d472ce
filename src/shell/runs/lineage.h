/* shell/runs/lineage.h: from a run to its artifacts and back: what the artifacts page shows.
 *
 * A worker lists what was put, a job verifies blobs, another one opens a folder. The frame thread
 * asks and looks: it reads no file. What is made for it is never changed again, but for the states
 * of a LineageCheck, which are atomic. */
#ifndef CALIPER_SHELL_RUNS_LINEAGE_H
#define CALIPER_SHELL_RUNS_LINEAGE_H

#include <stdatomic.h>

#include "shell/runs/worker.h"
#include "store/artifacts/artifact_store.h"

typedef struct LineageQuestion {
    uint64_t run;
    bool all;                                 /* what was put for any run, or for none */
    char digest[ARTIFACT_STORE_DIGEST_BYTES]; /* whose origins are wanted; "": nobody's */
} LineageQuestion;

typedef struct LineageRow {     /* one put */
    const ArtifactRow *put;     /* the list's */
    const char *shown;          /* the name for people: one line, nothing that steers a terminal */
    uint32_t version, versions; /* the place among the puts of its name, from 1; how many */
    bool there;                 /* the file is there in full length */
} LineageRow;

typedef struct Lineage {
    LineageQuestion question;
    ArtifactList list; /* all puts */
    LineageRow *rows;  /* those of the question, the newest first */
    uint32_t count;
    uint64_t total_bytes; /* of different blobs */
    uint32_t missing;
    LineageRow *origins; /* the puts of the question's digest, the newest first */
    uint32_t origin_count;
    char *names; /* what `shown` points into */
    bool failed; /* the log says why */
} Lineage;

/* Answers LineageQuestion by Lineage. NULL after one line. */
RunsWorker *lineage_worker_create(void);
/* Pure: fills the rows of a list that was read; `there` is left false. False without memory. For
 * lineage.c and tests. */
bool lineage_fill(Lineage *lineage);
void lineage_free(Lineage *lineage);

/* ---- Verifying: reading blobs and hashing them ---- */

typedef enum LineageVerdict {
    LINEAGE_VERDICT_WAITING = 0,
    LINEAGE_VERDICT_WHOLE = 1,
    LINEAGE_VERDICT_MISSING = 2, /* or of another length */
    LINEAGE_VERDICT_DAMAGED = 3, /* its bytes have another digest, or cannot be read */
    LINEAGE_VERDICT_CANCELLED = 4
} LineageVerdict;

typedef struct LineageCheck LineageCheck;

/* Starts a job that verifies different blobs (sorted here). NULL after one line. */
LineageCheck *lineage_check_start(const LineageRow *rows, uint32_t count);
/* The job may go on; it was asked to end. NULLs *check, accepts NULL. */
void lineage_check_drop(LineageCheck **check);
/* False: the digest is not among its own. */
bool lineage_check_of(const LineageCheck *check, const char *digest, LineageVerdict *out);
bool lineage_check_is_done(const LineageCheck *check);
/* How far it is, 0 to 1. */
float lineage_check_progress(const LineageCheck *check);
/* How many have which verdict. */
void lineage_check_count(const LineageCheck *check, uint32_t counts[5]);

/* ---- Showing in a folder ---- */

typedef struct LineageShow LineageShow;

/* Starts a job that opens the folder of a blob with xdg-open. NULL after one line. */
LineageShow *lineage_show_start(const char *digest);
void lineage_show_drop(LineageShow **show);
/* What came of it; NULL: it is not known yet. Lives as long as `show`. */
const char *lineage_show_words(const LineageShow *show);

#endif
