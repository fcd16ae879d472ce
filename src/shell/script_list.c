/* shell/script_list.c: what the person can reach in a frame, written as JSON lines for the script
 * command `list`. Frame thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "shell/script.h"

/* The length of the valid sequence at `text`, 0 when it is none. */
static size_t sequence(const unsigned char *b)
{
    size_t length = b[0] < 0x80                   ? 1
                    : b[0] >= 0xc2 && b[0] < 0xe0 ? 2
                    : (b[0] & 0xf0) == 0xe0       ? 3
                    : b[0] >= 0xf0 && b[0] < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

static void write_string(FILE *file, const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    fputc('"', file);
    while (*b != 0) {
        size_t length = sequence(b);
        if (length == 0) {
            fputs("\\ufffd", file);
            b++;
        } else if (*b < 0x20 || *b == '"' || *b == '\\') {
            fprintf(file, "\\u%04x", *b++);
        } else {
            fwrite(b, 1, length, file);
            b += length;
        }
    }
    fputc('"', file);
}

bool script_write_items(const Ui *ui, const char *path)
{
    uint32_t count = 0;
    const UiItem *items = ui_items(ui, &count);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        log_item(SCRIPT_LIST, path, strerror(errno));
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const UiItem *item = &items[i];
        fputs("{\"kind\": ", file);
        write_string(file, item->kind);
        fputs(", \"label\": ", file);
        write_string(file, item->label);
        fprintf(file,
                ", \"x\": %.6g, \"y\": %.6g, \"w\": %.6g, \"h\": %.6g, \"enabled\": %s, "
                "\"in_sight\": %s, \"focused\": %s}\n",
                (double)item->x, (double)item->y, (double)item->w, (double)item->h,
                item->enabled ? "true" : "false", item->in_sight ? "true" : "false",
                item->focused ? "true" : "false");
    }
    bool good = ferror(file) == 0;
    if (fclose(file) != 0 || !good) {
        log_item(SCRIPT_LIST, path, "it cannot be written");
        return false;
    }
    return true;
}
