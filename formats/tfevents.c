/* formats/tfevents.c: events, their values, and which plugin each belongs to. The numbers of fields
 * are those of TensorFlow's event.proto and summary.proto. One reader by one thread. */
#include "formats/tfevents_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct TfeventsReader {
    TfeventsRecords records;
    char *name;
    TfeventsTags tags;
    TfeventsCounts counts;

    /* The event at hand. */
    ProtoReader values; /* what is left of its summary */
    int64_t step;
    double wall_time_sec;

    /* The value at hand, when it holds several strings. */
    TfeventsTensor tensor;
    ProtoReader strings;
    TfeventsPlugin strings_plugin; /* IMAGES or TEXT; NONE: there are none left */
    uint32_t next_index, width, height;

    TfeventsText tag, text, group;
    TfeventsBuckets buckets;
};

bool tfevents_name_fits(const char *file_name)
{
    return strstr(file_name, "tfevents") != NULL;
}

TfeventsReader *tfevents_open_fd(int fd, const char *name, const TfeventsOptions *options,
                                 ArrayError *error)
{
    struct stat status;
    TfeventsReader *reader = NULL;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0 || fstat(own, &status) != 0 || !S_ISREG(status.st_mode)) {
        array_error_fill(error, ARRAY_FAULT_OPEN, name, "is no file that can be read");
    } else {
        reader = calloc(1, sizeof *reader);
        if (reader != NULL)
            reader->name = strdup(name);
    }
    if (reader == NULL || reader->name == NULL) {
        if (own >= 0 && S_ISREG(status.st_mode))
            array_error_fill(error, ARRAY_FAULT_MEMORY, name, "no memory to read it");
        if (own >= 0)
            close(own);
        free(reader);
        return NULL;
    }
    tfevents_records_begin(&reader->records, own, options != NULL ? options->max_record_bytes : 0);
    reader->records.is_final = options != NULL && options->is_final;
    return reader;
}

TfeventsReader *tfevents_open(const char *path, const TfeventsOptions *options, ArrayError *error)
{
    /* O_NONBLOCK: a pipe that nobody writes is refused, not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        array_error_fill(error, ARRAY_FAULT_OPEN, path, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    TfeventsReader *reader = tfevents_open_fd(fd, path, options, error);
    close(fd);
    return reader;
}

void tfevents_close(TfeventsReader **reader)
{
    if (reader == NULL || *reader == NULL)
        return;
    TfeventsReader *closing = *reader;
    close(closing->records.fd);
    tfevents_records_finish(&closing->records);
    tfevents_tags_finish(&closing->tags);
    free(closing->tag.bytes);
    free(closing->text.bytes);
    free(closing->group.bytes);
    free(closing->buckets.list);
    free(closing->name);
    free(closing);
    *reader = NULL;
}

void tfevents_counts(const TfeventsReader *reader, TfeventsCounts *out)
{
    *out = reader->counts;
    out->records = reader->records.records;
    out->damaged_records = reader->records.damaged;
    out->damaged_bytes = reader->records.damaged_bytes;
    out->too_large = reader->records.too_large;
    out->pending_bytes = tfevents_records_pending_bytes(&reader->records);
}

/* ---- One value ---- */

typedef struct Value {
    ProtoField content; /* field of Summary.Value: 2, 4, 5 or 8; number 0: none that is read */
    ProtoField plugin_content;
    TfeventsPlugin plugin;
} Value;

static TfeventsPlugin plugin_named(const ProtoField *name)
{
    static const char *const names[] = {[TFEVENTS_PLUGIN_SCALARS] = "scalars",
                                        [TFEVENTS_PLUGIN_HISTOGRAMS] = "histograms",
                                        [TFEVENTS_PLUGIN_IMAGES] = "images",
                                        [TFEVENTS_PLUGIN_TEXT] = "text",
                                        [TFEVENTS_PLUGIN_HPARAMS] = "hparams"};
    for (int i = TFEVENTS_PLUGIN_SCALARS; i <= TFEVENTS_PLUGIN_HPARAMS; i++) {
        if (strlen(names[i]) == name->size_bytes &&
            memcmp(names[i], name->bytes, name->size_bytes) == 0)
            return (TfeventsPlugin)i;
    }
    return name->size_bytes > 0 ? TFEVENTS_PLUGIN_OTHER : TFEVENTS_PLUGIN_NONE;
}

/* SummaryMetadata: plugin_data 1 {plugin_name 1, content 2}. */
static bool read_metadata(const ProtoField *metadata, Value *value)
{
    ProtoReader outer = proto_reader(metadata->bytes, metadata->size_bytes);
    ProtoField field, inner;
    while (proto_next(&outer, &field)) {
        if (!proto_is(&field, 1, PROTO_WIRE_BYTES))
            continue;
        ProtoReader data = proto_reader(field.bytes, field.size_bytes);
        while (proto_next(&data, &inner)) {
            if (proto_is(&inner, 1, PROTO_WIRE_BYTES))
                value->plugin = plugin_named(&inner);
            else if (proto_is(&inner, 2, PROTO_WIRE_BYTES))
                value->plugin_content = inner;
        }
        if (data.damaged)
            return false;
    }
    return !outer.damaged;
}

/* Summary.Value: tag 1, simple_value 2, image 4, histo 5, tensor 8, metadata 9; audio 6 and others
 * are not read. */
static bool read_value(TfeventsReader *reader, const ProtoField *message, Value *value)
{
    ProtoReader fields = proto_reader(message->bytes, message->size_bytes);
    ProtoField field;
    bool good = true;
    memset(value, 0, sizeof *value);
    tfevents_text_clear(&reader->tag);
    while (good && proto_next(&fields, &field)) {
        if (proto_is(&field, 1, PROTO_WIRE_BYTES)) {
            tfevents_text_clear(&reader->tag);
            tfevents_text_add(&reader->tag, field.bytes, field.size_bytes);
        } else if (proto_is(&field, 2, PROTO_WIRE_FIXED32) ||
                   proto_is(&field, 4, PROTO_WIRE_BYTES) || proto_is(&field, 5, PROTO_WIRE_BYTES) ||
                   proto_is(&field, 8, PROTO_WIRE_BYTES)) {
            value->content = field;
        } else if (proto_is(&field, 9, PROTO_WIRE_BYTES)) {
            good = read_metadata(&field, value);
        }
    }
    return good && !fields.damaged && tfevents_text_finish(&reader->tag) != NULL;
}

static void begin_item(const TfeventsReader *reader, TfeventsItem *item, TfeventsKind kind)
{
    memset(item, 0, sizeof *item);
    item->kind = kind;
    item->tag = reader->tag.bytes;
    item->step = reader->step;
    item->wall_time_sec = reader->wall_time_sec;
    item->group_name = "";
}

static bool give_bytes(TfeventsReader *reader, const ProtoField *field, TfeventsItem *item)
{
    tfevents_text_clear(&reader->text);
    tfevents_text_add(&reader->text, field->bytes, field->size_bytes);
    item->bytes = tfevents_text_finish(&reader->text);
    item->size_bytes = field->size_bytes;
    return item->bytes != NULL;
}

/* Summary.Image: height 1, width 2, colorspace 3, encoded_image_string 4. */
static bool read_image(TfeventsReader *reader, const ProtoField *image, TfeventsItem *item)
{
    ProtoReader fields = proto_reader(image->bytes, image->size_bytes);
    ProtoField field, encoded = {.number = 0};
    begin_item(reader, item, TFEVENTS_IMAGE);
    while (proto_next(&fields, &field)) {
        if (proto_is(&field, 1, PROTO_WIRE_VARINT))
            item->height = (uint32_t)field.value;
        else if (proto_is(&field, 2, PROTO_WIRE_VARINT))
            item->width = (uint32_t)field.value;
        else if (proto_is(&field, 4, PROTO_WIRE_BYTES))
            encoded = field;
    }
    return !fields.damaged && encoded.number != 0 && give_bytes(reader, &encoded, item);
}

static uint32_t decimal(const ProtoField *text)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text->size_bytes; i++) {
        if (text->bytes[i] < '0' || text->bytes[i] > '9' || value > UINT32_MAX)
            return 0;
        value = value * 10 + (uint64_t)(text->bytes[i] - '0');
    }
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* The next string of a tensor of images or text; false when there are none left. */
static bool next_string(TfeventsReader *reader, TfeventsItem *item)
{
    ProtoField field;
    TfeventsPlugin plugin = reader->strings_plugin;
    if (plugin == TFEVENTS_PLUGIN_NONE)
        return false;
    if (!tfevents_tensor_string(&reader->tensor, &reader->strings, &field)) {
        reader->strings_plugin = TFEVENTS_PLUGIN_NONE;
        return false;
    }
    begin_item(reader, item, plugin == TFEVENTS_PLUGIN_IMAGES ? TFEVENTS_IMAGE : TFEVENTS_TEXT);
    item->is_tensor = true;
    item->index = reader->next_index++;
    item->width = reader->width;
    item->height = reader->height;
    return give_bytes(reader, &field, item);
}

/* A tensor of images is width, height, and then the encoded ones; one of text is strings. */
static bool begin_strings(TfeventsReader *reader, TfeventsPlugin plugin, TfeventsItem *item)
{
    ProtoField width, height;
    reader->strings = reader->tensor.message;
    reader->next_index = 0;
    reader->width = reader->height = 0;
    if (plugin == TFEVENTS_PLUGIN_IMAGES) {
        if (!tfevents_tensor_string(&reader->tensor, &reader->strings, &width) ||
            !tfevents_tensor_string(&reader->tensor, &reader->strings, &height))
            return false;
        reader->width = decimal(&width);
        reader->height = decimal(&height);
    }
    reader->strings_plugin = plugin;
    return next_string(reader, item);
}

static bool read_tensor(TfeventsReader *reader, const Value *value, TfeventsItem *item)
{
    TfeventsPlugin plugin = tfevents_tags_plugin(&reader->tags, reader->tag.bytes, value->plugin);
    reader->tensor = tfevents_tensor_read(&value->content);
    switch (plugin) {
    case TFEVENTS_PLUGIN_SCALARS:
        begin_item(reader, item, TFEVENTS_SCALAR);
        item->is_tensor = true;
        return tfevents_tensor_doubles(&reader->tensor, &item->scalar, 1);
    case TFEVENTS_PLUGIN_HISTOGRAMS:
        begin_item(reader, item, TFEVENTS_HISTOGRAM);
        item->is_tensor = true;
        return tfevents_histogram_tensor(&reader->tensor, &reader->buckets, item);
    case TFEVENTS_PLUGIN_IMAGES:
    case TFEVENTS_PLUGIN_TEXT:
        return begin_strings(reader, plugin, item);
    default:
        return false;
    }
}

/* True with an item; false when there is none: it is then counted, or is no value of the run. */
static bool value_to_item(TfeventsReader *reader, const ProtoField *message, TfeventsItem *item,
                          bool *is_other)
{
    Value value;
    *is_other = true;
    if (!read_value(reader, message, &value))
        return false;
    if (value.plugin == TFEVENTS_PLUGIN_HPARAMS) {
        begin_item(reader, item, TFEVENTS_HPARAMS);
        item->is_tensor = true;
        if (tfevents_hparams_read(&value.plugin_content, &reader->text, &reader->group, item))
            return true;
        *is_other = !tfevents_hparams_is_experiment(&value.plugin_content);
        return false;
    }
    switch (value.content.number) {
    case 2:
        begin_item(reader, item, TFEVENTS_SCALAR);
        item->scalar = (double)proto_float(&value.content);
        return true;
    case 4:
        return read_image(reader, &value.content, item);
    case 5:
        begin_item(reader, item, TFEVENTS_HISTOGRAM);
        return tfevents_histogram_read(&value.content, &reader->buckets, item);
    case 8:
        return read_tensor(reader, &value, item);
    default:
        return false;
    }
}

/* ---- One event ---- */

/* Event: wall_time 1, step 2, summary 5; file_version 3 and source_metadata 10 say nothing of a
 * run. Others are counted. */
static void begin_event(TfeventsReader *reader, const uint8_t *data, size_t size_bytes)
{
    ProtoReader fields = proto_reader(data, size_bytes);
    ProtoField field, summary = {.number = 0};
    bool is_other = false;
    reader->step = 0;
    reader->wall_time_sec = 0;
    while (proto_next(&fields, &field)) {
        if (proto_is(&field, 1, PROTO_WIRE_FIXED64))
            reader->wall_time_sec = proto_double(&field);
        else if (proto_is(&field, 2, PROTO_WIRE_VARINT))
            reader->step = (int64_t)field.value;
        else if (proto_is(&field, 5, PROTO_WIRE_BYTES))
            summary = field;
        else if (field.number != 3 && field.number != 10)
            is_other = true;
    }
    if (fields.damaged) {
        reader->counts.undecoded++;
        return;
    }
    reader->counts.other += is_other && summary.number == 0 ? 1 : 0;
    reader->values = proto_reader(summary.bytes, summary.size_bytes);
}

bool tfevents_next(TfeventsReader *reader, TfeventsItem *item, ArrayError *error)
{
    ProtoField field;
    if (error != NULL)
        error->fault = ARRAY_FAULT_NONE;
    for (;;) {
        const uint8_t *data;
        size_t size_bytes;
        if (next_string(reader, item))
            break;
        if (proto_next(&reader->values, &field)) {
            if (!proto_is(&field, 1, PROTO_WIRE_BYTES))
                continue;
            bool is_other;
            if (value_to_item(reader, &field, item, &is_other))
                break;
            reader->counts.other += is_other ? 1 : 0;
            continue;
        }
        reader->counts.undecoded += reader->values.damaged ? 1 : 0;
        reader->values = proto_reader(NULL, 0);
        TfeventsStep step = tfevents_records_next(&reader->records, &data, &size_bytes);
        if (step == TFEVENTS_STEP_FAILED)
            return array_error_set(error, errno == ENOMEM ? ARRAY_FAULT_MEMORY : ARRAY_FAULT_READ,
                                   reader->name, "cannot be read: %s", strerror(errno));
        if (step == TFEVENTS_STEP_END)
            return false;
        begin_event(reader, data, size_bytes);
    }
    reader->counts.items++;
    return true;
}
