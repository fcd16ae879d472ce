/* What the processor can do, asked with cpuid and xgetbv: a bit of cpuid says that an instruction
 * set exists, XCR0 that the operating system saves its registers. Any thread. */
#include "kernels/kernels_impl.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum {
    XCR0_AVX = 0x6,     /* SSE and AVX state */
    XCR0_AVX512 = 0xe6, /* the same, opmask, upper halves, registers 16 to 31 */
    LEAF1_ECX_OSXSAVE = 1 << 27,
    LEAF1_ECX_AVX = 1 << 28,
    LEAF7_EBX_AVX2 = 1 << 5,
    LEAF7_EBX_AVX512F = 1 << 16,
    LEAF7_EBX_AVX512BW = 1 << 30,
    LEAF7_ECX_AVX512VBMI = 1 << 1
};

static uint32_t xcr0_low(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

CpuFeatures cpu_features(void)
{
    CpuFeatures features = {0};
    uint32_t eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & LEAF1_ECX_OSXSAVE) == 0 ||
        (ecx & LEAF1_ECX_AVX) == 0)
        return features;
    uint32_t state = xcr0_low();
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return features;
    features.avx2 = (state & XCR0_AVX) == XCR0_AVX && (ebx & LEAF7_EBX_AVX2) != 0;
    features.avx512bw = features.avx2 && (state & XCR0_AVX512) == XCR0_AVX512 &&
                        (ebx & LEAF7_EBX_AVX512F) != 0 && (ebx & LEAF7_EBX_AVX512BW) != 0;
    features.avx512vbmi = features.avx512bw && (ecx & LEAF7_ECX_AVX512VBMI) != 0;
    return features;
}
#else
CpuFeatures cpu_features(void)
{
#if defined(__aarch64__)
    return (CpuFeatures){.neon = true}; /* part of the architecture */
#else
    return (CpuFeatures){0};
#endif
}
#endif
