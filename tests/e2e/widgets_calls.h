/* tests/e2e/widgets_calls.h: calls of every slot of both tables, in any order and with any
 * arguments, as a stream of random numbers decides. Shared by the monkey and the fuzzer. */
#ifndef CALIPER_TESTS_WIDGETS_CALLS_H
#define CALIPER_TESTS_WIDGETS_CALLS_H

#include "ui_bench.h"

/* The stream, given by the program: a number below `below`; whether it has ended. */
uint32_t calls_random(uint32_t below);
bool calls_over(void);

/* Before the first frame of a bench: textures, and all that the calls keep is as at the start. */
void calls_start(UiBench *bench);
void calls_stop(UiBench *bench); /* gives its textures back */
/* A frame's drawing; `user` points to an int, how many calls. */
void calls_draw(UiBench *bench, void *user);
/* One event of the pointer or the keys. */
void calls_input(UiBench *bench);

#endif
