/* The list of applets: looking through folders, adding one by path, views for the shell. Frame
 * thread. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/applet_place.h"
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
    if (applet_id == NULL || applet_id[0] == '\0') /* the id of those that could not say theirs */
        return -1;
    for (uint32_t i = 0; i < host->applet_count; i++) {
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
                        .manifest = applet->manifest != NULL ? applet->manifest : "",
                        .state = applet->state,
                        .reason = applet->reason,
                        .followed = applet->follow != NULL,
                        .slow = applet->slow,
                        .frames = applet->frames,
                        .last_frame_sec = applet->last_frame_sec};
    return true;
}

/* An applet is known by its manifest, or by its library if it has none. */
static int32_t find_place(const Host *host, const AppletPlace *place)
{
    for (uint32_t i = 0; i < host->applet_count; i++) {
        const Applet *applet = host->applets[i];
        bool same = place->manifest != NULL
                        ? applet->manifest != NULL && strcmp(applet->manifest, place->manifest) == 0
                        : strcmp(applet->path, place->library) == 0;
        if (same)
            return (int32_t)i;
    }
    return -1;
}

static void applet_free(Applet *applet)
{
    free(applet->path);
    free(applet->manifest);
    free(applet);
}

/* Room for one more and the entry itself, which takes the place's paths; NULL and one line without
 * memory. */
static Applet *applet_new(Host *host, AppletPlace *place)
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
    if (applet == NULL) {
        log_item(OUT_OF_MEMORY, "host_add", (unsigned long long)sizeof *applet);
        return NULL;
    }
    applet->path = place->library;
    applet->manifest = place->manifest;
    applet->has_library = place->has_library;
    *place = (AppletPlace){0};
    return applet;
}

static int32_t keep(Host *host, Applet *applet)
{
    host->applets[host->applet_count] = applet;
    return (int32_t)host->applet_count++;
}

/* An applet with a manifest: nothing of it is opened. */
static bool take_manifest(Host *host, Applet *applet, bool listed, char *why, size_t why_bytes)
{
    if (applet_read_manifest(applet, why, why_bytes)) {
        if (!applet_negotiate(host, applet))
            log_item(APPLET_UNAVAILABLE, applet->facts.id, applet->manifest, applet->reason);
        return true;
    }
    if (!listed) {
        log_item(APPLET_REFUSED, applet->manifest, why);
        return false;
    }
    applet_set_state(applet, APPLET_STATE_UNAVAILABLE, why);
    log_item(APPLET_UNAVAILABLE, applet->facts.name, applet->manifest, why);
    return true;
}

/* A bare library says what it is when it is opened. */
static bool take_library(Host *host, Applet *applet, bool listed, char *why, size_t why_bytes)
{
    LifeProblem problem = LIFE_PROBLEM_NO_LIBRARY;
    loader_stamp(applet->path, &applet->stamp);
    applet->life =
        life_load(host, applet->path, applet->fresh_copy, &applet->facts, &problem, why, why_bytes);
    if (applet->life == NULL) {
        if (problem != LIFE_PROBLEM_FAULTED) /* that has its line already */
            log_item(APPLET_REFUSED, applet->path, why);
        applet_name_from_path(applet);
        applet_set_state(applet, APPLET_STATE_FAILED, why);
        return listed;
    }
    applet->serial = applet->life->serial;
    applet_settle(host, applet);
    return true;
}

/* Takes the place's paths; it is not in the list. `listed`: also when it is bad. `followed`: its
 * files are watched from before the first look at them. */
static int32_t add_place(Host *host, AppletPlace *place, bool listed, bool followed)
{
    char why[APPLET_REASON_BYTES] = "";
    Applet *applet = applet_new(host, place);
    if (applet == NULL)
        return -1;
    if (followed)
        applet_follow(applet); /* a line when that fails: then it is an applet like others */
    bool taken = applet->manifest != NULL ? take_manifest(host, applet, listed, why, sizeof why)
                                          : take_library(host, applet, listed, why, sizeof why);
    if (taken)
        return keep(host, applet);
    applet_unfollow(applet);
    applet_free(applet);
    return -1;
}

static int32_t add_path(Host *host, const char *path, bool followed)
{
    char why[APPLET_REASON_BYTES] = "";
    AppletPlace place;
    if (!place_find(path, !followed, &place, why, sizeof why)) {
        log_item(APPLET_REFUSED, path != NULL ? path : "(null)", why);
        return -1;
    }
    int32_t index = find_place(host, &place);
    if (index < 0)
        index = add_place(host, &place, followed, followed);
    place_free(&place);
    return index;
}

int32_t host_add(Host *host, const char *path)
{
    return add_path(host, path, false);
}

int32_t host_add_followed(Host *host, const char *path)
{
    return add_path(host, path, true);
}

int32_t host_add_linked(Host *host, const char *name, CaliperDescriptorFn descriptor)
{
    char path[64];
    snprintf(path, sizeof path, "linked:%s", name);
    if (!loader_link(path, descriptor)) {
        log_item(APPLET_REFUSED, path, "too many linked applets");
        return -1;
    }
    AppletPlace place = {.library = strdup(path), .has_library = true};
    if (place.library == NULL) {
        log_item(OUT_OF_MEMORY, "host_add_linked", (unsigned long long)strlen(path) + 1);
        return -1;
    }
    int32_t index = find_place(host, &place);
    if (index < 0)
        index = add_place(host, &place, false, false);
    place_free(&place);
    return index;
}

void *host_applet_self(const Host *host, uint32_t index)
{
    const Applet *applet = index < host->applet_count ? host->applets[index] : NULL;
    bool open = applet != NULL &&
                (applet->state == APPLET_STATE_RUNNING || applet->state == APPLET_STATE_CLOSING);
    return open ? applet->life->self : NULL;
}

static int is_entry(const struct dirent *entry)
{
    return place_is_applet_name(entry->d_name) ||
           (entry->d_name[0] != '.' && place_has_suffix(entry->d_name, PLACE_LIBRARY_SUFFIX));
}

/* A manifest or a bundle's folder. A library that no manifest stands for is passed over, and not in
 * silence: somebody put it there. */
static void scan_entry(Host *host, const char *folder, const char *name)
{
    char why[APPLET_REASON_BYTES] = "";
    char *path = paths_join(folder, name);
    AppletPlace place;
    if (path != NULL && place_find(path, true, &place, why, sizeof why)) {
        if (place.manifest == NULL)
            log_item(APPLET_SKIPPED, path, "no manifest is beside it");
        else if (place_is_applet_name(name) && find_place(host, &place) < 0)
            add_place(host, &place, true, false);
        place_free(&place);
    }
    free(path);
}

static void scan_folder(Host *host, const char *folder)
{
    struct dirent **entries = NULL;
    char *real_folder = folder != NULL ? realpath(folder, NULL) : NULL;
    int count = real_folder != NULL ? scandir(real_folder, &entries, is_entry, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        scan_entry(host, real_folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(real_folder);
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
