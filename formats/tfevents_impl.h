/* formats/tfevents_impl.h: what the files of the event reader share.
 *
 * Only formats/tfevents*.c include it. */
#ifndef FORMATS_TFEVENTS_IMPL_H
#define FORMATS_TFEVENTS_IMPL_H

#include "formats/protobuf.h"
#include "formats/tfevents.h"
#include "formats/tfevents_records.h"

/* Bytes that grow and are used again for the next item. */
typedef struct TfeventsText {
    char *bytes;
    size_t used, capacity;
    bool failed; /* no memory; stays until it is emptied */
} TfeventsText;

void tfevents_text_clear(TfeventsText *text);
void tfevents_text_add(TfeventsText *text, const void *bytes, size_t size_bytes);
void tfevents_text_add_string(TfeventsText *text, const char *string);
/* A JSON string with its quotes; what is not UTF-8 becomes U+FFFD. */
void tfevents_text_add_json(TfeventsText *text, const void *bytes, size_t size_bytes);
/* The shortest decimal that reads back as the same double; null for what JSON has no number for. */
void tfevents_text_add_number(TfeventsText *text, double value);
/* With a zero at the end; NULL without memory. */
const char *tfevents_text_finish(TfeventsText *text);

typedef enum TfeventsPlugin {
    TFEVENTS_PLUGIN_NONE = 0, /* none is named, for this tag so far */
    TFEVENTS_PLUGIN_SCALARS,
    TFEVENTS_PLUGIN_HISTOGRAMS,
    TFEVENTS_PLUGIN_IMAGES,
    TFEVENTS_PLUGIN_TEXT,
    TFEVENTS_PLUGIN_HPARAMS,
    TFEVENTS_PLUGIN_OTHER
} TfeventsPlugin;

/* ---- tfevents_tags.c: which plugin a tag belongs to; only its first value has to say ---- */

typedef struct TfeventsTag {
    char *name; /* NULL: a free place */
    TfeventsPlugin plugin;
} TfeventsTag;

typedef struct TfeventsTags {
    TfeventsTag *places; /* open addressing, a power of two */
    size_t count, capacity;
} TfeventsTags;

void tfevents_tags_finish(TfeventsTags *tags);
/* What the tag's first value said; remembers `said` for a tag that is new. */
TfeventsPlugin tfevents_tags_plugin(TfeventsTags *tags, const char *tag, TfeventsPlugin said);

/* ---- tfevents_value.c ---- */

typedef struct TfeventsTensor {
    uint32_t dtype;
    uint64_t elements; /* by its shape; 1 for a scalar */
    uint32_t rank;
    uint64_t last_axis;     /* its extent; 0 without one */
    const uint8_t *content; /* tensor_content */
    size_t content_bytes;
    ProtoReader message; /* for the repeated fields */
    bool good;
} TfeventsTensor;

TfeventsTensor tfevents_tensor_read(const ProtoField *field);
/* Element `index` of a numeric tensor as a double; one value stands for all where only one is
 * given. False when there is none, or its type is no number. */
bool tfevents_tensor_doubles(const TfeventsTensor *tensor, double *out, size_t count);
/* The next string of a string tensor: starts with *next = tensor->message. */
bool tfevents_tensor_string(const TfeventsTensor *tensor, ProtoReader *next, ProtoField *out);

/* Fills the histogram of an item from a HistogramProto, or from a tensor of shape (k, 3); false
 * when it is none. `buckets` is grown as needed. */
typedef struct TfeventsBuckets {
    TfeventsBucket *list;
    size_t capacity;
} TfeventsBuckets;
bool tfevents_histogram_read(const ProtoField *histogram, TfeventsBuckets *buckets,
                             TfeventsItem *item);
bool tfevents_histogram_tensor(const TfeventsTensor *tensor, TfeventsBuckets *buckets,
                               TfeventsItem *item);

/* ---- tfevents_hparams.c ---- */

/* Fills an item of HPARAMS or HPARAMS_END from the plugin's content; false when it is neither.
 * `text` holds the JSON, `group` the group's name. */
bool tfevents_hparams_read(const ProtoField *content, TfeventsText *text, TfeventsText *group,
                           TfeventsItem *item);
/* Whether it describes which settings and results there are in all runs, and no values. */
bool tfevents_hparams_is_experiment(const ProtoField *content);

#endif
