/* tests/store/failing_io.h: real calls of the C library that fail on demand, whoever makes them:
 * our code, or DuckDB inside its library. A program that links this (with its symbols exported)
 * has these in front of the C library's own: open for writing, write, pwrite, fsync, fdatasync,
 * ftruncate, fallocate, rename, unlink and remove, and, if asked for, read and pread.
 *
 * Only files below the watched folder count. Any thread; the plan is set by one. */
#ifndef CALIPER_TESTS_FAILING_IO_H
#define CALIPER_TESTS_FAILING_IO_H

#include <stdbool.h>
#include <stdint.h>

typedef struct FailingIo {
    const char *folder;   /* absolute; kept, not copied */
    uint32_t first, last; /* calls that fail, counted from 1; last 0: all from the first on */
    int error;            /* the errno that they leave */
    bool kills;           /* the process dies by SIGKILL in the first of them instead */
    bool reads;           /* count read and pread, too */
    bool short_writes;    /* a write that fails has written half of its bytes before */
    bool freeing_works; /* ftruncate, unlink and remove never fail, as on a disk that is full. (When
                           a write to its log fails and then the truncate that takes it back,
                           DuckDB 1.4 ends the process: an exception that leaves a destructor.) */
} FailingIo;

/* Counts from 0 again. NULL: nothing fails, nothing is counted. */
void failing_io_plan(const FailingIo *plan);
/* Since the plan was set; they stay after the plan is gone. */
uint32_t failing_io_calls(void);
uint32_t failing_io_failed(void);
/* The name of the last call that failed; "" for none. */
const char *failing_io_last(void);

/* From now on whoever opens the file of exactly that path waits, as on a disk that does not answer,
 * until NULL is given. The path is kept, not copied. */
void failing_io_hold(const char *path);
/* How many wait in it now. */
uint32_t failing_io_held(void);

#endif
