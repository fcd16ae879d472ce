/* The calls into an applet: guarded, watched, under its name; and what happens after a fault. Frame
 * thread. */
#include <signal.h>
#include <stdio.h>

#include "core/host_impl.h"
#include "core/log.h"

enum { STACK_TEXT_BYTES = 3500 }; /* one log entry */

void applet_fault_words(const Host *host, const GuardFault *fault, const char *what, char *out,
                        size_t out_bytes)
{
    if (fault->hung)
        snprintf(out, out_bytes, "%s did not return and was ended (CALIPER_HANG_LIMIT is %g s)",
                 what, watch_limit_sec(host->watch));
    else if (fault->signal == SIGABRT)
        snprintf(out, out_bytes, "SIGABRT in %s", what);
    else
        snprintf(out, out_bytes, "%s at 0x%llx in %s", guard_signal_name(fault->signal),
                 (unsigned long long)fault->address, what);
}

void applet_fault_log(const char *id, const GuardFault *fault, const char *words)
{
    char stack[STACK_TEXT_BYTES];
    guard_describe_stack(fault, stack, sizeof stack);
    log_item(APPLET_FAULT, id, words);
    log_item(APPLET_STACK, id, stack);
}

/* Abandons the applet: services take back what they can, its library stays. */
static void quarantine(Host *host, Applet *applet, const GuardFault *fault, const char *what)
{
    char words[APPLET_REASON_BYTES];
    applet_fault_words(host, fault, what, words, sizeof words);
    CallerId before = caller_enter(applet->serial);
    applet_fault_log(applet->facts.id, fault, words);
    caller_leave(before);
    applet_set_state(applet, APPLET_STATE_QUARANTINED, words);
    applet_reclaim(host, applet->serial, false);
    life_abandon(&applet->life);
}

static bool call(Host *host, Applet *applet, const char *what, uint32_t limit_factor,
                 void (*function)(void *), void *arg)
{
    GuardFault fault;
    CallerId before = caller_enter(applet->serial);
    uint64_t serial = watch_begin(host->watch, applet->serial, what, limit_factor);
    bool returned = guard_call(
        &(GuardCall){.what = what, .serial = serial, .call = function, .arg = arg}, &fault);
    watch_end(host->watch);
    caller_leave(before);
    if (!returned)
        quarantine(host, applet, &fault, what);
    return returned;
}

typedef struct Arguments {
    AppletLife *life;
    const CaliperFrameInfo *info;
    bool ok;
} Arguments;

static void call_create(void *arg)
{
    Arguments *arguments = arg;
    arguments->life->self = arguments->life->api.create();
}

static void call_initialize(void *arg)
{
    Arguments *arguments = arg;
    arguments->ok =
        arguments->life->api.initialize(arguments->life->self, &arguments->life->vended);
}

static void call_frame(void *arg)
{
    Arguments *arguments = arg;
    arguments->life->api.frame(arguments->life->self, arguments->info);
}

static void call_cleanup(void *arg)
{
    Arguments *arguments = arg;
    arguments->life->api.cleanup(arguments->life->self);
}

static void call_destroy(void *arg)
{
    Arguments *arguments = arg;
    arguments->life->api.destroy(arguments->life->self);
}

bool applet_call_create(Host *host, Applet *applet)
{
    Arguments arguments = {.life = applet->life};
    return call(host, applet, "create()", WATCH_OTHER_FACTOR, call_create, &arguments);
}

bool applet_call_initialize(Host *host, Applet *applet, bool *out_ok)
{
    Arguments arguments = {.life = applet->life};
    bool returned =
        call(host, applet, "initialize()", WATCH_OTHER_FACTOR, call_initialize, &arguments);
    *out_ok = returned && arguments.ok;
    return returned;
}

bool applet_call_frame(Host *host, Applet *applet, const CaliperFrameInfo *info)
{
    Arguments arguments = {.life = applet->life, .info = info};
    return call(host, applet, "frame()", 1, call_frame, &arguments);
}

bool applet_call_cleanup(Host *host, Applet *applet)
{
    Arguments arguments = {.life = applet->life};
    return call(host, applet, "cleanup()", WATCH_OTHER_FACTOR, call_cleanup, &arguments);
}

bool applet_call_destroy(Host *host, Applet *applet)
{
    Arguments arguments = {.life = applet->life};
    return call(host, applet, "destroy()", WATCH_OTHER_FACTOR, call_destroy, &arguments);
}
