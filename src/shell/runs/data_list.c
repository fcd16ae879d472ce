/* Lists datasets, tables and what runs logged, each with the SELECT that shows it; see data_list.h.
 */
#include "shell/runs/data_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "services/data_service.h"
#include "store/data/data_store.h"

/* A table's name is looked up in the schema of the applet that registered it, then in main. */
static const char datasets_sql[] =
    "SELECT d.name, d.uri, t.schema_name FROM caliper.datasets d LEFT JOIN duckdb_tables() t ON "
    "t.schema_name = 'applet_' || d.applet AND t.table_name = d.uri AND t.database_name = "
    "current_database() ORDER BY d.name";
static const char tables_sql[] =
    "SELECT * FROM (SELECT schema_name, table_name, estimated_size FROM duckdb_tables() WHERE NOT "
    "internal AND schema_name <> 'caliper' AND database_name = current_database() UNION ALL SELECT "
    "schema_name, view_name, NULL FROM duckdb_views() WHERE NOT internal AND database_name = "
    "current_database()) ORDER BY schema_name <> 'main', schema_name, table_name";
/* The store's own tables are left out of the list; SQL reaches them. */
static const char logged_sql[] =
    "SELECT 'main', table_name, estimated_size FROM duckdb_tables() WHERE schema_name = 'main' AND "
    "table_name IN ('runs', 'scalars', 'histograms', 'images', 'texts') ORDER BY "
    "list_position(['runs', 'scalars', 'histograms', 'images', 'texts'], table_name)";

void data_list_drop(DataList **address)
{
    DataList *list = *address;
    *address = NULL;
    if (list == NULL || atomic_fetch_sub(&list->references, 1) != 1)
        return;
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].detail);
        free(list->items[i].sql);
    }
    free(list->items);
    free(list);
}

/* A cell as it is, malloc'ed; "" for NULL. */
static char *cell(const Result *result, int32_t column, int64_t row)
{
    TextBuffer text = {.bytes = NULL};
    if (result_is_null(result, column, row))
        return strdup("");
    /* Names and paths may be long: not the shortened form of a table. */
    for (uint32_t i = 0; i < result->batch_count; i++) {
        if (row < result->starts[i + 1]) {
            arrow_text_value(result->schema.children[column], result->batches[i].children[column],
                             row - result->starts[i], ARROW_TEXT_FORM_PLAIN, &text);
            break;
        }
    }
    return text.failed ? NULL : text.bytes != NULL ? text.bytes : strdup("");
}

static char *rows_text(const char *count)
{
    char text[48];
    snprintf(text, sizeof text, "%s%s", count[0] != '\0' ? count : "view",
             count[0] == '\0'          ? ""
             : strcmp(count, "1") == 0 ? " row"
                                       : " rows");
    return strdup(text);
}

/* A name that is none of DuckDB's words and needs no quotes would do without; all get them but
 * those that the host made. */
static char *table_sql(DataSection section, const char *schema, const char *name)
{
    char *inner = dataset_quote(schema, '"');
    char *table = section == DATA_SECTION_LOGGED ? strdup(name) : dataset_quote(name, '"');
    char *sql = NULL;
    if (inner != NULL && table != NULL) {
        size_t bytes = strlen(inner) + strlen(table) + 32;
        bool is_main = strcmp(schema, "main") == 0;
        sql = malloc(bytes);
        if (sql != NULL)
            snprintf(sql, bytes, "SELECT * FROM %s%s%s", is_main ? "" : inner, is_main ? "" : ".",
                     table);
    }
    free(inner);
    free(table);
    return sql;
}

static char *table_name(const char *schema, const char *name)
{
    size_t bytes = strlen(schema) + strlen(name) + 2;
    char *text = malloc(bytes);
    bool is_main = strcmp(schema, "main") == 0;
    if (text != NULL)
        snprintf(text, bytes, "%s%s%s", is_main ? "" : schema, is_main ? "" : ".", name);
    return text;
}

static DataItem item_of(DataSection section, const Result *rows, int64_t row)
{
    DataItem item = {.section = section};
    char why[128];
    char *first = cell(rows, 0, row), *second = cell(rows, 1, row), *third = cell(rows, 2, row);
    if (first == NULL || second == NULL || third == NULL)
        goto done;
    if (section == DATA_SECTION_DATASET) {
        DatasetKind kind = dataset_uri_kind(second, why, sizeof why);
        item.name = strdup(first);
        item.detail = strdup(second);
        if (kind == DATASET_KIND_TABLE && third[0] != '\0')
            item.sql = table_sql(section, third, second);
        else if (kind != DATASET_KIND_NONE)
            item.sql = dataset_select(kind, second);
    } else {
        item.name = table_name(first, second);
        item.detail = rows_text(third);
        item.sql = table_sql(section, first, second);
    }
done:
    free(first);
    free(second);
    free(third);
    return item;
}

/* Takes the stream over. */
static void add_rows(DataList *list, DataSection section, struct ArrowArrayStream *stream,
                     char error[DATA_WORDS_BYTES])
{
    static const atomic_bool go_on;
    Result *rows = result_read(stream, &go_on, error, DATA_WORDS_BYTES);
    if (rows == NULL)
        return;
    error[0] = '\0';
    size_t count = list->count + (size_t)rows->row_count;
    DataItem *items = realloc(list->items, (count + 1) * sizeof *items);
    if (items != NULL)
        list->items = items;
    for (int64_t i = 0; items != NULL && i < rows->row_count; i++) {
        DataItem item = item_of(section, rows, i);
        if (item.name != NULL && item.detail != NULL && item.sql != NULL) {
            items[list->count++] = item;
            continue;
        }
        free(item.name); /* no memory, or a dataset that was changed by hand */
        free(item.detail);
        free(item.sql);
    }
    result_drop(&rows);
}

DataList *data_list_read(MetricsStore *store, bool has_data)
{
    const CaliperDataV1 *data = data_service_table();
    struct ArrowArrayStream stream;
    DataList *list = calloc(1, sizeof *list);
    if (list == NULL) {
        log_item(OUT_OF_MEMORY, "data_list_read", (unsigned long long)sizeof *list);
        return NULL;
    }
    atomic_init(&list->references, 1);
    if (has_data && data->query(datasets_sql, &stream))
        add_rows(list, DATA_SECTION_DATASET, &stream, list->data_error);
    else if (has_data)
        snprintf(list->data_error, sizeof list->data_error, "%s", data->last_error());
    if (has_data && list->data_error[0] == '\0') {
        if (data->query(tables_sql, &stream))
            add_rows(list, DATA_SECTION_TABLE, &stream, list->data_error);
        else
            snprintf(list->data_error, sizeof list->data_error, "%s", data->last_error());
    }
    if (metrics_store_query(store, logged_sql, &stream))
        add_rows(list, DATA_SECTION_LOGGED, &stream, list->logged_error);
    else
        snprintf(list->logged_error, sizeof list->logged_error, "%s", metrics_store_last_error());
    return list;
}
