/* A service that the tests register, by which test applets report to them. Any thread. */
#ifndef CALIPER_TEST_PROBE_H
#define CALIPER_TEST_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_PROBE "org.caliper.test.probe"

/* What the healthy applet paints: RGBA, another picture each frame. */
enum { TEST_PICTURE_WIDTH = 7, TEST_PICTURE_HEIGHT = 5, TEST_PICTURE_BYTES = 7 * 5 * 4 };
static inline uint8_t test_picture_byte(uint64_t frame, uint32_t i)
{
    return (uint8_t)(frame * 31u + i * 7u + (i >> 2) * 3u);
}

typedef struct TestProbe {
    uint32_t struct_size;
    void (*healthy_frame)(uint64_t count, uint64_t texture, bool painted, bool denormals_kept);
    void (*note)(const char *what); /* counted by text */
} TestProbe;

#endif
