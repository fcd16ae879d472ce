/* cli/options.c: walks a command line by the table of options. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/printable.h"

int cli_usage(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("caliper: ", stderr);
    printable_print_list(stderr, format, arguments);
    fputs(" (see caliper --help)\n", stderr);
    va_end(arguments);
    return CLI_USAGE;
}

int cli_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("caliper: ", stderr);
    printable_print_list(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    return 1;
}

/* --name, --name VALUE or --name=VALUE. Returns how many words were used, 0 after a usage line. */
static int read_option(CliOptions *options, int left, char **argv)
{
    const char *word = strcmp(argv[0], "-h") == 0 ? "--help" : argv[0];
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    for (const CliOption *option = cli_option_table; option->name != NULL; option++) {
        bool is_flag = option->argument == NULL;
        if (strlen(option->name) != length || strncmp(option->name, word, length) != 0 ||
            (is_flag && equals != NULL))
            continue;
        if (is_flag)
            return option->read(options, NULL) ? 1 : 0;
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
            int used = read_option(options, argc - i, argv + i);
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
