/* Folders with event files; see the header. First thread. */
#include "cli/import_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/tfevents.h"

enum { DEPTH_MAX = 32 };

static bool fail(FoundRuns *out, const char *path, const char *why)
{
    if (!out->failed)
        snprintf(out->reason, sizeof out->reason, "%s: %s", path, why);
    out->failed = true;
    return false;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_runs(const void *a, const void *b)
{
    const FoundRun *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s/%s", folder, name);
    return path;
}

typedef struct Entries {     /* of one folder */
    char **files, **folders; /* paths */
    size_t file_count, folder_count;
} Entries;

static bool add(char ***list, size_t *count, char *path)
{
    char **grown = path != NULL ? realloc(*list, (*count + 1) * sizeof *grown) : NULL;
    if (grown == NULL) {
        free(path);
        return false;
    }
    *list = grown;
    grown[(*count)++] = path;
    return true;
}

static void entries_free(Entries *entries)
{
    for (size_t i = 0; i < entries->file_count; i++)
        free(entries->files[i]);
    for (size_t i = 0; i < entries->folder_count; i++)
        free(entries->folders[i]);
    free(entries->files);
    free(entries->folders);
    memset(entries, 0, sizeof *entries);
}

static bool list_folder(const char *path, Entries *entries, FoundRuns *out)
{
    DIR *stream = opendir(path);
    struct dirent *entry;
    bool good = true;
    if (stream == NULL)
        return fail(out, path, strerror(errno));
    while (good && (entry = readdir(stream)) != NULL) {
        struct stat status, behind;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *inner = join(path, entry->d_name);
        if (inner != NULL && lstat(inner, &status) != 0) {
            free(inner); /* gone meanwhile */
            continue;
        }
        if (inner != NULL && S_ISDIR(status.st_mode)) {
            good = add(&entries->folders, &entries->folder_count, inner);
        } else if (inner != NULL && tfevents_name_fits(entry->d_name) &&
                   stat(inner, &behind) == 0 && S_ISREG(behind.st_mode)) {
            good = add(&entries->files, &entries->file_count, inner);
        } else {
            good = inner != NULL;
            free(inner);
        }
    }
    closedir(stream);
    return good || fail(out, path, "no memory to list it");
}

/* Takes the files over from `entries`. */
static bool add_run(FoundRuns *out, const char *name, Entries *entries)
{
    if (out->count == out->capacity) {
        size_t capacity = out->capacity * 2 + 16;
        FoundRun *grown = realloc(out->runs, capacity * sizeof *grown);
        if (grown == NULL)
            return fail(out, name, "no memory");
        out->runs = grown;
        out->capacity = capacity;
    }
    char *copy = strdup(name);
    if (copy == NULL)
        return fail(out, name, "no memory");
    out->runs[out->count++] =
        (FoundRun){.name = copy, .files = entries->files, .file_count = entries->file_count};
    entries->files = NULL;
    entries->file_count = 0;
    return true;
}

static void search(const char *path, const char *name, int depth, FoundRuns *out)
{
    Entries entries = {0};
    if (list_folder(path, &entries, out)) {
        if (entries.file_count > 0) {
            qsort(entries.files, entries.file_count, sizeof *entries.files, compare_text);
            add_run(out, name, &entries);
        }
        for (size_t i = 0; depth > 0 && i < entries.folder_count; i++) {
            const char *base = strrchr(entries.folders[i], '/') + 1;
            char *inner = strcmp(name, ".") == 0 ? strdup(base) : join(name, base);
            if (inner != NULL)
                search(entries.folders[i], inner, depth - 1, out);
            else
                fail(out, path, "no memory");
            free(inner);
        }
    }
    entries_free(&entries);
}

void import_find(const char *path, FoundRuns *out)
{
    struct stat status;
    memset(out, 0, sizeof *out);
    if (stat(path, &status) != 0) {
        fail(out, path, strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        search(path, ".", DEPTH_MAX, out);
        if (out->count > 0)
            qsort(out->runs, out->count, sizeof *out->runs, compare_runs);
    } else {
        Entries one = {0};
        if (add(&one.files, &one.file_count, strdup(path)))
            add_run(out, ".", &one);
        else
            fail(out, path, "no memory");
        entries_free(&one);
    }
}

void import_found_free(FoundRuns *found)
{
    for (size_t i = 0; i < found->count; i++) {
        for (size_t k = 0; k < found->runs[i].file_count; k++)
            free(found->runs[i].files[k]);
        free(found->runs[i].files);
        free(found->runs[i].name);
    }
    free(found->runs);
    found->runs = NULL;
    found->count = found->capacity = 0;
}
