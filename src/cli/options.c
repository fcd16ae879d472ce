/* cli/options.c: the options that all subcommands share. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/log.h"
#include "render/renderer.h"
#include "services/device_service.h"

int cli_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("caliper: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs(" (see caliper --help)\n", stderr);
    va_end(arguments);
    return CLI_USAGE;
}

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
    (void)options;
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

static bool read_input(CliOptions *options, const char *text)
{
    options->shell.input = text;
    return text[0] != '\0';
}

typedef struct Option {
    const char *name;
    bool (*read)(CliOptions *options, const char *text);
    const char *wanted;
} Option;

static const Option options_with_value[] = {
    {"--renderer", read_renderer, "one of those that caliper doctor lists"},
    {"--frames", read_frames, "a count from 1"},
    {"--screenshot", read_screenshot, "the path of a PNG file"},
    {"--size", read_size, "WIDTHxHEIGHT in pixels, 1 to 16384 each"},
    {"--scale", read_scale, "a number from 0.5 to 8"},
    {"--data-dir", read_data_dir, "a folder"},
    {"--applet-dir", read_dir, "a folder, at most 32 times"},
    {"--log-level", read_log_level, "debug, info, warn, error or module:level,..."},
    {"--device", read_device, "cpu, cuda or cuda:N"},
    {"--input", read_input, "a file of scripted input"},
};

static bool read_flag(CliOptions *options, const char *word)
{
    if (strcmp(word, "--headless") == 0)
        options->shell.headless = true;
    else if (strcmp(word, "--light") == 0)
        options->shell.light = true;
    else if (strcmp(word, "--json") == 0)
        options->json = true;
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        options->help = true;
    else if (strcmp(word, "--version") == 0)
        options->version = true;
    else
        return false;
    return true;
}

/* --name VALUE or --name=VALUE. Returns how many words were used, 0 after a usage line. */
static int read_value(CliOptions *options, int left, char **argv)
{
    const char *word = argv[0];
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    for (size_t i = 0; i < sizeof options_with_value / sizeof options_with_value[0]; i++) {
        const Option *option = &options_with_value[i];
        if (strlen(option->name) != length || strncmp(option->name, word, length) != 0)
            continue;
        const char *value = equals != NULL ? equals + 1 : left > 1 ? argv[1] : NULL;
        if (value == NULL) {
            cli_usage("%s: nothing given, wanted %s", option->name, option->wanted);
            return 0;
        }
        if (!option->read(options, value)) {
            cli_usage("%s: given \"%s\", wanted %s", option->name, value, option->wanted);
            return 0;
        }
        return equals != NULL ? 1 : 2;
    }
    cli_usage("unknown option %s", word);
    return 0;
}

bool cli_options_read(CliOptions *options, int argc, char **argv)
{
    bool only_words = false;
    for (int i = 0; i < argc;) {
        const char *word = argv[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
            i++;
        } else if (!only_words && word[0] == '-' && word[1] != '\0') {
            int used = read_flag(options, word) ? 1 : read_value(options, argc - i, argv + i);
            if (used == 0)
                return false;
            i += used;
        } else if (options->word_count < CLI_WORDS_MAX) {
            options->words[options->word_count++] = word;
            i++;
        } else {
            cli_usage("more than %d names", (int)CLI_WORDS_MAX);
            return false;
        }
    }
    options->shell.applet_dirs = options->dirs;
    return true;
}
