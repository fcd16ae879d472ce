/* tests/e2e/command.h: runs the command in a room of its own: a copy of the program, an applet
 * folder, a data root, a working folder, all below one temporary folder. */
#ifndef CALIPER_TESTS_COMMAND_H
#define CALIPER_TESTS_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Room {
    char path[256]; /* the temporary folder */
    char output[65536];
    uint32_t output_lines; /* of stdout and stderr together */
} Room;

/* Copies the program and three applets: hello into applets/, the others as crash/crash.so and
 * imgui/imgui.so. */
bool room_make(Room *room, const char *program, const char *hello, const char *crash,
               const char *imgui);
void room_remove(Room *room);
/* Runs `caliper ARGUMENTS` with the room's applets and data, in the room; `environment` is put in
 * front ("NAME=value ..."). Returns the exit status, 128 + signal when it was killed. */
int room_run(Room *room, const char *environment, const char *arguments);
/* A fresh data root: what was said to the first-run page is forgotten. */
void room_forget(Room *room);

#endif
