/* store/artifacts/artifact_store.h: blobs by content, and who made them.
 *
 * src/store/artifacts/ keeps the bytes worth keeping of one data root:
 *     artifacts/<2 hex>/<64 hex>   a blob, named by its SHA-256; whole or absent, never rewritten
 *     artifacts/index.log          one line a put (artifact_line.h)
 *     artifacts/index.lock         locked while a blob and its line are put in place
 *     artifacts/tmp/               blobs on their way, each locked by the process that writes it
 * Any number of threads and processes may use one data root at once. Services, shell, cli and tests
 * include this; the other headers of the folder are its own.
 *
 * Every function is for any thread and works on files: not for the frame thread, where put and find
 * wait FRAME_THREAD_WAIT_MS at most for another process or thread, and then fail. Each failure is
 * one log line. */
#ifndef CALIPER_STORE_ARTIFACTS_ARTIFACT_STORE_H
#define CALIPER_STORE_ARTIFACTS_ARTIFACT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARTIFACT_STORE_DIGEST_BYTES = 65, ARTIFACT_STORE_PATH_BYTES = 4096 };

typedef struct ArtifactStore ArtifactStore;

/* The store of a data root that exists. Makes nothing until the first put; an index that was lost
 * is made anew from the blobs. NULL after one line. */
ArtifactStore *artifact_store_open(const char *data_root);
void artifact_store_close(ArtifactStore **store);

/* caliper.artifacts.v1 put: on true the blob is durable and out_digest holds its digest. */
bool artifact_store_put(ArtifactStore *store, const char *name, const void *bytes,
                        uint64_t size_bytes, uint64_t run,
                        char out_digest[ARTIFACT_STORE_DIGEST_BYTES]);

/* The path of a blob by digest, else by name: the newest row of that name whose file is there in
 * full length (one line says so when a newer one's is not). False, without a line, when there is
 * none. */
bool artifact_store_find(ArtifactStore *store, const char *digest_or_name,
                         char out_path[ARTIFACT_STORE_PATH_BYTES]);

/* ---- Lineage: from a run to its artifacts and back ---- */

typedef struct ArtifactRow { /* one put */
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    const char *name; /* the list's */
    uint64_t run;     /* of caliper.metrics; 0: none */
    uint64_t size_bytes;
    int64_t created_us; /* microseconds since 1970, UTC */
} ArtifactRow;

typedef struct ArtifactList {
    ArtifactRow *rows; /* in the order of their puts */
    size_t count;
    char *names; /* what the rows' names point into */
} ArtifactList;

typedef enum ArtifactFilter {
    ARTIFACT_FILTER_ALL = 0,
    ARTIFACT_FILTER_RUN = 1,   /* the puts of one run */
    ARTIFACT_FILTER_NAME = 2,  /* the puts of one name */
    ARTIFACT_FILTER_DIGEST = 3 /* the puts of one blob: the runs that it came from */
} ArtifactFilter;

typedef struct ArtifactQuery {
    ArtifactFilter filter;
    uint64_t run;     /* of ARTIFACT_FILTER_RUN; 0: the puts without a run */
    const char *text; /* of the others: a name, or a digest's 64 digits */
} ArtifactQuery;

/* A copy of the rows; the caller's, to be freed. Without a query all of them. False after a line.
 */
bool artifact_store_list(ArtifactStore *store, const ArtifactQuery *query, ArtifactList *out);
void artifact_list_free(ArtifactList *list);
/* The runs that a blob was put by, each once, the latest first: at most `capacity` of them are
 * written, and how many there are is returned. 0 also when there is no such blob. */
size_t artifact_store_runs_of(ArtifactStore *store, const char *digest_or_name, uint64_t *out_runs,
                              size_t capacity);

/* Whether the row's file is there in full length; nothing is logged. */
bool artifact_store_row_is_there(ArtifactStore *store, const ArtifactRow *row);

/* A name for people, on one line and without control characters, escaped as in index.log. `out` has
 * room for four bytes a byte of the name, and one more. Returns its length. Pure. */
size_t artifact_name_text(const char *name, char *out);
/* Room for any name that was put. */
enum { ARTIFACT_NAME_TEXT_BYTES = 4 * 4096 + 1 };

/* ---- Offline work: verify, gc, rebuild, export ---- */

typedef enum ArtifactFindingKind {
    ARTIFACT_FINDING_MISSING = 0,    /* a row without its blob */
    ARTIFACT_FINDING_LENGTH = 1,     /* the blob is shorter or longer than its row says */
    ARTIFACT_FINDING_DAMAGED = 2,    /* its bytes have another digest */
    ARTIFACT_FINDING_UNREADABLE = 3, /* the system gave an error */
    ARTIFACT_FINDING_UNNAMED = 4,    /* a blob that no row names */
    ARTIFACT_FINDING_TEMPORARY = 5   /* what a put left that did not end */
} ArtifactFindingKind;

typedef struct ArtifactFinding { /* strings live for the call */
    ArtifactFindingKind kind;
    const char *digest; /* "" of a temporary */
    const char *name;   /* the newest one; "" of unnamed blobs and temporaries */
    const char *path;
    uint64_t size_bytes; /* of the file; 0 when it is missing */
    const char *detail;  /* in words */
} ArtifactFinding;

/* How long work talks and listens; each may be NULL. */
typedef struct ArtifactWork {
    void (*finding)(void *user, const ArtifactFinding *finding);
    void (*progress)(void *user, uint64_t done_bytes, uint64_t total_bytes);
    bool (*stop)(void *user); /* asked often; true ends the work early */
    void *user;
} ArtifactWork;

typedef struct ArtifactSummary {
    uint64_t rows, blobs;            /* rows of the index; blobs they name */
    uint64_t checked_bytes;          /* read and hashed */
    uint64_t bad;                    /* missing, short, damaged, unreadable */
    uint64_t unnamed, unnamed_bytes; /* blobs that no row names */
    uint64_t temporaries, live;      /* of ended and of running puts */
    uint64_t removed, removed_bytes; /* gc; with dry_run: would be */
    uint64_t added;                  /* rows that rebuild wrote */
    uint64_t damaged_lines, at_line; /* of index.log: how many, and the first of them */
    bool stopped;                    /* `stop` said so: the numbers are of a part */
} ArtifactSummary;

/* Reads every blob that a row names, and tells of each that is not as it should be. Blobs without a
 * row and temporaries are told of too; they are not counted as bad. False after a line when the
 * index could not be read. */
bool artifact_store_verify(ArtifactStore *store, const ArtifactWork *work, ArtifactSummary *out);
/* Removes the temporaries of puts that ended without success, and blobs that no row names, telling
 * of each. While index.log has damaged lines, blobs are kept: one of those lines may have named
 * them. With `dry_run` only tells. */
bool artifact_store_gc(ArtifactStore *store, bool dry_run, const ArtifactWork *work,
                       ArtifactSummary *out);
/* Writes index.log anew: the lines that can be read, then one for each whole blob that none names,
 * as "recovered/<digest>". A log with damaged lines is kept beside it. */
bool artifact_store_rebuild(ArtifactStore *store, const ArtifactWork *work, ArtifactSummary *out);

/* Hands the bytes of a blob to `take`, in pieces; false after one line when it is not there, cannot
 * be read or is damaged (then all its bytes were handed out), and without one when `take` answered
 * false or work's stop true. out_row, which may be NULL, gets digest and size_bytes. */
typedef bool (*ArtifactTake)(void *user, const void *bytes, size_t size_bytes);
bool artifact_store_read(ArtifactStore *store, const char *digest_or_name, ArtifactTake take,
                         void *take_user, const ArtifactWork *work, ArtifactRow *out_row);

#endif
