/* How applets end: asked to close, waiting for their jobs, cleanup, destroy, unload. One whose jobs
 * go on longer than a person would wait lingers: its card is free for a new life, and the old one
 * gets its cleanup and its end when the last job has ended. Frame thread. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fault.h"
#include "core/host_impl.h"
#include "core/log.h"

static const double quiesce_longest_sec = 2.0;
static const long quiesce_poll_ns = 5000000;
static const char lingers[] = "a job of it still runs";

void applet_reclaim(Host *host, CallerId owner, bool leaked)
{
    for (uint32_t i = 0; i < host->reclaim_count; i++)
        host->reclaims[i].call(host->reclaims[i].user, owner, leaked);
}

void host_close(Host *host, uint32_t index)
{
    Applet *applet = applet_at(host, index, "host_close");
    if (applet == NULL || applet->state != APPLET_STATE_RUNNING)
        return;
    applet->close_asked_sec = host->now_sec();
    applet->reopen = false;
    applet_set_state(applet, APPLET_STATE_CLOSING, "");
}

/* Every hook is asked each time, so that all cancel what they run at once. */
static bool quiesced(Host *host, CallerId owner)
{
    bool all = true;
    for (uint32_t i = 0; i < host->quiesce_count; i++)
        all = host->quiesces[i].call(host->quiesces[i].user, owner) && all;
    return all;
}

bool applet_jobs_ended(Host *host, CallerId owner)
{
    int polls = (int)(quiesce_longest_sec * 1e9 / (double)quiesce_poll_ns);
    while (!quiesced(host, owner)) {
        if (polls-- == 0)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = quiesce_poll_ns}, NULL);
    }
    return true;
}

/* Nothing of the applet runs any more. False: it faulted, and is abandoned. */
static bool finish(Host *host, Applet *applet)
{
    if (!applet_call_cleanup(host, applet) || !applet_call_destroy(host, applet))
        return false;
    applet_reclaim(host, applet->serial, true);
    log_item(APPLET_CLOSED, applet->facts.id, (unsigned long long)applet->frames);
    life_unload(&applet->life);
    return true;
}

/* Moves the life out of the list; without memory it is abandoned as it is. */
static void linger(Host *host, Applet *applet)
{
    log_item(APPLET_JOBS_REMAIN, applet->facts.id, quiesce_longest_sec);
    Applet *old = fault_here("applets.alloc") ? NULL : malloc(sizeof *old);
    if (old != NULL) {
        *old = *applet;
        old->path = NULL;
        old->manifest = NULL;
        old->follow = NULL;
        old->of = applet;
        old->next_lingering = host->lingering;
        host->lingering = old;
        applet->life = NULL;
        applet->lingering++;
    } else {
        log_item(OUT_OF_MEMORY, "host_end_frame", (unsigned long long)sizeof *old);
        applet_reclaim(host, applet->serial, false);
        life_abandon(&applet->life);
    }
    applet->fresh_copy = true;
    applet_set_state(applet, APPLET_STATE_READY, lingers);
}

static void close_applet(Host *host, Applet *applet)
{
    bool ended = quiesced(host, applet->serial);
    if (!ended && host->now_sec() - applet->close_asked_sec < quiesce_longest_sec)
        return;
    if (!ended)
        linger(host, applet);
    else if (finish(host, applet))
        applet_set_state(applet, APPLET_STATE_READY, applet->lingering > 0 ? lingers : "");
}

/* Ends those whose jobs have ended; with `all` the others are abandoned as they are. */
static void end_lingering(Host *host, bool all)
{
    for (Applet **link = &host->lingering; *link != NULL;) {
        Applet *old = *link;
        bool ended = quiesced(host, old->serial);
        if (!ended && !all) {
            link = &old->next_lingering;
            continue;
        }
        if (ended) {
            finish(host, old);
        } else {
            applet_reclaim(host, old->serial, false);
            life_abandon(&old->life);
        }
        *link = old->next_lingering;
        if (--old->of->lingering == 0 && old->of->state == APPLET_STATE_READY)
            applet_set_state(old->of, APPLET_STATE_READY, "");
        free(old);
    }
}

void host_end_frame(Host *host)
{
    for (uint32_t i = 0; i < host->applet_count; i++) {
        if (host->applets[i]->state == APPLET_STATE_CLOSING)
            close_applet(host, host->applets[i]);
    }
    end_lingering(host, false);
    applets_follow(host);
    if (guard_retake_handlers() && !host->said_taken_back) {
        host->said_taken_back = true; /* once: it may be a driver that does it every frame */
        log_item(SIGNALS_TAKEN_BACK, "an applet or a driver");
    }
}

void applets_end(Host *host)
{
    for (uint32_t i = 0; i < host->applet_count; i++)
        applet_unfollow(host->applets[i]);
    for (uint32_t i = 0; i < host->applet_count; i++)
        if (host->applets[i]->state == APPLET_STATE_RUNNING)
            host_close(host, i);
    /* No frames come any more: wait here, for all of them together. */
    bool closing = true;
    while (closing) {
        closing = false;
        host_end_frame(host);
        for (uint32_t i = 0; i < host->applet_count; i++)
            closing = closing || host->applets[i]->state == APPLET_STATE_CLOSING;
        if (closing)
            nanosleep(&(struct timespec){.tv_nsec = quiesce_poll_ns}, NULL);
    }
    end_lingering(host, true);
    for (uint32_t i = 0; i < host->applet_count; i++) {
        life_unload(&host->applets[i]->life);
        free(host->applets[i]->path);
        free(host->applets[i]->manifest);
        free(host->applets[i]);
    }
    free(host->applets);
    host->applets = NULL;
    host->applet_count = 0;
    life_forget_host(host);
}
