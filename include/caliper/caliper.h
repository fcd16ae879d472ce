/* caliper/caliper.h: the whole SDK in one include, and the page to read first.
 *
 * What Caliper is: a host that turns tensors, wherever they live, into textures that the frame at
 * hand can draw, and the services around that (a log, jobs, metrics, artifacts, tables, a UI), as
 * plain C tables that never change once published.
 * What it is not: a machine-learning framework, a graphics API or a UI toolkit. None of those
 * crosses this boundary; there is nothing to link against, these headers are all.
 *
 * Two objects: the HOST (the `caliper` command) loads APPLETS (shared libraries of yours). An
 * applet exports one symbol and asks the host for services by their ids; a service that the host
 * does not offer is NULL, never a table that pretends.
 *
 * The life of an applet:
 *   1. descriptor   caliper_applet_descriptor() says who it is; the host checks epoch and services
 *   2. create       makes its state; no services yet
 *   3. initialize   gets the host, looks up services, prepares; false: on with 6
 *   4. frame        again and again, while its panel is open
 *   5. cleanup      after its jobs were cancelled and have ended; gives back what services gave
 *   6. destroy      frees its state
 *   7. the library is unloaded, unless a job of it still runs
 *
 * Threads. Each slot's comment ends with its tag:
 *   [frame]  the frame thread, while one of initialize, frame, cleanup is running. Elsewhere the
 *            call is refused with a log line. It must not wait: not for disk, work or long locks.
 *   [any]    any thread, from initialize until cleanup has returned.
 *   [job]    the thread of the job that was given the object.
 *
 * Ownership. Memory is freed by the side that allocated it. Arguments are borrowed for the call
 * unless a slot says more; how long a string lives is said where it is answered. Strings are UTF-8
 * and end with a zero. No C++ exception crosses.
 *
 * Reading order: abi.h (host, descriptor, life cycle), tensor.h, services/log_v1.h and
 * services/tensor_bridge_v1.h; then the applet in README.md and applets/. C++: caliper.hpp.
 * For work on renderers: src/render/renderer.h, then src/render/cpu/. */
#ifndef CALIPER_CALIPER_H
#define CALIPER_CALIPER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <caliper/abi.h>
#include <caliper/arrow_c.h>
#include <caliper/services/artifacts_v1.h>
#include <caliper/services/data_v1.h>
#include <caliper/services/device_v1.h>
#include <caliper/services/geometry_v1.h>
#include <caliper/services/geometry_v1_1.h>
#include <caliper/services/geometry_v1_2.h>
#include <caliper/services/geometry_v1_3.h>
#include <caliper/services/jobs_v1.h>
#include <caliper/services/log_v1.h>
#include <caliper/services/metrics_v1.h>
#include <caliper/services/metrics_v1_1.h>
#include <caliper/services/plot_v1.h>
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/services/tensor_bridge_v1_1.h>
#include <caliper/services/tensor_bridge_v1_2.h>
#include <caliper/services/texture_read_v1.h>
#include <caliper/services/ui_v1.h>
#include <caliper/services/widgets_v1.h>
#include <caliper/tensor.h>

/* Whether `object` (a pointer to a struct `type`, may be NULL) was filled as far as `member` and
 * the member is not NULL: true means that it may be called. */
#define CALIPER_HAS(object, type, member)                                          \
    ((object) != NULL &&                                                           \
     (object)->struct_size >= offsetof(type, member) + sizeof((object)->member) && \
     (object)->member != NULL)

/* The table of a service as a `const type *`, NULL when it is missing or too short for the struct:
 *     const CaliperLogV1 *log = CALIPER_SERVICE(host, CaliperLogV1, CALIPER_LOG_V1); */
#define CALIPER_SERVICE(host, type, service_id) \
    ((const type *)caliper_service((host), (service_id), sizeof(type)))

/* A service's table if its struct_size is at least `size_bytes`, else NULL; NULL for a NULL host or
 * id. Every table starts with its struct_size. [any] */
static inline const void *caliper_service(const CaliperHost *host, const char *service_id,
                                          size_t size_bytes)
{
    const void *table;
    if (service_id == NULL || !CALIPER_HAS(host, CaliperHost, get_service)) {
        return NULL;
    }
    table = host->get_service(host, service_id);
    if (table == NULL || *(const uint32_t *)table < size_bytes) {
        return NULL;
    }
    return table;
}

/* The host's device at one moment, every field filled. */
typedef struct CaliperDeviceSnapshot {
    CaliperDeviceKind kind;
    int32_t index;
    const char *name;           /* never NULL; valid for the process */
    uint64_t free_memory_bytes; /* 0: unknown */
} CaliperDeviceSnapshot;

/* Asks caliper.device.v1. Where the service, its kind slot or a kind known here is missing the
 * answer is the CPU, named "CPU"; where another slot is missing that field has its default: index
 * 0, the kind's name, free memory unknown. [any] */
static inline CaliperDeviceSnapshot caliper_device_snapshot(const CaliperHost *host)
{
    static const char *const kind_names[] = {"CPU", "CUDA", "Metal"};
    CaliperDeviceSnapshot snapshot = {CALIPER_DEV_CPU, 0, "CPU", 0};
    const CaliperDeviceV1 *device = (const CaliperDeviceV1 *)caliper_service(
        host, CALIPER_DEVICE_V1, sizeof(device->struct_size));
    CaliperDeviceKind kind;
    if (!CALIPER_HAS(device, CaliperDeviceV1, kind)) {
        return snapshot;
    }
    kind = device->kind();
    if (kind != CALIPER_DEV_CPU && kind != CALIPER_DEV_CUDA && kind != CALIPER_DEV_METAL) {
        return snapshot;
    }
    snapshot.kind = kind;
    snapshot.name = kind_names[kind];
    if (CALIPER_HAS(device, CaliperDeviceV1, index)) {
        snapshot.index = device->index();
    }
    if (CALIPER_HAS(device, CaliperDeviceV1, name)) {
        const char *name = device->name();
        snapshot.name = name != NULL ? name : snapshot.name;
    }
    if (CALIPER_HAS(device, CaliperDeviceV1, free_memory_hint)) {
        snapshot.free_memory_bytes = device->free_memory_hint();
    }
    return snapshot;
}

/* A row-major tensor in host memory without gaps; `extents` outermost first, 0 <= ndim <= 8 (more
 * are cut off). `data` is borrowed and only read, unless you hand the tensor to a writer. [any] */
static inline CaliperTensor caliper_tensor_contiguous(const void *data, CaliperDType dtype,
                                                      int32_t ndim, const int64_t *extents)
{
    static const CaliperTensor empty = {0, NULL, CALIPER_DT_F32, 0, {0}, {0}, CALIPER_DEV_CPU,
                                        0, NULL};
    CaliperTensor tensor = empty;
    int64_t stride = 1;
    int32_t i;
    tensor.struct_size = (uint32_t)sizeof(tensor);
    tensor.data = (void *)(uintptr_t)data;
    tensor.dtype = dtype;
    tensor.ndim = ndim < CALIPER_TENSOR_MAX_DIMS ? ndim : CALIPER_TENSOR_MAX_DIMS;
    for (i = tensor.ndim - 1; i >= 0; i--) {
        tensor.shape[i] = extents[i];
        tensor.strides[i] = stride;
        /* In unsigned arithmetic: absurd extents wrap, and the host's gate refuses them. */
        stride = (int64_t)((uint64_t)stride * (uint64_t)extents[i]);
    }
    return tensor;
}

/* (height, width) f32: what texture_from_tensor_mapped takes. [any] */
static inline CaliperTensor caliper_tensor_f32_2d(const float *data, int64_t height, int64_t width)
{
    int64_t extents[2];
    extents[0] = height;
    extents[1] = width;
    return caliper_tensor_contiguous(data, CALIPER_DT_F32, 2, extents);
}

/* (height, width, channels) u8: what texture_from_tensor takes, channels 1..4. [any] */
static inline CaliperTensor caliper_tensor_u8_3d(const uint8_t *data, int64_t height, int64_t width,
                                                 int64_t channels)
{
    int64_t extents[3];
    extents[0] = height;
    extents[1] = width;
    extents[2] = channels;
    return caliper_tensor_contiguous(data, CALIPER_DT_U8, 3, extents);
}

/* One log line; nothing happens where there is no log. It looks the service up each time: keep the
 * table yourself where that matters. [any] */
static inline void caliper_log(const CaliperHost *host, CaliperLogLevel level, const char *message)
{
    const CaliperLogV1 *log = CALIPER_SERVICE(host, CaliperLogV1, CALIPER_LOG_V1);
    if (CALIPER_HAS(log, CaliperLogV1, log)) {
        log->log(level, message);
    }
}

/* The same with printf's format; cut off after 1023 bytes. [any] */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void
caliper_logf(const CaliperHost *host, CaliperLogLevel level, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof(text), format, arguments) < 0) {
        text[0] = '\0';
    }
    va_end(arguments);
    caliper_log(host, level, text);
}

#endif
