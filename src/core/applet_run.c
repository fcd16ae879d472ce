/* An applet's life as the shell drives it: open, frame, reload. Frame thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/host_impl.h"
#include "core/log.h"
#include "core/paths.h"

static const double slow_frame_sec = 0.25;
enum { SLOW_FRAMES = 3 };

static const char *const state_names[] = {"ready",   "unavailable", "running",
                                          "closing", "failed",      "quarantined"};

void applet_set_state(Applet *applet, AppletState state, const char *reason)
{
    applet->state = state;
    snprintf(applet->reason, sizeof applet->reason, "%s", reason);
}

Applet *applet_at(Host *host, uint32_t index, const char *call)
{
    if (index < host->applet_count)
        return host->applets[index];
    log_item(APPLET_NO_SUCH, call, (long long)index, host->applet_count);
    return NULL;
}

/* A manifest that was written anew since it was read is read anew; `always`: in any case, since
 * what it was held against may have changed. False when the applet is not ready then. */
static bool renegotiate(const Host *host, Applet *applet, bool always)
{
    char why[APPLET_REASON_BYTES] = "";
    LibraryStamp stamp;
    if (applet->manifest == NULL)
        return true;
    if (!always && loader_stamp(applet->manifest, &stamp) &&
        memcmp(&stamp, &applet->manifest_stamp, sizeof stamp) == 0)
        return true;
    if (applet_read_manifest(applet, why, sizeof why))
        return applet_negotiate(host, applet);
    applet_set_state(applet, APPLET_STATE_UNAVAILABLE, why);
    return false;
}

/* A library that was built anew since it was loaded is loaded anew: it has not started yet. The
 * loader would answer with the old image if that is still there. */
static void drop_stale(Applet *applet)
{
    LibraryStamp stamp;
    if (!loader_stamp(applet->path, &stamp) || memcmp(&stamp, &applet->stamp, sizeof stamp) == 0)
        return;
    life_unload(&applet->life);
    applet->stamp = stamp;
    applet->fresh_copy = applet->fresh_copy || loader_is_open(applet->path);
}

/* What a library says it is against what is known of it: all of it, or the id it had before. */
static bool same_applet(const Applet *applet, const Descriptor *facts, char *why, size_t why_bytes)
{
    const char *id = applet->facts.id;
    if (applet->manifest == NULL && applet->follow == NULL && id[0] != '\0' &&
        strcmp(facts->id, id) != 0)
        snprintf(why, why_bytes, "its id was %.200s and is now %.200s", id, facts->id);
    else if (applet->manifest != NULL && strcmp(facts->id, id) != 0)
        snprintf(why, why_bytes, "descriptor.id is %.200s, its manifest says %.200s", facts->id,
                 id);
    else if (applet->manifest != NULL && strcmp(facts->version, applet->facts.version) != 0)
        snprintf(why, why_bytes, "descriptor.version is %.200s, its manifest says %.200s",
                 facts->version, applet->facts.version);
    else
        return true;
    return false;
}

/* Opens the library. False with `why`, or unavailable without it: a service is missing. */
static bool load(Host *host, Applet *applet, char *why, size_t why_bytes)
{
    LifeProblem problem;
    Descriptor *facts = fault_here("applets.alloc") ? NULL : calloc(1, sizeof *facts);
    if (facts == NULL) {
        snprintf(why, why_bytes, "no memory");
        return false;
    }
    applet->life =
        life_load(host, applet->path, applet->fresh_copy, facts, &problem, why, why_bytes);
    bool good = applet->life != NULL && same_applet(applet, facts, why, why_bytes);
    if (good) {
        applet->serial = applet->life->serial;
        good = applet_check_services(host, applet, facts);
    }
    if (good && applet->manifest == NULL)
        applet->facts = *facts;
    if (!good)
        life_unload(&applet->life);
    free(facts);
    return good;
}

/* Loads the library unless it is; the life's data folder too. False with `why`, or unavailable. */
static bool ensure_loaded(Host *host, Applet *applet, char *why, size_t why_bytes)
{
    drop_stale(applet);
    if (applet->life == NULL && !load(host, applet, why, why_bytes))
        return false;
    if (applet->life->data_dir == NULL) {
        applet->life->data_dir = paths_applet_data(host->data_dir, applet->facts.id);
        applet->life->vended.applet_data_dir = applet->life->data_dir;
        if (applet->life->data_dir == NULL)
            snprintf(why, why_bytes, "its data folder cannot be made");
    }
    return applet->life->data_dir != NULL;
}

/* In good order but without success: what it left is taken back. Its library stays, since a job may
 * run in it; "reload" opens a fresh copy. */
static bool fail_open(Host *host, Applet *applet, const char *why)
{
    applet_set_state(applet, APPLET_STATE_FAILED, why);
    log_item(APPLET_FAILED, applet->facts.id[0] != '\0' ? applet->facts.id : applet->path, why);
    if (applet->life != NULL) {
        applet_reclaim(host, applet->serial, true);
        life_abandon(&applet->life);
    }
    return false;
}

/* Negotiation failed. */
static bool refuse_open(const Applet *applet)
{
    log_item(APPLET_UNAVAILABLE,
             applet->facts.id[0] != '\0' ? applet->facts.id : applet->facts.name,
             applet->manifest != NULL ? applet->manifest : applet->path, applet->reason);
    return false;
}

/* A ready applet with its library loaded; NULL after one line and with its state set. */
static Applet *prepare(Host *host, uint32_t index, const char *call)
{
    char why[APPLET_REASON_BYTES] = "";
    Applet *applet = applet_at(host, index, call);
    if (applet == NULL)
        return NULL;
    if (applet->state != APPLET_STATE_READY) {
        log_item(APPLET_CALL_REFUSED, call, applet->facts.id, state_names[applet->state], "ready");
        return NULL;
    }
    if (!renegotiate(host, applet, false)) {
        refuse_open(applet);
        return NULL;
    }
    if (!ensure_loaded(host, applet, why, sizeof why)) {
        if (applet->state == APPLET_STATE_UNAVAILABLE)
            refuse_open(applet);
        else
            fail_open(host, applet, why);
        return NULL;
    }
    applet->frames = 0;
    applet->last_frame_sec = 0.0;
    applet->slow_frames = 0;
    applet->slow = false;
    return applet;
}

static bool create(Host *host, Applet *applet)
{
    return applet_call_create(host, applet) &&
           (applet->life->self != NULL || fail_open(host, applet, "create() answered NULL"));
}

bool host_open(Host *host, uint32_t index)
{
    Applet *applet = prepare(host, index, "host_open");
    bool initialized = false;
    if (applet != NULL)
        applet->reopen = true;
    if (applet == NULL || !create(host, applet) ||
        !applet_call_initialize(host, applet, &initialized))
        return false;
    if (!initialized) {
        /* A job that goes on may use what destroy would free: then it is kept. */
        if (applet_jobs_ended(host, applet->serial) && !applet_call_destroy(host, applet))
            return false;
        return fail_open(host, applet, "initialize() answered false");
    }
    applet_set_state(applet, APPLET_STATE_RUNNING, "");
    log_item(APPLET_OPENED, applet->facts.id, applet->facts.version);
    if (guard_retake_handlers())
        log_item(SIGNALS_TAKEN_BACK, applet->facts.id);
    return true;
}

bool host_try_create(Host *host, uint32_t index)
{
    Applet *applet = prepare(host, index, "host_try_create");
    if (applet == NULL || !create(host, applet) || !applet_call_destroy(host, applet))
        return false;
    applet_reclaim(host, applet->serial, true);
    life_unload(&applet->life);
    return true;
}

/* frame() over 250 ms three times in a row flags the applet; a good frame takes the flag back. */
static void watchdog(Applet *applet)
{
    if (applet->last_frame_sec <= slow_frame_sec) {
        applet->slow_frames = 0;
        applet->slow = false;
        return;
    }
    applet->slow_frames++;
    if (applet->slow || applet->slow_frames < SLOW_FRAMES)
        return;
    applet->slow = true;
    log_item(APPLET_SLOW, applet->facts.id, slow_frame_sec * 1e3, applet->last_frame_sec * 1e3);
}

bool host_frame(Host *host, uint32_t index, const CaliperFrameInfo *info)
{
    if (index >= host->applet_count || host->applets[index]->state != APPLET_STATE_RUNNING)
        return false;
    Applet *applet = host->applets[index];
    double began_sec = host->now_sec();
    if (!applet_call_frame(host, applet, info))
        return false;
    applet->last_frame_sec = host->now_sec() - began_sec;
    applet->frames++;
    watchdog(applet);
    return true;
}

bool applet_reload(Host *host, Applet *applet)
{
    char why[APPLET_REASON_BYTES] = "";
    applet->fresh_copy = true;
    if (!renegotiate(host, applet, true))
        return refuse_open(applet);
    applet->state = APPLET_STATE_READY; /* unless something is found now */
    if (!ensure_loaded(host, applet, why, sizeof why))
        return applet->state == APPLET_STATE_UNAVAILABLE ? refuse_open(applet)
                                                         : fail_open(host, applet, why);
    if (applet->manifest == NULL)
        applet_settle(host, applet);
    else
        applet_set_state(applet, APPLET_STATE_READY, "");
    if (applet->state != APPLET_STATE_READY)
        return false;
    log_item(APPLET_RELOADED, applet->facts.id, applet->facts.version, applet->path);
    return true;
}

bool host_reload(Host *host, uint32_t index)
{
    Applet *applet = applet_at(host, index, "host_reload");
    if (applet == NULL)
        return false;
    if (applet->state != APPLET_STATE_FAILED && applet->state != APPLET_STATE_QUARANTINED &&
        applet->state != APPLET_STATE_UNAVAILABLE) {
        log_item(APPLET_CALL_REFUSED, "host_reload", applet->facts.id, state_names[applet->state],
                 "failed, quarantined or unavailable");
        return false;
    }
    return applet_reload(host, applet);
}
