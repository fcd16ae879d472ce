/* Jobs: their threads, and what a job says and asks while it runs. */
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "core/fault.h"
#include "core/fpenv.h"
#include "core/guard.h"
#include "core/log.h"
#include "core/trace.h"
#include "jobs/jobs_impl.h"

enum { THREAD_NAME_BYTES = 16 };

static _Thread_local Job *current; /* of this thread: the quick way from a control to its job */

/* ---- What a job may call ---- */

static Job *job_of(const CaliperJobControl *control, const char *call)
{
    if (current != NULL && control == &current->control)
        return current;
    Job *job = job_table_of_control(control);
    if (job == NULL)
        log_item(JOB_CONTROL_REFUSED, call, (const void *)control);
    return job;
}

static bool control_cancelled(const CaliperJobControl *control)
{
    Job *job = job_of(control, "cancelled");
    return job == NULL || atomic_load_explicit(&job->cancelled_id, memory_order_relaxed) ==
                              atomic_load_explicit(&job->id, memory_order_relaxed);
}

static void control_progress(const CaliperJobControl *control, float fraction, const char *message)
{
    Job *job = job_of(control, "progress");
    if (job == NULL)
        return;
    if (!isnan(fraction)) {
        float clamped = fraction < 0.0f ? 0.0f : fraction > 1.0f ? 1.0f : fraction;
        unsigned bits;
        memcpy(&bits, &clamped, sizeof bits);
        atomic_store_explicit(&job->progress_bits, bits, memory_order_release);
    }
    if (message != NULL)
        job_text_write(&job->message, message);
}

/* ---- The thread ---- */

typedef struct Run {
    Job *job;
    uint64_t id;
    FpEnv env;
    uint64_t traced_ns;
    CallerId caller_before;
    bool has_stack;
    bool came_back; /* fn returned; else the thread is being ended inside of it */
} Run;

/* Cut at a character: the kernel takes 15 bytes. */
static void name_thread(Job *job)
{
    char name[JOB_TEXT_BYTES];
    job_text_read(&job->label, name);
    size_t length = strnlen(name, THREAD_NAME_BYTES - 1);
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
        length--;
    name[length] = '\0';
    pthread_setname_np(pthread_self(), name);
}

/* The last thing in a job's thread, also when that is cancelled or exits by itself. */
static void run_end(void *arg)
{
    Run *run = arg;
    guard_thread_end_if_forked();
    fpenv_set(run->env);
    if (!run->came_back)
        log_item(JOB_THREAD_ENDED, run->job->words);
    char label[JOB_TEXT_BYTES];
    job_text_read(&run->job->label, label);
    trace_span(run->traced_ns, &(TraceEvent){.category = "jobs",
                                             .name = "job",
                                             .label = label,
                                             .values = {{"id", run->id}},
                                             .value_count = 1});
    guard_thread_describe(NULL);
    if (run->has_stack)
        guard_thread_leave();
    caller_leave(run->caller_before);
    current = NULL;
    job_table_returned(run->job);
}

static void *run_job(void *arg)
{
    Job *job = arg;
    Run run = {.job = job, .id = atomic_load(&job->id)};
    /* The submitter's mask and floating-point controls are not the job's. */
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    fesetenv(FE_DFL_ENV);
    run.env = fpenv_get();
    job->thread = pthread_self();
    current = job;
    name_thread(job);
    run.caller_before = caller_enter(atomic_load(&job->owner));
    run.has_stack = guard_thread_enter();
    guard_thread_describe(job->words);
    run.traced_ns = trace_begin();
    pthread_cleanup_push(run_end, &run);
    job->fn(job->user, &job->control);
    run.came_back = true;
    pthread_cleanup_pop(1);
    return NULL;
}

uint64_t jobs_submit(const char *label, CaliperJobFn fn, void *user, CallerId owner)
{
    const char *shown = label != NULL ? label : "(job)";
    if (fn == NULL) {
        log_item(JOB_REFUSED, shown, "its function is NULL");
        return 0;
    }
    Job *job = job_table_reserve(shown, fn, user, owner);
    if (job == NULL)
        return 0;
    uint64_t id = atomic_load(&job->id);
    job->control = (CaliperJobControl){.struct_size = sizeof job->control,
                                       .cancelled = control_cancelled,
                                       .progress = control_progress};
    pthread_t thread;
    int error = fault_here("jobs.thread") ? EAGAIN : pthread_create(&thread, NULL, run_job, job);
    if (error == 0)
        return id;
    job_table_give_back(job);
    log_item(JOB_REFUSED, shown, strerror(error));
    return 0;
}

void jobs_request_cancel(uint64_t id)
{
    Job *job = job_table_find(id);
    if (job != NULL && atomic_load(&job->state) == JOB_STATE_RUNNING)
        job_table_cancel(job, id);
}

bool jobs_is_running(uint64_t id)
{
    Job *job = job_table_find(id);
    return job != NULL && atomic_load(&job->state) == JOB_STATE_RUNNING &&
           job_table_find(id) == job;
}

float jobs_progress_of(uint64_t id)
{
    Job *job = job_table_find(id);
    unsigned bits = job != NULL ? atomic_load(&job->progress_bits) : 0;
    float progress;
    memcpy(&progress, &bits, sizeof progress);
    return job_table_find(id) == job ? progress : 0.0f;
}
