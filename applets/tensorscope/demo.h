/* tensorscope/demo.h: the live source: a field that a thread of its own writes into memory that the
 * host shows as it is (alloc_shared), a new one each frame.
 *
 * A drawn frame is never torn: several shared blocks take turns, and the thread gets one only when
 * no frame that may still be read by a GPU drew it. All calls are the frame thread's. */
#ifndef TENSORSCOPE_DEMO_H
#define TENSORSCOPE_DEMO_H

#include <caliper/services/tensor_bridge_v1.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Demo Demo;

/* side x side blocks. NULL when the host shares no memory or the thread cannot be started. */
Demo *demo_create(const CaliperTensorBridgeV1 *bridge, int32_t side);
/* Ends the thread, then frees the blocks; NULLs, accepts NULL. Not during a fault. */
void demo_destroy(Demo **demo);

/* Shows the newest finished field and asks for the one at `time_sec`. `repeatable`: waits for that
 * one (at most 2 s), so that the picture depends on the time alone. Answers the texture to draw; 0
 * until the first field is there. */
CaliperTextureId demo_frame(Demo *demo, double time_sec, bool repeatable);

/* The values being shown; NULL before the first. Valid until the next demo_frame. */
const float *demo_values(const Demo *demo);
int32_t demo_side(const Demo *demo);
uint64_t demo_fields(const Demo *demo); /* shown so far */

#endif
