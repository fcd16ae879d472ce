/* The store's own files in the statements of others. Files are compared as the system tells them
 * apart, so that links, relative paths and other spellings make no difference. Asks the file system
 * where names lead to; any thread that may wait. */
#include "store/data/data_files.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/paths.h"

/* Opened a second time in this process, and closed, they lose the engine's lock. */
static const char *const locked_names[] = {"data.duckdb", "data.duckdb.wal", "metrics.duckdb",
                                           "metrics.duckdb.wal", NULL};
/* More that nobody else writes: a name, or with a slash at its end a folder and all that is in it.
 * The rest of the data root, the applets' own folders among it, is everybody's. */
static const char *const kept_names[] = {
    "owner.lock",   "metrics.ids",     "metrics.snapshot.duckdb*",
    "data.duckdb*", "metrics.duckdb*", "caliper.log*",
    "spool/",       "artifacts/",      NULL};

typedef struct Search {
    bool writes_database; /* DATABASE comes before a place to write, as in EXPORT DATABASE */
    const char *root;     /* the data root as the system has it: absolute, without links */
    DatabaseError *error;
} Search;

static bool refuse(const Search *search, const char *text)
{
    database_error_set(search->error, 0,
                       "given \"%.200s\", which is a store's own file, or where those are; "
                       "wanted another path",
                       text);
    return false;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the file there is one that this process may have open with a lock. */
static bool is_locked_file(const Search *search, const char *path)
{
    struct stat given, own;
    if (stat(path, &given) != 0)
        return false;
    for (const char *const *name = locked_names; *name != NULL; name++) {
        char *own_path = paths_join(search->root, *name);
        bool same = own_path != NULL && stat(own_path, &own) == 0 && same_file(&given, &own);
        free(own_path);
        if (same)
            return true;
    }
    return false;
}

/* The path without links, malloc'ed; its last parts need not be there. NULL: it leads nowhere, as
 * one does that is longer than the system takes. */
static char *resolve(const char *path)
{
    if (strlen(path) >= PATH_MAX)
        return NULL;
    char *real = realpath(path, NULL);
    const char *slash = strrchr(path, '/');
    if (real != NULL || slash == path)
        return real != NULL ? real : strdup(path);
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path)) : strdup(".");
    char *real_folder = folder != NULL ? resolve(folder) : NULL;
    if (real_folder != NULL)
        real = paths_join(real_folder, slash != NULL ? slash + 1 : path);
    free(real_folder);
    free(folder);
    return real;
}

/* The part of `path` below the root; NULL: it is elsewhere. */
static const char *below_root(const Search *search, const char *path)
{
    size_t length = strlen(search->root);
    if (strncmp(path, search->root, length) != 0 || path[length] != '/')
        return NULL;
    return path + length + 1;
}

/* Whether writing there would change what is the store's own. */
static bool is_kept_place(const Search *search, const char *path)
{
    char *real = resolve(path);
    if (real == NULL)
        return false;
    const char *inner = below_root(search, real);
    size_t length = strlen(real);
    /* The root itself, or what it is in: COPY may empty a folder. */
    bool kept = inner == NULL && strncmp(search->root, real, length) == 0 &&
                (search->root[length] == '\0' || search->root[length] == '/' || length == 1);
    for (const char *const *name = kept_names; inner != NULL && !kept && *name != NULL; name++) {
        size_t folder = strlen(*name) - 1;
        if ((*name)[folder] == '/')
            kept = strncmp(inner, *name, folder) == 0 &&
                   (inner[folder] == '/' || inner[folder] == '\0');
        else
            kept = fnmatch(*name, inner, FNM_PATHNAME) == 0;
    }
    free(real);
    return kept;
}

/* Whether the pattern, in which ** is any folders, takes in the path; both are absolute. */
static bool pattern_matches(const char *pattern, const char *path)
{
    if (strncmp(pattern, "/**", 3) == 0 && (pattern[3] == '/' || pattern[3] == '\0')) {
        for (const char *at = path; at != NULL; at = strchr(at + 1, '/'))
            if (pattern[3] == '\0' || pattern_matches(pattern + 3, at))
                return true;
        return false;
    }
    if (*pattern != '/' || *path != '/')
        return *pattern == *path;
    const char *pattern_end = strchr(pattern + 1, '/');
    const char *path_end = strchr(path + 1, '/');
    char *pattern_part =
        strndup(pattern, pattern_end != NULL ? (size_t)(pattern_end - pattern) : strlen(pattern));
    char *path_part = strndup(path, path_end != NULL ? (size_t)(path_end - path) : strlen(path));
    bool matches = pattern_part != NULL && path_part != NULL &&
                   fnmatch(pattern_part, path_part, FNM_PATHNAME) == 0;
    free(path_part);
    free(pattern_part);
    if (!matches || pattern_end == NULL || path_end == NULL)
        return matches && pattern_end == NULL && path_end == NULL;
    return pattern_matches(pattern_end, path_end);
}

/* A pattern of several files, which DuckDB looks for itself. */
static bool takes_in_locked(const Search *search, const char *text)
{
    size_t plain = strcspn(text, "*?[");
    while (plain > 0 && text[plain - 1] != '/')
        plain--;
    char *folder = plain > 0 ? strndup(text, plain) : strdup(".");
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;
    size_t size_bytes = real != NULL ? strlen(real) + strlen(text + plain) + 2 : 0;
    char *pattern = real != NULL ? malloc(size_bytes) : NULL;
    bool found = false;
    if (pattern != NULL)
        snprintf(pattern, size_bytes, "%s/%s", strcmp(real, "/") != 0 ? real : "", text + plain);
    for (const char *const *name = locked_names; pattern != NULL && !found && *name != NULL;
         name++) {
        char *own = paths_join(search->root, *name);
        found = own != NULL && pattern_matches(pattern, own);
        free(own);
    }
    free(pattern);
    free(real);
    free(folder);
    return found;
}

/* A home folder and file: before a path, as DuckDB takes them; malloc'ed. */
static char *plain_path(const char *text)
{
    const char *home = getenv("HOME");
    if (text[0] == '~' && home != NULL && (text[1] == '/' || text[1] == '\0'))
        return paths_join(home, text[1] == '/' ? text + 2 : "");
    if (strncasecmp(text, "duckdb:", 7) == 0)
        text += 7;
    if (strncasecmp(text, "file://localhost/", 17) == 0)
        text += 16;
    else if (strncasecmp(text, "file:///", 8) == 0)
        text += 7;
    else if (strncasecmp(text, "file:/", 6) == 0)
        text += 5;
    return strdup(text);
}

static bool visit(void *user, const char *word, const char *text)
{
    static const char *const writers[] = {"TO", "ATTACH", "EXISTS", NULL};
    const Search *search = user;
    char *path = plain_path(text);
    bool writes = search->writes_database && strcmp(word, "DATABASE") == 0;
    for (const char *const *writer = writers; *writer != NULL; writer++)
        writes = writes || strcmp(word, *writer) == 0;
    bool refused = path != NULL && path[0] != '\0' &&
                   (is_locked_file(search, path) ||
                    (strpbrk(path, "*?[") != NULL && takes_in_locked(search, path)) ||
                    (writes && is_kept_place(search, path)));
    free(path);
    return !refused || refuse(search, text);
}

bool data_files_check(const char *data_root, const char *sql, DatabaseError *error)
{
    char *root = realpath(data_root, NULL);
    bool writes = strcasestr(sql, "EXPORT") != NULL || strcasestr(sql, "ATTACH") != NULL;
    Search search = {.writes_database = writes, .root = root, .error = error};
    error->text[0] = '\0';
    bool allowed = root == NULL || statement_each_text(sql, visit, &search);
    if (!allowed && error->text[0] == '\0')
        database_error_set(error, 0, "no memory to look at the statement");
    free(root);
    return allowed;
}
