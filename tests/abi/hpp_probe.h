/* hpp_probe.h: what test_hpp and its applet tell each other.
 *
 * The fake host vends it under PROBE_ID. Frame thread only, like everything in these tests. */
#ifndef CALIPER_TESTS_HPP_PROBE_H
#define CALIPER_TESTS_HPP_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/caliper.h>

#define PROBE_ID "caliper.tests.probe"

typedef enum ThrowWhere {
    THROW_NOWHERE = 0,
    THROW_CONSTRUCTOR = 1,
    THROW_INITIALIZE = 2,
    THROW_FRAME = 3,
    THROW_CLEANUP = 4
} ThrowWhere;

typedef struct Probe {
    uint32_t struct_size;
    ThrowWhere throw_where;
    bool throw_number; /* an int instead of a std::exception */
    bool refuse;       /* initialize answers false */

    /* Written by the applet. */
    int objects; /* alive now */
    int frames;  /* that went well */
    int cleanups;
    int bridge_revision;
    uint32_t caps;
    uint32_t host_version;
    char data_dir[64];
    char device_name[64];
    CaliperDeviceKind device_kind;
    int32_t device_index;
    uint64_t device_free_bytes;
    bool has_log, has_bridge, has_read;
    CaliperTextureId direct, mapped, shared; /* 0: refused */
    bool direct_updated, shared_updated;
    bool moved_is_empty;
    CaliperAllocId alloc;
    bool updated_from_alloc;
    int32_t read_width, read_height; /* 0: refused */
    uint64_t read_bytes;
    uint8_t read_first;
} Probe;

/* The constructor runs without arguments, so it finds the probe here. */
#define PROBE_VARIABLE "CALIPER_TESTS_PROBE"

#endif
