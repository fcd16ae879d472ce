/* core/host_impl.h: the insides of Host, for the files of src/core/ alone. Frame thread, but for
 * the services, which are read from any thread. */
#ifndef CALIPER_CORE_HOST_IMPL_H
#define CALIPER_CORE_HOST_IMPL_H

#include <stdatomic.h>

#include "core/descriptor.h"
#include "core/guard.h"
#include "core/host.h"
#include "core/loader.h"
#include "core/manifest.h"
#include "core/watch.h"

enum { HOST_SERVICES_MAX = 64, HOST_HOOKS_MAX = 8, APPLET_REASON_BYTES = 512 };

typedef struct HostService {
    char *id;
    const void *table; /* NULL: it cannot be offered, and `absent` says why */
    const char *absent;
} HostService;

typedef struct FrameClock {
    double fixed_sec; /* CALIPER_FIXED_CLOCK; 0: the real clock */
    double start_sec, last_sec;
    uint64_t frames;
} FrameClock;

/* One load of an applet's library, until it is unloaded or abandoned. An abandoned life is kept for
 * ever: its threads may go on using it. */
typedef struct AppletLife {
    CaliperHost vended;   /* first: get_service finds the life from it */
    _Atomic(Host *) host; /* NULL when the host is gone */
    CallerId serial;
    Library library;
    CaliperAppletAPI api;
    char *data_dir;
    void *self;
    struct AppletLife *next; /* in the list of the abandoned */
} AppletLife;

typedef struct Applet {
    /* The manifest's if there is one, else of the last load; the file's name alone if neither. */
    Descriptor facts;
    char *path;                                  /* of the library, also when it is not there */
    char *manifest;                              /* path; NULL: a bare library */
    uint32_t abi_epoch, min_host[3];             /* the manifest's */
    char without_library[DESCRIPTOR_TEXT_BYTES]; /* the manifest's */
    bool has_library;
    LibraryStamp manifest_stamp; /* of the file at the last reading */
    AppletLife *life;            /* NULL: not loaded */
    CallerId serial;             /* of the last life */
    AppletState state;
    char reason[APPLET_REASON_BYTES];
    struct FileFollow *follow; /* NULL: its files are not watched */
    bool reload_due;           /* they changed */
    bool reopen;               /* nobody closed it: it is opened when it is loaded again */
    bool fresh_copy;           /* an earlier image of this path is still loaded */
    LibraryStamp stamp;        /* of the file at the last load */
    bool slow;
    uint32_t slow_frames; /* in a row */
    uint64_t frames;
    double last_frame_sec;
    double close_asked_sec;
    uint32_t lingering; /* earlier lives of it that wait for their jobs */

    /* Of such an earlier life: the applet in the list, and the next of them. */
    struct Applet *of, *next_lingering;
} Applet;

struct Host {
    char *data_dir;
    char *cache_dir; /* <data root>/cache: fresh copies of libraries */
    bool has_stack, has_guard, has_log_file, draws;
    bool said_taken_back;
    char **applet_dirs;       /* NULL-terminated, in order of search; may be NULL */
    char *builtin_applet_dir; /* NULL: there is none */

    /* Entries are written before the count that covers them, and never change afterwards. */
    HostService services[HOST_SERVICES_MAX];
    atomic_uint service_count;
    HostServiceFilter service_filter; /* NULL: none */
    void *service_filter_user;

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
    struct {
        HostEnd call;
        void *user;
    } ends[HOST_HOOKS_MAX];
    uint32_t end_count;

    Applet **applets;
    uint32_t applet_count, applet_capacity;
    Applet *lingering;
    Watch *watch;     /* from the first library on; NULL: none */
    bool watch_tried; /* it could not be started, do not try again */

    FrameClock clock;
    double (*now_sec)(void); /* a monotonic clock; tests put their own here */
};

/* applet_life.c. life_load: NULL and `why` on failure, *faulted when the descriptor function did.
 */
typedef enum LifeProblem {
    LIFE_PROBLEM_NO_LIBRARY = 0,
    LIFE_PROBLEM_NO_APPLET = 1, /* a library without the symbol */
    LIFE_PROBLEM_REFUSED = 2,   /* the descriptor */
    LIFE_PROBLEM_FAULTED = 3
} LifeProblem;
AppletLife *life_load(Host *host, const char *path, bool fresh_copy, Descriptor *facts,
                      LifeProblem *problem, char *why, size_t why_bytes);
/* Closes the library; nothing of it may be running. NULLs *life. */
void life_unload(AppletLife **life);
/* Never unloads it. NULLs *life. */
void life_abandon(AppletLife **life);
/* No abandoned life finds this host any more. */
void life_forget_host(const Host *host);

/* applet_call.c: the five functions, guarded, watched and under the applet's name. False: it
 * faulted or hung, and the applet is quarantined. */
bool applet_call_create(Host *host, Applet *applet);
bool applet_call_initialize(Host *host, Applet *applet, bool *out_ok);
bool applet_call_frame(Host *host, Applet *applet, const CaliperFrameInfo *info);
bool applet_call_cleanup(Host *host, Applet *applet);
bool applet_call_destroy(Host *host, Applet *applet);
/* The call serial's words for the log and the card, e.g. "SIGSEGV at 0x0 in frame()". */
void applet_fault_words(const Host *host, const GuardFault *fault, const char *what, char *out,
                        size_t out_bytes);
void applet_fault_log(const char *id, const GuardFault *fault, const char *words);

/* applet_negotiate.c. Reads the manifest (again): the applet's facts, and where its library is.
 * False with `why`; the facts are then the file's name alone. */
bool applet_read_manifest(Applet *applet, char *why, size_t why_bytes);
/* Before any library is opened, the first failure is the reason: the id is taken, no binary, epoch,
 * host version, services. Ready, or unavailable with its reason and without a line. */
bool applet_negotiate(const Host *host, Applet *applet);
/* A loaded applet without a manifest becomes ready; or unavailable with one line and its library
 * closed: its id is taken or a required service is missing. */
void applet_settle(Host *host, Applet *applet);
/* The services alone; `facts` are the manifest's or the descriptor's. */
bool applet_check_services(const Host *host, Applet *applet, const Descriptor *facts);
/* What an applet is called whose descriptor or manifest could not be read. */
void applet_name_from_path(Applet *applet);

/* applet_follow.c. Starts, ends; and does what is due, after each frame. */
bool applet_follow(Applet *applet);
void applet_unfollow(Applet *applet);
void applets_follow(Host *host);
/* applet_run.c: from a fresh copy, in any state in which nothing of it runs. Ready afterwards, or
 * false with a line. */
bool applet_reload(Host *host, Applet *applet);

/* applet_close.c: closes (waiting for jobs as long as a frame loop would) and frees every applet.
 */
void applets_end(Host *host);
/* Services take back what `owner` holds. */
void applet_reclaim(Host *host, CallerId owner, bool leaked);
/* Cancels the owner's jobs and waits here for their end, as long as a frame loop would. */
bool applet_jobs_ended(Host *host, CallerId owner);

/* applet_run.c. NULL and one line that names the call when there is no such applet. */
Applet *applet_at(Host *host, uint32_t index, const char *call);
void applet_set_state(Applet *applet, AppletState state, const char *reason);

/* clock.c */
void clock_init(FrameClock *clock, double now_sec);
double clock_monotonic_sec(void);

#endif
