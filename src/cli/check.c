/* cli/check.c: `caliper check PATH [--json]`: a row a child process, a table, an exit status. */
#include "cli/check.h"

#include <cJSON.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/printable.h"
#include "core/guard.h"
#include "core/manifest.h"
#include "core/utf8.h"

static const double row_limit_sec = 120.0; /* the host itself ends calls that hang before that */

typedef struct Check {
    const CliOptions *options;
    const char *given;
    AppletPlace place;
    char folder[64]; /* temporary: the data roots of the rows */
    uint32_t rows, counts[CHECK_RESULT_FAIL + 1];
    bool headed;
    cJSON *json; /* the list of rows; NULL: a table */
    char id[DESCRIPTOR_TEXT_BYTES], version[DESCRIPTOR_TEXT_BYTES];
    char asked[CHECK_SERVICES_MAX][DESCRIPTOR_SERVICE_BYTES]; /* each once */
    uint32_t asked_count;
} Check;

void check_say(CheckRun *run, CheckResult result, const char *format, ...)
{
    if (result <= run->shared->result)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->shared->detail, sizeof run->shared->detail, format, arguments);
    va_end(arguments);
    utf8_trim(run->shared->detail);
    run->shared->result = result;
}

/* ---- A child ---- */

static _Noreturn void child(CheckRun *run, void (*call)(CheckRun *run))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    /* What the applet prints does not belong into the table. */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    call(run);
    _exit(0);
}

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* False: it had to be killed. */
static bool wait_for(pid_t pid, int *status)
{
    double began_sec = now_sec();
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return ended == pid;
        if (now_sec() - began_sec > row_limit_sec)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    kill(-pid, SIGKILL);
    waitpid(pid, status, 0);
    return false;
}

/* What became of the process, where that is worse than what it said. */
static void judge(CheckRun *run, bool ended, int status)
{
    char words[96];
    CheckShared *shared = run->shared;
    if (!ended)
        snprintf(words, sizeof words, "it did not end within %.0f s", row_limit_sec);
    else if (WIFSIGNALED(status))
        snprintf(words, sizeof words, "the process ended with %s (%d)",
                 guard_signal_name(WTERMSIG(status)), WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(words, sizeof words, "the process ended with status %d", WEXITSTATUS(status));
    else if (shared->result == CHECK_RESULT_NONE)
        snprintf(words, sizeof words, "the process ended with status 0");
    else
        return;
    shared->result = CHECK_RESULT_FAIL;
    snprintf(shared->detail, sizeof shared->detail, "%s; last: %s", words, shared->doing);
}

static void run_child(CheckRun *run, void (*call)(CheckRun *run))
{
    int status = 0;
    memset(run->shared, 0, sizeof *run->shared);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child(run, call);
    if (pid < 0) {
        check_say(run, CHECK_RESULT_FAIL, "no process for it: %s", strerror(errno));
        return;
    }
    setpgid(pid, pid);
    bool ended = wait_for(pid, &status);
    judge(run, ended, status);
}

/* ---- The table ---- */

static const char *result_word(CheckResult result)
{
    static const char *const words[] = {"FAIL", "ok", "skip", "warn", "FAIL"};
    return words[result];
}

static void print_head(Check *check)
{
    if (check->headed)
        return;
    check->headed = true;
    printable_print(stdout, "%s\n",
                    check->place.manifest != NULL ? check->place.manifest : check->place.library);
    if (check->id[0] != '\0')
        printable_print(stdout, "%s %s\n", check->id, check->version);
    putchar('\n');
}

static void print_row(Check *check, const char *name, const CheckShared *shared)
{
    print_head(check);
    printable_print(stdout, "  %-4s  %-32s  %s\n", result_word(shared->result), name,
                    shared->detail);
    fflush(stdout);
    if (shared->result != CHECK_RESULT_FAIL || shared->log_bytes == 0)
        return;
    fprintf(stderr, "the log of \"%s\":\n%s", name, shared->log);
}

static void add_json_row(Check *check, const char *name, const CheckShared *shared)
{
    static const char *const words[] = {"fail", "ok", "skip", "warn", "fail"};
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddStringToObject(row, "result", words[shared->result]);
    cJSON_AddStringToObject(row, "detail", shared->detail);
    if (shared->result == CHECK_RESULT_FAIL && shared->log_bytes > 0)
        cJSON_AddStringToObject(row, "log", shared->log);
    cJSON_AddItemToArray(check->json, row);
}

static void keep_row(Check *check, const char *name, const CheckShared *shared)
{
    check->rows++;
    check->counts[shared->result]++;
    if (check->id[0] == '\0') {
        memcpy(check->id, shared->id, sizeof check->id);
        memcpy(check->version, shared->version, sizeof check->version);
    }
    if (check->json != NULL)
        add_json_row(check, name, shared);
    else
        print_row(check, name, shared);
}

/* ---- The rows ---- */

static void run_row(Check *check, const char *name, CheckRun *run, void (*call)(CheckRun *run))
{
    char data_dir[96];
    snprintf(data_dir, sizeof data_dir, "%s/%u", check->folder, (unsigned)check->rows);
    run->place = &check->place;
    run->device = check->options->shell.device;
    run->data_dir = data_dir;
    run_child(run, call);
    keep_row(check, name, run->shared);
}

static void skip_row(Check *check, const char *name, CheckShared *shared)
{
    memset(shared, 0, sizeof *shared);
    shared->result = CHECK_RESULT_SKIP;
    snprintf(shared->detail, sizeof shared->detail, "not tried after what failed above");
    keep_row(check, name, shared);
}

static void keep_asked(Check *check, const CheckShared *shared)
{
    uint32_t count = atomic_load(&shared->asked_count);
    for (uint32_t i = 0; i < count && i < CHECK_SERVICES_MAX; i++) {
        uint32_t known = 0;
        while (known < check->asked_count && strcmp(check->asked[known], shared->asked[i]) != 0)
            known++;
        if (known == check->asked_count)
            memcpy(check->asked[check->asked_count++], shared->asked[i], sizeof check->asked[0]);
    }
}

static bool is_named(const Manifest *manifest, const char *id)
{
    for (uint32_t i = 0; i < manifest->required_count; i++) {
        if (strcmp(manifest->required[i], id) == 0)
            return true;
    }
    for (uint32_t i = 0; i < manifest->optional_count; i++) {
        if (strcmp(manifest->optional[i], id) == 0)
            return true;
    }
    return false;
}

/* What it asks for against what its manifest names. */
static void run_services_row(Check *check, CheckRun *run)
{
    static Manifest manifest;
    char why[CHECK_DETAIL_BYTES];
    memset(run->shared, 0, sizeof *run->shared);
    if (check->place.manifest == NULL ||
        !manifest_read(check->place.manifest, &manifest, why, sizeof why)) {
        check_say(run, CHECK_RESULT_SKIP, "no manifest to hold them against");
    } else {
        for (uint32_t i = 0; i < check->asked_count; i++) {
            if (!is_named(&manifest, check->asked[i]))
                check_say(run, CHECK_RESULT_WARN,
                          "it asks for %s, which its manifest does not name", check->asked[i]);
        }
        check_say(run, CHECK_RESULT_OK, "it asks for %u, all in its manifest",
                  (unsigned)check->asked_count);
    }
    keep_row(check, "services", run->shared);
}

static void run_rows(Check *check, CheckShared *shared)
{
    const CheckRow *row = check_rows;
    bool going = true, framed = false;
    for (; row->name != NULL; row++) {
        CheckRun run = {.shared = shared,
                        .scale = row->scale,
                        .width_px = row->width_px,
                        .height_px = row->height_px};
        if (!going) {
            skip_row(check, row->name, shared);
            continue;
        }
        run_row(check, row->name, &run, row->run);
        if (row->run == check_frames) {
            keep_asked(check, shared);
            framed = true;
        }
        going = !row->needed || shared->result != CHECK_RESULT_FAIL;
    }
    if (!going || !framed)
        return;
    CheckRun run = {.shared = shared};
    run_services_row(check, &run);
    for (uint32_t i = 0; i < check->asked_count; i++) {
        char name[CHECK_NAME_BYTES];
        snprintf(name, sizeof name, "without %s", check->asked[i]);
        run = (CheckRun){.shared = shared, .hidden = check->asked[i]};
        run_row(check, name, &run, check_without);
    }
    run = (CheckRun){.shared = shared, .hidden = ""};
    run_row(check, "without any service", &run, check_without);
}

static bool print_json(const Check *check)
{
    cJSON *whole = cJSON_CreateObject();
    cJSON_AddStringToObject(whole, "id", check->id);
    cJSON_AddStringToObject(whole, "version", check->version);
    cJSON_AddStringToObject(whole, "path", check->given);
    cJSON_AddNumberToObject(whole, "ok", check->counts[CHECK_RESULT_OK]);
    cJSON_AddNumberToObject(whole, "warned", check->counts[CHECK_RESULT_WARN]);
    cJSON_AddNumberToObject(whole, "skipped", check->counts[CHECK_RESULT_SKIP]);
    cJSON_AddNumberToObject(whole, "failed", check->counts[CHECK_RESULT_FAIL]);
    cJSON_AddItemToObject(whole, "rows", check->json);
    char *text = cJSON_Print(whole);
    if (text != NULL)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(whole);
    return text != NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static bool make_folder(Check *check)
{
    const char *place = getenv("TMPDIR");
    int length = snprintf(check->folder, sizeof check->folder, "%s/caliper-check-XXXXXX",
                          place != NULL && place[0] == '/' ? place : "/tmp");
    if (length >= (int)sizeof check->folder)
        snprintf(check->folder, sizeof check->folder, "/tmp/caliper-check-XXXXXX");
    return mkdtemp(check->folder) != NULL;
}

int cli_check(CliOptions *options)
{
    static Check check;
    char why[CHECK_DETAIL_BYTES];
    if (options->word_count != 1)
        return cli_usage("check: %d paths given, wanted one: a library, a manifest or a bundle",
                         (int)options->word_count);
    check = (Check){.options = options, .given = options->words[0]};
    if (!place_find(check.given, true, &check.place, why, sizeof why))
        return cli_failed("check: %s: %s", check.given, why);
    CheckShared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !make_folder(&check)) {
        fprintf(stderr, "caliper: check: no memory or no temporary folder: %s\n", strerror(errno));
        place_free(&check.place);
        return 1;
    }
    if (options->json)
        check.json = cJSON_CreateArray();
    run_rows(&check, shared);
    bool good = check.counts[CHECK_RESULT_FAIL] + check.counts[CHECK_RESULT_NONE] == 0;
    if (check.json != NULL)
        good = print_json(&check) && good;
    else
        printf("\n%u ok, %u warned, %u skipped, %u failed\n", check.counts[CHECK_RESULT_OK],
               check.counts[CHECK_RESULT_WARN], check.counts[CHECK_RESULT_SKIP],
               check.counts[CHECK_RESULT_FAIL]);
    nftw(check.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    munmap(shared, sizeof *shared);
    place_free(&check.place);
    return good ? 0 : 1;
}
