/* core/host.h: the host object: services by id, the data root, applets and their lives, the clock.
 *
 * src/core/ is the bottom of the house (log, faults, paths, loader, guard, watchdog, registry);
 * every folder of src/ may include it and it includes none of them. The shell drives one Host from
 * the frame thread; functions are for that thread unless they say [any]. */
#ifndef CALIPER_CORE_HOST_H
#define CALIPER_CORE_HOST_H

#include <caliper/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/caller.h"

typedef struct Host Host;

typedef struct HostParams {
    uint32_t struct_size;
    const char *data_dir;           /* NULL: CALIPER_DATA_DIR, else the platform's place */
    const char *const *applet_dirs; /* searched first, NULL-terminated; may be NULL */
    const char *builtin_applet_dir; /* NULL: found from the executable */
    bool headless; /* nobody looks at frames: calls on this thread may wait (frame_thread.h) */
} HostParams;

/* Makes the data root and its folders. NULL and one line when that cannot be done. */
Host *host_create(const HostParams *params);
void host_destroy(Host **host);

const char *host_data_dir(const Host *host);

/* Services: a table stays valid until the host is destroyed. Registering an id twice is an error of
 * ours and returns false. */
bool host_service_register(Host *host, const char *service_id, const void *table);
/* An id that this build has and this machine cannot offer: applets are given NULL, and the card of
 * one that needs it says `reason`, which lives as long as the host. */
bool host_service_absent(Host *host, const char *service_id, const char *reason);
/* That reason; "" when there is none. [any] */
const char *host_service_why_absent(const Host *host, const char *service_id);
/* What applets are given; NULL for an unknown id. [any] */
const void *host_service(const Host *host, const char *service_id);

/* For `caliper check` and tests of applets: what get_service answers an applet instead of `table`,
 * which is NULL for an unknown id. Asked on the applet's own threads, so it takes no lock; `id` is
 * as the applet gave it, once it has been read. NULL takes it back. Before an applet is opened. */
typedef const void *(*HostServiceFilter)(void *user, const char *id, const void *table);
void host_filter_services(Host *host, HostServiceFilter filter, void *user);

/* ---- Applets ---- */

typedef enum AppletState {
    APPLET_STATE_READY = 0,       /* can be opened */
    APPLET_STATE_UNAVAILABLE = 1, /* negotiation failed; reason says why */
    APPLET_STATE_RUNNING = 2,
    APPLET_STATE_CLOSING = 3,    /* waits for its jobs, still listed */
    APPLET_STATE_FAILED = 4,     /* create, initialize or the descriptor failed */
    APPLET_STATE_QUARANTINED = 5 /* faulted; reason names signal and call */
} AppletState;

typedef struct AppletView { /* strings live until the applet list changes */
    CallerId serial;
    const char *id, *name, *summary, *tag, *version;
    const char *path;     /* of the library */
    const char *manifest; /* "" for a bare library */
    AppletState state;
    const char *reason; /* "" when there is none */
    bool followed;      /* it is loaded again when its files change */
    bool slow;          /* the watchdog's flag: frame() over 250 ms, three in a row */
    uint64_t frames;    /* frame() calls that returned */
    double last_frame_sec;
} AppletView;

/* Looks through applet_dirs, <data root>/applets and the built-in folder, one level deep, for
 * manifests and bundles; adds what is new, and says what cannot be opened and why. Opens no
 * library. */
void host_scan(Host *host);
/* Adds one applet by the path of its bundle, manifest or library (which needs no manifest and is
 * opened at once if it has none); returns its index or -1 with one line (the applet is then not
 * listed). */
int32_t host_add(Host *host, const char *path);
/* The same for `caliper dev`: it is listed whatever is wrong with it, even when it is not there
 * yet, and from now on closed, loaded again and opened whenever its library or manifest changes.
 * What keeps it from running is its reason; the next change is another try. */
int32_t host_add_followed(Host *host, const char *path);
/* The same for an applet that is linked into this process, under a name for the log: for tests of
 * applets (src/fixture/). */
int32_t host_add_linked(Host *host, const char *name, CaliperDescriptorFn descriptor);
/* What the applet's create() answered, NULL while it is not open: for tests of applets. */
void *host_applet_self(const Host *host, uint32_t index);
int32_t host_find(const Host *host, const char *applet_id); /* -1: none */
uint32_t host_applet_count(const Host *host);
bool host_applet(const Host *host, uint32_t index, AppletView *out);

/* create and initialize, guarded. False: state and reason say why. */
bool host_open(Host *host, uint32_t index);
/* create and destroy alone, guarded, for `caliper check`: the applet is ready afterwards. */
bool host_try_create(Host *host, uint32_t index);
/* frame(), guarded, with the floating-point environment kept. False when it is not running (any
 * more). The shell calls it inside the applet's panel. */
bool host_frame(Host *host, uint32_t index, const CaliperFrameInfo *info);
/* Asks a running applet to close: cleanup and destroy happen in host_end_frame, after its textures
 * were last drawn and its jobs have ended. Jobs that go on for 2 s more leave the card free for a
 * new life; the old one gets its cleanup, destroy and unloading when the last of them has ended, or
 * none of these when the host ends before. */
void host_close(Host *host, uint32_t index);
/* Opens the library again from a fresh copy; for failed and quarantined applets. */
bool host_reload(Host *host, uint32_t index);
/* After the frame was submitted: closings, watchdog, clock. */
void host_end_frame(Host *host);

/* Called on the frame thread when an applet's life ended (`leaked`: it was not abandoned, so what
 * it left behind is its own leak) so that services take back what it holds. At most 8. */
typedef void (*HostReclaim)(void *user, CallerId owner, bool leaked);
bool host_on_reclaim(Host *host, HostReclaim reclaim, void *user);
/* Asked once a frame until true, before cleanup: the owner's jobs are cancelled and have ended. */
typedef bool (*HostQuiesce)(void *user, CallerId owner);
bool host_on_quiesce(Host *host, HostQuiesce quiesce, void *user);
/* Called by host_destroy after the last applet's life and before the log's end, the last one
 * registered first: services close what they opened. Threads of applets may still call tables then
 * and later; they are refused. */
typedef void (*HostEnd)(void *user);
bool host_on_end(Host *host, HostEnd end, void *user);

/* ---- Frame clock ---- */

/* Fills time and delta; a delta is never 0, the first frame's is 1/60 s.
 * CALIPER_FIXED_CLOCK=seconds makes every delta that long and frame n's time n times that
 * (screenshots that repeat). */
void host_clock_tick(Host *host, int32_t fb_width_px, int32_t fb_height_px, float dpi_scale,
                     CaliperFrameInfo *out);

#endif
