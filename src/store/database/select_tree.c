/* Judges a statement's tree as json_serialize_sql of DuckDB 1.4 writes it. Everything is refused
 * that is not known: node types, table functions. Scalar functions are known by the few that have
 * effects (a test asks the library which those are). Pure; any thread. */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "store/database/select_guard.h"

/* Deeper trees are refused: the walk recurses. cJSON itself stops at 1000. */
enum { TREE_DEPTH_MAX = 900 };

/* Values of "type" in query nodes, table references, modifiers, orders and expressions. PIVOT,
 * COLUMN_DATA, DELIM_GET and whatever a later version brings are not among them. */
static const char *const node_types[] = {
    /* query nodes and modifiers */
    "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "LIMIT_MODIFIER",
    "LIMIT_PERCENT_MODIFIER", "ORDER_MODIFIER", "DISTINCT_MODIFIER", "ORDER_DEFAULT", "ASCENDING",
    "DESCENDING",
    /* table references */
    "BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "CTE", "EMPTY",
    "SHOW_REF",
    /* types in casts */
    "USER_TYPE_INFO", "DECIMAL_TYPE_INFO", "LIST_TYPE_INFO", "STRUCT_TYPE_INFO", "ARRAY_TYPE_INFO",
    "ENUM_TYPE_INFO", "STRING_TYPE_INFO", "GENERIC_TYPE_INFO", "INTEGER_LITERAL_TYPE_INFO",
    /* expressions */
    "OPERATOR_CAST", "OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "OPERATOR_UNPACK",
    "COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_LESSTHAN", "COMPARE_GREATERTHAN",
    "COMPARE_LESSTHANOREQUALTO", "COMPARE_GREATERTHANOREQUALTO", "COMPARE_IN", "COMPARE_NOT_IN",
    "COMPARE_DISTINCT_FROM", "COMPARE_BETWEEN", "COMPARE_NOT_BETWEEN", "COMPARE_NOT_DISTINCT_FROM",
    "CONJUNCTION_AND", "CONJUNCTION_OR", "VALUE_CONSTANT", "VALUE_NULL", "VALUE_DEFAULT",
    "AGGREGATE", "GROUPING_FUNCTION", "WINDOW_AGGREGATE", "WINDOW_RANK", "WINDOW_RANK_DENSE",
    "WINDOW_NTILE", "WINDOW_PERCENT_RANK", "WINDOW_CUME_DIST", "WINDOW_ROW_NUMBER",
    "WINDOW_FIRST_VALUE", "WINDOW_LAST_VALUE", "WINDOW_LEAD", "WINDOW_LAG", "WINDOW_NTH_VALUE",
    "WINDOW_FILL", "FUNCTION", "CASE_EXPR", "OPERATOR_NULLIF", "OPERATOR_COALESCE", "ARRAY_EXTRACT",
    "ARRAY_SLICE", "STRUCT_EXTRACT", "ARRAY_CONSTRUCTOR", "ARROW", "OPERATOR_TRY", "STAR",
    "PLACEHOLDER", "COLUMN_REF", "CAST", "COLLATE", "LAMBDA", "LAMBDA_REF", "POSITIONAL_REFERENCE",
    NULL};

/* Table functions and table macros that read the database or compute, and change nothing. */
static const char *const table_functions[] = {"range",
                                              "generate_series",
                                              "unnest",
                                              "repeat",
                                              "repeat_row",
                                              "json_each",
                                              "json_tree",
                                              "generate_subscripts",
                                              "regexp_split_to_table",
                                              "histogram",
                                              "histogram_values",
                                              "summary",
                                              "duckdb_columns",
                                              "duckdb_constraints",
                                              "duckdb_databases",
                                              "duckdb_functions",
                                              "duckdb_indexes",
                                              "duckdb_keywords",
                                              "duckdb_memory",
                                              "duckdb_schemas",
                                              "duckdb_sequences",
                                              "duckdb_settings",
                                              "duckdb_tables",
                                              "duckdb_types",
                                              "duckdb_views",
                                              "pragma_collations",
                                              "pragma_database_size",
                                              "pragma_metadata_info",
                                              "pragma_platform",
                                              "pragma_show",
                                              "pragma_storage_info",
                                              "pragma_table_info",
                                              "pragma_user_agent",
                                              "pragma_version",
                                              "pg_timezone_names",
                                              "icu_calendar_names",
                                              "test_all_types",
                                              "test_vector_types",
                                              NULL};

/* What the library calls functions with side effects, without those whose effect is only that they
 * answer otherwise each time (random, uuid, current_query_id, ...) or raise (error). */
static const char *const scalars_with_effects[] = {"nextval", "currval", "setseed", "write_log",
                                                   NULL};

static const char *const pragmas[] = {"table_info",     "storage_info",
                                      "show_tables",    "show_tables_expanded",
                                      "show_databases", "database_list",
                                      "database_size",  "metadata_info",
                                      "collations",     "version",
                                      "platform",       "user_agent",
                                      "functions",      NULL};

static bool is_listed(const char *name, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcasecmp(name, *list) == 0)
            return true;
    }
    return false;
}

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

typedef struct Walk {
    char *why;
    size_t why_bytes;
} Walk;

static bool walk_children(const Walk *walk, const cJSON *node, int depth);

static bool refuse(const Walk *walk, const char *what, const char *name)
{
    snprintf(walk->why, walk->why_bytes, "%s %.100s is not allowed here", what, name);
    return false;
}

/* A table function: its own name is judged as one, its arguments like everything else. */
static bool walk_table_function(const Walk *walk, const cJSON *node, int depth)
{
    const cJSON *function = cJSON_GetObjectItemCaseSensitive(node, "function");
    const char *name = function != NULL ? text_of(function, "function_name") : NULL;
    if (name == NULL)
        return refuse(walk, "a table function of kind", "unknown");
    if (!is_listed(name, table_functions))
        return refuse(walk, "the table function", name);
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        if (child != function && !walk_children(walk, child, depth + 1))
            return false;
    }
    for (const cJSON *child = function->child; child != NULL; child = child->next) {
        if (!walk_children(walk, child, depth + 2))
            return false;
    }
    return true;
}

/* Judges a node and all below it. Constants are not entered: what they hold is data. */
static bool walk_children(const Walk *walk, const cJSON *node, int depth)
{
    if (depth > TREE_DEPTH_MAX)
        return refuse(walk, "a statement nested", "that deeply");
    if (cJSON_IsObject(node)) {
        const char *type = text_of(node, "type");
        const char *function = text_of(node, "function_name");
        if (type != NULL && !is_listed(type, node_types))
            return refuse(walk, "a part of kind", type);
        if (type != NULL && strcmp(type, "VALUE_CONSTANT") == 0)
            return true;
        if ((type != NULL && strcmp(type, "TABLE_FUNCTION") == 0) ||
            cJSON_HasObjectItem(node, "function"))
            return walk_table_function(walk, node, depth);
        if (function != NULL && is_listed(function, scalars_with_effects))
            return refuse(walk, "the function", function);
    }
    for (const cJSON *child = node->child; child != NULL; child = child->next) {
        if (!walk_children(walk, child, depth + 1))
            return false;
    }
    return true;
}

/* What the parser says when it cannot serialize: its words, or that it is no SELECT. */
static bool refuse_error(const cJSON *root, char *why, size_t why_bytes)
{
    const char *kind = text_of(root, "error_type");
    const char *words = text_of(root, "error_message");
    if (kind != NULL && strcmp(kind, "not implemented") == 0)
        snprintf(why, why_bytes, "the statement is no SELECT");
    else
        snprintf(why, why_bytes, "%s",
                 words != NULL && words[0] != '\0' ? words : "the parser does not say why");
    return false;
}

bool select_tree_allowed(const char *json, char *why, size_t why_bytes)
{
    const Walk walk = {.why = why, .why_bytes = why_bytes};
    bool allowed = false;
    cJSON *root = cJSON_Parse(json);
    const cJSON *statements =
        root != NULL ? cJSON_GetObjectItemCaseSensitive(root, "statements") : NULL;
    if (root == NULL) {
        snprintf(why, why_bytes, "the statement is nested too deeply to be checked");
    } else if (!cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(root, "error"))) {
        refuse_error(root, why, why_bytes);
    } else if (!cJSON_IsArray(statements) || cJSON_GetArraySize(statements) != 1) {
        snprintf(why, why_bytes, "given %d statements, wanted one",
                 cJSON_IsArray(statements) ? cJSON_GetArraySize(statements) : 0);
    } else {
        allowed = walk_children(&walk, root, 0);
    }
    cJSON_Delete(root);
    return allowed;
}

bool select_tree_is_other(const char *json)
{
    cJSON *root = cJSON_Parse(json);
    const char *kind = root != NULL ? text_of(root, "error_type") : NULL;
    bool other = kind != NULL && strcmp(kind, "not implemented") == 0;
    cJSON_Delete(root);
    return other;
}

static const char *find_function(const cJSON *node, const char *const *names, int depth)
{
    const char *function = cJSON_IsObject(node) ? text_of(node, "function_name") : NULL;
    for (size_t i = 0; function != NULL && names[i] != NULL; i++) {
        if (strcasecmp(function, names[i]) == 0)
            return names[i];
    }
    const char *found = NULL;
    for (const cJSON *child = node->child; found == NULL && child != NULL; child = child->next) {
        if (depth < TREE_DEPTH_MAX)
            found = find_function(child, names, depth + 1);
    }
    return found;
}

const char *select_tree_finds(const char *json, const char *const *names)
{
    cJSON *root = cJSON_Parse(json);
    const char *found = root != NULL ? find_function(root, names, 0) : NULL;
    cJSON_Delete(root);
    return found;
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

/* A word of letters, digits and underscores into `out`; NULL when there is none or it is longer. */
static const char *read_word(const char *at, char *out, size_t out_bytes)
{
    size_t length = 0;
    while (isalnum((unsigned char)*at) || *at == '_') {
        if (length + 1 >= out_bytes)
            return NULL;
        out[length++] = *at++;
    }
    out[length] = '\0';
    return length > 0 ? at : NULL;
}

/* A literal: a number, a plain name, or a quoted text without any quote or backslash inside. */
static const char *skip_literal(const char *at)
{
    char word[128];
    if (*at != '\'' && *at != '"')
        return read_word(at, word, sizeof word);
    char quote = *at++;
    while (*at != quote) {
        if (*at == '\0' || *at == '\'' || *at == '"' || *at == '\\')
            return NULL;
        at++;
    }
    return at + 1;
}

bool select_pragma_allowed(const char *sql)
{
    char word[64];
    const char *at = read_word(skip_blanks(sql), word, sizeof word);
    if (at == NULL || strcasecmp(word, "PRAGMA") != 0)
        return false;
    at = read_word(skip_blanks(at), word, sizeof word);
    if (at == NULL || !is_listed(word, pragmas))
        return false;
    at = skip_blanks(at);
    if (*at == '(') {
        at = skip_blanks(at + 1);
        while (*at != ')') {
            at = skip_literal(at);
            if (at == NULL)
                return false;
            at = skip_blanks(at);
            if (*at == ',')
                at = skip_blanks(at + 1);
            else if (*at != ')')
                return false;
        }
        at = skip_blanks(at + 1);
    }
    if (*at == ';')
        at = skip_blanks(at + 1);
    return *at == '\0';
}
