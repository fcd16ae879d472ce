/* tests/gpu/gpu_tests.h: the parts of caliper_gpu_tests and how they report. */
#ifndef CALIPER_TESTS_GPU_TESTS_H
#define CALIPER_TESTS_GPU_TESTS_H

#include "gpu_support.h"

/* One line of the table: what was tried, how often, how many were wrong (0 is a pass). With
 * `--rung copy` the line says so. */
void gpu_report(const char *what, long tries, long wrong);
/* For a negative control: a pass is that at least one was wrong. */
void gpu_report_control(const char *what, long tries, long wrong);

void gpu_test_exact(Gpu *gpu);   /* every rung, size, value class and offset, byte for byte */
void gpu_test_order(Gpu *gpu);   /* a slow producer in front, on each kind of stream */
void gpu_test_tearing(Gpu *gpu); /* full rate with frames in flight */
void gpu_test_life(Gpu *gpu);    /* create, import, release: fds and memory balanced */
void gpu_test_faults(Gpu *gpu);  /* every CUDA and Vulkan call failing in turn */
void gpu_test_submits(Gpu *gpu); /* every submission lost in turn, another renderer after each */
void gpu_test_refusals(Gpu *gpu);
/* After the parts above that make nothing fail: the rung that was asked for is the one that ran. */
void gpu_test_rung(Gpu *gpu);

/* How many log lines at warning or above since the last call. */
int gpu_warnings(void);

#endif
