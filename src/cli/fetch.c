/* cli/fetch.c: `caliper fetch NAME`: a data set into the place that all applets share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/paths.h"
#include "datasets/datasets.h"

typedef struct Shown {
    bool is_terminal; /* one line that is written over; else one line a file */
    const char *file; /* the last one that was named */
} Shown;

static bool show(void *user, const DatasetsProgress *progress)
{
    Shown *shown = user;
    if (shown->is_terminal)
        fprintf(stderr, "\r%-28s %6.1f of %.1f MB", progress->file,
                (double)progress->got_bytes * 1e-6, (double)progress->total_bytes * 1e-6);
    else if (shown->file != progress->file)
        fprintf(stderr, "%s\n", progress->file);
    shown->file = progress->file;
    return true; /* an interrupt ends the process; what came is kept */
}

static int fetch_mnist(const CliOptions *options)
{
    char folder[DATASETS_PATH_BYTES], why[DATASETS_ERROR_BYTES];
    Shown shown = {.is_terminal = isatty(STDERR_FILENO) == 1};
    char *root = paths_data_root(options->shell.data_dir);
    if (root == NULL)
        return 1;
    bool fits = datasets_folder(root, datasets_mnist.name, folder);
    free(root);
    if (!fits)
        return cli_failed("fetch: the data root's name is too long");
    const DatasetsFetch fetch = {.folder = folder, .going = show, .user = &shown};
    DatasetsResult result = datasets_fetch(&datasets_mnist, &fetch, why);
    if (shown.is_terminal && shown.file != NULL)
        fputc('\n', stderr);
    if (result != DATASETS_RESULT_DONE)
        return cli_failed("fetch: %s", why);
    printf("%s is in %s\n", datasets_mnist.title, folder);
    return 0;
}

int cli_fetch(CliOptions *options)
{
    if (options->word_count != 1)
        return cli_usage("fetch: %d names given, wanted one: mnist or fashion",
                         (int)options->word_count);
    if (strcmp(options->words[0], datasets_mnist.name) == 0)
        return fetch_mnist(options);
    if (strcmp(options->words[0], "fashion") != 0)
        return cli_usage("fetch: given \"%s\", wanted mnist or fashion", options->words[0]);
    if (!datasets_found(&datasets_mnist, datasets_fashion_folder)) /* the same names */
        return cli_failed("fetch: Fashion-MNIST comes with a package: apt-get install %s",
                          datasets_fashion_package);
    printf("Fashion-MNIST is in %s\n", datasets_fashion_folder);
    return 0;
}
