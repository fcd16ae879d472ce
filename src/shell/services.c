/* shell/services.c: what this build vends to applets, and who takes back what an applet held.
 * Frame thread, at start-up. */
#include <caliper/services/ui_v1.h>

#include "services/bridge_services.h"
#include "services/services.h"
#include "shell/services_known.h"
#include "shell/shell_impl.h"

/* Textures are taken back by services_register_all's own hook. */
static void reclaim_context(void *user, CallerId owner, bool leaked)
{
    Shell *shell = user;
    (void)leaked;
    ui_reclaim(shell->ui, owner);
}

bool services_register_known(Host *host, Bridge *bridge)
{
    return services_register_all(host, bridge) &&
           (bridge != NULL || bridge_services_register(host, NULL)) &&
           host_service_register(host, CALIPER_UI_V1, ui_v1_table()) &&
           host_service_register(host, CALIPER_WIDGETS_V1, widgets_table()) &&
           host_service_register(host, CALIPER_PLOT_V1, plot_table());
}

bool shell_services_register(Shell *shell)
{
    return services_register_known(shell->host, shell->bridge) &&
           host_on_reclaim(shell->host, reclaim_context, shell);
}
