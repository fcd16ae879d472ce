/* caliper/layout.h: pins the layout of the structs that cross the boundary.
 *
 * Included by the other SDK headers; applets need not use it. A wrong pin is a compile error. C99
 * has no static assertion, so there a typedef of an array of size -1 is the error. The figures are
 * those of 64-bit targets; on others the pins say nothing. */
#ifndef CALIPER_LAYOUT_H
#define CALIPER_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX == 0xffffffffffffffffu
#define CALIPER_LAYOUT_TRUE(condition) (condition)
#else
#define CALIPER_LAYOUT_TRUE(condition) 1
#endif

#if defined(__cplusplus)
#define CALIPER_LAYOUT_PIN(name, condition) \
    static_assert(CALIPER_LAYOUT_TRUE(condition), "Caliper ABI: " #name " moved")
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CALIPER_LAYOUT_PIN(name, condition) \
    _Static_assert(CALIPER_LAYOUT_TRUE(condition), "Caliper ABI: " #name " moved")
#else
#define CALIPER_LAYOUT_PIN(name, condition) \
    typedef char caliper_layout_of_##name[CALIPER_LAYOUT_TRUE(condition) ? 1 : -1]
#endif

/* Sizes and offsets in bytes; `type` is one word (a typedef). */
#define CALIPER_LAYOUT_SIZE(type, size_bytes) CALIPER_LAYOUT_PIN(type, sizeof(type) == (size_bytes))
#define CALIPER_LAYOUT_AT(type, member, offset_bytes) \
    CALIPER_LAYOUT_PIN(type##_##member, offsetof(type, member) == (offset_bytes))

#endif
