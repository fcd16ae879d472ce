/* caliper.log.v1: an applet's line goes into the one log, under the applet's name. Any thread. */
#include "core/log.h"
#include "core/caller.h"
#include "services/log_service.h"

static void service_log(CaliperLogLevel level, const char *message_utf8)
{
    /* On a thread that the applet made itself, the return address tells whose line it is. */
    CallerId owner = caller_current();
    if (owner == 0)
        owner = caller_of_address(__builtin_return_address(0));
    CallerId before = caller_enter(owner);
    log_write_text((int)level, "applet", message_utf8, -1);
    caller_leave(before);
}

static const CaliperLogV1 table = {.struct_size = sizeof table, .log = service_log};

const CaliperLogV1 *log_service_table(void)
{
    return &table;
}
