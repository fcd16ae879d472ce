/* Which artifacts there are, in which versions, from which runs; see lineage.h. Worker's thread. */
#include "shell/runs/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "services/artifacts_service.h"

void lineage_free(Lineage *lineage)
{
    if (lineage == NULL)
        return;
    artifact_list_free(&lineage->list);
    free(lineage->rows);
    free(lineage->origins);
    free(lineage->names);
    free(lineage);
}

/* ---- Versions ---- */

static int by_name_then_put(const void *a, const void *b, void *rows)
{
    const ArtifactRow *all = rows;
    const uint32_t *one = a, *other = b;
    int order = strcmp(all[*one].name, all[*other].name);
    return order != 0 ? order : (*one > *other) - (*one < *other);
}

/* The places of each put among those of its name: two numbers a put. NULL without memory. */
static uint32_t (*number_versions(const ArtifactList *list))[2]
{
    uint32_t(*versions)[2] = malloc((list->count + 1) * sizeof *versions);
    uint32_t *order = malloc((list->count + 1) * sizeof *order);
    if (versions == NULL || order == NULL) {
        free(versions);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < list->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, list->count, sizeof *order, by_name_then_put, list->rows);
    for (size_t first = 0; first < list->count;) {
        size_t end = first + 1;
        while (end < list->count &&
               strcmp(list->rows[order[end]].name, list->rows[order[first]].name) == 0)
            end++;
        for (size_t i = first; i < end; i++) {
            versions[order[i]][0] = (uint32_t)(i - first + 1);
            versions[order[i]][1] = (uint32_t)(end - first);
        }
        first = end;
    }
    free(order);
    return versions;
}

/* ---- Rows ---- */

static bool is_wanted(const Lineage *lineage, const ArtifactRow *put)
{
    return lineage->question.all || (put->run != 0 && put->run == lineage->question.run);
}

static bool is_origin(const Lineage *lineage, const ArtifactRow *put)
{
    return lineage->question.digest[0] != '\0' &&
           strcmp(put->digest, lineage->question.digest) == 0;
}

static size_t names_bytes(const Lineage *lineage)
{
    size_t bytes = 1;
    for (size_t i = 0; i < lineage->list.count; i++) {
        const ArtifactRow *put = &lineage->list.rows[i];
        if (is_wanted(lineage, put) || is_origin(lineage, put))
            bytes += 4 * strlen(put->name) + 1;
    }
    return bytes;
}

bool lineage_fill(Lineage *lineage)
{
    const ArtifactList *list = &lineage->list;
    uint32_t(*versions)[2] = number_versions(list);
    lineage->rows = calloc(list->count + 1, sizeof *lineage->rows);
    lineage->origins = calloc(list->count + 1, sizeof *lineage->origins);
    lineage->names = malloc(names_bytes(lineage));
    bool ok = versions != NULL && lineage->rows != NULL && lineage->origins != NULL &&
              lineage->names != NULL;
    char *name = lineage->names;
    for (size_t i = list->count; ok && i > 0; i--) {
        const ArtifactRow *put = &list->rows[i - 1];
        bool wanted = is_wanted(lineage, put), origin = is_origin(lineage, put);
        if (!wanted && !origin)
            continue;
        LineageRow row = {.put = put,
                          .shown = name,
                          .version = versions[i - 1][0],
                          .versions = versions[i - 1][1]};
        name += artifact_name_text(put->name, name) + 1;
        if (wanted)
            lineage->rows[lineage->count++] = row;
        if (origin)
            lineage->origins[lineage->origin_count++] = row;
    }
    free(versions);
    return ok;
}

static int by_digest(const void *a, const void *b)
{
    const ArtifactRow *const *one = a, *const *other = b;
    return strcmp((*one)->digest, (*other)->digest);
}

/* What the different blobs of the rows take together. */
static void add_sizes(Lineage *lineage)
{
    const ArtifactRow **puts = malloc((lineage->count + 1) * sizeof *puts);
    for (uint32_t i = 0; puts != NULL && i < lineage->count; i++)
        puts[i] = lineage->rows[i].put;
    if (puts != NULL && lineage->count > 1)
        qsort(puts, lineage->count, sizeof *puts, by_digest);
    for (uint32_t i = 0; puts != NULL && i < lineage->count; i++) {
        if (i == 0 || strcmp(puts[i]->digest, puts[i - 1]->digest) != 0)
            lineage->total_bytes += puts[i]->size_bytes;
    }
    free(puts);
}

static void *answer(void *user, void *question)
{
    (void)user;
    Lineage *lineage = calloc(1, sizeof *lineage);
    if (lineage == NULL) {
        log_item(OUT_OF_MEMORY, "lineage", (unsigned long long)sizeof *lineage);
        free(question);
        return NULL;
    }
    lineage->question = *(LineageQuestion *)question;
    free(question);
    ArtifactStore *store = artifacts_service_acquire();
    lineage->failed = store == NULL || !artifact_store_list(store, NULL, &lineage->list);
    if (!lineage->failed && !lineage_fill(lineage)) {
        log_item(OUT_OF_MEMORY, "lineage", (unsigned long long)lineage->list.count);
        lineage->failed = true;
        lineage->count = lineage->origin_count = 0;
    }
    for (uint32_t i = 0; i < lineage->count; i++) {
        lineage->rows[i].there = artifact_store_row_is_there(store, lineage->rows[i].put);
        lineage->missing += !lineage->rows[i].there;
    }
    add_sizes(lineage);
    artifacts_service_release(store);
    return lineage;
}

static void drop_answer(void *made)
{
    lineage_free(made);
}

RunsWorker *lineage_worker_create(void)
{
    return runs_worker_create(
        &(RunsWork){.answer = answer, .drop_question = free, .drop_answer = drop_answer});
}
