/* See curve.h. Pure. */
#include "shell/runs/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t finite_rows(const CurvePoint *point)
{
    return point->rows > point->gaps ? point->rows - point->gaps : 0;
}

CurvePoint curve_joined(const CurvePoint *a, const CurvePoint *b)
{
    uint64_t in_a = finite_rows(a), in_b = finite_rows(b);
    CurvePoint both = {.first_x = fmin(a->first_x, b->first_x),
                       .last_x = fmax(a->last_x, b->last_x),
                       .least = fmin(a->least, b->least), /* fmin passes NaN over */
                       .greatest = fmax(a->greatest, b->greatest),
                       .rows = a->rows + b->rows,
                       .gaps = a->gaps + b->gaps};
    if (in_a == 0 || in_b == 0)
        both.mean = in_a > 0 ? a->mean : b->mean;
    else /* as a step from one mean towards the other: sums could overflow */
        both.mean = a->mean * ((double)in_a / (double)(in_a + in_b)) +
                    b->mean * ((double)in_b / (double)(in_a + in_b));
    return both;
}

bool curve_add(Curve *curve, const CurvePoint *point)
{
    uint32_t low = 0, high = curve->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (curve->points[middle].first_x <= point->first_x)
            low = middle + 1;
        else
            high = middle;
    }
    CurvePoint *before = low > 0 ? &curve->points[low - 1] : NULL;
    if (before != NULL && before->first_x < before->last_x && point->first_x <= before->last_x) {
        *before = curve_joined(before, point);
        return true;
    }
    if (curve->count == curve->capacity) {
        uint32_t capacity = curve->capacity > 0 ? curve->capacity * 2 : 64;
        CurvePoint *points =
            capacity > curve->capacity ? realloc(curve->points, capacity * sizeof *points) : NULL;
        if (points == NULL)
            return false;
        curve->points = points;
        curve->capacity = capacity;
    }
    memmove(&curve->points[low + 1], &curve->points[low],
            (curve->count - low) * sizeof curve->points[0]);
    curve->points[low] = *point;
    curve->count++;
    return true;
}

void curve_thin(Curve *curve, uint32_t most)
{
    while (curve->count > most && curve->count > 1) {
        uint32_t out = 0;
        for (uint32_t i = 0; i < curve->count; i += 2, out++) {
            curve->points[out] = curve->points[i];
            if (i + 1 < curve->count)
                curve->points[out] = curve_joined(&curve->points[out], &curve->points[i + 1]);
        }
        curve->count = out;
    }
}

void curve_free(Curve *curve)
{
    free(curve->points);
    *curve = (Curve){0};
}

/* ---- Smoothing ---- */

static bool is_constant(const CurvePoint *points, uint32_t count)
{
    double seen = (double)NAN;
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(points[i].mean))
            continue;
        if (!isnan(seen) && points[i].mean != seen)
            return false;
        seen = points[i].mean;
    }
    return true;
}

void curve_smooth(const CurvePoint *points, uint32_t count, double weight, double *out)
{
    bool plain = !(weight > 0.0) || is_constant(points, count);
    double sum = 0.0;    /* s */
    double faded = 1.0;  /* w^i */
    uint64_t so_far = 0; /* i */
    if (weight > 1.0)
        weight = 1.0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t rows = finite_rows(&points[i]);
        double value = points[i].mean;
        if (plain || rows == 0 || !isfinite(value)) {
            out[i] = rows > 0 ? value : (double)NAN;
            continue;
        }
        so_far += rows;
        if (weight >= 1.0) { /* the limit of the quotient as w goes to 1 */
            sum += (value - sum) * ((double)rows / (double)so_far);
            out[i] = sum;
            continue;
        }
        double keep = rows == 1 ? weight : pow(weight, (double)rows);
        sum = sum * keep + (1.0 - keep) * value;
        faded *= keep;
        out[i] = sum / (1.0 - faded);
    }
}

/* ---- Outliers ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool curve_range(double *scratch, uint32_t count, double share, double *out_low, double *out_high)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isfinite(scratch[i]))
            scratch[kept++] = scratch[i];
    }
    if (kept == 0)
        return false;
    qsort(scratch, kept, sizeof *scratch, by_value);
    uint32_t left_out = (uint32_t)((double)kept * share);
    *out_low = scratch[left_out];
    *out_high = scratch[kept - 1 - left_out];
    return true;
}
