/* core/host_impl.h: the insides of Host, for the files of src/core/ alone. Frame thread, but for
 * the services, which are read from any thread. */
#ifndef CALIPER_CORE_HOST_IMPL_H
#define CALIPER_CORE_HOST_IMPL_H

#include <stdatomic.h>

#include "core/host.h"

enum { HOST_SERVICES_MAX = 64, HOST_HOOKS_MAX = 8 };

typedef struct HostService {
    char *id;
    const void *table;
} HostService;

typedef struct FrameClock {
    double fixed_sec; /* CALIPER_FIXED_CLOCK; 0: the real clock */
    double start_sec, last_sec;
    uint64_t frames;
} FrameClock;

struct Host {
    char *data_dir;
    char **applet_dirs; /* NULL-terminated, in order of search; may be NULL */
    char *builtin_applet_dir; /* NULL: there is none */

    /* Entries are written before the count that covers them, and never change afterwards. */
    HostService services[HOST_SERVICES_MAX];
    atomic_uint service_count;

    struct {
        HostReclaim call;
        void *user;
    } reclaims[HOST_HOOKS_MAX];
    uint32_t reclaim_count;
    struct {
        HostQuiesce call;
        void *user;
    } quiesces[HOST_HOOKS_MAX];
    uint32_t quiesce_count;

    FrameClock clock;
    double (*now_sec)(void); /* a monotonic clock; tests put their own here */
};

/* clock.c */
void clock_init(FrameClock *clock, double now_sec);
double clock_monotonic_sec(void);

#endif
