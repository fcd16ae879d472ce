/* caliper_gpu_tests: the exactness, ordering and balance tests on a real NVIDIA GPU. Prints a table
 * and exits 0 when every line passed, 1 when not, 77 where there is no such GPU. Names of parts as
 * arguments run only those. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "gpu_tests.h"

static int passed;
static int failed;
static int warnings;

static void report(const char *what, long tries, long wrong, int ok)
{
    printf("| %-62s | %9ld | %7ld | %s |\n", what, tries, wrong, ok ? "pass" : "FAIL");
    fflush(stdout);
    passed += ok;
    failed += !ok;
}

void gpu_report(const char *what, long tries, long wrong)
{
    report(what, tries, wrong, tries > 0 && wrong == 0);
}

void gpu_report_control(const char *what, long tries, long wrong)
{
    report(what, tries, wrong, wrong > 0);
}

int gpu_warnings(void)
{
    int count = warnings;
    warnings = 0;
    return count;
}

static void count_warnings(void *user, const LogEntry *entry)
{
    (void)user;
    warnings += entry->level >= LOG_LEVEL_WARN;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(Gpu *gpu);
    } parts[] = {{"exact", gpu_test_exact},     {"order", gpu_test_order},
                 {"tearing", gpu_test_tearing}, {"life", gpu_test_life},
                 {"faults", gpu_test_faults},   {"refusals", gpu_test_refusals}};
    Gpu gpu;
    gpu_open(&gpu);
    const RendererInfo *info = renderer_info(gpu.renderer);
    printf("device: %s, %s\n", info->device_name, info->api_version);
    printf("| %-62s | %9s | %7s | %s |\n", "test", "tries", "wrong", "");
    log_sink_add(count_warnings, NULL);
    log_stderr_enable(getenv("CALIPER_LOG") != NULL); /* refusals are expected, by the hundred */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int wanted = argc == 1;
        for (int k = 1; k < argc; k++)
            wanted |= strcmp(argv[k], parts[i].name) == 0;
        if (wanted)
            parts[i].run(&gpu);
    }
    log_stderr_enable(true);
    gpu_close(&gpu);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
