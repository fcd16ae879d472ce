/* cli/runs.c: `caliper runs`: the window with the Runs dashboard. */
#include "cli/cli.h"

int cli_runs(CliOptions *options)
{
    if (options->word_count > 0)
        return cli_usage("runs takes no names, given \"%s\"", options->words[0]);
    options->shell.runs = true;
    return shell_run(&options->shell);
}
