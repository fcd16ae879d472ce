/* tests/e2e/widgets_calls_impl.h: what widgets_calls.c and widgets_calls_plot.c share: arguments of
 * every kind, good and bad, and what the calls keep. No other file includes it. */
#ifndef CALIPER_TESTS_WIDGETS_CALLS_IMPL_H
#define CALIPER_TESTS_WIDGETS_CALLS_IMPL_H

#include "widgets_calls.h"

#define rnd calls_random

const char *calls_text(void);
double calls_double(void);
float calls_float(void);
int64_t calls_int(void);
uint32_t calls_flags(void);
void calls_drawing(UiBench *bench);

void calls_plot(UiBench *bench);
void calls_plot_stop(void); /* its points are as at the start */

extern double calls_numbers[8];
extern CaliperTextureId calls_textures[4];

#endif
