/* cli/cli.h: the `caliper` command: options and subcommands, one file each.
 *
 * Only main.c includes it. Exit statuses: 0 done; 1 something failed, with a log line; 2 the
 * command line was not understood, with one line that says what. First thread of the process. */
#ifndef CALIPER_CLI_CLI_H
#define CALIPER_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "shell/shell.h"

enum { CLI_DIRS_MAX = 32, CLI_WORDS_MAX = 64, CLI_USAGE = 2 };

typedef struct CliOptions {
    ShellParams shell;
    const char *dirs[CLI_DIRS_MAX + 1];
    const char *words[CLI_WORDS_MAX + 1]; /* what is not an option, after the subcommand */
    int32_t word_count;
    bool json, help, version;
} CliOptions;

/* Reads everything after the subcommand. False after one line on stderr. */
bool cli_options_read(CliOptions *options, int argc, char **argv);
/* One line on stderr: "caliper: ..."; returns CLI_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_usage(const char *format, ...);

typedef struct CliCommand {
    const char *name;
    const char *arguments; /* for help */
    const char *summary;
    int (*run)(CliOptions *options);
} CliCommand;

/* Ended by a NULL name; the first, without a name in the command line, is home. */
extern const CliCommand cli_commands[];

int cli_home(CliOptions *options);
int cli_view(CliOptions *options);
int cli_run(CliOptions *options);
int cli_list(CliOptions *options);
int cli_doctor(CliOptions *options);
int cli_help(void);
int cli_version(void);

int cli_main(int argc, char **argv);

#endif
