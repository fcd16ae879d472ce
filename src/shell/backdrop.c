/* shell/backdrop.c: the slow field behind the home page: a small f32 tensor that goes through the
 * bridge like any applet's, so it is there on every renderer and shows that textures live.
 * Frame thread. */
#include <math.h>
#include <stdlib.h>

#include "core/log.h"
#include "shell/shell_impl.h"

enum { FIELD_W = 96, FIELD_H = 60 };

struct Backdrop {
    float field[FIELD_H][FIELD_W];
    CaliperTextureId texture;
    double shown_sec;
};

Backdrop *backdrop_create(void)
{
    Backdrop *backdrop = calloc(1, sizeof *backdrop);
    if (backdrop == NULL)
        log_item(OUT_OF_MEMORY, "backdrop_create", (unsigned long long)sizeof *backdrop);
    else
        backdrop->shown_sec = -1.0;
    return backdrop;
}

void backdrop_destroy(Backdrop **backdrop, Bridge *bridge)
{
    if (backdrop == NULL || *backdrop == NULL)
        return;
    if (bridge != NULL && (*backdrop)->texture != 0)
        bridge_release_texture(bridge, (*backdrop)->texture);
    free(*backdrop);
    *backdrop = NULL;
}

/* Three slow waves; values stay in 0..1. */
static void move_field(Backdrop *backdrop, double time_sec)
{
    float t = (float)fmod(time_sec, 100000.0);
    for (int y = 0; y < FIELD_H; y++) {
        float v = (float)y / FIELD_H;
        for (int x = 0; x < FIELD_W; x++) {
            float u = (float)x / FIELD_W * 1.6f;
            float a = sinf(2.6f * u + 1.7f * v + 0.11f * t);
            float b = sinf(3.9f * v - 2.1f * u + 0.073f * t + 1.3f);
            float du = u - 0.9f - 0.3f * sinf(0.05f * t), dv = v - 0.45f;
            float c = sinf(7.0f * sqrtf(du * du + dv * dv) - 0.16f * t);
            backdrop->field[y][x] = 0.5f + 0.5f * (0.42f * a + 0.33f * b + 0.25f * c);
        }
    }
}

static CaliperTensor field_tensor(Backdrop *backdrop)
{
    CaliperTensor tensor = {.struct_size = sizeof tensor,
                            .data = backdrop->field,
                            .dtype = CALIPER_DT_F32,
                            .ndim = 2,
                            .shape = {FIELD_H, FIELD_W},
                            .strides = {FIELD_W, 1},
                            .device = CALIPER_DEV_CPU};
    return tensor;
}

void backdrop_draw(Backdrop *backdrop, Shell *shell)
{
    bool light = ui_light(shell->ui);
    ui_region_begin("##backdrop", 0, 0, shell->width, shell->height, UI_REGION_BEHIND);
    ui_rect(0, 0, shell->width, shell->height, 0, ui_theme_color(CALIPER_THEME_BACKGROUND));
    if (backdrop != NULL && shell->at_home) {
        CaliperTensor tensor = field_tensor(backdrop);
        /* Thirty pictures a second are enough for something this slow. */
        if (backdrop->texture == 0 || fabs(shell->info.time_sec - backdrop->shown_sec) > 0.033) {
            move_field(backdrop, shell->info.time_sec);
            backdrop->shown_sec = shell->info.time_sec;
            if (backdrop->texture == 0)
                backdrop->texture = bridge_texture_from_tensor_mapped(
                    shell->bridge, &tensor, CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f, 0);
            else
                (void)bridge_update_texture(shell->bridge, backdrop->texture, &tensor);
        }
        uint32_t background = ui_theme_color(CALIPER_THEME_BACKGROUND);
        if (backdrop->texture != 0)
            ui_picture(backdrop->texture, 0, 0, shell->width, shell->height, true,
                       ui_fade(0xffffffffu, light ? 0.20f : 0.26f));
        ui_gradient(0, 0, shell->width, shell->height, ui_fade(background, 0.0f),
                    ui_fade(background, 0.85f));
    }
    ui_region_end();
}
