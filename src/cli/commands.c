/* cli/commands.c: which subcommands there are, and which one was asked for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/fault.h"
#include "core/log.h"
#include "core/trace.h"

const CliCommand cli_commands[] = {
    {"home", "", "open the home page (also without a subcommand)", cli_home, CLI_WORD_NONE},
    {"view", "FILE...", "show files in TensorScope", cli_view, CLI_WORD_FILE},
    {"run", "APPLET...",
     "open applets by id, by its last word, or by the path of a library or bundle", cli_run,
     CLI_WORD_APPLET},
    {"dev", "PATH", "open an applet and load it again whenever it is built", cli_dev,
     CLI_WORD_FILE},
    {"check", "PATH", "put an applet through its life: for its author, before others do", cli_check,
     CLI_WORD_FILE},
    {"list", "[--json]", "list the applets that were found", cli_list, CLI_WORD_NONE},
    {"doctor", "[--json]", "say which renderers, devices and libraries there are, and why not",
     cli_doctor, CLI_WORD_NONE},
    {"info", "FILE", "say what an array file holds: names, shapes, types, exact extremes", cli_info,
     CLI_WORD_FILE},
    {"convert", "IN OUT", "write an array file in another format, losing nothing", cli_convert,
     CLI_WORD_FILE},
    {"new", "NAME", "write the folder of a new applet in C", cli_new, CLI_WORD_FREE},
    {"artifacts", "list|verify|gc|rebuild|export", "work on the blobs that runs have kept",
     cli_artifacts, CLI_WORD_FREE},
    {"sql", "STATEMENT", "run one SQL statement on the data that applets share", cli_sql,
     CLI_WORD_FREE},
    {"import", "tfevents DIR", "take over the runs that TensorBoard shows", cli_import,
     CLI_WORD_FOLDER},
    {"runs", "", "open the Runs dashboard: what was logged, side by side", cli_runs, CLI_WORD_NONE},
    {"export", "FILE [RUN...]", "write what runs logged to a Parquet or CSV file", cli_export,
     CLI_WORD_FILE},
    {"fetch", "mnist", "fetch a data set into the place that all applets share", cli_fetch,
     CLI_WORD_FREE},
    {"completion", "SHELL", "print the completions for bash, zsh or fish", cli_completion,
     CLI_WORD_SHELL},
    {"manual", "", "print the man page, for man -l", cli_manual, CLI_WORD_NONE},
    {NULL, NULL, NULL, NULL, CLI_WORD_NONE},
};

static const CliCommand *find_command(const char *name)
{
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
    }
    return NULL;
}

static void read_environment(void)
{
    const char *level = getenv("CALIPER_LOG");
    const char *plan = getenv("CALIPER_FAIL_AT");
    if (level != NULL && level[0] != '\0' && !log_set_threshold(level))
        log_item(VARIABLE_REFUSED, "CALIPER_LOG", level,
                 "debug, info, warn, error or module:level,...");
    if (plan != NULL && plan[0] != '\0' && !fault_set_plan(plan))
        log_item(VARIABLE_REFUSED, "CALIPER_FAIL_AT", plan, "SITE:N, SITE:N+ or N");
    trace_start_from_environment();
}

/* Where options came first, the first word is the subcommand. NULL after one line. */
static const CliCommand *take_command(CliOptions *options)
{
    if (options->word_count == 0)
        return &cli_commands[0];
    const CliCommand *command = find_command(options->words[0]);
    if (command == NULL) {
        cli_usage("unknown subcommand %s", options->words[0]);
        return NULL;
    }
    options->word_count--;
    memmove(options->words, options->words + 1,
            (size_t)(options->word_count + 1) * sizeof options->words[0]);
    return command;
}

/* An answer that could not be printed whole is a failure, whatever the command itself says. */
static int printed(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "caliper: the answer could not be printed: %s\n", strerror(errno));
    return status != 0 ? status : 1;
}

int cli_main(int argc, char **argv)
{
    static CliOptions options;
    const CliCommand *command = NULL;
    int first = 1;
    memset(&options, 0, sizeof options);
    options.shell.struct_size = sizeof options.shell;
    read_environment();
    if (argc > 1 && argv[1][0] != '-') {
        command = find_command(argv[1]);
        if (command == NULL)
            return cli_usage("unknown subcommand %s", argv[1]);
        first = 2;
    }
    if (!cli_options_read(&options, argc - first, argv + first))
        return CLI_USAGE;
    bool is_named = command != NULL || options.word_count > 0;
    if (command == NULL)
        command = take_command(&options);
    if (command == NULL)
        return CLI_USAGE;
    if (options.help)
        return printed(cli_help(is_named ? command : NULL));
    if (options.version)
        return printed(cli_version());
    return printed(command->run(&options));
}
