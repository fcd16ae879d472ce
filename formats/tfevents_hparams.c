/* formats/tfevents_hparams.c: the hyper-parameters plugin: HParamsPluginData of TensorBoard's
 * plugin_data.proto, its values those of google.protobuf.Value. One thread. */
#include "formats/tfevents_impl.h"

#include <string.h>

enum { DEPTH_MAX = 32 };

/* Value: null 1, number 2, string 3, bool 4, struct 5, list 6. Mutually recursive, DEPTH_MAX deep.
 */
static bool add_value(TfeventsText *text, const ProtoField *value, int depth);

/* A map's entry: key 1, value 2. */
static bool add_entry(TfeventsText *text, const ProtoField *entry, int depth)
{
    ProtoReader reader = proto_reader(entry->bytes, entry->size_bytes);
    ProtoField field, key = {.number = 0}, value = {.number = 0};
    while (proto_next(&reader, &field)) {
        if (proto_is(&field, 1, PROTO_WIRE_BYTES))
            key = field;
        else if (proto_is(&field, 2, PROTO_WIRE_BYTES))
            value = field;
    }
    tfevents_text_add_json(text, key.bytes, key.size_bytes);
    tfevents_text_add_string(text, ": ");
    return !reader.damaged && add_value(text, &value, depth);
}

/* The entries of a map in field `number` of a message, or the values of a list. */
static bool add_all(TfeventsText *text, const ProtoField *message, uint32_t number, bool is_map,
                    int depth)
{
    ProtoReader reader = proto_reader(message->bytes, message->size_bytes);
    ProtoField field;
    bool first = true, good = true;
    tfevents_text_add_string(text, is_map ? "{" : "[");
    while (good && proto_next(&reader, &field)) {
        if (!proto_is(&field, number, PROTO_WIRE_BYTES))
            continue;
        tfevents_text_add_string(text, first ? "" : ", ");
        good = is_map ? add_entry(text, &field, depth) : add_value(text, &field, depth);
        first = false;
    }
    tfevents_text_add_string(text, is_map ? "}" : "]");
    return good && !reader.damaged;
}

static bool add_value(TfeventsText *text, const ProtoField *value, int depth)
{
    ProtoReader reader = proto_reader(value->bytes, value->size_bytes);
    ProtoField field, last = {.number = 1};
    if (depth == 0)
        return false;
    while (proto_next(&reader, &field)) /* of a oneof the last counts */
        last = field.number >= 1 && field.number <= 6 ? field : last;
    if (proto_is(&last, 2, PROTO_WIRE_FIXED64))
        tfevents_text_add_number(text, proto_double(&last));
    else if (proto_is(&last, 3, PROTO_WIRE_BYTES))
        tfevents_text_add_json(text, last.bytes, last.size_bytes);
    else if (proto_is(&last, 4, PROTO_WIRE_VARINT))
        tfevents_text_add_string(text, last.value != 0 ? "true" : "false");
    else if (proto_is(&last, 5, PROTO_WIRE_BYTES))
        return !reader.damaged && add_all(text, &last, 1, true, depth - 1);
    else if (proto_is(&last, 6, PROTO_WIRE_BYTES))
        return !reader.damaged && add_all(text, &last, 1, false, depth - 1);
    else
        tfevents_text_add_string(text, "null");
    return !reader.damaged;
}

/* SessionStartInfo: hparams 1 (a map), group_name 4, start_time_secs 5. */
static bool read_start(const ProtoField *info, TfeventsText *text, TfeventsText *group,
                       TfeventsItem *item)
{
    ProtoReader reader = proto_reader(info->bytes, info->size_bytes);
    ProtoField field;
    item->kind = TFEVENTS_HPARAMS;
    tfevents_text_clear(text);
    tfevents_text_clear(group);
    while (proto_next(&reader, &field)) {
        if (proto_is(&field, 4, PROTO_WIRE_BYTES)) {
            tfevents_text_clear(group);
            tfevents_text_add(group, field.bytes, field.size_bytes);
        } else if (proto_is(&field, 5, PROTO_WIRE_FIXED64)) {
            item->start_time_sec = proto_double(&field);
        }
    }
    if (reader.damaged || !add_all(text, info, 1, true, DEPTH_MAX))
        return false;
    item->bytes = tfevents_text_finish(text);
    item->size_bytes = text->used;
    item->group_name = tfevents_text_finish(group);
    return item->bytes != NULL && item->group_name != NULL;
}

/* SessionEndInfo: status 1, end_time_secs 2. */
static bool read_end(const ProtoField *info, TfeventsItem *item)
{
    ProtoReader reader = proto_reader(info->bytes, info->size_bytes);
    ProtoField field;
    item->kind = TFEVENTS_HPARAMS_END;
    while (proto_next(&reader, &field)) {
        if (proto_is(&field, 1, PROTO_WIRE_VARINT))
            item->end_status = field.value <= 3 ? (int32_t)field.value : 0;
        else if (proto_is(&field, 2, PROTO_WIRE_FIXED64))
            item->end_time_sec = proto_double(&field);
    }
    return !reader.damaged;
}

/* HParamsPluginData: version 1, experiment 2, session_start_info 3, session_end_info 4. */
bool tfevents_hparams_read(const ProtoField *content, TfeventsText *text, TfeventsText *group,
                           TfeventsItem *item)
{
    ProtoReader reader = proto_reader(content->bytes, content->size_bytes);
    ProtoField field;
    while (proto_next(&reader, &field)) {
        if (proto_is(&field, 3, PROTO_WIRE_BYTES))
            return read_start(&field, text, group, item);
        if (proto_is(&field, 4, PROTO_WIRE_BYTES))
            return read_end(&field, item);
    }
    return false;
}

bool tfevents_hparams_is_experiment(const ProtoField *content)
{
    ProtoReader reader = proto_reader(content->bytes, content->size_bytes);
    ProtoField field;
    bool found = false;
    while (proto_next(&reader, &field))
        found = found || proto_is(&field, 2, PROTO_WIRE_BYTES);
    return found && !reader.damaged;
}
