/* Expected pixels of a pass from the published tables and double arithmetic. */
#include "gfx_expected.h"

#include <stdio.h>
#include <string.h>

static uint32_t tables[3][256];

static bool load_from(const char *folder)
{
    static const char *const names[3] = {"viridis", "magma", "rdbu"};
    for (int map = 0; map < 3; map++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.txt", folder, names[map]);
        FILE *file = fopen(path, "r");
        if (file == NULL)
            return false;
        int rows = 0;
        unsigned r;
        unsigned g;
        unsigned b;
        while (rows < 256 && fscanf(file, "%u %u %u", &r, &g, &b) == 3)
            tables[map][rows++] = r | g << 8 | b << 16 | 0xff000000u;
        fclose(file);
        if (rows != 256)
            return false;
    }
    return true;
}

/* Where it was built, or from the root of a copy of the tree on another machine. */
bool expected_load_tables(void)
{
    return load_from(GFX_LUT_DIR) || load_from("src/kernels/lut");
}

RendererPass expected_colormap_pass(int32_t colormap, float vmin, float vmax)
{
    float inv = 0.0f;
    if (vmin != vmax) {
        float range = (float)((double)vmax - (double)vmin);
        inv = (float)(1.0 / (double)range);
    }
    return (RendererPass){
        .kind = RENDERER_PASS_COLORMAP, .colormap = colormap, .vmin = vmin, .inv = inv};
}

int expected_index(float value, float vmin, float inv)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u || inv == 0.0f)
        return 0;
    float difference = (float)((double)value - (double)vmin);
    float t = (float)((double)difference * (double)inv);
    if (!(t > 0.0f))
        return 0;
    if (t >= 1.0f)
        return 255;
    float scaled = (float)((double)t * 255.0);
    float shifted = (float)((double)scaled + 0.5);
    return (int)shifted;
}

void expected_pixels(const RendererPass *pass, const void *src, size_t count, uint32_t *out_rgba)
{
    const uint8_t *bytes = src;
    for (size_t i = 0; i < count; i++) {
        if (pass->kind == RENDERER_PASS_COLORMAP) {
            float value;
            memcpy(&value, bytes + i * sizeof value, sizeof value);
            out_rgba[i] = tables[pass->colormap][expected_index(value, pass->vmin, pass->inv)];
            continue;
        }
        const uint8_t *p = bytes + i * pass->channels;
        uint32_t r = p[0];
        uint32_t g = pass->channels >= 3 ? p[1] : r;
        uint32_t b = pass->channels >= 3 ? p[2] : r;
        uint32_t a = 255;
        if (pass->channels == 2)
            a = p[1];
        else if (pass->channels == 4)
            a = p[3];
        out_rgba[i] = r | g << 8 | b << 16 | a << 24;
    }
}
