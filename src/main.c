/* main.c: the `caliper` command. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.h"

/* A file that is opened must not become 0, 1 or 2 because whoever started us had closed it: what is
 * printed would go into that file. */
static void keep_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    keep_standard_streams();
    return cli_main(argc, argv);
}
