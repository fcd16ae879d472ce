/* Where things are kept: the data root, an applet's folder, the built-in applets. Any thread. */
#include "core/paths.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/log.h"

char *paths_join(const char *folder, const char *name)
{
    size_t folder_length = strlen(folder);
    while (folder_length > 1 && folder[folder_length - 1] == '/')
        folder_length--;
    size_t size_bytes = folder_length + strlen(name) + 2;
    char *path = fault_here("paths.alloc") ? NULL : malloc(size_bytes);
    if (path == NULL) {
        log_item(OUT_OF_MEMORY, "paths_join", (unsigned long long)size_bytes);
        return NULL;
    }
    bool root = folder_length == 1 && folder[0] == '/';
    snprintf(path, size_bytes, "%.*s%s%s", (int)folder_length, folder, root ? "" : "/", name);
    return path;
}

bool paths_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Makes one folder; one that is there already, made by anybody, will do. Else errno says why. */
static bool folder_make_one(const char *path)
{
    if (!fault_here("paths.mkdir") && mkdir(path, 0700) == 0)
        return true;
    int failure = errno;
    if (paths_is_folder(path))
        return true;
    errno = failure == EEXIST ? ENOTDIR : failure;
    return false;
}

bool paths_make_folder(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL) {
        log_item(OUT_OF_MEMORY, "paths_make_folder", (unsigned long long)strlen(path) + 1);
        return false;
    }
    bool made = path[0] != '\0';
    for (char *slash = copy + 1; made && path[0] != '\0' && *slash != '\0'; slash++) {
        if (*slash != '/')
            continue;
        *slash = '\0';
        made = folder_make_one(copy);
        *slash = '/';
    }
    made = made && folder_make_one(copy);
    if (!made)
        log_item(FOLDER_NOT_MADE, path, path[0] == '\0' ? "the name is empty" : strerror(errno));
    free(copy);
    return made;
}

/* $HOME, else the password file's answer; the caller's, or NULL without a line. */
static char *home_folder(void)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] == '/')
        return strdup(home);
    struct passwd entry;
    struct passwd *found = NULL;
    char buffer[4096];
    if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != NULL &&
        found->pw_dir != NULL && found->pw_dir[0] == '/')
        return strdup(found->pw_dir);
    return NULL;
}

/* The data root's name, before it exists. */
static char *data_root_name(const char *wanted)
{
    if (wanted != NULL && wanted[0] != '\0')
        return strdup(wanted);
    const char *variable = getenv("CALIPER_DATA_DIR");
    if (variable != NULL && variable[0] != '\0')
        return strdup(variable);
    /* The XDG specification: a path that is not absolute is to be ignored. */
    const char *xdg = getenv("XDG_DATA_HOME");
    if (xdg != NULL && xdg[0] == '/')
        return paths_join(xdg, "caliper");
    char *home = home_folder();
    if (home == NULL)
        return NULL;
    char *name = paths_join(home, ".local/share/caliper");
    free(home);
    return name;
}

char *paths_data_root(const char *wanted)
{
    char *name = data_root_name(wanted);
    char *root = NULL;
    if (name == NULL) {
        log_item(DATA_ROOT_UNKNOWN, "paths_data_root");
        return NULL;
    }
    if (!paths_make_folder(name))
        goto done;
    root = realpath(name, NULL);
    if (root == NULL) {
        log_item(FOLDER_NOT_MADE, name, strerror(errno));
        goto done;
    }
    static const char *const inner[] = {"applets", "data"};
    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        char *path = paths_join(root, inner[i]);
        bool made = path != NULL && paths_make_folder(path);
        free(path);
        if (!made) {
            free(root);
            root = NULL;
            goto done;
        }
    }
done:
    free(name);
    return root;
}

char *paths_applet_data(const char *data_root, const char *applet_id)
{
    char *data = paths_join(data_root, "data");
    char *path = data != NULL ? paths_join(data, applet_id) : NULL;
    free(data);
    if (path != NULL && !paths_make_folder(path)) {
        free(path);
        path = NULL;
    }
    return path;
}

char *paths_builtin_applets(void)
{
    char exe[4096];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (length <= 0)
        return NULL;
    exe[length] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash == NULL)
        return NULL;
    *slash = '\0';
    static const char *const places[] = {"../lib/caliper/applets", "lib/caliper/applets"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *place = paths_join(exe, places[i]);
        char *found = place != NULL ? realpath(place, NULL) : NULL;
        free(place);
        if (found != NULL && paths_is_folder(found))
            return found;
        free(found);
    }
    return NULL;
}
