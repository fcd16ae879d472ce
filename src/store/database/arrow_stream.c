/* Arrow C streams over a session's result; see arrow_stream.h. A stream is used by one thread at a
 * time; the session's lock is between it and the closing of the store. */
#include "store/database/arrow_stream.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

typedef enum StreamState {
    STREAM_STATE_OPEN = 0,
    STREAM_STATE_ENDED = 1,
    STREAM_STATE_FAILED = 2 /* `error` says why, for good */
} StreamState;

typedef struct Stream {
    DatabaseSession *session;
    struct ArrowSchema schema;
    StreamState state;
    bool has_error; /* get_last_error answers `error` */
    DatabaseError error;
} Stream;

static int stream_get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    Stream *stream = self->private_data;
    stream->has_error = false;
    if (arrow_schema_copy(&stream->schema, out))
        return 0;
    stream->has_error = true;
    if (stream->state != STREAM_STATE_FAILED)
        database_error_set(&stream->error, 0, "no memory for the schema");
    return ENOMEM;
}

/* What the conversions say is JSON around the words that people read. */
static void set_conversion_error(DatabaseError *error, const char *text)
{
    cJSON *root = text != NULL ? cJSON_Parse(text) : NULL;
    const cJSON *words = root != NULL ? cJSON_GetObjectItem(root, "exception_message") : NULL;
    if (cJSON_IsString(words))
        text = words->valuestring;
    database_error_set(error, DUCKDB_ERROR_KIND_INTERNAL, "%s",
                       text != NULL ? text : "the result cannot be given as Arrow");
    cJSON_Delete(root);
}

/* One chunk into *out; false when there is none left or `error` is set (`*failed`). The session is
 * entered. */
static bool fetch_batch(Stream *stream, struct ArrowArray *out, bool *failed)
{
    const DuckdbApi *duckdb = database_session_api(stream->session);
    DuckdbResult *result = database_session_result(stream->session);
    *failed = false;
    if (fault_here("store.stream.fetch")) {
        database_error_set(&stream->error, DUCKDB_ERROR_KIND_IO, "injected failure");
        *failed = true;
        return false;
    }
    if (!database_work_begin(stream->session, &stream->error)) {
        *failed = true;
        return false;
    }
    DuckdbDataChunk chunk = duckdb->fetch_chunk(*result);
    bool stopped = database_work_end();
    if (chunk == NULL || duckdb->data_chunk_get_size(chunk) == 0) {
        const char *text = duckdb->result_error(result);
        duckdb->destroy_data_chunk(&chunk);
        if ((text == NULL || text[0] == '\0') && !stopped)
            return false;
        *failed = true;
        if (database_session_closing(stream->session))
            database_error_set(&stream->error, 0, DATABASE_CLOSED_TEXT);
        else if (stopped)
            database_error_set(&stream->error, DUCKDB_ERROR_KIND_INTERRUPT, DATABASE_STOPPED_TEXT);
        else
            database_error_set(&stream->error, duckdb->result_error_type(result), "%s", text);
        return false;
    }
    DuckdbArrowOptions options = duckdb->result_get_arrow_options(result);
    struct ArrowArray batch;
    memset(&batch, 0, sizeof batch);
    DuckdbErrorData problem = fault_here("store.stream.convert")
                                  ? NULL
                                  : duckdb->data_chunk_to_arrow(options, chunk, &batch);
    if (batch.release == NULL || (problem != NULL && duckdb->error_data_has_error(problem))) {
        set_conversion_error(&stream->error,
                             problem != NULL ? duckdb->error_data_message(problem) : NULL);
        *failed = true;
    } else {
        *out = batch;
    }
    duckdb->destroy_error_data(&problem);
    duckdb->destroy_arrow_options(&options);
    duckdb->destroy_data_chunk(&chunk);
    return !*failed;
}

static int stream_get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    Stream *stream = self->private_data;
    bool failed = stream->state == STREAM_STATE_FAILED;
    out->release = NULL;
    if (stream->state == STREAM_STATE_ENDED && database_session_closing(stream->session)) {
        database_error_set(&stream->error, 0, DATABASE_CLOSED_TEXT);
        failed = true;
    } else if (stream->state == STREAM_STATE_OPEN) {
        failed = !database_session_enter(stream->session, &stream->error);
        if (!failed) {
            bool more = fetch_batch(stream, out, &failed);
            if (!more)
                database_session_finish(stream->session);
            database_session_leave(stream->session);
            if (!more && !failed)
                stream->state = STREAM_STATE_ENDED;
        }
        if (failed)
            stream->state = STREAM_STATE_FAILED;
    }
    stream->has_error = failed;
    return failed ? EIO : 0;
}

static const char *stream_get_last_error(struct ArrowArrayStream *self)
{
    const Stream *stream = self->private_data;
    return stream->has_error ? stream->error.text : NULL;
}

static void stream_free(Stream *stream)
{
    if (stream->schema.release != NULL)
        stream->schema.release(&stream->schema);
    free(stream);
}

static void stream_release(struct ArrowArrayStream *self)
{
    Stream *stream = self->private_data;
    database_session_close(&stream->session);
    stream_free(stream);
    self->private_data = NULL;
    self->release = NULL;
}

static Stream *stream_create(void)
{
    return fault_here("store.stream.alloc") ? NULL : calloc(1, sizeof(Stream));
}

static void stream_fill(Stream *stream, struct ArrowArrayStream *out)
{
    *out = (struct ArrowArrayStream){
        .get_schema = stream_get_schema,
        .get_next = stream_get_next,
        .get_last_error = stream_get_last_error,
        .release = stream_release,
        .private_data = stream,
    };
}

/* The schema of the session's result, copied away from the library. */
static bool read_schema(DatabaseSession *session, struct ArrowSchema *out, DatabaseError *error)
{
    const DuckdbApi *duckdb = database_session_api(session);
    DuckdbResult *result = database_session_result(session);
    uint64_t count = duckdb->column_count(result);
    DuckdbLogicalType *types = calloc(count + 1, sizeof(DuckdbLogicalType));
    const char **names = calloc(count + 1, sizeof(const char *));
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof schema);
    bool read = false;
    if (types == NULL || names == NULL || fault_here("store.stream.schema")) {
        database_error_set(error, 0, "no memory for the schema");
        goto done;
    }
    for (uint64_t i = 0; i < count; i++) {
        types[i] = duckdb->column_logical_type(result, i);
        names[i] = duckdb->column_name(result, i);
    }
    DuckdbArrowOptions options = duckdb->result_get_arrow_options(result);
    DuckdbErrorData problem = duckdb->to_arrow_schema(options, types, names, count, &schema);
    if (schema.release == NULL || (problem != NULL && duckdb->error_data_has_error(problem)))
        set_conversion_error(error, problem != NULL ? duckdb->error_data_message(problem) : NULL);
    else
        read = arrow_schema_copy(&schema, out);
    if (schema.release != NULL) {
        if (!read && problem == NULL)
            database_error_set(error, 0, "no memory for the schema");
        schema.release(&schema);
    }
    duckdb->destroy_error_data(&problem);
    duckdb->destroy_arrow_options(&options);
    for (uint64_t i = 0; i < count; i++)
        duckdb->destroy_logical_type(&types[i]);
done:
    free(types);
    free((void *)names);
    return read;
}

bool arrow_stream_from_session(DatabaseSession **session, struct ArrowArrayStream *out,
                               DatabaseError *error)
{
    Stream *stream = stream_create();
    if (stream == NULL) {
        database_error_set(error, 0, "no memory for a stream");
        return false;
    }
    if (!read_schema(*session, &stream->schema, error)) {
        stream_free(stream);
        return false;
    }
    stream->session = *session;
    *session = NULL;
    database_session_leave(stream->session);
    stream_fill(stream, out);
    return true;
}
