/* The list of applets: looking through folders, adding one library, views for the shell. Frame
 * thread. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fault.h"
#include "core/host_impl.h"
#include "core/log.h"
#include "core/paths.h"

uint32_t host_applet_count(const Host *host)
{
    return host->applet_count;
}

int32_t host_find(const Host *host, const char *applet_id)
{
    for (uint32_t i = 0; applet_id != NULL && i < host->applet_count; i++) {
        if (strcmp(host->applets[i]->facts.id, applet_id) == 0)
            return (int32_t)i;
    }
    return -1;
}

bool host_applet(const Host *host, uint32_t index, AppletView *out)
{
    if (index >= host->applet_count)
        return false;
    const Applet *applet = host->applets[index];
    *out = (AppletView){.serial = applet->serial,
                        .id = applet->facts.id,
                        .name = applet->facts.name,
                        .summary = applet->facts.summary,
                        .tag = applet->facts.tag,
                        .version = applet->facts.version,
                        .path = applet->path,
                        .state = applet->state,
                        .reason = applet->reason,
                        .slow = applet->slow,
                        .frames = applet->frames,
                        .last_frame_sec = applet->last_frame_sec};
    return true;
}

static int32_t find_path(const Host *host, const char *path)
{
    for (uint32_t i = 0; i < host->applet_count; i++) {
        if (strcmp(host->applets[i]->path, path) == 0)
            return (int32_t)i;
    }
    return -1;
}

/* Room for one more and the entry itself; NULL and one line without memory. */
static Applet *applet_new(Host *host, const char *path)
{
    if (host->applet_count == host->applet_capacity) {
        uint32_t capacity = host->applet_capacity == 0 ? 16 : host->applet_capacity * 2;
        Applet **larger = fault_here("applets.alloc")
                              ? NULL
                              : realloc(host->applets, capacity * sizeof(Applet *));
        if (larger == NULL) {
            log_item(OUT_OF_MEMORY, "host_add", (unsigned long long)capacity * sizeof(Applet *));
            return NULL;
        }
        host->applets = larger;
        host->applet_capacity = capacity;
    }
    Applet *applet = fault_here("applets.alloc") ? NULL : calloc(1, sizeof *applet);
    char *copy = applet != NULL ? strdup(path) : NULL;
    if (copy == NULL) {
        log_item(OUT_OF_MEMORY, "host_add", (unsigned long long)sizeof *applet);
        free(applet);
        return NULL;
    }
    applet->path = copy;
    return applet;
}

/* What an applet is called whose descriptor could not be read. */
static void name_from_path(Applet *applet)
{
    const char *slash = strrchr(applet->path, '/');
    const char *stem = slash != NULL ? slash + 1 : applet->path;
    memset(&applet->facts, 0, sizeof applet->facts);
    snprintf(applet->facts.name, sizeof applet->facts.name, "%s", stem);
}

static const char *missing_service(const Host *host, const Descriptor *facts)
{
    for (uint32_t i = 0; i < facts->required_count; i++) {
        if (host_service(host, facts->required_services[i]) == NULL)
            return facts->required_services[i];
    }
    return NULL;
}

bool applet_check_services(const Host *host, Applet *applet)
{
    const char *missing = missing_service(host, &applet->facts);
    if (missing == NULL)
        return true;
    char reason[APPLET_REASON_BYTES];
    snprintf(reason, sizeof reason, "it needs the service %s, which this host does not offer",
             missing);
    applet_set_state(applet, APPLET_STATE_UNAVAILABLE, reason);
    return false;
}

/* A loaded applet becomes ready, or unavailable with its library closed again. */
void applet_settle(Host *host, Applet *applet)
{
    int32_t other = host_find(host, applet->facts.id); /* the first one */
    if (other >= 0 && host->applets[other] != applet) {
        char reason[APPLET_REASON_BYTES];
        snprintf(reason, sizeof reason, "another applet with the id %s was found first: %s",
                 applet->facts.id, host->applets[other]->path);
        applet_set_state(applet, APPLET_STATE_UNAVAILABLE, reason);
    } else if (applet_check_services(host, applet)) {
        applet_set_state(applet, APPLET_STATE_READY, "");
        return;
    }
    life_unload(&applet->life);
    log_item(APPLET_UNAVAILABLE, applet->facts.id, applet->path, applet->reason);
}

/* Refused: a scan lists it with its reason, unless it is no applet at all; host_add does not. */
static bool keep_refused(Applet *applet, LifeProblem problem, bool scanning, const char *why)
{
    if (!scanning) {
        if (problem != LIFE_PROBLEM_FAULTED) /* that has its line already */
            log_item(APPLET_REFUSED, applet->path, why);
        return false;
    }
    if (problem == LIFE_PROBLEM_NO_APPLET) {
        log_item(APPLET_SKIPPED, applet->path, why);
        return false;
    }
    name_from_path(applet);
    applet_set_state(
        applet, problem == LIFE_PROBLEM_FAULTED ? APPLET_STATE_FAILED : APPLET_STATE_UNAVAILABLE,
        why);
    if (problem != LIFE_PROBLEM_FAULTED)
        log_item(APPLET_UNAVAILABLE, applet->facts.name, applet->path, why);
    return true;
}

/* `path` is absolute and not in the list. */
static int32_t add_path(Host *host, const char *path, bool scanning)
{
    char why[APPLET_REASON_BYTES] = "";
    LifeProblem problem = LIFE_PROBLEM_NO_LIBRARY;
    Applet *applet = applet_new(host, path);
    if (applet == NULL)
        return -1;
    loader_stamp(path, &applet->stamp);
    applet->life = life_load(host, path, false, &applet->facts, &problem, why, sizeof why);
    if (applet->life == NULL && !keep_refused(applet, problem, scanning, why)) {
        free(applet->path);
        free(applet);
        return -1;
    }
    if (applet->life != NULL) {
        applet->serial = applet->life->serial;
        applet_settle(host, applet);
    }
    host->applets[host->applet_count] = applet;
    return (int32_t)host->applet_count++;
}

int32_t host_add(Host *host, const char *library_path)
{
    const char *given = library_path != NULL ? library_path : "(null)";
    char *path = library_path != NULL ? realpath(library_path, NULL) : NULL;
    if (path == NULL) {
        log_item(APPLET_REFUSED, given, library_path != NULL ? strerror(errno) : "no path given");
        return -1;
    }
    int32_t index = find_path(host, path);
    if (index < 0)
        index = add_path(host, path, false);
    free(path);
    return index;
}

int32_t host_add_linked(Host *host, const char *name, CaliperDescriptorFn descriptor)
{
    char path[64];
    snprintf(path, sizeof path, "linked:%s", name);
    if (!loader_link(path, descriptor)) {
        log_item(APPLET_REFUSED, path, "too many linked applets");
        return -1;
    }
    int32_t index = find_path(host, path);
    return index >= 0 ? index : add_path(host, path, false);
}

void *host_applet_self(const Host *host, uint32_t index)
{
    const Applet *applet = index < host->applet_count ? host->applets[index] : NULL;
    bool open = applet != NULL && (applet->state == APPLET_STATE_RUNNING ||
                                   applet->state == APPLET_STATE_CLOSING);
    return open ? applet->life->self : NULL;
}

static int is_library_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

static void scan_folder(Host *host, const char *folder)
{
    struct dirent **entries = NULL;
    int count = folder != NULL ? scandir(folder, &entries, is_library_name, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        char *joined = paths_join(folder, entries[i]->d_name);
        char *path = joined != NULL ? realpath(joined, NULL) : NULL;
        struct stat status;
        if (path != NULL && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
            find_path(host, path) < 0)
            add_path(host, path, true);
        free(path);
        free(joined);
        free(entries[i]);
    }
    free(entries);
}

void host_scan(Host *host)
{
    for (char **folder = host->applet_dirs; folder != NULL && *folder != NULL; folder++)
        scan_folder(host, *folder);
    char *own = paths_join(host->data_dir, "applets");
    scan_folder(host, own);
    free(own);
    scan_folder(host, host->builtin_applet_dir);
}
