/* shell/console.c: the log as a drawer: filters by level, applet and text. The sink is called from
 * any thread and only copies an entry into a ring; drawing is the frame thread's. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/log.h"
#include "shell/shell_impl.h"

enum { ENTRIES_MAX = 2048, TEXT_BYTES = 360, NAME_BYTES = 64, APPLETS_MAX = 32 };

typedef struct Entry {
    double wall_time_sec;
    LogLevel level;
    char module[24];
    char applet[NAME_BYTES];
    char text[TEXT_BYTES];
} Entry;

struct Console {
    int sink;
    pthread_mutex_t lock; /* over entries and total */
    Entry *entries;       /* a ring */
    uint64_t total;       /* ever written */
    uint32_t alerts;

    /* Frame thread only. */
    Entry *shown; /* a copy of those that pass the filter, oldest first */
    uint32_t shown_count;
    uint64_t shown_total;
    int32_t level, shown_level;
    int32_t applet, shown_applet;
    char filter[128], shown_filter[128];
    char applets[APPLETS_MAX][NAME_BYTES]; /* 0: all */
    const char *applet_items[APPLETS_MAX];
    int32_t applet_count;
    bool follow;
};

static void console_sink(void *user, const LogEntry *entry)
{
    Console *console = user;
    pthread_mutex_lock(&console->lock);
    Entry *to = &console->entries[console->total % ENTRIES_MAX];
    to->wall_time_sec = entry->wall_time_sec;
    to->level = entry->level;
    snprintf(to->module, sizeof to->module, "%s", entry->module);
    snprintf(to->applet, sizeof to->applet, "%s", entry->applet);
    snprintf(to->text, sizeof to->text, "%s", entry->text);
    console->total++;
    if (entry->level >= LOG_LEVEL_WARN)
        console->alerts++;
    pthread_mutex_unlock(&console->lock);
}

Console *console_create(void)
{
    Console *console = calloc(1, sizeof *console);
    if (console == NULL)
        goto failed;
    console->entries = calloc(ENTRIES_MAX, sizeof(Entry));
    console->shown = calloc(ENTRIES_MAX, sizeof(Entry));
    if (console->entries == NULL || console->shown == NULL)
        goto failed;
    pthread_mutex_init(&console->lock, NULL);
    console->level = LOG_LEVEL_INFO;
    console->follow = true;
    snprintf(console->applets[0], NAME_BYTES, "everything");
    snprintf(console->applets[1], NAME_BYTES, "Caliper itself");
    console->applet_count = 2;
    for (int32_t i = 0; i < APPLETS_MAX; i++)
        console->applet_items[i] = console->applets[i];
    console->sink = log_sink_add(console_sink, console);
    return console;
failed:
    log_item(OUT_OF_MEMORY, "console_create",
             (unsigned long long)(2 * ENTRIES_MAX * sizeof(Entry)));
    if (console != NULL) {
        free(console->entries);
        free(console->shown);
    }
    free(console);
    return NULL;
}

void console_destroy(Console **console)
{
    if (console == NULL || *console == NULL)
        return;
    log_sink_remove((*console)->sink);
    pthread_mutex_destroy(&(*console)->lock);
    free((*console)->entries);
    free((*console)->shown);
    free(*console);
    *console = NULL;
}

uint32_t console_alerts(const Console *console)
{
    Console *own = (Console *)console;
    uint32_t alerts = 0;
    if (own == NULL)
        return 0;
    pthread_mutex_lock(&own->lock);
    alerts = own->alerts;
    pthread_mutex_unlock(&own->lock);
    return alerts;
}

static void note_applet(Console *console, const char *id)
{
    if (id[0] == '\0' || console->applet_count == APPLETS_MAX)
        return;
    for (int32_t i = 2; i < console->applet_count; i++) {
        if (strcmp(console->applets[i], id) == 0)
            return;
    }
    snprintf(console->applets[console->applet_count++], NAME_BYTES, "%s", id);
}

static bool passes(const Console *console, const Entry *entry)
{
    if ((int32_t)entry->level < console->level)
        return false;
    if (console->applet == 1 && entry->applet[0] != '\0')
        return false;
    if (console->applet > 1 && strcmp(entry->applet, console->applets[console->applet]) != 0)
        return false;
    return console->filter[0] == '\0' || strcasestr(entry->text, console->filter) != NULL ||
           strcasestr(entry->module, console->filter) != NULL;
}

/* Copies what passes, only when something came in or the filter changed. */
static bool refresh(Console *console)
{
    pthread_mutex_lock(&console->lock);
    bool same = console->total == console->shown_total && console->level == console->shown_level &&
                console->applet == console->shown_applet &&
                strcmp(console->filter, console->shown_filter) == 0;
    console->alerts = 0;
    if (!same) {
        uint64_t first = console->total > ENTRIES_MAX ? console->total - ENTRIES_MAX : 0;
        console->shown_count = 0;
        for (uint64_t i = first; i < console->total; i++) {
            const Entry *entry = &console->entries[i % ENTRIES_MAX];
            note_applet(console, entry->applet);
            if (passes(console, entry))
                console->shown[console->shown_count++] = *entry;
        }
        console->shown_total = console->total;
        console->shown_level = console->level;
        console->shown_applet = console->applet;
        memcpy(console->shown_filter, console->filter, sizeof console->filter);
    }
    pthread_mutex_unlock(&console->lock);
    return !same;
}

static uint32_t level_color(LogLevel level)
{
    return ui_theme_color(level == LOG_LEVEL_ERROR  ? CALIPER_THEME_BAD
                          : level == LOG_LEVEL_WARN ? CALIPER_THEME_WARN
                          : level == LOG_LEVEL_INFO ? CALIPER_THEME_TEXT
                                                    : CALIPER_THEME_TEXT_DIM);
}

static void draw_filters(Console *console)
{
    static const char *const levels[] = {"all levels", "info and up", "warnings and up", "errors"};
    const CaliperWidgetsV1 *ui = widgets_table();
    ui->next_width(160);
    ui->combo("##level", &console->level, levels, 4, 0);
    ui->same_line(0, 0);
    ui->next_width(200);
    ui->combo("##applet", &console->applet, console->applet_items, console->applet_count, 0);
    ui->same_line(0, 0);
    ui->next_width(240);
    ui->input_text("##filter", "filter by text", console->filter, sizeof console->filter, 0, 0);
}

static void draw_row(const Entry *entry)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    char text[48];
    time_t seconds = (time_t)entry->wall_time_sec;
    struct tm local;
    localtime_r(&seconds, &local);
    strftime(text, sizeof text, "%H:%M:%S", &local);
    ui->table_row(0, 0);
    ui->table_cell(-1, 0);
    ui->text_ex(text, -1, 0, CALIPER_TEXT_DIM | CALIPER_TEXT_MONO | CALIPER_TEXT_SMALL);
    ui->table_cell(-1, 0);
    ui->text_ex(log_level_name(entry->level), -1, level_color(entry->level), CALIPER_TEXT_SMALL);
    ui->table_cell(-1, 0);
    ui->text_ex(entry->applet[0] != '\0' ? entry->applet : entry->module, -1, 0,
                CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
    ui->table_cell(-1, 0);
    ui->text_ex(entry->text, (int64_t)strcspn(entry->text, "\n"), level_color(entry->level),
                CALIPER_TEXT_SMALL); /* rows are one line high; the tooltip has the others */
    ui->tooltip(entry->text);
}

void console_draw(Console *console, Rect area)
{
    const CaliperWidgetsV1 *ui = widgets_table();
    int64_t first = 0, end = 0;
    if (console == NULL)
        return;
    bool fresh = refresh(console);
    ui_region_begin("##consoleedge", area.x, area.y, area.w, 1, 0);
    ui_rect(area.x, area.y, area.w, 1, 0, ui_theme_color(CALIPER_THEME_BORDER));
    ui_region_end();
    ui_region_begin("##consolepage", area.x, area.y + 1, area.w, area.h - 1,
                    UI_REGION_PADDED | UI_REGION_FILLED);
    widgets_begin(0);
    draw_filters(console);
    if (ui->table("entries", 4, 0, 0, CALIPER_TABLE_SCROLL | CALIPER_TABLE_STRIPES)) {
        float y = 0, max_y = 0;
        ui->table_column("time", 64, 0);
        ui->table_column("level", 48, 0);
        ui->table_column("from", 190, 0);
        ui->table_column("text", 0, 0);
        ui->scroll(&y, &max_y);
        if (!fresh)
            console->follow = y >= max_y - 1.0f;
        while (ui->rows(console->shown_count, 0, &first, &end)) {
            for (int64_t i = first; i < end; i++)
                draw_row(&console->shown[i]);
        }
        if (console->follow)
            ui->set_scroll(1e7f);
    }
    ui->end(CALIPER_SCOPE_TABLE);
    widgets_end();
    ui_region_end();
}
