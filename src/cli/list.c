/* cli/list.c: `caliper list [--json]`: the applets found, and why one cannot be opened. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/printable.h"
#include "core/host.h"
#include "shell/services_known.h"

static const char *state_word(AppletState state)
{
    static const char *const words[] = {"ready",   "unavailable", "running",
                                        "closing", "failed",      "quarantined"};
    return words[state];
}

static void print_lines(const Host *host)
{
    for (uint32_t i = 0; i < host_applet_count(host); i++) {
        AppletView view;
        if (!host_applet(host, i, &view))
            continue;
        /* A manifest that cannot be read gives no id. */
        printable_print(stdout, "%-34s %-8s %-12s %s\n", view.id[0] != '\0' ? view.id : view.name,
                        view.version[0] != '\0' ? view.version : "-", state_word(view.state),
                        view.name);
        if (view.reason[0] != '\0')
            printable_print(stdout, "%-34s %s\n", "", view.reason);
    }
}

static bool print_json(const Host *host)
{
    cJSON *all = cJSON_CreateArray();
    for (uint32_t i = 0; i < host_applet_count(host); i++) {
        AppletView view;
        if (!host_applet(host, i, &view))
            continue;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "id", view.id);
        cJSON_AddStringToObject(one, "version", view.version);
        cJSON_AddStringToObject(one, "name", view.name);
        cJSON_AddStringToObject(one, "summary", view.summary);
        cJSON_AddStringToObject(one, "tag", view.tag);
        cJSON_AddStringToObject(one, "path", view.path);
        cJSON_AddStringToObject(one, "manifest", view.manifest);
        cJSON_AddStringToObject(one, "state", state_word(view.state));
        cJSON_AddStringToObject(one, "reason", view.reason);
        cJSON_AddItemToArray(all, one);
    }
    char *text = cJSON_Print(all);
    if (text != NULL)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(all);
    return text != NULL;
}

int cli_list(CliOptions *options)
{
    bool good = true;
    if (options->word_count > 0)
        return cli_usage("list takes no names, given \"%s\"", options->words[0]);
    Host *host = host_create(&(HostParams){.struct_size = sizeof(HostParams),
                                           .data_dir = options->shell.data_dir,
                                           .applet_dirs = options->shell.applet_dirs});
    if (host == NULL)
        return 1;
    services_register_known(host, NULL);
    host_scan(host);
    if (options->json)
        good = print_json(host);
    else
        print_lines(host);
    host_destroy(&host);
    return good ? 0 : 1;
}
