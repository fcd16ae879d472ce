/* How long a person waits for the first frame, and what an idle host costs in memory.
 *
 *   bench_startup CALIPER [TRIES]
 *
 * Each renderer: from exec to the end of `caliper --headless --frames 1` (start-up, one frame,
 * shut-down), beside the same for `caliper --version` and for true(1) in the same run; and the
 * resident and proportional memory of a host that has drawn frames for two seconds. Medians. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES_MAX = 101 };

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static pid_t start(char *const *argv)
{
    fflush(stdout); /* or the child would print it too */
    pid_t child = fork();
    if (child != 0)
        return child;
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
        _exit(126);
    execvp(argv[0], argv);
    _exit(127);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds from before fork until the program has ended; negative when it failed. */
static double run_sec(char *const *argv, int tries)
{
    double samples[TRIES_MAX];
    for (int i = 0; i < tries; i++) {
        int status = 0;
        double begin = now_sec();
        pid_t child = start(argv);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return -1.0;
        samples[i] = now_sec() - begin;
    }
    qsort(samples, (size_t)tries, sizeof samples[0], by_value);
    return samples[tries / 2];
}

/* A "Name:   123 kB" line of a /proc file, in MiB; negative when it is not there. */
static double proc_mib(pid_t pid, const char *file, const char *name)
{
    char path[64];
    char line[256];
    double mib = -1.0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    FILE *proc = fopen(path, "r");
    if (proc == NULL)
        return mib;
    while (fgets(line, sizeof line, proc) != NULL) {
        long kib = 0;
        size_t length = strlen(name);
        if (strncmp(line, name, length) == 0 && sscanf(line + length, " %ld", &kib) == 1)
            mib = (double)kib / 1024.0;
    }
    fclose(proc);
    return mib;
}

static void memory_print(const char *caliper, const char *renderer)
{
    char *argv[] = {(char *)caliper, "--headless",     "--frames", "100000000",
                    "--renderer",    (char *)renderer, NULL};
    pid_t child = start(argv);
    if (child < 0)
        return;
    sleep(2);
    double resident = proc_mib(child, "status", "VmRSS:");
    double proportional = proc_mib(child, "smaps_rollup", "Pss:");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf(" %.0f MiB | %.0f MiB |\n", resident, proportional);
}

int main(int argc, char **argv)
{
    static const char *const renderers[] = {"cpu", "gl", "vulkan"};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_startup CALIPER [TRIES]\n");
        return 2;
    }
    int tries = argc > 2 ? atoi(argv[2]) : 11;
    tries = tries < 1 ? 1 : tries > TRIES_MAX ? TRIES_MAX : tries;
    char *nothing[] = {"true", NULL};
    char *version[] = {argv[1], "--version", NULL};
    printf("| start-up | exec to exit | resident | proportional |\n|---|---|---|---|\n");
    printf("| true(1) | %.1f ms | | |\n", run_sec(nothing, tries) * 1e3);
    printf("| caliper --version | %.1f ms | | |\n", run_sec(version, tries) * 1e3);
    for (size_t i = 0; i < sizeof renderers / sizeof renderers[0]; i++) {
        char *one[] = {argv[1],      "--headless",         "--frames", "1",
                       "--renderer", (char *)renderers[i], NULL};
        double spent = run_sec(one, tries);
        printf("| one frame on %s | %.0f ms |", renderers[i], spent * 1e3);
        memory_print(argv[1], renderers[i]);
    }
    return 0;
}
