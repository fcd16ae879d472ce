/* tensorscope/panel_fit.c: a text shortened to the room there is. Frame thread. */
#include <string.h>

#include "app.h"

void panel_fit_text(const CaliperWidgetsV1 *ui, char *text, float width, uint32_t flags)
{
    static const char dots[] = "\xe2\x80\xa6";
    float wide = 0.0f, unused;
    ui->text_size(text, -1, 0.0f, flags, &wide, &unused);
    while (wide > width && strlen(text) > 8) {
        size_t length = strlen(text), skip = sizeof(dots); /* the dots and a letter more */
        /* Most of what is too much at once: all letters are about as wide. */
        size_t much =
            (size_t)((float)length * (1.0f - (width > 0.0f ? width / wide : 0.0f)) * 0.9f);
        skip = much > skip && much + 4 < length ? much : skip;
        while (skip < length && ((unsigned char)text[skip] & 0xc0) == 0x80) {
            skip++; /* never within a letter */
        }
        memmove(text + sizeof(dots) - 1, text + skip, length - skip + 1);
        memcpy(text, dots, sizeof(dots) - 1);
        ui->text_size(text, -1, 0.0f, flags, &wide, &unused);
    }
}
