/* Fetches a data set; see datasets.h. A file's life: NAME.part grows, over several fetches if need
 * be; it is compared with the published checksum; it is renamed to NAME. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/curl_api.h"
#include "datasets/datasets.h"
#include "datasets/digest.h"
#include "datasets/transfer.h"

typedef struct Fetch {
    const Dataset *set;
    const DatasetsFetch *asked;
    const DatasetFile *file;
    const CurlApi *curl;
    char *why;
    int64_t before_bytes, total_bytes; /* of the files before this one; of all */
    int part;
    char path[DATASETS_PATH_BYTES], part_path[DATASETS_PATH_BYTES];
    char answers[DATASETS_ERROR_BYTES]; /* why each server so far did not do */
} Fetch;

static DatasetsResult fail(Fetch *fetch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static DatasetsResult fail(Fetch *fetch, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fetch->why, DATASETS_ERROR_BYTES, format, arguments);
    va_end(arguments);
    return DATASETS_RESULT_FAILED;
}

/* What one server answered, after what others did. */
static void add_words(Fetch *fetch, const char *url, const char *words)
{
    size_t used = strlen(fetch->answers);
    const char *host = strstr(url, "://");
    host = host != NULL ? host + 3 : url;
    snprintf(fetch->answers + used, sizeof fetch->answers - used, "%s%.*s: %.200s",
             used > 0 ? "; " : "", (int)strcspn(host, "/"), host, words);
}

/* The folder and its parents. */
static bool make_folder(const char *path)
{
    char partial[DATASETS_PATH_BYTES];
    if (snprintf(partial, sizeof partial, "%s", path) >= DATASETS_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (char *at = partial + 1; *at != '\0'; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            return false;
        *at = '/';
    }
    return mkdir(partial, 0700) == 0 || errno == EEXIST;
}

static bool sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder >= 0 && fsync(folder) == 0;
    if (folder >= 0)
        close(folder);
    return good;
}

static DatasetsResult publish(Fetch *fetch)
{
    if (fsync(fetch->part) != 0 || rename(fetch->part_path, fetch->path) != 0 ||
        !sync_folder(fetch->asked->folder))
        return fail(fetch, "%.300s: %s", fetch->path, strerror(errno));
    return DATASETS_RESULT_DONE;
}

static int64_t part_bytes(const Fetch *fetch)
{
    struct stat status;
    return fstat(fetch->part, &status) == 0 ? (int64_t)status.st_size : 0;
}

/* What came of one server, or of what an earlier fetch left. */
typedef enum Attempt {
    ATTEMPT_DONE = 0,
    ATTEMPT_STOPPED,
    ATTEMPT_AGAIN, /* what was there is gone; the same server once more, from the start */
    ATTEMPT_OTHER, /* another server, please */
    ATTEMPT_FAILED /* none would help */
} Attempt;

/* A whole part: is it the published file? */
static Attempt check_part(Fetch *fetch, const char *url, bool began_before)
{
    char md5[DIGEST_TEXT_BYTES], words[160];
    if (!digest_md5(fetch->part, md5)) {
        fail(fetch, "%.300s: %s", fetch->part_path,
             errno != 0 ? strerror(errno) : "libcrypto has no MD5");
        return ATTEMPT_FAILED;
    }
    if (strcmp(md5, fetch->file->md5) == 0)
        return publish(fetch) == DATASETS_RESULT_DONE ? ATTEMPT_DONE : ATTEMPT_FAILED;
    if (ftruncate(fetch->part, 0) != 0) {
        fail(fetch, "%.300s: %s", fetch->part_path, strerror(errno));
        return ATTEMPT_FAILED;
    }
    if (began_before) /* perhaps it was that what was there was something else */
        return ATTEMPT_AGAIN;
    snprintf(words, sizeof words, "wrong checksum: MD5 %s, wanted %s", md5, fetch->file->md5);
    add_words(fetch, url, words);
    return ATTEMPT_OTHER;
}

static Attempt attempt(Fetch *fetch, const char *url)
{
    char words[96];
    int64_t there = part_bytes(fetch);
    if (there > fetch->file->size_bytes && ftruncate(fetch->part, there = 0) != 0) {
        fail(fetch, "%.300s: %s", fetch->part_path, strerror(errno));
        return ATTEMPT_FAILED;
    }
    if (there == fetch->file->size_bytes)
        return check_part(fetch, url, true);
    Transfer transfer = {
        .fd = fetch->part,
        .from_bytes = there,
        .size_bytes = fetch->file->size_bytes,
        .fetch = fetch->asked,
        .progress = {fetch->file->name, fetch->before_bytes, fetch->total_bytes},
    };
    switch (transfer_run(&transfer, fetch->curl, url)) {
    case TRANSFER_RESULT_DONE:
        break;
    case TRANSFER_RESULT_STOPPED:
        return ATTEMPT_STOPPED;
    case TRANSFER_RESULT_DISK:
        fail(fetch, "%.300s: %s", fetch->part_path, transfer.words);
        return ATTEMPT_FAILED;
    case TRANSFER_RESULT_NO_RANGE:
        if (ftruncate(fetch->part, 0) == 0)
            return ATTEMPT_AGAIN;
        add_words(fetch, url, strerror(errno));
        return ATTEMPT_OTHER;
    case TRANSFER_RESULT_FAILED:
        add_words(fetch, url, transfer.words);
        return ATTEMPT_OTHER;
    }
    if (part_bytes(fetch) == fetch->file->size_bytes)
        return check_part(fetch, url, there > 0);
    snprintf(words, sizeof words, "ended after %lld of %lld bytes", (long long)part_bytes(fetch),
             (long long)fetch->file->size_bytes);
    add_words(fetch, url, words);
    return ATTEMPT_OTHER;
}

/* The file's address at the mirror of that number; false: there is none. */
static bool address(const Fetch *fetch, int number, char *out)
{
    const char *given = getenv("CALIPER_DATASETS_MIRROR");
    if (given != NULL && given[0] != '\0') {
        size_t length = strlen(given);
        const char *slash = given[length - 1] == '/' ? "" : "/";
        return number == 0 && snprintf(out, DATASETS_PATH_BYTES, "%s%s%s/%s", given, slash,
                                       fetch->set->name, fetch->file->name) < DATASETS_PATH_BYTES;
    }
    return fetch->set->mirrors[number] != NULL &&
           snprintf(out, DATASETS_PATH_BYTES, "%s%s", fetch->set->mirrors[number],
                    fetch->file->name) < DATASETS_PATH_BYTES;
}

/* From one server after the other. */
static DatasetsResult fetch_from_any(Fetch *fetch)
{
    char url[DATASETS_PATH_BYTES];
    fetch->answers[0] = '\0';
    for (int number = 0; address(fetch, number, url); number++) {
        Attempt came = attempt(fetch, url);
        if (came == ATTEMPT_AGAIN)
            came = attempt(fetch, url);
        if (came == ATTEMPT_DONE)
            return DATASETS_RESULT_DONE;
        if (came == ATTEMPT_STOPPED)
            return DATASETS_RESULT_STOPPED;
        if (came == ATTEMPT_FAILED)
            return DATASETS_RESULT_FAILED;
    }
    return fail(fetch, "%s of %s: %.600s. What came is kept; or put the files into %.200s",
                fetch->file->name, fetch->set->title,
                fetch->answers[0] != '\0' ? fetch->answers : "no address fits",
                fetch->asked->folder);
}

static DatasetsResult fetch_file(Fetch *fetch)
{
    const char *folder = fetch->asked->folder;
    int length = snprintf(fetch->part_path, sizeof fetch->part_path, "%s/%s.part", folder,
                          fetch->file->name);
    if (length < 0 || length >= DATASETS_PATH_BYTES)
        return fail(fetch, "%.300s: the folder's name is too long", folder);
    snprintf(fetch->path, sizeof fetch->path, "%.*s", length - (int)strlen(".part"),
             fetch->part_path);
    fetch->part = open(fetch->part_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fetch->part < 0)
        return fail(fetch, "%.300s: %s", fetch->part_path, strerror(errno));
    DatasetsResult result = fetch_from_any(fetch);
    close(fetch->part);
    return result;
}

/* The folder's lock, which ends with the descriptor, whatever becomes of the process. */
static int take_lock(Fetch *fetch)
{
    char path[DATASETS_PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/.fetch", fetch->asked->folder);
    if (length < 0 || length >= DATASETS_PATH_BYTES) {
        fail(fetch, "%.300s: the folder's name is too long", fetch->asked->folder);
        return -1;
    }
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    fail(fetch, "%.300s: %s", path,
         lock >= 0 && errno == EWOULDBLOCK ? "somebody else is fetching into this folder"
                                           : strerror(errno));
    if (lock >= 0)
        close(lock);
    return -1;
}

DatasetsResult datasets_fetch(const Dataset *set, const DatasetsFetch *asked,
                              char why[DATASETS_ERROR_BYTES])
{
    Fetch fetch = {.set = set, .asked = asked, .why = why, .part = -1};
    char path[DATASETS_PATH_BYTES];
    const char *missing = NULL;
    DatasetsResult result = DATASETS_RESULT_DONE;
    if (datasets_found(set, asked->folder))
        return DATASETS_RESULT_DONE;
    fetch.curl = curl_api(&missing);
    if (fetch.curl == NULL)
        return fail(&fetch, "%s cannot be fetched: %s; or put its files into %.300s", set->title,
                    missing, asked->folder);
    if (!make_folder(asked->folder))
        return fail(&fetch, "%.300s: %s", asked->folder, strerror(errno));
    int lock = take_lock(&fetch);
    if (lock < 0)
        return DATASETS_RESULT_FAILED;
    for (int i = 0; i < set->file_count; i++)
        fetch.total_bytes += set->files[i].size_bytes;
    for (int i = 0; i < set->file_count && result == DATASETS_RESULT_DONE; i++) {
        fetch.file = &set->files[i];
        if (!datasets_find_file(asked->folder, fetch.file, path))
            result = fetch_file(&fetch);
        fetch.before_bytes += fetch.file->size_bytes;
    }
    close(lock);
    return result;
}
