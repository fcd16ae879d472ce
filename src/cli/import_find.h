/* cli/import_find.h: folders with TensorBoard event files, as TensorBoard finds runs.
 *
 * For cli/import*.c. First thread of the process. */
#ifndef CALIPER_CLI_IMPORT_FIND_H
#define CALIPER_CLI_IMPORT_FIND_H

#include <stdbool.h>
#include <stddef.h>

typedef struct FoundRun { /* one folder */
    char *name;           /* relative to where the search began; "." is that itself */
    char **files;         /* paths, in the order of their names */
    size_t file_count;
} FoundRun;

typedef struct FoundRuns {
    FoundRun *runs; /* in the order of their names */
    size_t count, capacity;
    bool failed; /* something could not be listed or there was no memory: `reason` */
    char reason[512];
} FoundRuns;

/* Every folder below `path`, itself included, that holds event files; links to folders are not
 * followed, and folders more than 32 deep are not looked into. `path` may be one event file. */
void import_find(const char *path, FoundRuns *out);
void import_found_free(FoundRuns *found);

#endif
