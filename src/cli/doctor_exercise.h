/* cli/doctor_exercise.h: what a renderer really does with bytes, tried out and counted.
 *
 * For cli/doctor.c. First thread of the process. */
#ifndef CALIPER_CLI_DOCTOR_EXERCISE_H
#define CALIPER_CLI_DOCTOR_EXERCISE_H

#include <cJSON.h>

#include "render/renderer.h"

/* What the renderer says about itself: name, device, uuid, caps by name, limits. */
cJSON *doctor_info(const Renderer *renderer);
/* Makes and updates one texture from each kind of memory, draws each in a frame, reads it back, and
 * answers its counters: {"host": {...}, "shared": {...}, "cuda": {...} or null}. Everything it made
 * is gone afterwards. */
cJSON *doctor_exercise(Renderer *renderer);
cJSON *doctor_counters(const RendererCounters *counters);

#endif
