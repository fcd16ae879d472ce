/* One load of an applet's library: opening it, reading its descriptor, its end. Frame thread, but
 * for get_service, which applets call from any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/caller_register.h"
#include "core/fault.h"
#include "core/host_impl.h"
#include "core/log.h"
#include "core/paths.h"

#define HOST_VERSION                                                                \
    ((uint32_t)CALIPER_VERSION_MAJOR << 16 | (uint32_t)CALIPER_VERSION_MINOR << 8 | \
     (uint32_t)CALIPER_VERSION_PATCH)

/* Reachable for ever, as their threads may be. Frame thread. */
static AppletLife *abandoned;

static const void *vended_get_service(const CaliperHost *vended, const char *service_id)
{
    if (vended == NULL)
        return NULL;
    const AppletLife *life = (const AppletLife *)vended;
    const Host *host = atomic_load(&life->host);
    const void *table = host_service(host, service_id);
    return host != NULL && service_id != NULL && host->service_filter != NULL
               ? host->service_filter(host->service_filter_user, service_id, table)
               : table;
}

typedef struct Reading {
    CaliperDescriptorFn function;
    Descriptor *out;
    char *why;
    size_t why_bytes;
    bool ok;
} Reading;

static void read_descriptor(void *arg)
{
    Reading *reading = arg;
    reading->ok =
        descriptor_read(reading->function(), reading->out, reading->why, reading->why_bytes);
}

/* False with *problem and `why`. */
static bool life_read(Host *host, AppletLife *life, const char *path, Descriptor *facts,
                      LifeProblem *problem, char *why, size_t why_bytes)
{
    static const char what[] = CALIPER_DESCRIPTOR_SYMBOL "()";
    Reading reading = {
        .function = life->library.descriptor, .out = facts, .why = why, .why_bytes = why_bytes};
    GuardFault fault;
    uint64_t serial = watch_begin(host->watch, 0, what, WATCH_OTHER_FACTOR);
    bool returned = guard_call(
        &(GuardCall){.what = what, .serial = serial, .call = read_descriptor, .arg = &reading},
        &fault);
    watch_end(host->watch);
    if (!returned) {
        *problem = LIFE_PROBLEM_FAULTED;
        applet_fault_words(host, &fault, what, why, why_bytes);
        applet_fault_log(path, &fault, why);
        return false;
    }
    *problem = LIFE_PROBLEM_REFUSED;
    return reading.ok;
}

AppletLife *life_load(Host *host, const char *path, bool fresh_copy, Descriptor *facts,
                      LifeProblem *problem, char *why, size_t why_bytes)
{
    *problem = LIFE_PROBLEM_NO_LIBRARY;
    if (!host->watch_tried) {
        host->watch_tried = true;
        host->watch = watch_create();
    }
    AppletLife *life = fault_here("life.alloc") ? NULL : calloc(1, sizeof *life);
    Descriptor *read = life != NULL ? calloc(1, sizeof *read) : NULL;
    if (read == NULL) {
        snprintf(why, why_bytes, "no memory");
        free(life);
        return NULL;
    }
    atomic_store(&life->host, host);
    LoaderResult result =
        loader_open(path, fresh_copy ? host->cache_dir : NULL, &life->library, why, why_bytes);
    if (result != LOADER_RESULT_OPENED) {
        *problem =
            result == LOADER_RESULT_NO_SYMBOL ? LIFE_PROBLEM_NO_APPLET : LIFE_PROBLEM_NO_LIBRARY;
        life_unload(&life);
    } else if (!life_read(host, life, path, read, problem, why, why_bytes)) {
        if (*problem == LIFE_PROBLEM_FAULTED)
            life_abandon(&life);
        else
            life_unload(&life);
    } else {
        life->api = read->api;
        life->serial = caller_register(read->id);
        caller_set_range(life->serial, life->library.first, life->library.end);
        life->vended = (CaliperHost){.struct_size = sizeof life->vended,
                                     .abi_epoch = CALIPER_ABI_EPOCH,
                                     .host_version = HOST_VERSION,
                                     .get_service = vended_get_service};
        *facts = *read;
    }
    free(read);
    return life;
}

void life_unload(AppletLife **life_ptr)
{
    AppletLife *life = *life_ptr;
    if (life == NULL)
        return;
    caller_forget_range(life->serial);
    loader_close(&life->library);
    free(life->data_dir);
    free(life);
    *life_ptr = NULL;
}

void life_abandon(AppletLife **life_ptr)
{
    AppletLife *life = *life_ptr;
    if (life == NULL)
        return;
    life->next = abandoned;
    abandoned = life;
    *life_ptr = NULL;
}

void life_forget_host(const Host *host)
{
    for (AppletLife *life = abandoned; life != NULL; life = life->next) {
        if (atomic_load(&life->host) == host)
            atomic_store(&life->host, NULL);
    }
}
