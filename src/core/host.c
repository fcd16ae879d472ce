/* The host object: its making and end, services by id, the hooks of other parts. Frame thread;
 * host_service from any. */
#include "core/host.h"

#include <stdlib.h>
#include <string.h>

#include "core/fault.h"
#include "core/frame_thread.h"
#include "core/host_impl.h"
#include "core/log.h"
#include "core/log_file.h"
#include "core/paths.h"

static const char *log_applet_source(void)
{
    return caller_name(caller_current());
}

static void folders_free(char **folders)
{
    for (char **folder = folders; folder != NULL && *folder != NULL; folder++)
        free(*folder);
    free(folders);
}

/* A NULL-terminated copy; NULL and one line without memory. `folders` is not NULL. */
static char **folders_copy(const char *const *folders)
{
    size_t count = 0;
    while (folders[count] != NULL)
        count++;
    char **copy = fault_here("host.alloc") ? NULL : calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(folders[i]);
        if (copy[i] == NULL) {
            folders_free(copy);
            copy = NULL;
        }
    }
    if (copy == NULL)
        log_item(OUT_OF_MEMORY, "host_create", (unsigned long long)((count + 1) * sizeof *copy));
    return copy;
}

Host *host_create(const HostParams *params)
{
    static const HostParams defaults = {.struct_size = sizeof(HostParams)};
    if (params == NULL)
        params = &defaults;
    Host *host = fault_here("host.alloc") ? NULL : calloc(1, sizeof *host);
    if (host == NULL) {
        log_item(OUT_OF_MEMORY, "host_create", (unsigned long long)sizeof *host);
        return NULL;
    }
    host->now_sec = clock_monotonic_sec;
    host->data_dir = paths_data_root(params->data_dir);
    host->cache_dir = host->data_dir != NULL ? paths_join(host->data_dir, "cache") : NULL;
    if (host->cache_dir == NULL)
        goto failed;
    host->has_log_file = log_file_open(host->data_dir, 0);
    loader_clean_copies(host->cache_dir);
    host->draws = !params->headless;
    if (host->draws)
        frame_thread_enter();
    host->has_stack = guard_thread_enter();
    host->has_guard = host->has_stack && guard_install(host->data_dir);
    if (!host->has_guard)
        goto failed;
    if (params->applet_dirs != NULL) {
        host->applet_dirs = folders_copy(params->applet_dirs);
        if (host->applet_dirs == NULL)
            goto failed;
    }
    host->builtin_applet_dir = params->builtin_applet_dir != NULL
                                   ? strdup(params->builtin_applet_dir)
                                   : paths_builtin_applets();
    clock_init(&host->clock, host->now_sec());
    log_set_applet_source(log_applet_source);
    return host;
failed:
    host_destroy(&host);
    return NULL;
}

void host_destroy(Host **host_ptr)
{
    Host *host = host_ptr != NULL ? *host_ptr : NULL;
    if (host == NULL)
        return;
    applets_end(host);
    while (host->end_count > 0) {
        host->end_count--;
        host->ends[host->end_count].call(host->ends[host->end_count].user);
    }
    watch_destroy(&host->watch);
    if (host->draws)
        frame_thread_leave();
    if (host->has_guard)
        guard_uninstall();
    if (host->has_stack)
        guard_thread_leave();
    for (uint32_t i = 0; i < atomic_load(&host->service_count); i++)
        free(host->services[i].id);
    folders_free(host->applet_dirs);
    free(host->builtin_applet_dir);
    if (host->has_log_file)
        log_file_close();
    free(host->cache_dir);
    free(host->data_dir);
    free(host);
    *host_ptr = NULL;
}

const char *host_data_dir(const Host *host)
{
    return host->data_dir;
}

static const HostService *find_service(const Host *host, const char *service_id)
{
    if (host == NULL || service_id == NULL)
        return NULL;
    uint32_t count = atomic_load_explicit(&host->service_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(host->services[i].id, service_id) == 0)
            return &host->services[i];
    }
    return NULL;
}

static bool register_service(Host *host, const char *service_id, const void *table,
                             const char *absent)
{
    uint32_t count = atomic_load_explicit(&host->service_count, memory_order_relaxed);
    const char *why = NULL;
    char *id = NULL;
    if (service_id == NULL || service_id[0] == '\0' || (table == NULL && absent == NULL))
        why = "an id and a table are wanted";
    else if (find_service(host, service_id) != NULL)
        why = "it is registered already";
    else if (count == HOST_SERVICES_MAX)
        why = "all places are taken";
    else if (fault_here("host.alloc") || (id = strdup(service_id)) == NULL)
        why = "no memory";
    if (why != NULL) {
        log_item(SERVICE_REFUSED, service_id != NULL ? service_id : "(null)", why);
        return false;
    }
    host->services[count] = (HostService){.id = id, .table = table, .absent = absent};
    atomic_store_explicit(&host->service_count, count + 1, memory_order_release);
    return true;
}

bool host_service_register(Host *host, const char *service_id, const void *table)
{
    return register_service(host, service_id, table, NULL);
}

bool host_service_absent(Host *host, const char *service_id, const char *reason)
{
    return register_service(host, service_id, NULL, reason);
}

const void *host_service(const Host *host, const char *service_id)
{
    const HostService *service = find_service(host, service_id);
    return service != NULL ? service->table : NULL;
}

const char *host_service_why_absent(const Host *host, const char *service_id)
{
    const HostService *service = find_service(host, service_id);
    return service != NULL && service->absent != NULL ? service->absent : "";
}

void host_filter_services(Host *host, HostServiceFilter filter, void *user)
{
    host->service_filter = filter;
    host->service_filter_user = user;
}

bool host_on_reclaim(Host *host, HostReclaim reclaim, void *user)
{
    if (reclaim == NULL || host->reclaim_count == HOST_HOOKS_MAX) {
        log_item(HOOK_REFUSED, "host_on_reclaim", (int)HOST_HOOKS_MAX);
        return false;
    }
    host->reclaims[host->reclaim_count].call = reclaim;
    host->reclaims[host->reclaim_count].user = user;
    host->reclaim_count++;
    return true;
}

bool host_on_quiesce(Host *host, HostQuiesce quiesce, void *user)
{
    if (quiesce == NULL || host->quiesce_count == HOST_HOOKS_MAX) {
        log_item(HOOK_REFUSED, "host_on_quiesce", (int)HOST_HOOKS_MAX);
        return false;
    }
    host->quiesces[host->quiesce_count].call = quiesce;
    host->quiesces[host->quiesce_count].user = user;
    host->quiesce_count++;
    return true;
}

bool host_on_end(Host *host, HostEnd end, void *user)
{
    if (end == NULL || host->end_count == HOST_HOOKS_MAX) {
        log_item(HOOK_REFUSED, "host_on_end", (int)HOST_HOOKS_MAX);
        return false;
    }
    host->ends[host->end_count].call = end;
    host->ends[host->end_count].user = user;
    host->end_count++;
    return true;
}
