/* jobs/jobs_impl.h: what the files of src/jobs/ share.
 *
 * A job lives in a slot; slots are never freed and are used again, so that every question about an
 * id is answered without a lock: look at the slot where the id would be, read, look whether it is
 * still there. Slots change hands under the table's lock alone; a running job's thread writes its
 * progress, message and end. */
#ifndef CALIPER_JOBS_JOBS_IMPL_H
#define CALIPER_JOBS_JOBS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "jobs/jobs.h"

typedef enum JobState {
    JOB_STATE_FREE = 0, /* no thread; a finished job's id may still be there */
    JOB_STATE_RUNNING,
    JOB_STATE_RETURNED /* its thread has not been joined yet */
} JobState;

/* A short text that one thread writes and any reads, without a lock on either side. */
typedef struct JobText {
    atomic_uint sequence; /* odd while it is written */
    atomic_uint_fast64_t words[JOB_TEXT_BYTES / 8];
} JobText;

typedef struct Job {
    CaliperJobControl control;         /* first: a control is its job's address */
    atomic_uint_fast64_t id;           /* 0: none */
    atomic_uint_fast64_t cancelled_id; /* the youngest id that was cancelled here */
    atomic_uint progress_bits;         /* of a float */
    atomic_int state;                  /* JobState */
    atomic_uint owner;
    atomic_uint_fast64_t started_ns, ended_ns; /* monotonic; 0: not yet */
    JobText label, message;

    /* From submit to join: the submitter's, then the job's thread's, then the joiner's. */
    CaliperJobFn fn;
    void *user;
    pthread_t thread;
    struct Job *next_returned;
    char words[JOB_TEXT_BYTES + 32]; /* `job 3, "train"`, for a crash report */
} Job;

uint64_t job_now_ns(void);

/* job_text.c. write: the text as one line of UTF-8, cut at a character; a second writer at the same
 * time is ignored. */
void job_text_write(JobText *text, const char *from);
void job_text_read(JobText *text, char out[JOB_TEXT_BYTES]);

/* job_table.c. A slot for a new job with its id, running; NULL after one line. `label` names it in
 * that line. */
Job *job_table_reserve(const char *label, CaliperJobFn fn, void *user, CallerId owner);
/* Gives a reserved slot back whose thread did not start. */
void job_table_give_back(Job *job);
/* The job has returned; its thread does nothing with the slot from here on. */
void job_table_returned(Job *job);
/* Raises the flag of `id`, and of no later job in that slot. */
void job_table_cancel(Job *job, uint64_t id);
/* The slot of an id; NULL when it is not there. May change hands at any time. */
Job *job_table_find(uint64_t id);
/* The job of a control; NULL when that is none of ours. */
Job *job_table_of_control(const CaliperJobControl *control);

#endif
