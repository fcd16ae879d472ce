/* tests/e2e/ui_bench.c: see ui_bench.h. */
#include "ui_bench.h"

#include <stdio.h>
#include <string.h>

static void count_line(void *user, const LogEntry *entry)
{
    UiBench *bench = user;
    if (entry->item == LOG_WIDGETS_REFUSED) {
        bench->refused++;
        snprintf(bench->last, sizeof bench->last, "%s", entry->text);
    } else if (entry->item == LOG_WIDGETS_WRONG_THREAD) {
        bench->wrong_thread++;
    }
}

bool bench_start(UiBench *bench, float scale)
{
    return bench_start_sized(bench, scale, BENCH_W, BENCH_H);
}

bool bench_start_sized(UiBench *bench, float scale, float width, float height)
{
    memset(bench, 0, sizeof *bench);
    bench->width = width;
    bench->height = height;
    log_stderr_enable(false);
    bench->sink = log_sink_add(count_line, bench);
    bench->renderer =
        renderer_choose(RENDERER_PARAMS(.width_px = BENCH_W, .height_px = BENCH_H), "cpu", NULL);
    if (bench->renderer == NULL)
        return false;
    bench->bridge = bridge_create(bench->renderer);
    bench->ui = ui_create(&(UiParams){.scale = scale});
    if (bench->bridge == NULL || bench->ui == NULL ||
        !ui_textures_create(bench->ui, bench->renderer))
        return false;
    widgets_start(bench->bridge);
    bench->w = widgets_table();
    bench->plot = plot_table();
    return true;
}

bool bench_start_listening(UiBench *bench, float scale, float width, float height)
{
    if (!bench_start_sized(bench, scale, width, height))
        return false;
    ui_items_listen(bench->ui, true);
    return true;
}

void bench_stop(UiBench *bench)
{
    widgets_stop();
    if (bench->ui != NULL)
        ui_textures_destroy(bench->ui, bench->renderer);
    bridge_destroy(&bench->bridge);
    ui_destroy(&bench->ui);
    renderer_destroy(&bench->renderer);
    log_sink_remove(bench->sink);
}

void bench_frame(UiBench *bench, void (*draw)(UiBench *bench, void *user), void *user)
{
    float scale = ui_scale(bench->ui);
    int32_t width_px = (int32_t)(bench->width * scale),
            height_px = (int32_t)(bench->height * scale);
    ui_frame_begin(bench->ui, bench->width, bench->height, 1.0 / 60.0);
    ui_panel_begin(bench->ui, 7, 0, 0, bench->width, bench->height, false);
    widgets_begin(7);
    draw(bench, user);
    widgets_end();
    ui_panel_end(bench->ui);
    ui_frame_end(bench->ui);
    if (bench->unseen) {
        bridge_frame_end(bench->bridge);
        return;
    }
    renderer_frame_begin(bench->renderer, width_px, height_px, 0xff000000u);
    ui_frame_draw(bench->ui, bench->renderer, bench->bridge, width_px, height_px);
    renderer_frame_end(bench->renderer);
    bridge_frame_end(bench->bridge);
}

void bench_move(UiBench *bench, float x, float y)
{
    ui_event(bench->ui, &(UiEvent){.kind = UI_EVENT_POINTER, .x = x, .y = y});
}

void bench_button(UiBench *bench, uint32_t button, bool down)
{
    ui_event(bench->ui, &(UiEvent){.kind = UI_EVENT_BUTTON, .code = button, .down = down});
}

void bench_key(UiBench *bench, uint32_t key, uint32_t modifiers)
{
    ui_event(bench->ui,
             &(UiEvent){.kind = UI_EVENT_KEY, .code = key, .down = true, .modifiers = modifiers});
    ui_event(bench->ui, &(UiEvent){.kind = UI_EVENT_KEY, .code = key});
}

void bench_type(UiBench *bench, const char *ascii)
{
    for (; *ascii != '\0'; ascii++)
        ui_event(bench->ui, &(UiEvent){.kind = UI_EVENT_TEXT, .code = (uint8_t)*ascii});
}

const UiItem *bench_item(const UiBench *bench, const char *kind, const char *label, uint32_t nth)
{
    uint32_t count = 0;
    const UiItem *items = ui_items(bench->ui, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(items[i].kind, kind) == 0 &&
            (label == NULL || strcmp(items[i].label, label) == 0) && nth-- == 0)
            return &items[i];
    }
    return NULL;
}

uint32_t bench_item_count(const UiBench *bench, const char *kind)
{
    uint32_t count = 0;
    while (bench_item(bench, kind, NULL, count) != NULL)
        count++;
    return count;
}

bool bench_has_focus(const UiBench *bench, const char *kind, const char *label)
{
    const UiItem *item = NULL;
    for (uint32_t nth = 0; (item = bench_item(bench, kind, label, nth)) != NULL; nth++) {
        if (item->focused)
            return true;
    }
    return false;
}
