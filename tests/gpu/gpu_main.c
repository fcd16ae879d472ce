/* caliper_gpu_tests [--rung copy] [PART...]: the exactness, ordering and balance tests on a real
 * NVIDIA GPU. Prints a table and exits 0 when every line passed, 1 when not, 2 for an argument that
 * is not known, 77 where there is no such GPU. Names of parts run only those; --rung copy runs them
 * on the second rung, where CUDA tensors are copied into Vulkan's memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "gpu_tests.h"

static int passed;
static int failed;
static int warnings;
static const char *rung_prefix = "";

static void report(const char *what, long tries, long wrong, int ok)
{
    char line[96];
    snprintf(line, sizeof line, "%s%s", rung_prefix, what);
    printf("| %-68s | %9ld | %7ld | %s |\n", line, tries, wrong, ok ? "pass" : "FAIL");
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

typedef struct Part {
    const char *name;
    void (*run)(Gpu *gpu);
} Part;

/* The parts after `rung` make calls fail, and a failed image falls back to copies. */
static const Part parts[] = {{"exact", gpu_test_exact},       {"order", gpu_test_order},
                             {"tearing", gpu_test_tearing},   {"life", gpu_test_life},
                             {"rung", gpu_test_rung},         {"faults", gpu_test_faults},
                             {"refusals", gpu_test_refusals}, {"submits", gpu_test_submits}};
enum { PARTS = sizeof parts / sizeof parts[0] };

static bool is_part(const char *name)
{
    for (int i = 0; i < PARTS; i++)
        if (strcmp(name, parts[i].name) == 0)
            return true;
    return false;
}

/* The index of the first part's name, or -1 with a line on stderr. */
static int arguments_read(int argc, char **argv)
{
    int first = 1;
    if (argc > 1 && strcmp(argv[1], "--rung") == 0) {
        if (argc < 3 || strcmp(argv[2], "copy") != 0) {
            fprintf(stderr, "caliper_gpu_tests: --rung wants copy\n");
            return -1;
        }
        setenv("CALIPER_CUDA_RUNG", "copy", 1);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        if (!is_part(argv[i])) {
            fprintf(stderr, "caliper_gpu_tests: there is no part %s\n", argv[i]);
            return -1;
        }
    }
    return first;
}

int main(int argc, char **argv)
{
    Gpu gpu;
    int first = arguments_read(argc, argv);
    if (first < 0)
        return 2;
    gpu_open(&gpu);
    rung_prefix = gpu.copies ? "copied: " : "";
    const RendererInfo *info = renderer_info(gpu.renderer);
    printf("device: %s, %s\n", info->device_name, info->api_version);
    printf("| %-68s | %9s | %7s | %s |\n", "test", "tries", "wrong", "");
    log_sink_add(count_warnings, NULL);
    log_stderr_enable(getenv("CALIPER_LOG") != NULL); /* refusals are expected, by the hundred */
    for (int i = 0; i < PARTS; i++) {
        bool wanted = first == argc;
        for (int k = first; k < argc; k++)
            wanted |= strcmp(argv[k], parts[i].name) == 0;
        if (wanted)
            parts[i].run(&gpu);
    }
    log_stderr_enable(true);
    gpu_close(&gpu);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
