/* store/database/duckdb_functions.h: which functions of DuckDB's C API are used, and their shapes.
 *
 * One list and nothing else, so that a test can expand it over the types of the real duckdb.h; for
 * duckdb_api.h and that test. X(result, name, parameters): the library's symbol is duckdb_<name>.
 * None of them is deprecated in DuckDB 1.4. */
#ifndef CALIPER_STORE_DUCKDB_FUNCTIONS_H
#define CALIPER_STORE_DUCKDB_FUNCTIONS_H

#define DUCKDB_FUNCTIONS(X)                                                                    \
    X(const char *, library_version, (void))                                                   \
    X(DuckdbState, create_config, (DuckdbConfig * out_config))                                 \
    X(DuckdbState, set_config, (DuckdbConfig config, const char *name, const char *option))    \
    X(void, destroy_config, (DuckdbConfig * config))                                           \
    X(DuckdbState, open_ext,                                                                   \
      (const char *path, DuckdbDatabase *out_database, DuckdbConfig config, char **out_error)) \
    X(void, close, (DuckdbDatabase * database))                                                \
    X(DuckdbState, connect, (DuckdbDatabase database, DuckdbConnection * out_connection))      \
    X(void, disconnect, (DuckdbConnection * connection))                                       \
    X(void, interrupt, (DuckdbConnection connection))                                          \
    X(DuckdbProgress, query_progress, (DuckdbConnection connection))                           \
    X(DuckdbState, query,                                                                      \
      (DuckdbConnection connection, const char *query, DuckdbResult *out_result))              \
    X(void, destroy_result, (DuckdbResult * result))                                           \
    X(const char *, column_name, (DuckdbResult * result, uint64_t column))                     \
    X(DuckdbType, column_type, (DuckdbResult * result, uint64_t column))                       \
    X(uint64_t, column_count, (DuckdbResult * result))                                         \
    X(DuckdbLogicalType, column_logical_type, (DuckdbResult * result, uint64_t column))        \
    X(DuckdbStatement, result_statement_type, (DuckdbResult result))                           \
    X(DuckdbResultKind, result_return_type, (DuckdbResult result))                             \
    X(const char *, result_error, (DuckdbResult * result))                                     \
    X(DuckdbErrorKind, result_error_type, (DuckdbResult * result))                             \
    X(DuckdbArrowOptions, result_get_arrow_options, (DuckdbResult * result))                   \
    X(uint64_t, rows_changed, (DuckdbResult * result))                                         \
    X(DuckdbDataChunk, fetch_chunk, (DuckdbResult result))                                     \
    X(void, free, (void *memory))                                                              \
    X(uint64_t, vector_size, (void))                                                           \
    X(uint64_t, extract_statements,                                                            \
      (DuckdbConnection connection, const char *query, DuckdbExtracted *out_extracted))        \
    X(const char *, extract_statements_error, (DuckdbExtracted extracted))                     \
    X(void, destroy_extracted, (DuckdbExtracted * extracted))                                  \
    X(DuckdbState, prepare_extracted_statement,                                                \
      (DuckdbConnection connection, DuckdbExtracted extracted, uint64_t index,                 \
       DuckdbPrepared * out_prepared))                                                         \
    X(DuckdbState, prepare,                                                                    \
      (DuckdbConnection connection, const char *query, DuckdbPrepared *out_prepared))          \
    X(const char *, prepare_error, (DuckdbPrepared prepared))                                  \
    X(void, destroy_prepare, (DuckdbPrepared * prepared))                                      \
    X(uint64_t, nparams, (DuckdbPrepared prepared))                                            \
    X(DuckdbStatement, prepared_statement_type, (DuckdbPrepared statement))                    \
    X(uint64_t, prepared_statement_column_count, (DuckdbPrepared prepared))                    \
    X(DuckdbState, bind_boolean, (DuckdbPrepared prepared, uint64_t index, bool value))        \
    X(DuckdbState, bind_int32, (DuckdbPrepared prepared, uint64_t index, int32_t value))       \
    X(DuckdbState, bind_int64, (DuckdbPrepared prepared, uint64_t index, int64_t value))       \
    X(DuckdbState, bind_uint64, (DuckdbPrepared prepared, uint64_t index, uint64_t value))     \
    X(DuckdbState, bind_double, (DuckdbPrepared prepared, uint64_t index, double value))       \
    X(DuckdbState, bind_varchar_length,                                                        \
      (DuckdbPrepared prepared, uint64_t index, const char *value, uint64_t length))           \
    X(DuckdbState, bind_blob,                                                                  \
      (DuckdbPrepared prepared, uint64_t index, const void *data, uint64_t length))            \
    X(DuckdbState, bind_null, (DuckdbPrepared prepared, uint64_t index))                       \
    X(DuckdbState, execute_prepared, (DuckdbPrepared prepared, DuckdbResult * out_result))     \
    X(DuckdbState, pending_prepared, (DuckdbPrepared prepared, DuckdbPending * out_result))    \
    X(const char *, pending_error, (DuckdbPending pending))                                    \
    X(DuckdbPendingState, pending_execute_task, (DuckdbPending pending))                       \
    X(DuckdbPendingState, pending_execute_check_state, (DuckdbPending pending))                \
    X(DuckdbState, execute_pending, (DuckdbPending pending, DuckdbResult * out_result))        \
    X(bool, pending_execution_is_finished, (DuckdbPendingState state))                         \
    X(void, destroy_pending, (DuckdbPending * pending))                                        \
    X(DuckdbLogicalType, create_logical_type, (DuckdbType type))                               \
    X(DuckdbType, get_type_id, (DuckdbLogicalType type))                                       \
    X(void, destroy_logical_type, (DuckdbLogicalType * type))                                  \
    X(char *, logical_type_get_alias, (DuckdbLogicalType type))                                \
    X(DuckdbDataChunk, create_data_chunk, (DuckdbLogicalType * types, uint64_t column_count))  \
    X(void, destroy_data_chunk, (DuckdbDataChunk * chunk))                                     \
    X(void, data_chunk_reset, (DuckdbDataChunk chunk))                                         \
    X(uint64_t, data_chunk_get_column_count, (DuckdbDataChunk chunk))                          \
    X(DuckdbVector, data_chunk_get_vector, (DuckdbDataChunk chunk, uint64_t column))           \
    X(uint64_t, data_chunk_get_size, (DuckdbDataChunk chunk))                                  \
    X(void, data_chunk_set_size, (DuckdbDataChunk chunk, uint64_t size))                       \
    X(void *, vector_get_data, (DuckdbVector vector))                                          \
    X(uint64_t *, vector_get_validity, (DuckdbVector vector))                                  \
    X(void, vector_ensure_validity_writable, (DuckdbVector vector))                            \
    X(void, vector_assign_string_element_len,                                                  \
      (DuckdbVector vector, uint64_t index, const char *text, uint64_t length))                \
    X(DuckdbState, appender_create,                                                            \
      (DuckdbConnection connection, const char *schema, const char *table,                     \
       DuckdbAppender *out_appender))                                                          \
    X(DuckdbErrorData, appender_error_data, (DuckdbAppender appender))                         \
    X(DuckdbState, appender_flush, (DuckdbAppender appender))                                  \
    X(DuckdbState, appender_close, (DuckdbAppender appender))                                  \
    X(DuckdbState, appender_destroy, (DuckdbAppender * appender))                              \
    X(DuckdbState, append_data_chunk, (DuckdbAppender appender, DuckdbDataChunk chunk))        \
    X(DuckdbState, appender_begin_row, (DuckdbAppender appender))                              \
    X(DuckdbState, appender_end_row, (DuckdbAppender appender))                                \
    X(DuckdbState, append_bool, (DuckdbAppender appender, bool value))                         \
    X(DuckdbState, append_int32, (DuckdbAppender appender, int32_t value))                     \
    X(DuckdbState, append_int64, (DuckdbAppender appender, int64_t value))                     \
    X(DuckdbState, append_uint64, (DuckdbAppender appender, uint64_t value))                   \
    X(DuckdbState, append_double, (DuckdbAppender appender, double value))                     \
    X(DuckdbState, append_varchar_length,                                                      \
      (DuckdbAppender appender, const char *value, uint64_t length))                           \
    X(DuckdbState, append_blob, (DuckdbAppender appender, const void *data, uint64_t length))  \
    X(DuckdbState, append_null, (DuckdbAppender appender))                                     \
    X(bool, error_data_has_error, (DuckdbErrorData error))                                     \
    X(const char *, error_data_message, (DuckdbErrorData error))                               \
    X(DuckdbErrorKind, error_data_error_type, (DuckdbErrorData error))                         \
    X(void, destroy_error_data, (DuckdbErrorData * error))                                     \
    X(void, connection_get_arrow_options,                                                      \
      (DuckdbConnection connection, DuckdbArrowOptions * out_options))                         \
    X(void, destroy_arrow_options, (DuckdbArrowOptions * options))                             \
    X(DuckdbErrorData, to_arrow_schema,                                                        \
      (DuckdbArrowOptions options, DuckdbLogicalType * types, const char **names,              \
       uint64_t column_count, struct ArrowSchema *out_schema))                                 \
    X(DuckdbErrorData, data_chunk_to_arrow,                                                    \
      (DuckdbArrowOptions options, DuckdbDataChunk chunk, struct ArrowArray * out_array))      \
    X(DuckdbErrorData, schema_from_arrow,                                                      \
      (DuckdbConnection connection, struct ArrowSchema * schema,                               \
       DuckdbArrowConverted * out_types))                                                      \
    X(DuckdbErrorData, data_chunk_from_arrow,                                                  \
      (DuckdbConnection connection, struct ArrowArray * array, DuckdbArrowConverted converted, \
       DuckdbDataChunk * out_chunk))                                                           \
    X(void, destroy_arrow_converted_schema, (DuckdbArrowConverted * converted))

#endif
