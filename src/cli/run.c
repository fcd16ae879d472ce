/* cli/run.c: `caliper run APPLET...`. */
#include "cli/cli.h"

int cli_run(CliOptions *options)
{
    if (options->word_count == 0)
        return cli_usage(
            "run: no applet given, wanted an id or the path of a library, manifest or bundle");
    if (options->word_count > SHELL_NAMES_MAX)
        return cli_usage("run: more than %d applets", (int)SHELL_NAMES_MAX);
    options->shell.applets = options->words;
    return shell_run(&options->shell);
}
