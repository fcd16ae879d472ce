/* See parameters.h. Pure. */
#include "shell/runs/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- One value ---- */

static bool is_number(const char *text)
{
    return (text[0] >= '0' && text[0] <= '9') ||
           (text[0] == '-' && text[1] >= '0' && text[1] <= '9');
}

bool parameters_equal(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    if (!is_number(a) || !is_number(b))
        return false;
    bool whole = strpbrk(a, ".eE") == NULL && strpbrk(b, ".eE") == NULL;
    return !whole && strtod(a, NULL) == strtod(b, NULL);
}

/* ---- Reading ---- */

typedef struct Entry {
    char *name, *value;
    uint32_t run;
} Entry;

typedef struct Walk {
    const char *at;
    uint32_t run;
    Entry *entries;
    uint32_t count, capacity;
    bool failed; /* no memory */
    char name[PARAMETERS_NAME_BYTES];
} Walk;

static void skip_blank(Walk *walk)
{
    walk->at += strspn(walk->at, " \t\r\n");
}

static char *copied(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static void add(Walk *walk, const char *value, size_t length)
{
    if (walk->count == walk->capacity) {
        uint32_t capacity = walk->capacity > 0 ? walk->capacity * 2 : 32;
        Entry *entries = realloc(walk->entries, capacity * sizeof *entries);
        walk->failed |= entries == NULL;
        if (entries == NULL)
            return;
        walk->entries = entries;
        walk->capacity = capacity;
    }
    Entry entry = {.name = copied(walk->name, strlen(walk->name)),
                   .value = copied(value, length),
                   .run = walk->run};
    if (entry.name == NULL || entry.value == NULL) {
        walk->failed = true;
        free(entry.name);
        free(entry.value);
        return;
    }
    walk->entries[walk->count++] = entry;
}

/* Past the closing quote; false: there is none. `at` stands on the opening one. */
static bool skip_string(Walk *walk)
{
    for (walk->at++; *walk->at != '\0' && *walk->at != '"'; walk->at++) {
        if (*walk->at == '\\' && walk->at[1] != '\0')
            walk->at++;
    }
    if (*walk->at == '\0')
        return false;
    walk->at++;
    return true;
}

static bool read_value(Walk *walk, int depth);

/* `at` stands behind the opening bracket. */
static bool read_members(Walk *walk, int depth, char closing)
{
    size_t length = strlen(walk->name);
    for (unsigned index = 0;; index++) {
        skip_blank(walk);
        if (*walk->at == closing && index == 0) {
            walk->at++;
            add(walk, closing == '}' ? "{}" : "[]", 2);
            return true;
        }
        if (closing == '}') {
            const char *key = walk->at + 1;
            if (*walk->at != '"' || !skip_string(walk))
                return false;
            int key_length = (int)(walk->at - 1 - key);
            snprintf(walk->name + length, sizeof walk->name - length, "%s%.*s",
                     length > 0 ? "." : "", key_length, key);
            skip_blank(walk);
            if (*walk->at++ != ':')
                return false;
        } else {
            snprintf(walk->name + length, sizeof walk->name - length, "[%u]", index);
        }
        if (!read_value(walk, depth + 1))
            return false;
        walk->name[length] = '\0';
        skip_blank(walk);
        char next = *walk->at++;
        if (next == closing)
            return true;
        if (next != ',')
            return false;
    }
}

static bool read_value(Walk *walk, int depth)
{
    skip_blank(walk);
    const char *start = walk->at;
    if (depth > PARAMETERS_DEPTH_MAX)
        return false;
    if (*start == '{' || *start == '[') {
        walk->at++;
        return read_members(walk, depth, *start == '{' ? '}' : ']');
    }
    if (*start == '"') {
        if (!skip_string(walk))
            return false;
    } else {
        walk->at += strcspn(walk->at, ",]} \t\r\n");
    }
    if (walk->at == start)
        return false;
    add(walk, start, (size_t)(walk->at - start));
    return !walk->failed;
}

/* ---- Comparing ---- */

static int by_name(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->run > y->run) - (x->run < y->run);
}

static int differing_first(const void *a, const void *b)
{
    const ParametersRow *x = a, *y = b;
    return x->differs != y->differs ? (x->differs ? -1 : 1) : strcmp(x->name, y->name);
}

static bool differs(const ParametersRow *row, uint32_t runs)
{
    for (uint32_t i = 1; i < runs; i++) {
        if ((row->values[i] == NULL) != (row->values[0] == NULL) ||
            (row->values[i] != NULL && !parameters_equal(row->values[i], row->values[0])))
            return true;
    }
    return false;
}

/* Rows of sorted entries; their texts move over. */
static bool make_rows(Walk *walk, Parameters *out)
{
    out->rows = calloc(walk->count > 0 ? walk->count : 1, sizeof *out->rows);
    if (out->rows == NULL)
        return false;
    for (uint32_t i = 0; i < walk->count; i++) {
        Entry *entry = &walk->entries[i];
        ParametersRow *row = out->count > 0 ? &out->rows[out->count - 1] : NULL;
        if (row == NULL || strcmp(row->name, entry->name) != 0) {
            row = &out->rows[out->count];
            row->values = calloc(out->runs, sizeof *row->values);
            if (row->values == NULL)
                return false;
            row->name = entry->name;
            entry->name = NULL;
            out->count++;
        }
        free(row->values[entry->run]); /* a key that is there twice: the last counts */
        row->values[entry->run] = entry->value;
        entry->value = NULL;
    }
    return true;
}

bool parameters_compare(const char *const *json, uint32_t runs, Parameters *out)
{
    Walk walk = {.at = NULL};
    *out = (Parameters){.runs = runs};
    for (uint32_t i = 0; i < runs && !walk.failed; i++) {
        uint32_t before = walk.count;
        if (json[i] == NULL)
            continue;
        walk.at = json[i];
        walk.run = i;
        walk.name[0] = '\0';
        if (read_value(&walk, 0))
            continue;
        for (; walk.count > before; walk.count--) {
            free(walk.entries[walk.count - 1].name);
            free(walk.entries[walk.count - 1].value);
        }
    }
    if (walk.count > 0)
        qsort(walk.entries, walk.count, sizeof *walk.entries, by_name);
    bool ok = !walk.failed && make_rows(&walk, out);
    for (uint32_t i = 0; i < walk.count; i++) {
        free(walk.entries[i].name);
        free(walk.entries[i].value);
    }
    free(walk.entries);
    if (!ok) {
        parameters_free(out);
        return false;
    }
    for (uint32_t i = 0; i < out->count; i++) {
        out->rows[i].differs = differs(&out->rows[i], runs);
        out->differing += out->rows[i].differs;
    }
    qsort(out->rows, out->count, sizeof *out->rows, differing_first);
    return true;
}

void parameters_free(Parameters *parameters)
{
    for (uint32_t i = 0; i < parameters->count; i++) {
        for (uint32_t k = 0; k < parameters->runs; k++)
            free(parameters->rows[i].values[k]);
        free(parameters->rows[i].values);
        free(parameters->rows[i].name);
    }
    free(parameters->rows);
    *parameters = (Parameters){.rows = NULL};
}
