/* core/fpenv.h: the thread's floating-point controls: rounding, flushing, traps.
 *
 * A library built with -ffast-math turns flushing on for the thread that loads it, and a picture's
 * exactness must not hang on that: keep the controls around dlopen, every call into an applet and
 * every job. Any folder of src/; any thread. */
#ifndef CALIPER_CORE_FPENV_H
#define CALIPER_CORE_FPENV_H

#include <stdint.h>

#if defined(__x86_64__)

typedef struct FpEnv {
    uint32_t mxcsr;
    uint16_t x87_control;
} FpEnv;

static inline FpEnv fpenv_get(void)
{
    FpEnv env = {.mxcsr = __builtin_ia32_stmxcsr()};
    __asm__ volatile("fnstcw %0" : "=m"(env.x87_control));
    return env;
}

/* Empties the x87 registers and drops pending exceptions first: fldcw would raise them here. */
static inline void fpenv_set(FpEnv env)
{
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(env.x87_control) : "memory");
    __builtin_ia32_ldmxcsr(env.mxcsr);
}

#elif defined(__aarch64__)

typedef struct FpEnv {
    uint64_t fpcr;
} FpEnv;

static inline FpEnv fpenv_get(void)
{
    FpEnv env;
    __asm__ volatile("mrs %0, fpcr" : "=r"(env.fpcr));
    return env;
}

static inline void fpenv_set(FpEnv env)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(env.fpcr));
}

#else
#include <fenv.h>

typedef struct FpEnv {
    fenv_t env;
} FpEnv;

static inline FpEnv fpenv_get(void)
{
    FpEnv env;
    fegetenv(&env.env);
    return env;
}

static inline void fpenv_set(FpEnv env)
{
    fesetenv(&env.env);
}

#endif

#endif
