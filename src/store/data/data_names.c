/* What a dataset may be called, what it may stand for, and the SQL that reads it. Pure; any thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fault.h"
#include "store/data/data_store.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The length of the name at the start of `text`; 0: none. */
static size_t name_length(const char *text)
{
    size_t length = 0;
    if (!is_letter(text[0]))
        return 0;
    while (is_letter(text[length]) || (text[length] >= '0' && text[length] <= '9'))
        length++;
    return length;
}

bool dataset_name_valid(const char *name)
{
    size_t length = name != NULL ? name_length(name) : 0;
    return length > 0 && length <= DATASET_NAME_BYTES_MAX && name[length] == '\0';
}

/* One to three names with dots between. */
static bool is_table(const char *uri)
{
    for (int part = 0; part < 3; part++) {
        size_t length = name_length(uri);
        if (length == 0 || length > DATASET_NAME_BYTES_MAX)
            return false;
        uri += length;
        if (*uri == '\0')
            return true;
        if (*uri++ != '.')
            return false;
    }
    return false;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t wanted = strlen(ending);
    return length > wanted && strcasecmp(text + length - wanted, ending) == 0;
}

DatasetKind dataset_uri_kind(const char *uri, char *why, size_t why_bytes)
{
    static const char *const endings[] = {
        [DATASET_KIND_PARQUET] = ".parquet",
        [DATASET_KIND_CSV] = ".csv",
        [DATASET_KIND_TSV] = ".tsv",
        [DATASET_KIND_JSON] = ".json",
    };
    if (uri == NULL || uri[0] == '\0' ||
        strnlen(uri, DATASET_URI_BYTES_MAX + 1) > DATASET_URI_BYTES_MAX) {
        snprintf(why, why_bytes, "the uri is %s",
                 uri == NULL      ? "NULL"
                 : uri[0] == '\0' ? "empty"
                                  : "longer than 4096 bytes");
        return DATASET_KIND_NONE;
    }
    if (strstr(uri, "://") != NULL) {
        snprintf(why, why_bytes, "the uri is of another place than this machine's files");
        return DATASET_KIND_NONE;
    }
    for (size_t kind = DATASET_KIND_PARQUET; kind < sizeof endings / sizeof endings[0]; kind++) {
        if (ends_with(uri, endings[kind]))
            return (DatasetKind)kind;
    }
    if (is_table(uri))
        return DATASET_KIND_TABLE;
    snprintf(why, why_bytes,
             "the uri is neither a .parquet, .csv, .tsv or .json file nor a table's "
             "name");
    return DATASET_KIND_NONE;
}

char *dataset_quote(const char *text, char quote)
{
    size_t size_bytes = 3;
    for (const char *at = text; *at != '\0'; at++)
        size_bytes += *at == quote ? 2 : 1;
    char *quoted = fault_here("store.data.alloc") ? NULL : malloc(size_bytes);
    if (quoted == NULL)
        return NULL;
    char *to = quoted;
    *to++ = quote;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == quote)
            *to++ = quote;
        *to++ = *at;
    }
    *to++ = quote;
    *to = '\0';
    return quoted;
}

/* Quotes the names between the dots of a table's name. */
static char *quote_table(const char *uri)
{
    char *quoted = malloc(strlen(uri) + 2 * 3 + 1);
    if (quoted == NULL)
        return NULL;
    char *to = quoted;
    *to++ = '"';
    for (const char *at = uri; *at != '\0'; at++) {
        if (*at == '.') {
            memcpy(to, "\".\"", 3);
            to += 3;
        } else {
            *to++ = *at;
        }
    }
    memcpy(to, "\"", 2);
    return quoted;
}

char *dataset_select(DatasetKind kind, const char *uri)
{
    static const char *const forms[] = {
        [DATASET_KIND_PARQUET] = "SELECT * FROM read_parquet(%s)",
        [DATASET_KIND_CSV] = "SELECT * FROM read_csv(%s)",
        [DATASET_KIND_TSV] = "SELECT * FROM read_csv(%s, delim = '\t')",
        [DATASET_KIND_JSON] = "SELECT * FROM read_json(%s)",
        [DATASET_KIND_TABLE] = "SELECT * FROM %s",
    };
    char *quoted = kind == DATASET_KIND_TABLE ? quote_table(uri) : dataset_quote(uri, '\'');
    if (quoted == NULL)
        return NULL;
    size_t size_bytes = strlen(forms[kind]) + strlen(quoted) + 1;
    char *sql = malloc(size_bytes);
    if (sql != NULL) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(sql, size_bytes, forms[kind], quoted);
#pragma GCC diagnostic pop
    }
    free(quoted);
    return sql;
}
