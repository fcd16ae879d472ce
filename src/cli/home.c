/* cli/home.c: `caliper`: the window with its home page. */
#include "cli/cli.h"

int cli_home(CliOptions *options)
{
    if (options->word_count > 0)
        return cli_usage("home takes no names, given \"%s\"", options->words[0]);
    return shell_run(&options->shell);
}
