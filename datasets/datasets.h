/* datasets/datasets.h: the data sets that applets share: where they lie, and how they come there.
 *
 * <data root>/datasets/<name> is the one place. Nothing here is fetched unless datasets_fetch is
 * called, and that only when a person asked for it. Applets, cli/ and tests include this; it needs
 * neither the host nor the SDK. Any thread; all of it reads files, and datasets_fetch waits for the
 * network, so neither is for the frame thread while somebody watches. */
#ifndef CALIPER_DATASETS_DATASETS_H
#define CALIPER_DATASETS_DATASETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DATASETS_PATH_BYTES = 4096, DATASETS_ERROR_BYTES = 1024 };

typedef struct DatasetFile {
    const char *name; /* as the mirrors have it: ends in .gz */
    int64_t size_bytes;
    const char *md5; /* 32 lower-case digits, as published beside the file */
} DatasetFile;

typedef struct Dataset {
    const char *name, *title;
    const char *const *mirrors; /* URLs that end in '/', tried in this order; ended by NULL */
    const DatasetFile *files;
    int file_count;
} Dataset;

/* MNIST: 60 000 + 10 000 digits of 28 x 28, in four IDX files. */
extern const Dataset datasets_mnist;
/* Where the distribution's package has Fashion-MNIST: the same names and shapes, clothes. */
extern const char datasets_fashion_folder[];
extern const char datasets_fashion_package[];

/* <data_root>/datasets/<name>; nothing is made. False: too long. */
bool datasets_folder(const char *data_root, const char *name, char out[DATASETS_PATH_BYTES]);
/* The file in the folder, as named or without its .gz; false: neither is a file that can be read
 * and has something in it. */
bool datasets_find_file(const char *folder, const DatasetFile *file, char out[DATASETS_PATH_BYTES]);
/* Whether all files are there, by name. */
bool datasets_found(const Dataset *set, const char *folder);

typedef struct DatasetsProgress {
    const char *file; /* which one is on its way */
    int64_t got_bytes, total_bytes;
} DatasetsProgress;

typedef struct DatasetsFetch {
    const char *folder; /* made with its parents */
    /* Asked about once a second and whenever bytes came; false ends the fetch. May be NULL. */
    bool (*going)(void *user, const DatasetsProgress *progress);
    void *user;
} DatasetsFetch;

typedef enum DatasetsResult {
    DATASETS_RESULT_DONE = 0,
    DATASETS_RESULT_STOPPED = 1, /* `going` said so */
    DATASETS_RESULT_FAILED = 2   /* `why` says what, and what to do */
} DatasetsResult;

/* Fetches what is not there. A file appears under its name once it is whole and its checksum is
 * right; until then its bytes are in NAME.part, from which a later fetch goes on. A folder is
 * fetched into by one at a time. CALIPER_DATASETS_MIRROR, a URL, stands for all mirrors: files are
 * asked for as URL/<set>/<file>. `why` is written on failure alone. */
DatasetsResult datasets_fetch(const Dataset *set, const DatasetsFetch *fetch,
                              char why[DATASETS_ERROR_BYTES]);

#endif
