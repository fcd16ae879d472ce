/* See run_text.h. Pure. */
#include "shell/runs/run_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void run_text_line(const char *from, char *out, size_t out_bytes)
{
    size_t length = strlen(from), room = out_bytes - 1;
    bool cut = length > room;
    if (cut) {
        length = room > 3 ? room - 3 : 0; /* bytes of the ellipsis */
        while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80)
            length--;
    }
    for (size_t i = 0; i < length; i++)
        out[i] = (unsigned char)from[i] < 0x20 || from[i] == 0x7f ? ' ' : from[i];
    snprintf(out + length, out_bytes - length, "%s", cut && room > 3 ? "\u2026" : "");
}

/* Of one that is cut short the number is said too: another may begin with the same words. */
void run_text_label(const char *experiment, const char *name, uint64_t id, bool twin, char *out,
                    size_t out_bytes)
{
    bool both = experiment[0] != '\0' && name[0] != '\0';
    if (experiment[0] == '\0' && name[0] == '\0') {
        snprintf(out, out_bytes, "run %llu", (unsigned long long)id);
        return;
    }
    char number[24] = "";
    const char *between = both ? " / " : "";
    bool cut = strlen(experiment) + strlen(between) + strlen(name) + sizeof number > out_bytes;
    if (twin || cut)
        snprintf(number, sizeof number, " #%llu", (unsigned long long)id);
    size_t room = out_bytes - strlen(number);
    char whole[512]; /* labels are shorter, and so is what is left of a long experiment */
    snprintf(whole, sizeof whole, "%.200s%s%.250s", experiment, between, name);
    run_text_line(whole, out, room < sizeof whole ? room : sizeof whole);
    memcpy(out + strlen(out), number, strlen(number) + 1);
}

void run_text_duration(int64_t micros, char *out, size_t out_bytes)
{
    long long ms = micros > 0 ? (long long)(micros / 1000) : 0;
    long long s = ms / 1000, min = s / 60, h = min / 60, d = h / 24;
    if (ms < 1000)
        snprintf(out, out_bytes, "%lld ms", ms);
    else if (s < 60)
        snprintf(out, out_bytes, "%lld.%lld s", s, ms % 1000 / 100);
    else if (min < 60)
        snprintf(out, out_bytes, "%lld min %02lld s", min, s % 60);
    else if (h < 24)
        snprintf(out, out_bytes, "%lld h %02lld min", h, min % 60);
    else
        snprintf(out, out_bytes, "%lld d %02lld h", d, h % 24);
}

void run_text_time(int64_t micros, char *out, size_t out_bytes)
{
    time_t seconds = (time_t)(micros / 1000000 - (micros % 1000000 < 0));
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(out, out_bytes, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        snprintf(out, out_bytes, "?");
}

void run_text_size(uint64_t bytes, char *out, size_t out_bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)bytes / 1024.0;
    size_t unit = 0;
    if (bytes < 1024) {
        snprintf(out, out_bytes, "%llu B", (unsigned long long)bytes);
        return;
    }
    /* Never 1024.0 of a unit: what rounds up to it is one of the next. */
    for (; size >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        size /= 1024.0;
    snprintf(out, out_bytes, "%.1f %s", size, units[unit]);
}

uint32_t run_text_color(uint64_t id, const uint32_t *theme)
{
    enum { THEME = 10 };
    uint64_t place = id > 0 ? id - 1 : 0;
    if (place < THEME)
        return theme[place];
    double hue = fmod((double)place * 0.61803398874989485, 1.0) * 6.0;
    uint32_t rgba = 0xff000000u;
    for (int channel = 0; channel < 3; channel++) {
        double k = fmod(hue + (channel == 0 ? 0.0 : channel == 1 ? 4.0 : 2.0), 6.0);
        double share = fabs(k - 3.0) - 1.0;
        share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
        rgba |= (uint32_t)lround(88.0 + 140.0 * share) << (8 * channel);
    }
    return rgba;
}

static bool holds(const char *text, const char *word, size_t length)
{
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (i < length && text[i] != '\0' &&
               tolower((unsigned char)text[i]) == tolower((unsigned char)word[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

bool run_text_matches(const char *text, const char *search)
{
    for (;;) {
        search += strspn(search, " \t");
        size_t length = strcspn(search, " \t");
        if (length == 0)
            return true;
        if (!holds(text, search, length))
            return false;
        search += length;
    }
}
