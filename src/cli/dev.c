/* cli/dev.c: `caliper dev PATH`: an applet that is loaded again whenever it is built. */
#include "cli/cli.h"

int cli_dev(CliOptions *options)
{
    if (options->word_count != 1)
        return cli_usage("dev: %d paths given, wanted one: a library, a manifest or a bundle",
                         (int)options->word_count);
    options->shell.applets = options->words;
    options->shell.dev = true;
    return shell_run(&options->shell);
}
