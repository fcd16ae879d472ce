/* A service that the tests register, by which test applets report to them. Any thread. */
#ifndef CALIPER_TEST_PROBE_H
#define CALIPER_TEST_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_PROBE "org.caliper.test.probe"

typedef struct TestProbe {
    uint32_t struct_size;
    void (*healthy_frame)(uint64_t count, bool denormals_kept);
    void (*note)(const char *what); /* counted by text */
} TestProbe;

#endif
