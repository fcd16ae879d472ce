/* cli/help.c: `caliper --help`, `caliper SUBCOMMAND --help`, `caliper --version`, made from the
 * tables. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "render/renderer.h"

int cli_version(void)
{
    printf("caliper %d.%d.%d\n", CALIPER_VERSION_MAJOR, CALIPER_VERSION_MINOR,
           CALIPER_VERSION_PATCH);
    return 0;
}

/* "home view run" as "home, view and run". */
static void print_commands(const char *commands)
{
    const char *last = strrchr(commands, ' ');
    for (const char *c = commands; *c != '\0'; c++) {
        if (*c == ' ')
            fputs(c == last ? " and " : ", ", stdout);
        else
            putchar(*c);
    }
}

static void print_options(const CliCommand *command)
{
    const char *group = "";
    char line[64];
    for (const CliOption *option = cli_option_table; option->name != NULL; option++) {
        const char *commands = option->commands != NULL ? option->commands : "all";
        if (command != NULL && !cli_option_is_of(option, command->name))
            continue;
        if (strcmp(group, commands) != 0) {
            fputs("\nOptions of ", stdout);
            print_commands(commands);
            puts(":");
        }
        group = commands;
        snprintf(line, sizeof line, "%s %s", option->name,
                 option->argument != NULL ? option->argument : "");
        printf("  %-20s %s%s\n", line, option->summary,
               option->word == CLI_WORD_RENDERER ? ":" : "");
        if (option->word != CLI_WORD_RENDERER)
            continue;
        for (const RendererBackend *backend = renderer_backends; backend->name != NULL; backend++)
            printf("                         %-8s %s\n", backend->name, backend->summary);
    }
}

static void print_all(void)
{
    char line[64];
    puts("caliper: tensors as live textures\n\nusage: caliper [SUBCOMMAND] [OPTIONS]\n");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        snprintf(line, sizeof line, "%s %s", command->name, command->arguments);
        printf("  %-18s %s\n", line, command->summary);
    }
}

static void print_one(const CliCommand *command)
{
    printf("caliper %s: %s\n\nusage: caliper %s%s%s [OPTIONS]\n", command->name, command->summary,
           command->name, command->arguments[0] != '\0' ? " " : "", command->arguments);
}

int cli_help(const CliCommand *command)
{
    if (command == NULL)
        print_all();
    else
        print_one(command);
    print_options(command);
    puts("\nExit status: 0 done, 1 failed, 2 the command line was not understood.");
    return 0;
}
