/* What is settled before an applet's library is opened: its manifest against this host. Frame
 * thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/applet_place.h"
#include "core/fault.h"
#include "core/host_impl.h"
#include "core/log.h"
#include "core/utf8.h"

static const uint32_t own_version[3] = {CALIPER_VERSION_MAJOR, CALIPER_VERSION_MINOR,
                                        CALIPER_VERSION_PATCH};

void applet_name_from_path(Applet *applet)
{
    const char *path = applet->manifest != NULL ? applet->manifest : applet->path;
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    memset(&applet->facts, 0, sizeof applet->facts);
    /* A bundle's manifest has the same name in all of them. */
    if (slash != NULL && strcmp(slash + 1, PLACE_BUNDLE_MANIFEST) == 0) {
        while (slash > path && slash[-1] != '/')
            slash--;
        snprintf(applet->facts.name, sizeof applet->facts.name, "%.*s",
                 (int)(path + length - slash), slash);
    } else {
        snprintf(applet->facts.name, sizeof applet->facts.name, "%s",
                 slash != NULL ? slash + 1 : path);
    }
    utf8_trim(applet->facts.name);
}

static void take_manifest(Applet *applet, const Manifest *manifest)
{
    Descriptor *facts = &applet->facts;
    memset(facts, 0, sizeof *facts);
    memcpy(facts->id, manifest->id, sizeof facts->id);
    memcpy(facts->version, manifest->version, sizeof facts->version);
    memcpy(facts->name, manifest->name, sizeof facts->name);
    memcpy(facts->summary, manifest->summary, sizeof facts->summary);
    memcpy(facts->tag, manifest->tag, sizeof facts->tag);
    memcpy(facts->required_services, manifest->required, sizeof facts->required_services);
    facts->required_count = manifest->required_count;
    applet->abi_epoch = manifest->abi_epoch;
    memcpy(applet->min_host, manifest->min_host, sizeof applet->min_host);
    memcpy(applet->without_library, manifest->without_library, sizeof applet->without_library);
}

/* The library may have come, or be another one, since the last look. */
static bool find_library(Applet *applet)
{
    AppletPlace place;
    if (!place_of_manifest(applet->manifest, &place))
        return false;
    free(applet->path);
    applet->path = place.library;
    applet->has_library = place.has_library;
    place.library = NULL;
    place_free(&place);
    return true;
}

bool applet_read_manifest(Applet *applet, char *why, size_t why_bytes)
{
    Manifest *manifest = fault_here("applets.alloc") ? NULL : calloc(1, sizeof *manifest);
    bool good = false;
    if (manifest == NULL || !find_library(applet)) {
        snprintf(why, why_bytes, "no memory");
    } else {
        loader_stamp(applet->manifest, &applet->manifest_stamp);
        good = manifest_read(applet->manifest, manifest, why, why_bytes);
    }
    if (good)
        take_manifest(applet, manifest);
    else
        applet_name_from_path(applet);
    free(manifest);
    return good;
}

/* The first applet of this id, if that is not this one (which may not be in the list yet). */
static const Applet *same_id_before(const Host *host, const Applet *applet)
{
    int32_t other = host_find(host, applet->facts.id);
    return other >= 0 && host->applets[other] != applet ? host->applets[other] : NULL;
}

static const char *missing_service(const Host *host, const Descriptor *facts)
{
    for (uint32_t i = 0; i < facts->required_count; i++) {
        if (host_service(host, facts->required_services[i]) == NULL)
            return facts->required_services[i];
    }
    return NULL;
}

bool applet_check_services(const Host *host, Applet *applet, const Descriptor *facts)
{
    const char *missing = missing_service(host, facts);
    if (missing == NULL)
        return true;
    char reason[APPLET_REASON_BYTES];
    const char *absent = host_service_why_absent(host, missing);
    snprintf(reason, sizeof reason, "it needs the service %s, which this host does not offer%s%s",
             missing, absent[0] != '\0' ? ": " : "", absent);
    applet_set_state(applet, APPLET_STATE_UNAVAILABLE, reason);
    return false;
}

static bool host_too_old(const uint32_t *wanted)
{
    for (int i = 0; i < 3; i++) {
        if (wanted[i] != own_version[i])
            return wanted[i] > own_version[i];
    }
    return false;
}

/* False with `reason`. */
static bool check_id(const Host *host, const Applet *applet, char *reason, size_t reason_bytes)
{
    const Applet *first = same_id_before(host, applet);
    if (first != NULL)
        snprintf(reason, reason_bytes, "another applet with the id %s was found first: %s",
                 applet->facts.id, first->manifest != NULL ? first->manifest : first->path);
    return first == NULL;
}

static bool check_compat(const Applet *applet, char *reason, size_t reason_bytes)
{
    const uint32_t *wanted = applet->min_host;
    if (!applet->has_library && applet->without_library[0] != '\0') {
        snprintf(reason, reason_bytes, "%s", applet->without_library);
        return false;
    }
    if (!applet->has_library) {
        snprintf(reason, reason_bytes, "it has no library for " PLACE_PLATFORM ": %s is not there",
                 applet->path);
        return false;
    }
    if (applet->abi_epoch != CALIPER_ABI_EPOCH) {
        snprintf(reason, reason_bytes, "built for ABI epoch %u, this host has epoch %u",
                 applet->abi_epoch, (unsigned)CALIPER_ABI_EPOCH);
        return false;
    }
    if (host_too_old(wanted)) {
        snprintf(reason, reason_bytes, "it needs Caliper %u.%u.%u or later, this is %u.%u.%u",
                 wanted[0], wanted[1], wanted[2], own_version[0], own_version[1], own_version[2]);
        return false;
    }
    return true;
}

bool applet_negotiate(const Host *host, Applet *applet)
{
    char reason[APPLET_REASON_BYTES] = "";
    if (!check_id(host, applet, reason, sizeof reason) ||
        !check_compat(applet, reason, sizeof reason)) {
        applet_set_state(applet, APPLET_STATE_UNAVAILABLE, reason);
        return false;
    }
    if (!applet_check_services(host, applet, &applet->facts))
        return false;
    applet_set_state(applet, APPLET_STATE_READY, "");
    return true;
}

void applet_settle(Host *host, Applet *applet)
{
    char reason[APPLET_REASON_BYTES] = "";
    if (!check_id(host, applet, reason, sizeof reason)) {
        applet_set_state(applet, APPLET_STATE_UNAVAILABLE, reason);
    } else if (applet_check_services(host, applet, &applet->facts)) {
        applet_set_state(applet, APPLET_STATE_READY, "");
        return;
    }
    life_unload(&applet->life);
    log_item(APPLET_UNAVAILABLE, applet->facts.id, applet->path, applet->reason);
}
