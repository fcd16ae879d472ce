/* tensorscope/field.h: the live demo's field: waves from moving sources, at one moment.
 *
 * Pure: the same time gives the same bits on every machine (plain arithmetic and sqrt, no library
 * function whose last digit differs). Any thread. */
#ifndef TENSORSCOPE_FIELD_H
#define TENSORSCOPE_FIELD_H

#include <stdint.h>

/* Writes side x side values in [0, 1], row-major. */
void field_write(float *values, int32_t side, double time_sec);

#endif
