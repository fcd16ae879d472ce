/* shell/runs/curve.h: the arithmetic of one drawn curve: merging rows, smoothing, gaps.
 *
 * Pure; for shell/runs/ and its tests. Any thread, no shared state. A point stands for one row or
 * for several that lie side by side on the axis; rows whose value is NaN or infinite are gaps: they
 * are counted and take no part in means and extremes. */
#ifndef CALIPER_SHELL_RUNS_CURVE_H
#define CALIPER_SHELL_RUNS_CURVE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct CurvePoint {
    double first_x, last_x;
    double mean, least, greatest; /* of the finite rows; NaN when there is none */
    uint64_t rows, gaps;          /* gaps are among the rows */
} CurvePoint;

typedef struct Curve { /* by first_x; equal ones in the order in which they came */
    CurvePoint *points;
    uint32_t count, capacity;
} Curve;

/* What two points side by side are as one. */
CurvePoint curve_joined(const CurvePoint *a, const CurvePoint *b);

/* Puts a point where its x belongs: after all that begin no later, or into the one that spans it.
 * False: no memory, the curve is as it was. */
bool curve_add(Curve *curve, const CurvePoint *point);
/* Joins neighbours, two by two, until no more than `most` (>= 1) are left. */
void curve_thin(Curve *curve, uint32_t most);
void curve_free(Curve *curve);

/* TensorBoard's smoothing: s(i) = w s(i-1) + (1 - w) v(i) from s = 0, and what is shown is
 * s(i) / (1 - w^i), i counting the finite rows, so that the first ones are not drawn towards 0. A
 * point of n finite rows counts as n rows of its mean. Points without a finite row are NaN and
 * leave s alone. A curve whose finite means are all equal comes out as it is. `weight` 0..1; 0 and
 * NaN: no smoothing; 1: the mean of all so far. */
void curve_smooth(const CurvePoint *points, uint32_t count, double weight, double *out);

/* The range that leaves `share` of the finite means out at each end (0 <= share < 0.5), by nearest
 * rank; reorders `scratch`, which holds `count` values. False: none is finite. */
bool curve_range(double *scratch, uint32_t count, double share, double *out_low, double *out_high);

#endif
