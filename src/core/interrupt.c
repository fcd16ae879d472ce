/* core/interrupt.c: see interrupt.h. */
#include "core/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>

static const struct {
    int signal;
    const char *name;
} taken[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

enum { TAKEN = sizeof taken / sizeof taken[0] };

static volatile sig_atomic_t caught;

static void catch_signal(int signal)
{
    caught = signal;
}

void interrupt_take(void)
{
    /* Reset after the first, so that the second takes its default way. Calls that the signal falls
     * into go on: it may fall into any thread, an applet's too. */
    struct sigaction action = {.sa_handler = catch_signal,
                               .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    caught = 0;
    for (size_t i = 0; i < TAKEN; i++) {
        struct sigaction before;
        if (sigaction(taken[i].signal, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(taken[i].signal, &action, NULL);
    }
}

int interrupt_signal(void)
{
    return (int)caught;
}

const char *interrupt_name(int signal)
{
    for (size_t i = 0; i < TAKEN; i++) {
        if (taken[i].signal == signal)
            return taken[i].name;
    }
    return "a signal";
}

void interrupt_end(void)
{
    int which = (int)caught;
    if (which == 0)
        return;
    fflush(NULL);
    signal(which, SIG_DFL);
    raise(which);
}
