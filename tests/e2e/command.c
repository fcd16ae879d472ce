/* tests/e2e/command.c: see command.h. */
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static bool shell_command(const char *text)
{
    int status = system(text);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool room_make(Room *room, const char *program, const char *hello, const char *crash,
               const char *imgui)
{
    char text[2048];
    const char *folder = getenv("TMPDIR");
    snprintf(room->path, sizeof room->path, "%s/caliper-e2e-XXXXXX",
             folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    if (mkdtemp(room->path) == NULL)
        return false;
    snprintf(
        text, sizeof text,
        "cd '%s' && mkdir bin applets crash imgui && cp '%s' bin/caliper && cp '%s' applets/ && "
        "cp \"$(dirname '%s')\"/hello.caliper.toml applets/ && cp '%s' crash/crash.so && cp '%s' "
        "imgui/imgui.so",
        room->path, program, hello, hello, crash, imgui);
    return shell_command(text);
}

void room_remove(Room *room)
{
    char text[512];
    snprintf(text, sizeof text, "rm -rf '%s'", room->path);
    (void)shell_command(text);
}

void room_forget(Room *room)
{
    char text[512];
    snprintf(text, sizeof text, "rm -rf '%s/data'", room->path);
    (void)shell_command(text);
}

int room_run(Room *room, const char *environment, const char *arguments)
{
    char text[4096];
    snprintf(text, sizeof text,
             "cd '%s' && CALIPER_DATA_DIR='%s/data' %s bin/caliper %s 2>&1 </dev/null", room->path,
             room->path, environment, arguments);
    FILE *pipe = popen(text, "r");
    if (pipe == NULL)
        return -1;
    size_t used = fread(room->output, 1, sizeof room->output - 1, pipe);
    room->output[used] = '\0';
    while (fgetc(pipe) != EOF) {
    }
    int status = pclose(pipe);
    room->output_lines = 0;
    for (size_t i = 0; i < used; i++)
        room->output_lines += room->output[i] == '\n';
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
