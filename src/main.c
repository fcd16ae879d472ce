/* main.c: the `caliper` command. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/interrupt.h"
#include "core/trace.h"
#include "jobs/jobs.h"

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
    /* A file that may not grow further (ulimit -f) is an error of the write, as a full disk is, and
     * no reason to end the process. */
    signal(SIGXFSZ, SIG_IGN);
    /* Applets may bring an OpenMP runtime, which reads this when it is loaded: threads of a
     * training job that wait must not spin on the cores that the frame needs. */
    setenv("OMP_WAIT_POLICY", "passive", 0);
    int status = cli_main(argc, argv);
    uint32_t jobs_left = jobs_end();
    if (interrupt_signal() != 0) { /* closed in good order, and ended by it all the same */
        trace_stop();
        interrupt_end();
    }
    if (jobs_left > 0) {
        /* exit() would take libraries apart under the feet of those that still run. */
        fflush(NULL);
        _exit(status);
    }
    return status;
}
