/* services/ui_fonts.cpp: the font atlas: Inter and JetBrains Mono from the system, rasterised at
 * the physical size so that text is sharp at fractional scales; Dear ImGui's embedded font where
 * they are missing. Frame thread. */
#include "services/ui_internal.h"

#include <imgui_freetype.h>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

enum FontFile { FONT_FILE_TEXT, FONT_FILE_STRONG, FONT_FILE_DISPLAY, FONT_FILE_MONO };

static const struct {
    const char *name, *file;
} files[] = {
    {"Inter", "Inter-Regular.otf"},
    {"Inter SemiBold", "Inter-SemiBold.otf"},
    {"Inter Display", "InterDisplay-SemiBold.otf"},
    {"JetBrains Mono", "JetBrainsMono-Regular.ttf"},
};

struct FontSpec {
    UiFont font;
    FontFile file;
    float size; /* of a line (ascent and descent), logical units */
    bool full;  /* all the ranges, else Latin only */
};

static const FontSpec specs[UI_FONT_COUNT] = {
    {UI_FONT_BODY, FONT_FILE_TEXT, 18.0f, true},
    {UI_FONT_STRONG, FONT_FILE_STRONG, 18.0f, true},
    {UI_FONT_SMALL, FONT_FILE_TEXT, 15.5f, true},
    {UI_FONT_HEADING, FONT_FILE_STRONG, 22.0f, false},
    {UI_FONT_TITLE, FONT_FILE_DISPLAY, 42.0f, false},
    {UI_FONT_MONO, FONT_FILE_MONO, 18.0f, true},
    {UI_FONT_MONO_SMALL, FONT_FILE_MONO, 15.5f, true},
};

/* Where distributions put them; CALIPER_FONT_DIR, when set, is the only place looked at. */
static const char *const folders[] = {
    "/usr/share/fonts/opentype/inter", "/usr/share/fonts/truetype/inter",
    "/usr/share/fonts/inter",          "/usr/share/fonts/truetype/jetbrains-mono",
    "/usr/share/fonts/jetbrains-mono",
};

static const ImWchar ranges_full[] = {
    0x0020, 0x017f,                                                 /* Latin */
    0x0370, 0x03ff,                                                 /* Greek */
    0x0400, 0x045f,                                                 /* Cyrillic */
    0x2010, 0x2027, 0x2030, 0x203a,                                 /* dashes, quotes, ellipsis */
    0x2070, 0x2094,                                                 /* superscripts, subscripts */
    0x20ac, 0x20ac, 0x2190, 0x2199, 0x21a9, 0x21ba, 0x21bb, 0x21bb, /* arrows */
    0x2200, 0x2265,                                                 /* mathematics */
    0x2318, 0x2318, 0x23ce, 0x23ce, 0x25a0, 0x25cf,                 /* shapes */
    0x2713, 0x2717, 0xfffd, 0xfffd, 0,
};
static const ImWchar ranges_latin[] = {0x0020, 0x017f, 0x2010, 0x2027, 0xfffd, 0xfffd, 0};

static bool find_file(FontFile which, char *path, size_t path_bytes)
{
    const char *const file = files[which].file;
    const char *const only = std::getenv("CALIPER_FONT_DIR");
    if (only != nullptr && only[0] != '\0') {
        std::snprintf(path, path_bytes, "%s/%s", only, file);
        return access(path, R_OK) == 0;
    }
    for (const char *const folder : folders) {
        std::snprintf(path, path_bytes, "%s/%s", folder, file);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

bool ui_font_file(uint32_t index, UiFontFile *out)
{
    if (index >= sizeof files / sizeof files[0])
        return false;
    out->name = files[index].name;
    out->file = files[index].file;
    out->found = find_file(static_cast<FontFile>(index), out->path, sizeof out->path);
    return true;
}

/* A glyph without ink or width: written between two `#` that are to be seen (widgets' next_id). */
static void add_word_joiner(ImFontAtlas *atlas, ImFont *font)
{
    atlas->AddCustomRectFontGlyph(font, 0x2060, 1, 1, 0.0f);
}

static ImFont *add_system_font(Ui *ui, const FontSpec *spec)
{
    char path[512];
    if (!find_file(spec->file, path, sizeof path))
        return nullptr;
    ImFontConfig config;
    config.PixelSnapH = true;
    config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
    std::snprintf(config.Name, sizeof config.Name, "%.38s", files[spec->file].file);
    return ui->atlas->AddFontFromFileTTF(path, spec->size * ui->scale, &config,
                                         spec->full ? ranges_full : ranges_latin);
}

static ImFont *add_embedded_font(Ui *ui, const FontSpec *spec)
{
    ImFontConfig config;
    config.PixelSnapH = true;
    config.SizePixels = static_cast<float>(static_cast<int>(spec->size * 0.8f * ui->scale));
    return ui->atlas->AddFontDefault(&config);
}

/* What Inter has no glyph for, first of all the mark of what cannot be shown. */
static void add_missing_glyphs(Ui *ui, const FontSpec *spec)
{
    static const ImWchar ranges[] = {0x2200, 0x22ff, 0xfffd, 0xfffd, 0};
    char path[512];
    if (spec->font == UI_FONT_MONO || spec->font == UI_FONT_MONO_SMALL ||
        !find_file(FONT_FILE_MONO, path, sizeof path))
        return;
    ImFontConfig config;
    config.MergeMode = true;
    config.PixelSnapH = true;
    config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
    ui->atlas->AddFontFromFileTTF(path, spec->size * ui->scale * 0.92f, &config, ranges);
}

static bool build(Ui *ui, bool from_system)
{
    uint32_t missing = 0;
    ui->atlas->Clear();
    ui->atlas->Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight | ImFontAtlasFlags_NoBakedLines;
    ui->atlas->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    for (const FontSpec &spec : specs) {
        ImFont *font = from_system ? add_system_font(ui, &spec) : nullptr;
        if (font == nullptr) {
            missing++;
            font = add_embedded_font(ui, &spec);
        } else {
            add_missing_glyphs(ui, &spec);
        }
        ui->fonts[spec.font] = font;
        add_word_joiner(ui->atlas, font);
    }
    ui_icons_reserve(ui);
    if (from_system && missing > 0)
        log_item(UI_FONTS_MISSING, missing, static_cast<unsigned>(UI_FONT_COUNT));
    if (!ui->atlas->Build())
        return false;
    ui_icons_draw(ui);
    return true;
}

void ui_fonts_build(Ui *ui)
{
    /* A font file that cannot be read as one fails the whole atlas. */
    if (!build(ui, true)) {
        log_item(UI_FONTS_BROKEN, "the system's fonts");
        build(ui, false);
    }
    ui->atlas->SetTexID(reinterpret_cast<ImTextureID>(static_cast<uintptr_t>(UI_FONT_TEXTURE)));
}

bool ui_font_has(const Ui *ui, UiFont font, uint32_t code)
{
    return code <= IM_UNICODE_CODEPOINT_MAX &&
           ui->fonts[font]->FindGlyphNoFallback(static_cast<ImWchar>(code)) != nullptr;
}
