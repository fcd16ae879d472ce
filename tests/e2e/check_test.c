/* `caliper check` and `caliper dev` from outside: each misbehaving applet fails in the row that is
 * meant for it, and in no row before.
 *
 *   check_test CALIPER SHIRKING MISBEHAVING LYING */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sanitized.h"

/* AddressSanitizer ends a process that crashes with a status. */
#if SANITIZED_ADDRESS
#define CRASHED "status 1; last: "
#else
#define CRASHED "SIGSEGV (11); last: "
#endif

static const char *caliper, *shirking, *misbehaving, *lying;
static char folder[64], output[65536];

/* Runs `caliper check ARGUMENTS`; its standard output is kept, the rest thrown away. */
static int check(const char *environment, const char *arguments)
{
    char command[2048];
    snprintf(command, sizeof command, "TMPDIR='%s' CALIPER_HANG_LIMIT=1 %s '%s' check %s 2>%s/log",
             folder, environment, caliper, arguments, folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t used = fread(output, 1, sizeof output - 1, pipe);
    output[used] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The first line of a result; what follows its name. NULL: there is none. */
static const char *first_row(const char *result, char *name, size_t name_bytes)
{
    static char detail[1024];
    char line[2048];
    for (const char *at = output; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
        if (strncmp(line, "  ", 2) != 0 || strncmp(line + 2, result, strlen(result)) != 0 ||
            strlen(line) < 8)
            continue;
        char *end = strstr(line + 8, "  ");
        if (end == NULL)
            continue;
        *end = '\0';
        snprintf(name, name_bytes, "%.200s", line + 8);
        snprintf(detail, sizeof detail, "%s", end + 2 + strspn(end + 2, " "));
        return detail;
    }
    return NULL;
}

typedef struct Case {
    const char *environment;
    const char *row; /* NULL: none fails */
    const char *detail;
} Case;

static void run_cases(const char *variable, const char *library, const Case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char environment[256], arguments[512], name[256] = "";
        snprintf(environment, sizeof environment, "%s='%s'", variable, cases[i].environment);
        snprintf(arguments, sizeof arguments, "'%s'", library);
        int status = check(environment, arguments);
        const char *detail = first_row("FAIL", name, sizeof name);
        bool right = cases[i].row != NULL
                         ? status == 1 && detail != NULL && strcmp(name, cases[i].row) == 0 &&
                               strstr(detail, cases[i].detail) != NULL
                         : status == 0 && detail == NULL;
        if (!right)
            fail_msg("%s: status %d\n%s", environment, status, output);
    }
}

static void each_fault_has_its_row(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"", NULL, NULL},
        {"destroy without initialize", "create, destroy", "SIGSEGV at 0x10 in destroy()"},
        {"cleanup without a frame", "initialize, cleanup", "SIGSEGV at 0x10 in cleanup()"},
        {"ends the process", "frames", "status 1; last: frame 2"},
        {"ends the process at once", "frames", "status 0; last: frame 2"},
        {"crashes on a thread", "frames", CRASHED "frame 2"},
        {"hangs", "frames", "frame() did not return and was ended"},
        {"second life in one load", "lives in one load", "SIGSEGV at 0x10 in initialize()"},
        {"exit while it runs", "exit while it runs", CRASHED "exit() while it runs"},
        {"whole scales", "scale 1.25", "SIGSEGV at 0x10 in frame()"},
        {"no tiny frames", "size 1 x 1", "SIGSEGV at 0x10 in frame()"},
        {"no huge frames", "size 16384 x 16384", "SIGSEGV at 0x10 in frame()"},
        {"takes the log for granted", "without caliper.log.v1", "in initialize()"},
        {"takes the log for granted later", "without caliper.log.v1", "in frame()"},
    };
    run_cases("TEST_SHIRK", shirking, cases, sizeof cases / sizeof cases[0]);
}

static void faults_in_each_call(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"null_write@descriptor", "create, destroy", "caliper_applet_descriptor()"},
        {"null@create", "create, destroy", "create() answered NULL"},
        {"abort@create", "create, destroy", "SIGABRT in create()"},
        {"false@initialize", "initialize, cleanup", "initialize() answered false"},
        {"stack_overflow@initialize", "initialize, cleanup", "in initialize()"},
        {"integer_divide@frame", "frames", "SIGFPE"},
        {"leak@frame", "frames", "textures (60 of them shared)"},
        {"null_call@cleanup", "initialize, cleanup", "in cleanup()"},
    };
    run_cases("TEST_BEHAVIOUR", misbehaving, cases, sizeof cases / sizeof cases[0]);
}

static void descriptors_that_lie(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"epoch 3", "create, destroy", "built for ABI epoch 3, this host has epoch 2"},
        {"struct_size 8", "create, destroy", "struct_size is 8, wanted 104"},
        {"cleanup NULL", "create, destroy", "descriptor.api.cleanup is NULL"},
        {"service missing", "create, destroy", "org.caliper.test.no_such_service"},
    };
    run_cases("TEST_LIE", lying, cases, sizeof cases / sizeof cases[0]);
}

static void expect_warning(const char *shirk, const char *row, const char *words)
{
    char environment[256], arguments[512], name[256] = "";
    snprintf(environment, sizeof environment, "TEST_SHIRK='%s'", shirk);
    snprintf(arguments, sizeof arguments, "'%s'", shirking);
    int status = check(environment, arguments);
    const char *detail = first_row("warn", name, sizeof name);
    if (status != 0 || detail == NULL || strcmp(name, row) != 0 || strstr(detail, words) == NULL)
        fail_msg("%s: status %d\n%s", shirk, status, output);
}

static void what_is_only_bad_style(void **state)
{
    (void)state;
    expect_warning("slow", "frames", "wanted at most 250");
    expect_warning("leaves a thread", "lives", "4 threads more after 5 lives");
    expect_warning("leaves a file", "lives", "4 open files more after 5 lives");
}

/* ---- The files of an applet ---- */

static void shell_command(const char *format, const char *a, const char *b)
{
    char command[2048];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

static void write_manifest(const char *path, const char *version, const char *rest)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file,
            "[applet]\nid = 'org.caliper.test.shirking'\nname = 'S'\nversion = '%s'\n"
            "[compat]\nabi_epoch = 2\n%s",
            version, rest);
    fclose(file);
}

static void expect_fail(const char *path, const char *row, const char *words)
{
    char arguments[512], name[256] = "";
    snprintf(arguments, sizeof arguments, "'%s'", path);
    int status = check("", arguments);
    const char *detail = first_row("FAIL", name, sizeof name);
    if (status != 1 || detail == NULL || strcmp(name, row) != 0 || strstr(detail, words) == NULL)
        fail_msg("%s: status %d\n%s", path, status, output);
}

static void manifests_and_bundles(void **state)
{
    (void)state;
    char manifest[256], library[128], bundle[128], name[256];
    snprintf(manifest, sizeof manifest, "%s/s.caliper.toml", folder);
    snprintf(library, sizeof library, "%s/s.so", folder);
    write_manifest(manifest, "0.1.0", "[services]\noptional = ['caliper.log.v1']\n");
    expect_fail(manifest, "library", "s.so is not there");
    shell_command("cp '%s' '%s'", shirking, library);
    assert_int_equal(check("", manifest), 0);
    assert_null(first_row("warn", name, sizeof name));
    assert_int_equal(check("TEST_SHIRK='asks for more'", library), 0);
    assert_string_equal(first_row("warn", name, sizeof name),
                        "it asks for org.caliper.test.unnamed, which its manifest does not name");
    write_manifest(manifest, "0.1.0", "[services]\nrequired = 7\n");
    expect_fail(library, "manifest", "services.required is an integer");
    write_manifest(manifest, "0.2.0", "");
    expect_fail(library, "create, destroy", "descriptor.version is 0.1.0, its manifest says 0.2.0");
    write_manifest(manifest, "0.1.0", "[services]\nrequired = ['org.nobody.has']\n");
    expect_fail(library, "create, destroy", "it needs the service org.nobody.has");
    snprintf(bundle, sizeof bundle, "%s/shirking.caliperapp", folder);
    shell_command("bin='%s/bin/'$(uname -s | tr A-Z a-z)-$(uname -m) && mkdir -p \"$bin\" && "
                  "cp '%s' \"$bin\"/shirking.so",
                  bundle, shirking);
    snprintf(manifest, sizeof manifest, "%s/caliper.toml", bundle);
    write_manifest(manifest, "0.1.0", "");
    assert_int_equal(check("", bundle), 0);
    unlink(library);
}

/* Exports, by the compiler: hidden but for one more, and none at all. */
static void exports_are_counted(void **state)
{
    (void)state;
    char source[128], library[128];
    snprintf(source, sizeof source, "%s/exports.c", folder);
    snprintf(library, sizeof library, "%s/exports.so", folder);
    static const struct {
        const char *code, *words;
    } cases[] = {
        {"const void *caliper_applet_descriptor(void);\n"
         "const void *caliper_applet_descriptor(void) { return 0; }\nint one_more;\n",
         "2 symbols, one_more among them"},
        {"static int nothing;\nint *f(void) __attribute__((visibility(\"hidden\")));\n"
         "int *f(void) { return &nothing; }\n",
         "no symbol, wanted caliper_applet_descriptor"},
        {"const void *f(void);\nconst void *f(void) { return 0; }\n", "1 symbols, f among them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = fopen(source, "wb");
        assert_non_null(file);
        fputs(cases[i].code, file);
        fclose(file);
        shell_command("cc -shared -fPIC '%s' -o '%s'", source, library);
        expect_fail(library, "exports", cases[i].words);
        /* Cut within its section headers, which the loader does not need. */
        shell_command("truncate -s -1700 '%s'%s", library, "");
        expect_fail(library, "exports", "table of symbols");
    }
    unlink(library);
}

static void usage_and_json(void **state)
{
    (void)state;
    char path[128];
    assert_int_equal(check("", ""), 2);
    assert_int_equal(check("", "one two"), 2);
    snprintf(path, sizeof path, "%s/none.so", folder);
    assert_int_equal(check("", path), 1);
    snprintf(path, sizeof path, "--json '%s'", shirking);
    assert_int_equal(check("TEST_SHIRK='whole scales'", path), 1);
    static const char *const parts[] = {"\"id\":\t\"org.caliper.test.shirking\"", "\"failed\":\t2",
                                        "\"name\":\t\"scale 1.5\"", "\"result\":\t\"fail\"",
                                        "\"log\":\t\""};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        assert_non_null(strstr(output, parts[i]));
}

/* ---- caliper dev ---- */

static bool log_has(const char *words)
{
    char command[256];
    snprintf(command, sizeof command, "grep -qF '%s' %s/dev.log", words, folder);
    for (int turn = 0; turn < 2400; turn++) {
        if (system(command) == 0)
            return true;
        usleep(50000);
    }
    return false;
}

static void dev_loads_it_again(void **state)
{
    (void)state;
    char library[128], next[160], cut[512], log[128];
    snprintf(library, sizeof library, "%s/dev.so", folder);
    snprintf(next, sizeof next, "%s.next", library);
    snprintf(log, sizeof log, "%s/dev.log", folder);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (freopen(log, "w", stderr) == NULL)
            _exit(126);
        execl(caliper, "caliper", "dev", library, "--headless", "--renderer", "cpu", "--frames",
              "1000000000", "--size", "320x240", "--data-dir", folder, (char *)NULL);
        _exit(127);
    }
    bool good = log_has("dev.so: No such file");
    shell_command("cp '%s' '%s'", shirking, library);
    good = good && log_has("org.caliper.test.shirking 0.1.0 started");
    snprintf(cut, sizeof cut, "head -c 3000 '%%s' > '%%s' && mv '%s' '%s'", next, library);
    shell_command(cut, shirking, next);
    good = good && log_has("org.caliper.test.shirking did not start: it is cut short");
    shell_command("cp '%s' '%s'", misbehaving, library);
    good = good && log_has("org.caliper.test.misbehaving 0.1.0 started");
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    if (!good)
        fail_msg("see %s", log);
}

/* `caliper run` and `caliper list` with what else can be an applet. */
static void run_takes_manifests_and_bundles(void **state)
{
    (void)state;
    char base[128], path[256], command[1024];
    snprintf(base, sizeof base, "%s/run", folder);
    shell_command("bin='%s/a.caliperapp/bin/'$(uname -s | tr A-Z a-z)-$(uname -m) && "
                  "mkdir -p \"$bin\" && cp '%s' \"$bin\"/a.so",
                  base, shirking);
    snprintf(path, sizeof path, "%s/a.caliperapp/caliper.toml", base);
    write_manifest(path, "0.1.0", "");
    shell_command("cp '%s' '%s/libs.so'", shirking, base);
    snprintf(path, sizeof path, "%s/s.caliper.toml", base);
    write_manifest(path, "0.1.0", "");
    snprintf(path, sizeof path, "%s/future.caliper.toml", base);
    write_manifest(path, "0.1.0", "min_host = '1000.0.0'\n");
    shell_command("cp '%s' '%s/future.so'", shirking, base);
    static const struct {
        const char *arguments;
        int status;
    } cases[] = {{"run ./a.caliperapp", 0},
                 {"run a.caliperapp/", 0},
                 {"run a.caliperapp", 0},
                 {"run a.caliperapp/caliper.toml", 0},
                 {"run s.caliper.toml", 0},
                 {"run libs.so", 0},
                 {"run shirking --applet-dir .", 0},
                 {"run future.caliper.toml", 1},
                 {"run none.caliperapp", 1},
                 {"run shirking", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(command, sizeof command,
                 "cd '%s' && '%s' %s --headless --frames 2 --renderer cpu --data-dir data "
                 "2>%s/log",
                 base, caliper, cases[i].arguments, folder);
        int status = system(command);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != cases[i].status)
            fail_msg("%s: status %d", cases[i].arguments, WEXITSTATUS(status));
    }
    /* The bundle comes first by name; the others have its id. */
    snprintf(command, sizeof command,
             "cd '%s' && '%s' list --applet-dir . --data-dir data 2>/dev/null >out && "
             "test $(grep -c 'org.caliper.test.shirking .* ready' out) = 1 && "
             "test $(grep -c 'was found first: .*a.caliperapp/caliper.toml' out) = 2",
             base, caliper);
    assert_int_equal(system(command), 0);
}

static void dev_has_a_status(void **state)
{
    (void)state;
    char arguments[1024];
    static const struct {
        const char *library;
        int status;
    } cases[] = {{"", 2}, {"one two", 2}, {"nowhere/x.so", 1}, {"none.so", 1}, {NULL, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(arguments, sizeof arguments,
                 "cd '%s' && '%s' dev %s --headless --frames 3 --renderer cpu --data-dir '%s' "
                 "2>/dev/null",
                 folder, caliper, cases[i].library != NULL ? cases[i].library : shirking, folder);
        int status = system(arguments);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].status);
    }
}

/* The data roots of all rows are gone. */
static void nothing_is_left(void **state)
{
    (void)state;
    shell_command("test -z \"$(ls -d %s/caliper-check-* 2>/dev/null)\"%s", folder, "");
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    caliper = argv[1];
    shirking = argv[2];
    misbehaving = argv[3];
    lying = argv[4];
    snprintf(folder, sizeof folder, "/tmp/caliper-check-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_has_its_row),
        cmocka_unit_test(faults_in_each_call),
        cmocka_unit_test(descriptors_that_lie),
        cmocka_unit_test(what_is_only_bad_style),
        cmocka_unit_test(manifests_and_bundles),
        cmocka_unit_test(exports_are_counted),
        cmocka_unit_test(usage_and_json),
        cmocka_unit_test(nothing_is_left),
        cmocka_unit_test(dev_loads_it_again),
        cmocka_unit_test(dev_has_a_status),
        cmocka_unit_test(run_takes_manifests_and_bundles),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 ? 1 : failed;
}
