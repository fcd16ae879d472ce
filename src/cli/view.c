/* cli/view.c: `caliper view FILE...`: TensorScope with these files, handed over as if dropped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* With --raw each file's address says how its bytes are laid out. The texts live as long as the
 * process. */
static bool add_layout(CliOptions *options)
{
    for (int32_t i = 0; i < options->word_count; i++) {
        const char *path = options->words[i];
        size_t size = strlen(path) + strlen(options->raw) + 8;
        char *address = malloc(size);
        if (address == NULL)
            return false;
        snprintf(address, size, ARRAY_RAW_PREFIX "%s=%s", options->raw, path);
        options->words[i] = address;
    }
    return true;
}

int cli_view(CliOptions *options)
{
    static const char *const viewer[] = {"org.caliper.tensorscope", NULL};
    if (options->word_count == 0)
        return cli_usage("view: no file given, wanted one or more");
    for (int32_t i = 0; i < options->word_count; i++) {
        const char *path = array_raw_path(options->words[i]);
        struct stat status;
        if (access(path, R_OK) != 0)
            return cli_failed("%s: cannot be opened: %s", path, strerror(errno));
        if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
            return cli_failed("%s: is a directory, wanted a regular file", path);
    }
    if (options->raw != NULL && !add_layout(options))
        return cli_failed("view: no memory for the names of the files");
    options->shell.applets = viewer;
    options->shell.files = options->words;
    return shell_run(&options->shell);
}
