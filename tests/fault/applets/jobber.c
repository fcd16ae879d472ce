/* An applet whose work is in jobs, and does what TEST_JOBS says. Its state dies loudly: a job that
 * looks at it after destroy says so. Built without sanitizers. */
#include <caliper/abi.h>
#include <caliper/services/jobs_v1.h>
#include <caliper/services/log_v1.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

enum { ALIVE = 0x600d, DEAD = 0xdead };

typedef struct Jobber {
    atomic_int magic;
    const CaliperHost *host;
    const CaliperJobsV1 *jobs;
    const CaliperLogV1 *log;
    const TestProbe *probe; /* NULL: none */
    char what[64];
    bool started;
} Jobber;

/* Outlives the applet's state, as long as its library. */
static const TestProbe *the_probe;

static void note(const char *what)
{
    if (the_probe != NULL)
        the_probe->note(what);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void look_at(const Jobber *jobber)
{
    if (atomic_load(&jobber->magic) != ALIVE)
        note("a job saw a dead applet");
}

static void job_obedient(void *user, const CaliperJobControl *ctl)
{
    note("job began");
    while (!ctl->cancelled(ctl)) {
        look_at(user);
        ctl->progress(ctl, 0.5f, "at work");
        nap();
    }
    look_at(user);
    note("job was cancelled");
}

/* Goes on until the file "leave" is in the applet's folder. */
static void job_stubborn(void *user, const CaliperJobControl *ctl)
{
    Jobber *jobber = user;
    char path[512];
    (void)ctl;
    snprintf(path, sizeof path, "%s/leave", jobber->host->applet_data_dir);
    note("job began");
    while (access(path, F_OK) != 0) {
        look_at(jobber);
        nap();
    }
    note("job left");
}

static void job_null_write(void *user, const CaliperJobControl *ctl)
{
    (void)user;
    (void)ctl;
    *(volatile int *)(uintptr_t)16 = 1;
}

static volatile int overflow_depth;

static int overflow_step(volatile char *above)
{
    volatile char here[4096];
    here[0] = above[0];
    here[4095] = (char)overflow_depth++;
    return overflow_step(here) + here[17];
}

static void job_overflow(void *user, const CaliperJobControl *ctl)
{
    char first[1] = {1};
    (void)user;
    (void)ctl;
    overflow_step(first);
}

static void job_abort(void *user, const CaliperJobControl *ctl)
{
    (void)user;
    (void)ctl;
    abort();
}

static void job_exit(void *user, const CaliperJobControl *ctl)
{
    (void)user;
    (void)ctl;
    exit(0);
}

/* A child that forgot to end; the process ends with what the child ended with. */
static void job_fork(void *user, const CaliperJobControl *ctl)
{
    int status = 0;
    (void)user;
    (void)ctl;
    pid_t child = fork();
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? 10 + WEXITSTATUS(status) : 50);
}

static void *submitting_thread(void *user)
{
    Jobber *jobber = user;
    jobber->jobs->submit("from a thread of the applet", job_obedient, jobber);
    return NULL;
}

/* Submits another of its kind as long as it can. */
static void job_breeding(void *user, const CaliperJobControl *ctl)
{
    Jobber *jobber = user;
    (void)ctl;
    nap();
    if (jobber->jobs->submit("the next", job_breeding, jobber) == 0)
        note("the last of its kind");
}

static void start(Jobber *jobber)
{
    static const struct {
        const char *what;
        CaliperJobFn fn;
        int count;
    } kinds[] = {{"obedient", job_obedient, 3},
                 {"stubborn", job_stubborn, 1},
                 {"null write", job_null_write, 1},
                 {"many faults", job_null_write, 8},
                 {"overflow", job_overflow, 1},
                 {"abort", job_abort, 1},
                 {"exit", job_exit, 1},
                 {"fork", job_fork, 1},
                 {"breeding", job_breeding, 4},
                 {"faulting frame", job_obedient, 3},
                 {"refusing", job_obedient, 3},
                 {"refusing stubborn", job_stubborn, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(jobber->what, kinds[i].what) != 0)
            continue;
        for (int n = 0; n < kinds[i].count; n++)
            jobber->jobs->submit(kinds[i].what, kinds[i].fn, jobber);
    }
    if (strcmp(jobber->what, "own thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, submitting_thread, jobber) == 0)
            pthread_join(thread, NULL);
    }
}

static void *create(void)
{
    Jobber *jobber = calloc(1, sizeof *jobber);
    if (jobber != NULL)
        atomic_store(&jobber->magic, ALIVE);
    return jobber;
}

static bool initialize(void *self, const CaliperHost *host)
{
    Jobber *jobber = self;
    const char *what = getenv("TEST_JOBS");
    jobber->host = host;
    jobber->jobs = host->get_service(host, CALIPER_JOBS_V1);
    jobber->log = host->get_service(host, CALIPER_LOG_V1);
    jobber->probe = host->get_service(host, TEST_PROBE);
    the_probe = jobber->probe;
    snprintf(jobber->what, sizeof jobber->what, "%s", what != NULL ? what : "obedient");
    if (strncmp(jobber->what, "refusing", 8) != 0)
        return jobber->jobs != NULL;
    start(jobber);
    return false;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    Jobber *jobber = self;
    (void)info;
    if (!jobber->started)
        start(jobber);
    else if (strcmp(jobber->what, "faulting frame") == 0)
        *(volatile int *)(uintptr_t)16 = 1;
    jobber->started = true;
}

static void cleanup(void *self)
{
    Jobber *jobber = self;
    note("cleanup");
    if (jobber->jobs->submit("in cleanup", job_obedient, jobber) != 0)
        note("a job began in cleanup");
}

/* The memory is kept, so that looking at it is no fault of ours. */
static void destroy(void *self)
{
    Jobber *jobber = self;
    atomic_store(&jobber->magic, DEAD);
    note("destroy");
}

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.jobber",
                                                   .version = "1.0.0",
                                                   .name = "Jobber",
                                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                                           .create = create,
                                                           .destroy = destroy,
                                                           .initialize = initialize,
                                                           .frame = frame,
                                                           .cleanup = cleanup}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    return &descriptor;
}
