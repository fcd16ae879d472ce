/* tensorscope/task.h: one piece of long work on a thread of its own, with progress and cancel.
 *
 * The frame thread starts, asks and destroys; what the work fills in is read once task_is_done has
 * answered true. task_control is for the work. */
#ifndef TENSORSCOPE_TASK_H
#define TENSORSCOPE_TASK_H

#include "formats/array_file.h"

typedef struct Task Task;

/* Runs `run(task, job)`; `job` stays the caller's, and lives until task_destroy. NULL when no
 * thread can be started. */
Task *task_start(void (*run)(Task *task, void *job), void *job);
bool task_is_done(const Task *task);
double task_progress(const Task *task);
void task_cancel(Task *task);
bool task_is_cancelled(const Task *task);
/* Cancels and waits, for at most one read or write of a MiB; NULLs, accepts NULL. */
void task_destroy(Task **task);

/* For the readers of formats/: asks for cancel, takes progress. */
ArrayControl task_control(Task *task);
ArrayOpenOptions task_open_options(Task *task); /* a file that stops reading with the task */
void task_tell(Task *task, double done);

#endif
