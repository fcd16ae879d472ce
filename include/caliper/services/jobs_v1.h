/* caliper.jobs.v1: work that lasts longer than a frame.
 *
 * Frozen. Each job has a thread of its own and shows in the host's tray with label, bar, message
 * and a cancel button. Before cleanup the host cancels an applet's jobs and waits for them.
 * Thread tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_JOBS_V1_H
#define CALIPER_SERVICES_JOBS_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>

#define CALIPER_JOBS_V1 "caliper.jobs.v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperJobControl CaliperJobControl;

/* What a running job may say and ask. Host-owned, valid until the job's function returns; pass it
 * as the first argument of its own functions. */
struct CaliperJobControl {
    uint32_t struct_size;

    /* true once the person or the host wants the job to end; poll it at least ten times a second
     * and return soon after. Stays true. [job] */
    bool (*cancelled)(const CaliperJobControl *ctl);

    /* Shows progress: `frac` 0..1 (clamped; NaN leaves the bar as it is) and a short UTF-8 message,
     * copied; NULL leaves the message as it is. [job] */
    void (*progress)(const CaliperJobControl *ctl, float frac, const char *msg);
};

/* A job: runs once on its own thread; returning ends it. No C++ exception may leave it. A fault in
 * here ends the process, since nothing can vouch for the state it leaves. */
typedef void (*CaliperJobFn)(void *user, const CaliperJobControl *ctl);

typedef struct CaliperJobsV1 {
    uint32_t struct_size;

    /* Starts fn(user, ctl) and returns at once. `label` is UTF-8, copied; NULL shows as "(job)".
     * `user` stays the caller's and must outlive the job. Returns the job's id, from 1 on and never
     * reused; 0 and one log line when fn is NULL or no thread could be started. [any] */
    uint64_t (*submit)(const char *label, CaliperJobFn fn, void *user);

    /* Raises the flag that `cancelled` answers; does not wait. An unknown or finished id does
     * nothing. [any] */
    void (*request_cancel)(uint64_t job);

    /* true from submit until fn has returned; false for an unknown id. [any] */
    bool (*is_running)(uint64_t job);

    /* The last progress, 0..1, also after the end; 0 for an unknown id. [any] */
    float (*progress_of)(uint64_t job);
} CaliperJobsV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperJobControl, 24);
CALIPER_LAYOUT_AT(CaliperJobControl, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperJobControl, cancelled, 8);
CALIPER_LAYOUT_AT(CaliperJobControl, progress, 16);

CALIPER_LAYOUT_SIZE(CaliperJobsV1, 40);
CALIPER_LAYOUT_AT(CaliperJobsV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperJobsV1, submit, 8);
CALIPER_LAYOUT_AT(CaliperJobsV1, request_cancel, 16);
CALIPER_LAYOUT_AT(CaliperJobsV1, is_running, 24);
CALIPER_LAYOUT_AT(CaliperJobsV1, progress_of, 32);

#endif
