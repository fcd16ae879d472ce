/* Applets that are loaded again whenever their files change: `caliper dev`. Frame thread; looking
 * at the files is another's (file_follow.h). */
#include <stdlib.h>
#include <string.h>

#include "core/file_follow.h"
#include "core/host_impl.h"
#include "core/log.h"

bool applet_follow(Applet *applet)
{
    const char *paths[] = {applet->path, applet->manifest, NULL};
    file_follow_destroy(&applet->follow);
    applet->follow = file_follow_create(paths);
    applet->reopen = true;
    applet->fresh_copy = true; /* the file itself may be written at any moment */
    return applet->follow != NULL;
}

void applet_unfollow(Applet *applet)
{
    file_follow_destroy(&applet->follow);
}

/* Its library may be another file now: a bundle's, or with `lib` before it. */
static void load_again(Host *host, uint32_t index)
{
    Applet *applet = host->applets[index];
    char *path = strdup(applet->path);
    if (applet_reload(host, applet) && applet->reopen)
        host_open(host, index);
    if (path == NULL || strcmp(path, applet->path) != 0) {
        bool reopen = applet->reopen;
        applet_follow(applet);
        applet->reopen = reopen;
    }
    free(path);
}

void applets_follow(Host *host)
{
    for (uint32_t i = 0; i < host->applet_count; i++) {
        Applet *applet = host->applets[i];
        if (applet->follow == NULL)
            continue;
        if (file_follow_changed(applet->follow)) {
            applet->reload_due = true;
            log_item(APPLET_CHANGED, applet->path);
        }
        if (!applet->reload_due)
            continue;
        if (applet->state == APPLET_STATE_RUNNING) {
            host_close(host, i); /* cleanup comes when its jobs have ended */
            applet->reopen = true;
        }
        if (applet->state == APPLET_STATE_CLOSING)
            continue;
        applet->reload_due = false;
        load_again(host, i);
    }
}
