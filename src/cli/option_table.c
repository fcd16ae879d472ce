/* cli/option_table.c: every option: its name, whose it is, what it means and how its argument is
 * read. options.c walks a command line by it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/ids.h"
#include "core/log.h"
#include "render/renderer.h"
#include "services/device_service.h"

static bool read_size(CliOptions *options, const char *text)
{
    enum { SIDE_MAX_PX = 16384 };
    int width_px = 0, height_px = 0, used = 0;
    /* %5d: what has more digits than the limit must not wrap into it. */
    if (sscanf(text, "%5dx%5d%n", &width_px, &height_px, &used) != 2 || text[used] != '\0' ||
        width_px < 1 || height_px < 1 || width_px > SIDE_MAX_PX || height_px > SIDE_MAX_PX)
        return false;
    options->shell.width_px = width_px;
    options->shell.height_px = height_px;
    return true;
}

static bool read_scale(CliOptions *options, const char *text)
{
    char *end = NULL;
    float scale = strtof(text, &end);
    if (end == text || *end != '\0' || !isfinite(scale) || scale < 0.5f || scale > 8.0f)
        return false;
    options->shell.scale = scale;
    return true;
}

static bool read_frames(CliOptions *options, const char *text)
{
    char *end = NULL;
    errno = 0;
    long long frames = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || frames < 1)
        return false;
    options->shell.frames = frames;
    return true;
}

static bool read_renderer(CliOptions *options, const char *text)
{
    for (const RendererBackend *backend = renderer_backends; backend->name != NULL; backend++) {
        if (strcmp(backend->name, text) == 0) {
            options->shell.renderer = text;
            return true;
        }
    }
    return false;
}

static bool read_dir(CliOptions *options, const char *text)
{
    for (int i = 0; i < CLI_DIRS_MAX; i++) {
        if (options->dirs[i] == NULL) {
            options->dirs[i] = text;
            return text[0] != '\0';
        }
    }
    return false;
}

static bool read_log_level(CliOptions *options, const char *text)
{
    options->has_log_level = true;
    return log_set_threshold(text);
}

static bool read_data_dir(CliOptions *options, const char *text)
{
    options->shell.data_dir = text;
    return text[0] != '\0';
}

static bool read_device(CliOptions *options, const char *text)
{
    DeviceWish wish;
    options->shell.device = text;
    return text[0] != '\0' && device_wish_parse(text, &wish);
}

static bool read_screenshot(CliOptions *options, const char *text)
{
    options->shell.screenshot = text;
    return text[0] != '\0';
}

/* Applets that learn from data read the variable. */
static bool read_data(CliOptions *options, const char *text)
{
    (void)options;
    return text[0] != '\0' && setenv("CALIPER_DATASET", text, 1) == 0;
}

static bool read_input(CliOptions *options, const char *text)
{
    options->shell.input = text;
    return text[0] != '\0';
}

static bool read_raw(CliOptions *options, const char *text)
{
    options->raw = text;
    return array_raw_layout_read(text, strlen(text), &options->raw_layout);
}

static bool read_tensor(CliOptions *options, const char *text)
{
    options->tensor = text;
    return true;
}

static bool read_new_dir(CliOptions *options, const char *text)
{
    options->dir = text;
    return text[0] != '\0';
}

static bool read_new_id(CliOptions *options, const char *text)
{
    options->id = text;
    return ids_applet_valid(text);
}

static bool read_experiment(CliOptions *options, const char *text)
{
    options->experiment = text;
    return true;
}

static bool read_run(CliOptions *options, const char *text)
{
    char *end = NULL;
    errno = 0;
    options->run = strtoull(text, &end, 10);
    options->has_run = true;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

static bool read_table(CliOptions *options, const char *text)
{
    options->table = text;
    return strcmp(text, "scalars") == 0 || strcmp(text, "histograms") == 0 ||
           strcmp(text, "images") == 0 || strcmp(text, "texts") == 0 || strcmp(text, "runs") == 0;
}

static bool read_runs_state(CliOptions *options, const char *text)
{
    options->shell.runs_state = text;
    return text[0] != '\0';
}

#define DEFINE_FLAG(name, field)                              \
    static bool name(CliOptions *options, const char *unused) \
    {                                                         \
        (void)unused;                                         \
        options->field = true;                                \
        return true;                                          \
    }
DEFINE_FLAG(set_headless, shell.headless)
DEFINE_FLAG(set_light, shell.light)
DEFINE_FLAG(set_json, json)
DEFINE_FLAG(set_force, force)
DEFINE_FLAG(set_csv, csv)
DEFINE_FLAG(set_metrics, metrics)
DEFINE_FLAG(set_dry_run, dry_run)
DEFINE_FLAG(set_help, help)
DEFINE_FLAG(set_version, version)

static const char panels[] = "home view run dev runs";
static const char files[] = "view info convert";

/* In the order of help: options of the same subcommands stand together. */
const CliOption cli_option_table[] = {
    {"--headless", NULL, panels, "draw offscreen; no display is touched", set_headless, NULL, 0},
    {"--frames", "N", panels, "end after N frames (headless: 60)", read_frames, "a count from 1",
     CLI_WORD_FREE},
    {"--screenshot", "PNG", panels, "write the last frame", read_screenshot,
     "the path of a PNG file", CLI_WORD_FILE},
    {"--size", "WxH", panels, "size in pixels", read_size,
     "WIDTHxHEIGHT in pixels, 1 to 16384 each", CLI_WORD_FREE},
    {"--scale", "S", panels, "pixels per unit, 0.5 to 8; else the display's", read_scale,
     "a number from 0.5 to 8", CLI_WORD_FREE},
    {"--light", NULL, panels, "the light theme", set_light, NULL, 0},
    {"--input", "FILE", panels, "scripted input, see docs/reference/input-script.md", read_input,
     "a file of scripted input", CLI_WORD_FILE},
    {"--renderer", "NAME", panels, "which renderer to try first", read_renderer,
     "one of those that caliper doctor lists", CLI_WORD_RENDERER},

    {"--data", "SET", "run", "what MLScope learns: mnist, fashion or a folder", read_data,
     "mnist, fashion or a folder", CLI_WORD_FOLDER},
    {"--state", "FILE", "runs", "write the view as JSON at the end", read_runs_state,
     "the path of a file", CLI_WORD_FILE},

    {"--raw", "LAYOUT", files, "the files are bytes without a header, as in f32:480x640", read_raw,
     "TYPE:EXTENTxEXTENT... with :OFFSET, :big or :little after it", CLI_WORD_FREE},
    {"--tensor", "NAME", "info convert", "this array of the file alone", read_tensor,
     "the name of an array", CLI_WORD_FREE},
    {"--force", NULL, "convert export", "replace a file that is there", set_force, NULL, 0},
    {"--table", "NAME", "export", "scalars (else these), histograms, images, texts or runs",
     read_table, "scalars, histograms, images, texts or runs", CLI_WORD_FREE},
    {"--dir", "DIR", "new", "where the folder is made; else here", read_new_dir, "a folder",
     CLI_WORD_FOLDER},
    {"--id", "ID", "new", "the applet's id; else org.example.NAME", read_new_id,
     "a reverse DNS name like org.example.viewer", CLI_WORD_FREE},
    {"--experiment", "NAME", "import", "the experiment of the runs; else the folder's name",
     read_experiment, "a name", CLI_WORD_FREE},
    {"--run", "N", "artifacts", "list: only what run N has put; 0: what was put for no run",
     read_run, "the number of a run, or 0", CLI_WORD_FREE},
    {"--dry-run", NULL, "artifacts", "gc: say what would be removed, and remove nothing",
     set_dry_run, NULL, 0},
    {"--metrics", NULL, "sql", "a SELECT on what runs logged", set_metrics, NULL, 0},
    {"--csv", NULL, "sql", "answer in CSV: NULL is nothing, an empty text is \"\"", set_csv, NULL,
     0},
    {"--json", NULL, "check list doctor info convert artifacts sql import", "answer in JSON",
     set_json, NULL, 0},

    {"--data-dir", "DIR", NULL, "where data is kept", read_data_dir, "a folder", CLI_WORD_FOLDER},
    {"--applet-dir", "DIR", NULL, "looked through for applets first; may be repeated", read_dir,
     "a folder, at most 32 times", CLI_WORD_FOLDER},
    {"--device", "NAME", NULL, "cpu, cuda or cuda:N", read_device, "cpu, cuda or cuda:N",
     CLI_WORD_DEVICE},
    {"--log-level", "LEVEL", NULL, "debug, info, warn, error or module:level,...", read_log_level,
     "debug, info, warn, error or module:level,...", CLI_WORD_LEVEL},
    {"--version", NULL, NULL, "print the version", set_version, NULL, 0},
    {"--help", NULL, NULL, "print the help", set_help, NULL, 0},
    {NULL, NULL, NULL, NULL, NULL, NULL, 0},
};

bool cli_option_is_of(const CliOption *option, const char *command)
{
    size_t length = strlen(command);
    if (option->commands == NULL)
        return true;
    for (const char *at = option->commands; (at = strstr(at, command)) != NULL; at += length) {
        bool begins = at == option->commands || at[-1] == ' ';
        if (begins && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}
