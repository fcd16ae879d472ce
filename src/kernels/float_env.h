/* kernels/float_env.h: the default floating-point environment around exact arithmetic.
 *
 * An applet calls the bridge with whatever rounding mode, flushing and unmasked exceptions it has
 * set, and the exactness rule holds all the same. For kernels and bridge. Any thread; the state is
 * the thread's own. */
#ifndef CALIPER_KERNELS_FLOAT_ENV_H
#define CALIPER_KERNELS_FLOAT_ENV_H

#include <stdint.h>

/* Round to nearest, no flushing, exceptions masked. Returns what float_env_leave restores, sticky
 * flags included. The memory clobbers keep loads and stores, and with them the arithmetic on what
 * was loaded, inside. */
#if defined(__x86_64__)
static inline uint64_t float_env_enter(void)
{
    uint32_t saved;
    const uint32_t wanted = 0x1f80;
    __asm__ volatile("stmxcsr %0" : "=m"(saved) : : "memory");
    if (saved != wanted)
        __asm__ volatile("ldmxcsr %0" : : "m"(wanted) : "memory");
    return saved;
}
static inline void float_env_leave(uint64_t saved)
{
    uint32_t value = (uint32_t)saved;
    __asm__ volatile("ldmxcsr %0" : : "m"(value) : "memory");
}
/* The value itself; keeps arithmetic on it, in a register, on this side of the call. */
static inline float float_env_pinned(float value)
{
    __asm__ volatile("" : "+x"(value) : : "memory");
    return value;
}
#elif defined(__aarch64__)
static inline uint64_t float_env_enter(void)
{
    uint64_t saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved) : : "memory");
    if (saved != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
    return saved;
}
static inline void float_env_leave(uint64_t saved)
{
    if (saved != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"(saved) : "memory");
}
static inline float float_env_pinned(float value)
{
    __asm__ volatile("" : "+w"(value) : : "memory");
    return value;
}
#else
#error "float_env.h: say how this processor sets its rounding mode"
#endif

#endif
