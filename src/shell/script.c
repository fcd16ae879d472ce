/* shell/script.c: reads and plays scripted input. Frame thread. */
#include "shell/script.h"

#include <caliper/services/widgets_v1.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"

enum { LINE_BYTES = 4096, COMMANDS_MAX = 65536 };

typedef enum CommandKind {
    COMMAND_EVENT = 0,
    COMMAND_TEXT,
    COMMAND_DROP,
    COMMAND_LIST
} CommandKind;

typedef struct Command {
    uint64_t frame;
    CommandKind kind;
    UiEvent event;
    char *text; /* TEXT, DROP, LIST */
} Command;

struct Script {
    Command *commands;
    size_t count, capacity, next;
    float x, y; /* the pointer */
    bool has_lists;
    const char *list_path; /* of this frame, or NULL */
};

static bool append(Script *script, const Command *command)
{
    if (script->count == script->capacity) {
        size_t wanted = script->capacity == 0 ? 64 : script->capacity * 2;
        Command *bigger =
            wanted > COMMANDS_MAX ? NULL : realloc(script->commands, wanted * sizeof *bigger);
        if (bigger == NULL)
            return false;
        script->commands = bigger;
        script->capacity = wanted;
    }
    script->commands[script->count++] = *command;
    return true;
}

static bool read_button(const char *text, uint32_t *out)
{
    static const char *const names[] = {"left", "right", "middle"};
    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool read_key_name(const char *name, uint32_t *out)
{
    static const char *const names[] = {"escape", "enter",    "tab",   "backspace", "insert",
                                        "delete", "left",     "right", "up",        "down",
                                        "pageup", "pagedown", "home",  "end"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = CALIPER_KEY_ESCAPE + i;
            return true;
        }
    }
    if (strcmp(name, "space") == 0) {
        *out = ' ';
        return true;
    }
    if (name[0] == 'f' && name[1] != '\0') {
        char *end = NULL;
        long number = strtol(name + 1, &end, 10);
        if (*end != '\0' || number < 1 || number > 12)
            return false;
        *out = CALIPER_KEY_F1 + (uint32_t)number - 1;
        return true;
    }
    if (name[0] <= ' ' || name[0] >= 0x7f || name[1] != '\0')
        return false;
    *out = (uint32_t)toupper((unsigned char)name[0]);
    return true;
}

static bool read_key(const char *text, UiEvent *event)
{
    static const struct {
        const char *prefix;
        uint32_t bit;
    } modifiers[] = {{"ctrl+", UI_MODIFIER_CTRL},
                     {"shift+", UI_MODIFIER_SHIFT},
                     {"alt+", UI_MODIFIER_ALT},
                     {"super+", UI_MODIFIER_SUPER}};
    for (size_t i = 0; i < 4; i++) {
        size_t length = strlen(modifiers[i].prefix);
        if (strncmp(text, modifiers[i].prefix, length) == 0 && text[length] != '\0') {
            event->modifiers |= modifiers[i].bit;
            text += length;
            i = (size_t)-1; /* in any order: from the first again */
        }
    }
    return read_key_name(text, &event->code);
}

/* Appends a press, a release, or both, as the word says. */
static bool append_presses(Script *script, Command *command, bool down, bool up)
{
    if (down) {
        command->event.down = true;
        if (!append(script, command))
            return false;
    }
    if (up) {
        command->event.down = false;
        if (command->event.kind == UI_EVENT_KEY)
            command->event.modifiers = 0;
        return append(script, command);
    }
    return true;
}

static bool read_two(const char *text, float *out_x, float *out_y)
{
    int used = 0;
    return sscanf(text, "%f %f%n", out_x, out_y, &used) == 2 && text[used] == '\0' &&
           isfinite(*out_x) && isfinite(*out_y);
}

static bool read_line(Script *script, char *line, uint64_t *frame)
{
    char word[16] = "";
    int used = 0;
    if (sscanf(line, "%15s %n", word, &used) != 1 || word[0] == '#')
        return true;
    char *rest = line + used;
    Command command = {.frame = *frame};
    UiEvent *event = &command.event;
    if (strcmp(word, "at") == 0) {
        char *end = NULL;
        unsigned long long value = strtoull(rest, &end, 10);
        if (end == rest || *end != '\0' || rest[0] == '-' || value < *frame)
            return false;
        *frame = value;
        return true;
    }
    if (strcmp(word, "move") == 0 || strcmp(word, "wheel") == 0) {
        event->kind = word[0] == 'm' ? UI_EVENT_POINTER : UI_EVENT_WHEEL;
        return read_two(rest, &event->x, &event->y) && append(script, &command);
    }
    if (strcmp(word, "press") == 0 || strcmp(word, "release") == 0 || strcmp(word, "click") == 0) {
        event->kind = UI_EVENT_BUTTON;
        return read_button(rest, &event->code) &&
               append_presses(script, &command, word[0] != 'r', word[0] != 'p');
    }
    if (strcmp(word, "down") == 0 || strcmp(word, "up") == 0 || strcmp(word, "key") == 0) {
        event->kind = UI_EVENT_KEY;
        return read_key(rest, event) &&
               append_presses(script, &command, word[0] != 'u', word[0] != 'd');
    }
    if (strcmp(word, "text") == 0 || strcmp(word, "drop") == 0 || strcmp(word, "list") == 0) {
        command.kind = word[0] == 't' ? COMMAND_TEXT : word[0] == 'd' ? COMMAND_DROP : COMMAND_LIST;
        script->has_lists |= command.kind == COMMAND_LIST;
        command.text = strdup(rest);
        if (command.text != NULL && rest[0] != '\0' && append(script, &command))
            return true;
        free(command.text);
    }
    return false;
}

/* NULL after one line. O_NONBLOCK: opening a pipe would wait for its writer. */
static FILE *script_open(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *why = fd < 0 || fstat(fd, &status) != 0 ? strerror(errno)
                      : !S_ISREG(status.st_mode)        ? "it is not a file"
                                                        : NULL;
    FILE *file = why == NULL ? fdopen(fd, "r") : NULL;
    if (file == NULL) {
        log_item(SCRIPT_UNREADABLE, path, why != NULL ? why : strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return file;
}

Script *script_read(const char *path)
{
    char line[LINE_BYTES];
    uint64_t frame = 1;
    unsigned number = 0;
    Script *script = NULL;
    FILE *file = script_open(path);
    if (file == NULL)
        return NULL;
    script = calloc(1, sizeof *script);
    if (script == NULL)
        log_item(OUT_OF_MEMORY, "script_read", (unsigned long long)sizeof *script);
    while (script != NULL && fgets(line, sizeof line, file) != NULL) {
        number++;
        size_t length = strlen(line);
        if (length == 0 || (line[length - 1] != '\n' && !feof(file))) {
            log_item(SCRIPT_UNREADABLE, path, "a line is too long or holds a zero byte");
            script_destroy(&script);
            break;
        }
        while (length > 0 &&
               (line[length - 1] == '\n' || line[length - 1] == '\r' || line[length - 1] == ' '))
            line[--length] = '\0';
        if (!read_line(script, line, &frame)) {
            log_item(SCRIPT_LINE, path, number, line);
            script_destroy(&script);
        }
    }
    if (script != NULL && ferror(file)) {
        log_item(SCRIPT_UNREADABLE, path, "it cannot be read to its end");
        script_destroy(&script);
    }
    fclose(file);
    return script;
}

void script_destroy(Script **script)
{
    if (script == NULL || *script == NULL)
        return;
    for (size_t i = 0; i < (*script)->count; i++)
        free((*script)->commands[i].text);
    free((*script)->commands);
    free(*script);
    *script = NULL;
}

/* Code points of valid UTF-8; other bytes are passed over. */
static void send_text(Ui *ui, const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    while (*b != 0) {
        uint32_t code = *b++;
        int more = code >= 0xf0 ? 3 : code >= 0xe0 ? 2 : code >= 0xc0 ? 1 : 0;
        if (more > 0)
            code &= 0x3fu >> more;
        for (; more > 0 && (*b & 0xc0) == 0x80; more--)
            code = code << 6 | (*b++ & 0x3fu);
        if (more == 0)
            ui_event(ui, &(UiEvent){.kind = UI_EVENT_TEXT, .code = code});
    }
}

uint32_t script_play(Script *script, uint64_t frame, Ui *ui, const char **drops, uint32_t drops_max,
                     float *out_x, float *out_y)
{
    uint32_t dropped = 0;
    if (script->has_lists)
        ui_items_listen(ui, true);
    while (script->next < script->count && script->commands[script->next].frame <= frame) {
        const Command *command = &script->commands[script->next++];
        if (command->kind == COMMAND_TEXT) {
            send_text(ui, command->text);
        } else if (command->kind == COMMAND_DROP) {
            if (dropped < drops_max)
                drops[dropped++] = command->text;
        } else if (command->kind == COMMAND_LIST) {
            script->list_path = command->text;
        } else {
            if (command->event.kind == UI_EVENT_POINTER) {
                script->x = command->event.x;
                script->y = command->event.y;
            }
            ui_event(ui, &command->event);
        }
    }
    *out_x = script->x;
    *out_y = script->y;
    return dropped;
}

void script_write_lists(Script *script, const Ui *ui)
{
    if (script->list_path != NULL)
        script_write_items(ui, script->list_path);
    script->list_path = NULL;
}
