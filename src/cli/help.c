/* cli/help.c: `caliper --help`, `caliper --version`. */
#include <stdio.h>

#include "cli/cli.h"
#include "render/renderer.h"

int cli_version(void)
{
    printf("caliper %d.%d.%d\n", CALIPER_VERSION_MAJOR, CALIPER_VERSION_MINOR,
           CALIPER_VERSION_PATCH);
    return 0;
}

int cli_help(void)
{
    char line[64];
    puts("caliper: tensors as live textures\n\nusage: caliper [SUBCOMMAND] [OPTIONS]\n");
    for (const CliCommand *command = cli_commands; command->name != NULL; command++) {
        snprintf(line, sizeof line, "%s %s", command->name, command->arguments);
        printf("  %-18s %s\n", line, command->summary);
    }
    puts("\nOptions of home, view and run:\n"
         "  --headless           draw offscreen; no display is touched\n"
         "  --frames N           end after N frames (headless: 60)\n"
         "  --screenshot PNG     write the last frame\n"
         "  --size WxH           size in pixels\n"
         "  --scale S            pixels per unit, 0.5 to 8; else the display's\n"
         "  --light              the light theme\n"
         "  --input FILE         scripted input, see docs/reference/input-script.md\n"
         "  --renderer NAME      which renderer to try first:");
    for (const RendererBackend *backend = renderer_backends; backend->name != NULL; backend++)
        printf("                         %-8s %s\n", backend->name, backend->summary);
    puts("\nOptions of all:\n"
         "  --data-dir DIR       where data is kept\n"
         "  --applet-dir DIR     looked through for applets first; may be repeated\n"
         "  --device NAME        cpu, cuda or cuda:N\n"
         "  --log-level LEVEL    debug, info, warn, error or module:level,...\n"
         "  --version, --help\n\n"
         "Exit status: 0 done, 1 failed, 2 the command line was not understood.");
    return 0;
}
