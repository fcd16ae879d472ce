/* tensorscope/task.c: see task.h. */
#include "task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct Task {
    pthread_t thread;
    void (*run)(Task *task, void *job);
    void *job;
    atomic_bool cancel, done;
    atomic_uint progress_ppm;
};

static void *body(void *user)
{
    Task *task = user;
    task->run(task, task->job);
    atomic_store_explicit(&task->done, true, memory_order_release);
    return NULL;
}

Task *task_start(void (*run)(Task *task, void *job), void *job)
{
    Task *task = calloc(1, sizeof(*task));
    if (task == NULL) {
        return NULL;
    }
    task->run = run;
    task->job = job;
    if (pthread_create(&task->thread, NULL, body, task) != 0) {
        free(task);
        return NULL;
    }
    return task;
}

bool task_is_done(const Task *task)
{
    return atomic_load_explicit(&task->done, memory_order_acquire);
}

double task_progress(const Task *task)
{
    return (double)atomic_load_explicit(&task->progress_ppm, memory_order_relaxed) * 1e-6;
}

void task_cancel(Task *task)
{
    atomic_store_explicit(&task->cancel, true, memory_order_relaxed);
}

bool task_is_cancelled(const Task *task)
{
    return atomic_load_explicit(&task->cancel, memory_order_relaxed);
}

void task_destroy(Task **task)
{
    if (task == NULL || *task == NULL) {
        return;
    }
    task_cancel(*task);
    pthread_join((*task)->thread, NULL);
    free(*task);
    *task = NULL;
}

static bool control_cancel(void *user)
{
    return task_is_cancelled(user);
}

static void control_progress(void *user, double done)
{
    task_tell(user, done);
}

void task_tell(Task *task, double done)
{
    atomic_store_explicit(&task->progress_ppm,
                          (unsigned)(done > 0.0 && done < 1.0 ? done * 1e6
                                     : done >= 1.0            ? 1e6
                                                              : 0.0),
                          memory_order_relaxed);
}

ArrayOpenOptions task_open_options(Task *task)
{
    return (ArrayOpenOptions){.cancel = control_cancel, .cancel_user = task};
}

ArrayControl task_control(Task *task)
{
    return (ArrayControl){control_cancel, control_progress, task};
}
