/* formats/tfevents.h: TensorBoard event files, value by value.
 *
 * Scalars of both generations (simple_value and tensors), histograms (HistogramProto and tensors),
 * images as encoded bytes, text, and the hyper-parameters plugin. What is none of these (graphs,
 * run metadata, audio, tensors of other plugins) is counted. A damaged record costs that record
 * alone (tfevents_records.h), and a file that is being written can be read again for what was
 * appended.
 *
 * Who calls: the command line and tests. Thread rule: any thread, one reader by one thread at a
 * time; calls may block on the disk. Memory: the largest record, at most 256 MiB unless set, plus
 * the tags whose plugin is known, at most 65536. */
#ifndef FORMATS_TFEVENTS_H
#define FORMATS_TFEVENTS_H

#include "formats/array_types.h"

typedef struct TfeventsReader TfeventsReader;

typedef enum TfeventsKind {
    TFEVENTS_SCALAR = 0,
    TFEVENTS_HISTOGRAM,
    TFEVENTS_IMAGE,       /* one item an image, `index` counts those of one step */
    TFEVENTS_TEXT,        /* one item a string, `index` likewise */
    TFEVENTS_HPARAMS,     /* settings of a run, as JSON */
    TFEVENTS_HPARAMS_END, /* how and when the run ended */
    TFEVENTS_KIND_COUNT
} TfeventsKind;

typedef struct TfeventsBucket { /* TensorBoard's new form: from left to right, count of values */
    double left, right, count;
} TfeventsBucket;

typedef struct TfeventsItem { /* lives until the next call */
    TfeventsKind kind;
    const char *tag; /* "" where the file has none; a NUL inside ends it */
    int64_t step;
    double wall_time_sec; /* since 1970 */
    uint32_t index;
    bool is_tensor; /* of the second generation */

    double scalar; /* a float becomes the same double */

    /* Histograms; of tensors, which have buckets alone, the first five are NAN. */
    double min, max, sum, sum_squares, count;
    const TfeventsBucket *buckets; /* outer empty ones dropped, min and max as the outer edges */
    size_t bucket_count;

    /* An image's encoded bytes (PNG mostly), a text's UTF-8 as it is, or the JSON; a zero follows.
     */
    const char *bytes;
    size_t size_bytes;
    uint32_t width, height; /* an image's, by the file's word */

    const char *group_name; /* HPARAMS; "" for none */
    double start_time_sec;  /* HPARAMS; 0: not said */
    double end_time_sec;    /* HPARAMS_END; 0: not said */
    int32_t end_status;     /* HPARAMS_END: 1 success, 2 failure, 3 running, 0 unknown */
} TfeventsItem;

typedef struct TfeventsCounts {
    uint64_t records;         /* whole ones */
    uint64_t damaged_records; /* places where bytes were passed over */
    uint64_t damaged_bytes;
    uint64_t undecoded; /* whole records that are no event */
    uint64_t too_large;
    uint64_t items;         /* handed out */
    uint64_t other;         /* values and events of kinds that are not handed out */
    uint64_t pending_bytes; /* at the end of the file, no whole record (yet) */
} TfeventsCounts;

/* Zero means the default. */
typedef struct TfeventsOptions {
    uint64_t max_record_bytes; /* 256 MiB */
    bool is_final;             /* nobody writes the file any more: a frame that it ends in is looked
                                  into for whole ones */
} TfeventsOptions;

/* NULL and `error` when it is no file that can be read. An empty file is one without items. */
TfeventsReader *tfevents_open(const char *path, const TfeventsOptions *options, ArrayError *error);
/* The same from a descriptor of a regular file or memfd (duplicated). `name` is for messages. */
TfeventsReader *tfevents_open_fd(int fd, const char *name, const TfeventsOptions *options,
                                 ArrayError *error);
/* The next item. False when there is no more, with error->fault NONE: ask again when the file has
 * grown. False with a fault when the system would not read. */
bool tfevents_next(TfeventsReader *reader, TfeventsItem *item, ArrayError *error);
void tfevents_counts(const TfeventsReader *reader, TfeventsCounts *out);
/* Closes, frees and NULLs; accepts NULL. */
void tfevents_close(TfeventsReader **reader);

/* Whether a file is called as TensorBoard wants it: "tfevents" somewhere in its name. */
bool tfevents_name_fits(const char *file_name);

#endif
