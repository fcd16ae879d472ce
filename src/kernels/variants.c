/* The list of kernels of this build, and which of them to use. Any thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "kernels/kernels_impl.h"

/* Slowest first. An instruction set without an expand of its own borrows one that it contains. */
static KernelVariant variants[] = {
    {"scalar", true, kernel_scalar_colormap, kernel_scalar_expand},
#if defined(__x86_64__)
    {"avx2", false, kernel_avx2_colormap, kernel_avx2_expand},
    {"avx512", false, kernel_avx512_colormap, kernel_avx2_expand},
    {"avx512vbmi", false, kernel_avx512vbmi_colormap, kernel_avx512vbmi_expand},
#elif defined(__aarch64__)
    {"neon", false, kernel_neon_colormap, kernel_neon_expand},
#endif
    {NULL, false, NULL, NULL},
};
static const KernelVariant *best;
static pthread_once_t variants_once = PTHREAD_ONCE_INIT;

static bool has(const CpuFeatures *features, const char *name)
{
    return strcmp(name, "scalar") == 0 || (strcmp(name, "avx2") == 0 && features->avx2) ||
           (strcmp(name, "avx512") == 0 && features->avx512bw) ||
           (strcmp(name, "avx512vbmi") == 0 && features->avx512vbmi) ||
           (strcmp(name, "neon") == 0 && features->neon);
}

static void variants_ask(void)
{
    CpuFeatures features = cpu_features();
    const char *wanted = getenv("CALIPER_KERNEL");
    const KernelVariant *chosen = NULL;
    for (KernelVariant *variant = variants; variant->name != NULL; variant++) {
        variant->available = has(&features, variant->name);
        if (!variant->available)
            continue;
        best = variant;
        if (wanted != NULL && strcmp(wanted, variant->name) == 0)
            chosen = variant;
    }
    if (chosen != NULL)
        best = chosen;
    else if (wanted != NULL && wanted[0] != '\0')
        log_item(KERNEL_UNKNOWN, wanted, best->name);
}

const KernelVariant *kernel_variants(void)
{
    pthread_once(&variants_once, variants_ask);
    return variants;
}

const KernelVariant *kernel_best(void)
{
    pthread_once(&variants_once, variants_ask);
    return best;
}

const uint8_t (*colormap_table(int32_t colormap))[4]
{
    return colormap >= 0 && colormap < COLORMAP_COUNT ? colormap_tables[colormap] : NULL;
}
