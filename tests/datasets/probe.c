/* Fetches a set that the command line describes, for test_fetch.py.
 *
 * Usage: datasets_probe FOLDER STOP_AFTER MIRROR[,MIRROR...] NAME SIZE MD5...
 * STOP_AFTER: bytes after which `going` says stop; -1: never. Prints "done", "stopped" or "failed:
 * WHY", then the largest progress. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/datasets.h"

enum { FILES_MAX = 8, MIRRORS_MAX = 4 };

typedef struct Seen {
    int64_t stop_after, got_bytes, calls;
} Seen;

static bool going(void *user, const DatasetsProgress *progress)
{
    Seen *seen = user;
    seen->calls++;
    if (progress->got_bytes < 0 || progress->got_bytes > progress->total_bytes ||
        progress->file == NULL)
        exit(3);
    if (progress->got_bytes > seen->got_bytes)
        seen->got_bytes = progress->got_bytes;
    return seen->stop_after < 0 || progress->got_bytes < seen->stop_after;
}

int main(int argc, char **argv)
{
    DatasetFile files[FILES_MAX];
    const char *mirrors[MIRRORS_MAX + 1] = {0};
    char why[DATASETS_ERROR_BYTES] = "untouched";
    if (argc < 7 || (argc - 4) % 3 != 0 || (argc - 4) / 3 > FILES_MAX)
        return 2;
    Dataset set = {"tiny", "Tiny", mirrors, files, (argc - 4) / 3};
    for (int i = 0; i < set.file_count; i++)
        files[i] = (DatasetFile){argv[4 + 3 * i], atoll(argv[5 + 3 * i]), argv[6 + 3 * i]};
    int count = 0;
    for (char *at = strtok(argv[3], ","); at != NULL && count < MIRRORS_MAX; at = strtok(NULL, ","))
        mirrors[count++] = at;
    Seen seen = {.stop_after = atoll(argv[2])};
    DatasetsFetch fetch = {.folder = argv[1], .going = going, .user = &seen};
    DatasetsResult result = datasets_fetch(&set, &fetch, why);
    if (result == DATASETS_RESULT_FAILED)
        printf("failed: %s\n", why);
    else
        printf("%s\n", result == DATASETS_RESULT_DONE ? "done" : "stopped");
    printf("%lld bytes seen, found %d\n", (long long)seen.got_bytes,
           datasets_found(&set, argv[1]) ? 1 : 0);
    return strcmp(why, "untouched") == 0 || result == DATASETS_RESULT_FAILED ? 0 : 4;
}
