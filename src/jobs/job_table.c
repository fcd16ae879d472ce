/* The table of jobs: which slot an id has, who may take it, whose thread has ended. The lock covers
 * taking and giving back of slots, and nothing that lasts: threads start outside of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/caller_register.h"
#include "core/fault.h"
#include "core/guard.h"
#include "core/log.h"
#include "jobs/jobs_impl.h"

enum { CHUNK_JOBS = 256, CHUNKS = JOBS_MAX / CHUNK_JOBS, SLOT_ALIGN = 64 };

static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(Job *) chunks[CHUNKS]; /* never freed */
static atomic_uint_fast64_t next_id = 1;
static atomic_uint running_count, finished_count;
static _Atomic(Job *) returned; /* pushed by job threads, taken as a whole under the lock */
static Job *leaving;            /* taken, and not joined yet; under the lock */
static atomic_bool has_leaving;
static atomic_uint_fast64_t clear_wanted; /* id + 1, UINT64_MAX: all; 0: none */

/* A bit an owner: no new jobs; its life ended. */
static atomic_uint_fast64_t closed_owners[CALLER_SERIALS_MAX / 64];
static atomic_uint_fast64_t gone_owners[CALLER_SERIALS_MAX / 64];

uint64_t job_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void table_lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&table_mutex);
}

static bool table_try_lock(void)
{
    guard_lock_enter();
    if (pthread_mutex_trylock(&table_mutex) == 0)
        return true;
    guard_lock_leave();
    return false;
}

static void table_unlock(void)
{
    pthread_mutex_unlock(&table_mutex);
    guard_lock_leave();
}

static bool owner_has(const atomic_uint_fast64_t *bits, CallerId owner)
{
    return owner != 0 && owner < CALLER_SERIALS_MAX &&
           (atomic_load(&bits[owner / 64]) >> (owner % 64) & 1) != 0;
}

static void owner_set(atomic_uint_fast64_t *bits, CallerId owner)
{
    if (owner != 0 && owner < CALLER_SERIALS_MAX)
        atomic_fetch_or(&bits[owner / 64], (uint64_t)1 << (owner % 64));
}

/* ---- Slots ---- */

static Job *slot_at(uint32_t index)
{
    Job *chunk = atomic_load_explicit(&chunks[index / CHUNK_JOBS], memory_order_acquire);
    return chunk != NULL ? &chunk[index % CHUNK_JOBS] : NULL;
}

Job *job_table_find(uint64_t id)
{
    Job *job = id != 0 ? slot_at((uint32_t)(id % JOBS_MAX)) : NULL;
    return job != NULL && atomic_load_explicit(&job->id, memory_order_acquire) == id ? job : NULL;
}

Job *job_table_of_control(const CaliperJobControl *control)
{
    uintptr_t at = (uintptr_t)control;
    for (int i = 0; i < CHUNKS; i++) {
        Job *chunk = atomic_load_explicit(&chunks[i], memory_order_acquire);
        uintptr_t offset = at - (uintptr_t)chunk;
        if (chunk != NULL && offset < CHUNK_JOBS * sizeof(Job) && offset % sizeof(Job) == 0)
            return &chunk[offset / sizeof(Job)];
    }
    return NULL;
}

/* With the lock. NULL without memory. */
static Job *slot_make(uint64_t id)
{
    uint32_t index = (uint32_t)(id % JOBS_MAX);
    Job *job = slot_at(index);
    if (job != NULL)
        return job;
    size_t size_bytes = (CHUNK_JOBS * sizeof(Job) + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
    Job *chunk = fault_here("jobs.alloc") ? NULL : aligned_alloc(SLOT_ALIGN, size_bytes);
    if (chunk == NULL)
        return NULL;
    memset(chunk, 0, size_bytes);
    atomic_store_explicit(&chunks[index / CHUNK_JOBS], chunk, memory_order_release);
    return slot_at(index);
}

/* With the lock, of a slot without a thread or one that is cleared. */
static void forget(Job *job)
{
    if (atomic_exchange(&job->id, 0) != 0)
        atomic_fetch_sub(&finished_count, 1);
}

/* With the lock: joins the threads that ended. */
static void reap(void)
{
    Job *fresh = atomic_exchange(&returned, NULL);
    while (fresh != NULL) {
        Job *next = fresh->next_returned;
        fresh->next_returned = leaving;
        leaving = fresh;
        fresh = next;
    }
    for (Job **link = &leaving; *link != NULL;) {
        Job *job = *link;
        if (pthread_tryjoin_np(job->thread, NULL) != 0) {
            link = &job->next_returned;
            continue;
        }
        *link = job->next_returned;
        atomic_store(&job->state, JOB_STATE_FREE);
    }
    atomic_store(&has_leaving, leaving != NULL);
}

/* With the lock: the slot of the next id that is free; NULL with `why`. */
static Job *slot_take(uint64_t *out_id, const char **why)
{
    const uint64_t first = atomic_load(&next_id);
    for (uint64_t id = first; id < first + JOBS_MAX; id++) {
        Job *job = slot_make(id);
        if (job == NULL) {
            *why = "there is no memory";
            return NULL;
        }
        if (atomic_load(&job->state) != JOB_STATE_FREE)
            continue;
        atomic_store(&next_id, id + 1);
        *out_id = id;
        return job;
    }
    *why = "as many run as can";
    return NULL;
}

static void fill(Job *job, uint64_t id, const char *label, CallerId owner)
{
    char shown[JOB_TEXT_BYTES];
    forget(job);
    atomic_store(&job->progress_bits, 0);
    atomic_store(&job->owner, owner);
    atomic_store(&job->started_ns, job_now_ns());
    atomic_store(&job->ended_ns, 0);
    job_text_write(&job->label, label);
    job_text_write(&job->message, "");
    job_text_read(&job->label, shown);
    snprintf(job->words, sizeof job->words, "job %llu, \"%s\"", (unsigned long long)id, shown);
    atomic_store(&job->state, JOB_STATE_RUNNING);
    atomic_store(&job->id, id);
}

Job *job_table_reserve(const char *label, CaliperJobFn fn, void *user, CallerId owner)
{
    uint64_t id = 0;
    const char *why = "its applet is closed";
    Job *job = NULL;
    table_lock();
    if (!owner_has(closed_owners, owner)) {
        reap();
        job = slot_take(&id, &why);
    }
    if (job != NULL) {
        fill(job, id, label, owner);
        job->fn = fn;
        job->user = user;
        atomic_fetch_add(&running_count, 1);
    }
    table_unlock();
    if (job == NULL)
        log_item(JOB_REFUSED, label, why);
    return job;
}

void job_table_give_back(Job *job)
{
    table_lock();
    atomic_store(&job->id, 0);
    atomic_store(&job->state, JOB_STATE_FREE);
    atomic_fetch_sub(&running_count, 1);
    table_unlock();
}

void job_table_returned(Job *job)
{
    atomic_store(&job->ended_ns, job_now_ns());
    atomic_fetch_add(&finished_count, 1);
    atomic_fetch_sub(&running_count, 1);
    atomic_store(&job->state, JOB_STATE_RETURNED);
    Job *head = atomic_load(&returned);
    do {
        job->next_returned = head;
    } while (!atomic_compare_exchange_weak(&returned, &head, job));
}

/* ---- Owners ---- */

void job_table_cancel(Job *job, uint64_t id)
{
    uint64_t before = atomic_load(&job->cancelled_id);
    while (before < id && !atomic_compare_exchange_weak(&job->cancelled_id, &before, id))
        continue;
}

static void cancel_if_running(Job *job)
{
    if (atomic_load(&job->state) == JOB_STATE_RUNNING)
        job_table_cancel(job, atomic_load(&job->id));
}

/* With the lock: cancels what `owner` runs. True when no thread of it is left. */
static bool cancel_owner(CallerId owner)
{
    bool none = true;
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        Job *job = slot_at(i);
        if (job == NULL || atomic_load(&job->state) == JOB_STATE_FREE ||
            atomic_load(&job->owner) != owner)
            continue;
        cancel_if_running(job);
        none = false;
    }
    return none;
}

/* With the lock: cancels all. True when nobody is worth waiting for: jobs whose owner is gone had
 * their time already. */
static bool cancel_everybody(void)
{
    bool none = true;
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        Job *job = slot_at(i);
        if (job == NULL || atomic_load(&job->state) == JOB_STATE_FREE)
            continue;
        cancel_if_running(job);
        none = none && owner_has(gone_owners, atomic_load(&job->owner));
    }
    return none;
}

bool jobs_quiesce(CallerId owner)
{
    if (owner == 0)
        return true;
    if (!table_try_lock())
        return false; /* asked again in the next frame */
    owner_set(closed_owners, owner);
    reap();
    bool none = cancel_owner(owner);
    table_unlock();
    return none;
}

void jobs_owner_gone(CallerId owner)
{
    if (owner == 0)
        return;
    table_lock();
    owner_set(closed_owners, owner);
    owner_set(gone_owners, owner);
    cancel_owner(owner);
    table_unlock();
}

uint32_t jobs_end(void)
{
    const uint64_t until_ns = job_now_ns() + (uint64_t)JOBS_END_MS * 1000000u;
    for (;;) {
        table_lock();
        reap();
        bool none = cancel_everybody();
        table_unlock();
        if (none || job_now_ns() >= until_ns)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    uint32_t left = jobs_counts().running;
    if (left > 0)
        log_item(JOBS_LEFT, left);
    return left;
}

/* ---- What is shown ---- */

JobCounts jobs_counts(void)
{
    return (JobCounts){.running = atomic_load(&running_count),
                       .finished = atomic_load(&finished_count)};
}

bool jobs_view(uint64_t id, JobView *out)
{
    Job *job = job_table_find(id);
    if (job == NULL)
        return false;
    uint64_t started = atomic_load(&job->started_ns);
    uint64_t ended = atomic_load(&job->ended_ns);
    unsigned bits = atomic_load(&job->progress_bits);
    out->id = id;
    out->owner = atomic_load(&job->owner);
    memcpy(&out->progress, &bits, sizeof bits);
    out->running = atomic_load(&job->state) == JOB_STATE_RUNNING;
    out->cancelled = atomic_load(&job->cancelled_id) == id;
    out->left_behind = owner_has(gone_owners, out->owner);
    job_text_read(&job->label, out->label);
    job_text_read(&job->message, out->message);
    uint64_t until = ended != 0 ? ended : job_now_ns();
    out->seconds = until > started ? (double)(until - started) * 1e-9 : 0.0;
    return job_table_find(id) == job;
}

/* `running` ones from the oldest on, or finished ones from the youngest on. */
static uint32_t list_some(bool running, uint64_t *ids, uint32_t max)
{
    uint32_t count = 0;
    uint32_t oldest = (uint32_t)(atomic_load(&next_id) % JOBS_MAX);
    for (uint32_t i = 0; i < JOBS_MAX && count < max; i++) {
        uint32_t at = running ? oldest + i : oldest + JOBS_MAX - 1 - i;
        Job *job = slot_at(at % JOBS_MAX);
        if (job == NULL)
            continue;
        uint64_t id = atomic_load(&job->id);
        if (id != 0 && (atomic_load(&job->state) == JOB_STATE_RUNNING) == running)
            ids[count++] = id;
    }
    return count;
}

uint32_t jobs_list(uint64_t *ids, uint32_t max)
{
    JobCounts counts = jobs_counts();
    uint32_t count = counts.running > 0 ? list_some(true, ids, max) : 0;
    return counts.finished > 0 ? count + list_some(false, ids + count, max - count) : count;
}

static void clear_now(uint64_t id)
{
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        Job *job = slot_at(i);
        if (job == NULL || atomic_load(&job->state) == JOB_STATE_RUNNING)
            continue;
        if (id == 0 || atomic_load(&job->id) == id)
            forget(job);
    }
}

void jobs_clear(uint64_t id)
{
    atomic_store(&clear_wanted, id == 0 ? UINT64_MAX : id);
    jobs_frame();
}

void jobs_frame(void)
{
    bool has_clear = atomic_load(&clear_wanted) != 0;
    if (!has_clear && !atomic_load(&has_leaving) && atomic_load(&returned) == NULL)
        return;
    if (!table_try_lock())
        return;
    uint64_t id = atomic_exchange(&clear_wanted, 0);
    if (id != 0)
        clear_now(id == UINT64_MAX ? 0 : id);
    reap();
    table_unlock();
}
