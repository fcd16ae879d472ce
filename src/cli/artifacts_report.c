/* Progress, interruption, sizes and JSON strings for `caliper artifacts`. First thread. */
#include "cli/artifacts_report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/interrupt.h"
#include "formats/utf8.h"

static const char *work;
static double began_sec, shown_sec;
static bool is_terminal, is_shown;

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void artifacts_report_begin(const char *what)
{
    work = what;
    is_shown = false;
    is_terminal = isatty(STDERR_FILENO) == 1;
    began_sec = shown_sec = now_sec();
    interrupt_take();
}

bool artifacts_report_interrupted(void)
{
    return interrupt_signal() != 0;
}

void artifacts_report_end(void)
{
    if (is_shown && is_terminal)
        fputs("\r\033[K", stderr);
    is_shown = false;
    if (interrupt_signal() == 0)
        return;
    fprintf(stderr, "%s: interrupted\n", work);
    interrupt_end();
}

void artifacts_report_progress(uint64_t done_bytes, uint64_t total_bytes)
{
    char size[ARTIFACTS_SIZE_TEXT_BYTES];
    double now = now_sec();
    if (now - began_sec < 1.0 || now - shown_sec < (is_terminal ? 0.2 : 10.0))
        return;
    shown_sec = now;
    is_shown = true;
    int percent = total_bytes > 0 ? (int)((double)done_bytes * 100.0 / (double)total_bytes) : 0;
    fprintf(stderr, is_terminal ? "\r\033[K%s: %d %% of %s" : "%s: %d %% of %s\n", work,
            percent < 100 ? percent : 100, artifacts_size_text(total_bytes, size));
}

const char *artifacts_size_text(uint64_t bytes, char out[ARTIFACTS_SIZE_TEXT_BYTES])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes / 1000.0;
    size_t unit = 0;
    while (value >= 999.95 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1000.0;
        unit++;
    }
    if (bytes < 1000)
        snprintf(out, ARTIFACTS_SIZE_TEXT_BYTES, "%llu B", (unsigned long long)bytes);
    else
        snprintf(out, ARTIFACTS_SIZE_TEXT_BYTES, "%.1f %s", value, units[unit]);
    return out;
}

void artifacts_print_json_string(const char *text)
{
    size_t left = strlen(text);
    putchar('"');
    while (left > 0) {
        unsigned char c = (unsigned char)*text;
        size_t length = utf8_length((const unsigned char *)text, left);
        if (length == 0)
            fputs("\xef\xbf\xbd", stdout);
        else if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            printf("\\u%04x", c);
        else
            fwrite(text, 1, length, stdout);
        text += length > 0 ? length : 1;
        left -= length > 0 ? length : 1;
    }
    putchar('"');
}
