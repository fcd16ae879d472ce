/* tensorscope/field.c: interfering waves. Pure; any thread. */
#include "field.h"

#include <math.h>

enum { SOURCES = 5 };

/* sin(2 pi turns) for any size of turns that a double holds to the digit: reduced to a quarter,
 * then a polynomial (error below 4e-6, far under one colour). */
static float sine_of_turns(float turns)
{
    float part = turns - (float)(int32_t)turns; /* -1 .. 1 */
    part -= part > 0.5f ? 1.0f : part < -0.5f ? -1.0f : 0.0f;
    part = part > 0.25f ? 0.5f - part : part < -0.25f ? -0.5f - part : part;
    float x = part * 6.2831853f, square = x * x;
    return x * (1.0f + square * (-0.16666667f +
                                 square * (0.0083333333f + square * (-0.00019841270f +
                                                                     square * 0.0000027557319f))));
}

typedef struct Wave {
    float x, y;   /* of the source; the picture is -1 .. 1 */
    float phase;  /* turns */
    float length; /* crests a unit */
} Wave;

static float slow_sine(double turns)
{
    return sine_of_turns((float)(turns - floor(turns)));
}

static void place_waves(Wave waves[SOURCES], double time_sec)
{
    static const double speed_x[SOURCES] = {0.031, 0.043, 0.023, 0.053, 0.037};
    static const double speed_y[SOURCES] = {0.041, 0.029, 0.047, 0.019, 0.059};
    static const double start[SOURCES] = {0.10, 0.37, 0.61, 0.83, 0.49};
    static const double rate[SOURCES] = {0.55, 0.48, 0.62, 0.44, 0.51};
    static const float crests[SOURCES] = {4.6f, 5.4f, 4.1f, 6.1f, 5.0f};
    for (int i = 0; i < SOURCES; i++) {
        double turns = time_sec * rate[i] + start[i];
        waves[i].x = 0.85f * slow_sine(time_sec * speed_x[i] + start[i]);
        waves[i].y = 0.85f * slow_sine(time_sec * speed_y[i] + 2.7 * start[i] + 0.25);
        waves[i].phase = (float)(turns - floor(turns));
        waves[i].length = crests[i];
    }
}

void field_write(float *values, int32_t side, double time_sec)
{
    Wave waves[SOURCES];
    const float step = 2.0f / (float)side;
    place_waves(waves, isfinite(time_sec) ? time_sec : 0.0);
    for (int32_t row = 0; row < side; row++) {
        float *line = values + (int64_t)row * side;
        const float y = ((float)row + 0.5f) * step - 1.0f;
        for (int32_t col = 0; col < side; col++) {
            const float x = ((float)col + 0.5f) * step - 1.0f;
            float sum = 0.0f, weights = 0.0f;
            for (int i = 0; i < SOURCES; i++) {
                const float dx = x - waves[i].x, dy = y - waves[i].y;
                const float distance = sqrtf(dx * dx + dy * dy);
                const float weight = 1.0f / (1.0f + 2.5f * distance);
                sum += weight * sine_of_turns(distance * waves[i].length - waves[i].phase);
                weights += weight;
            }
            /* A mean of sines stays within -1 .. 1; most of it is near 0, so it is stretched. */
            float value = 0.5f + 0.62f * (sum / weights);
            line[col] = value < 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
        }
    }
}
