/* cli/view.c: `caliper view FILE...`: TensorScope with these files, handed over as if dropped. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_view(CliOptions *options)
{
    static const char *const viewer[] = {"org.caliper.tensorscope", NULL};
    if (options->word_count == 0)
        return cli_usage("view: no file given, wanted one or more");
    for (int32_t i = 0; i < options->word_count; i++) {
        if (access(options->words[i], R_OK) != 0)
            return cli_usage("view: %s: %s", options->words[i], strerror(errno));
    }
    options->shell.applets = viewer;
    options->shell.files = options->words;
    return shell_run(&options->shell);
}
