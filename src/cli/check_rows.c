/* The rows of the table: each runs in a child process of its own, on a host of its own. First
 * thread of that process. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check.h"
#include "cli/check_elf.h"
#include "cli/check_stage.h"
#include "core/loader.h"
#include "core/manifest.h"

enum { FRAMES = 60, FRAMES_FEW = 6, LIVES = 5 };
static const double slow_sec = 0.25; /* of the host's watchdog: semantics, "Watchdog" */

/* ---- The files ---- */

static void check_manifest(CheckRun *run)
{
    char why[CHECK_DETAIL_BYTES];
    static Manifest manifest;
    if (run->place->manifest == NULL) {
        check_say(run, CHECK_RESULT_SKIP, "none beside the library: it runs by its path alone");
    } else if (!manifest_read(run->place->manifest, &manifest, why, sizeof why)) {
        check_say(run, CHECK_RESULT_FAIL, "%s", why);
    } else {
        snprintf(run->shared->id, sizeof run->shared->id, "%s", manifest.id);
        snprintf(run->shared->version, sizeof run->shared->version, "%s", manifest.version);
        check_say(run, CHECK_RESULT_OK, "%u services required, %u optional",
                  (unsigned)manifest.required_count, (unsigned)manifest.optional_count);
    }
}

static void check_library(CheckRun *run)
{
    char why[CHECK_DETAIL_BYTES];
    const char *path = run->place->library;
    if (!run->place->has_library)
        check_say(run, CHECK_RESULT_FAIL, "%s is not there", path);
    else if (!loader_check_file(path, why, sizeof why))
        check_say(run, CHECK_RESULT_FAIL, "%s: %s", path, why);
    else
        check_say(run, CHECK_RESULT_OK, "a library for " PLACE_PLATFORM);
}

static void check_symbols(CheckRun *run)
{
    char why[CHECK_DETAIL_BYTES];
    CheckExports exports;
    bool found = false;
    if (!check_exports(run->place->library, &exports, why, sizeof why)) {
        check_say(run, CHECK_RESULT_FAIL, "%s", why);
        return;
    }
    const char *other = NULL;
    for (uint32_t i = 0; i < exports.count && i < CHECK_SYMBOLS_MAX; i++) {
        bool ours = strcmp(exports.names[i], CALIPER_DESCRIPTOR_SYMBOL) == 0;
        found = found || ours;
        other = ours || other != NULL ? other : exports.names[i];
    }
    if (exports.count == 1 && found)
        check_say(run, CHECK_RESULT_OK, CALIPER_DESCRIPTOR_SYMBOL " alone");
    else if (other == NULL)
        check_say(run, CHECK_RESULT_FAIL, "no symbol, wanted " CALIPER_DESCRIPTOR_SYMBOL);
    else
        check_say(run, CHECK_RESULT_FAIL,
                  "%u symbols, %s among them; wanted " CALIPER_DESCRIPTOR_SYMBOL
                  " alone (-fvisibility=hidden, or a version script)",
                  (unsigned)exports.count, other);
}

/* ---- Lives ---- */

/* Opened, or said why not. */
static bool opened(CheckRun *run)
{
    StageOpened how = stage_open();
    if (how == STAGE_OPENED_REFUSED)
        check_say(run, CHECK_RESULT_FAIL, "initialize() answered false");
    return how == STAGE_OPENED_RUNNING;
}

/* Negotiation, then the library and its descriptor. */
static void check_descriptor(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    if (stage_try_create())
        check_say(run, CHECK_RESULT_OK, "%s %s, without initialize()", run->shared->id,
                  run->shared->version);
    stage_end();
}

static void check_no_frame(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    if (opened(run) && stage_close())
        check_say(run, CHECK_RESULT_OK, "without a frame");
    stage_end();
}

void check_frames(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    if (opened(run) && stage_frames(FRAMES) && stage_close()) {
        check_say(run, CHECK_RESULT_OK, "%d frames, the longest %.1f ms", (int)FRAMES,
                  stage_slowest_sec() * 1e3);
        if (stage_slowest_sec() > slow_sec)
            check_say(run, CHECK_RESULT_WARN,
                      "a frame() took %.0f ms, wanted at most 250: move the work to jobs",
                      stage_slowest_sec() * 1e3);
        if (stage_warnings() > 0)
            check_say(run, CHECK_RESULT_WARN, "%u complaints of the host, the first: %s",
                      (unsigned)stage_warnings(), stage_first_warning());
    }
    stage_end();
}

static uint32_t count_entries(const char *folder)
{
    uint32_t count = 0;
    DIR *entries = opendir(folder);
    while (entries != NULL && readdir(entries) != NULL)
        count++;
    if (entries != NULL)
        closedir(entries);
    return count;
}

static bool one_life(CheckRun *run)
{
    return opened(run) && stage_frames(FRAMES_FEW) && stage_close();
}

/* What each life leaves behind grows with them; the first may start what stays. */
static void say_growth(CheckRun *run, const char *what, uint32_t first, uint32_t last)
{
    if (last >= first + LIVES - 1)
        check_say(run, CHECK_RESULT_WARN, "%u %s more after %d lives", (unsigned)(last - first),
                  what, (int)LIVES);
}

static void live(CheckRun *run, const char *words)
{
    bool good = one_life(run);
    uint32_t threads = count_entries("/proc/self/task");
    uint32_t files = count_entries("/proc/self/fd");
    for (int life = 1; good && life < LIVES; life++)
        good = one_life(run);
    if (good) {
        check_say(run, CHECK_RESULT_OK, "%s", words);
        say_growth(run, "threads", threads, count_entries("/proc/self/task"));
        say_growth(run, "open files", files, count_entries("/proc/self/fd"));
    }
}

/* The host closes the library after each life. */
static void check_lives(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    live(run, "5 lives, the library loaded for each");
    stage_end();
}

/* The library stays loaded: what it keeps in static memory meets the next life. */
static void check_lives_in_one_load(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    void *pin = dlopen(run->place->library, RTLD_NOW | RTLD_LOCAL);
    if (pin == NULL)
        check_say(run, CHECK_RESULT_FAIL, "the library cannot be kept loaded: %s", dlerror());
    else
        live(run, "5 lives in a row in one load");
    stage_end();
}

/* The process ends while the applet runs: nothing is cleaned up. */
static void check_exit(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    if (!opened(run) || !stage_frames(FRAMES_FEW))
        return;
    snprintf(run->shared->doing, sizeof run->shared->doing, "exit() while it runs");
    check_say(run, CHECK_RESULT_OK, "the process ends with status 0");
    exit(0);
}

static void check_size(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    if (one_life(run))
        check_say(run, CHECK_RESULT_OK, "%d frames", (int)FRAMES_FEW);
    stage_end();
}

void check_without(CheckRun *run)
{
    if (!stage_begin(run))
        return;
    StageOpened how = stage_open();
    if (how == STAGE_OPENED_REFUSED)
        check_say(run, CHECK_RESULT_OK, "initialize() answers false");
    else if (how == STAGE_OPENED_RUNNING && stage_frames(FRAMES_FEW) && stage_close())
        check_say(run, CHECK_RESULT_OK, "it runs without");
    stage_end();
}

const CheckRow check_rows[] = {
    {.name = "manifest", .run = check_manifest, .needed = true},
    {.name = "library", .run = check_library, .needed = true},
    {.name = "exports", .run = check_symbols},
    {.name = "create, destroy", .run = check_descriptor, .needed = true},
    {.name = "initialize, cleanup", .run = check_no_frame, .needed = true},
    {.name = "frames", .run = check_frames, .needed = true},
    {.name = "lives", .run = check_lives},
    {.name = "lives in one load", .run = check_lives_in_one_load},
    {.name = "exit while it runs", .run = check_exit},
    {.name = "scale 1.25", .run = check_size, .scale = 1.25f},
    {.name = "scale 1.5", .run = check_size, .scale = 1.5f},
    {.name = "scale 2, 1023 x 767",
     .run = check_size,
     .scale = 2.0f,
     .width_px = 1023,
     .height_px = 767},
    {.name = "size 1 x 1", .run = check_size, .width_px = 1, .height_px = 1},
    {.name = "size 7680 x 64", .run = check_size, .width_px = 7680, .height_px = 64},
    {.name = "size 16384 x 16384", .run = check_size, .width_px = 16384, .height_px = 16384},
    {.name = NULL},
};
