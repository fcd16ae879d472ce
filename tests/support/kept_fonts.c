/* tests/support/kept_fonts.c: see kept_fonts.h. */
#include "kept_fonts.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

enum { FONTS_MAX = 16, DIGITS = 64, DIGITS_SHOWN = 12, PATH_BYTES = 512 };

static const char advice[] = "to compare, set CALIPER_FONT_DIR to a folder with the files of "
                             "fonts.sha256 (CONTRIBUTING.md, Kept pictures)";

typedef struct Font {
    char file[64];
    char path[PATH_BYTES]; /* empty: not found */
    char digest[DIGITS + 1];
} Font;

typedef struct Fonts {
    Font all[FONTS_MAX];
    size_t count;
} Fonts;

static bool digest_file(const char *path, char digest[DIGITS + 1])
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    static char buffer[1 << 16];
    unsigned int size = 0;
    size_t got = 0;
    FILE *file = fopen(path, "rb");
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool good = file != NULL && hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1;
    while (good && (got = fread(buffer, 1, sizeof buffer, file)) > 0)
        good = EVP_DigestUpdate(hash, buffer, got) == 1;
    good =
        good && !ferror(file) && EVP_DigestFinal_ex(hash, bytes, &size) == 1 && size == DIGITS / 2;
    for (unsigned int i = 0; good && i < size; i++)
        snprintf(digest + (size_t)i * 2, 3, "%02x", bytes[i]);
    EVP_MD_CTX_free(hash);
    if (file != NULL)
        fclose(file);
    return good;
}

/* One line of doctor's section: "  yes  Inter              /folder/Inter-Regular.otf", or
 * "  no   Inter              Inter-Regular.otf is not found; ...". */
static bool take_line(const char *line, size_t length, Font *font)
{
    enum { WORDS_AT = 26 };
    char words[PATH_BYTES];
    memset(font, 0, sizeof *font);
    if (length <= WORDS_AT || length - WORDS_AT >= sizeof words)
        return false;
    snprintf(words, sizeof words, "%.*s", (int)(length - WORDS_AT), line + WORDS_AT);
    if (strncmp(line, "  yes  ", 7) == 0) {
        const char *slash = strrchr(words, '/');
        snprintf(font->path, sizeof font->path, "%s", words);
        snprintf(font->file, sizeof font->file, "%.63s", slash != NULL ? slash + 1 : words);
        return digest_file(font->path, font->digest);
    }
    return strncmp(line, "  no   ", 7) == 0 && sscanf(words, "%63s is not found", font->file) == 1;
}

static bool fonts_here(const char *doctor, Fonts *out, char *why, size_t why_bytes)
{
    const char *line = strstr(doctor, "\nfonts\n");
    out->count = 0;
    for (line = line != NULL ? line + 7 : ""; *line != '\0' && *line != '\n';) {
        size_t length = strcspn(line, "\n");
        if (out->count == FONTS_MAX || !take_line(line, length, &out->all[out->count])) {
            snprintf(why, why_bytes, "doctor's line on a font cannot be used: \"%.*s\"",
                     (int)length, line);
            return false;
        }
        out->count++;
        line += length + (line[length] == '\n');
    }
    if (out->count == 0)
        snprintf(why, why_bytes, "doctor names no fonts");
    return out->count > 0;
}

static bool fonts_kept(const char *folder, Fonts *out, char *why, size_t why_bytes)
{
    char path[PATH_BYTES], line[256];
    snprintf(path, sizeof path, "%s/fonts.sha256", folder);
    FILE *file = fopen(path, "r");
    bool good = file != NULL;
    for (out->count = 0; good && fgets(line, sizeof line, file) != NULL; out->count++) {
        Font *font = &out->all[out->count];
        good = out->count < FONTS_MAX &&
               sscanf(line, "%64[0-9a-f]  %63[^\n]", font->digest, font->file) == 2 &&
               strlen(font->digest) == DIGITS;
    }
    if (file != NULL)
        fclose(file);
    if (!good || out->count == 0)
        snprintf(why, why_bytes, "%s is not a list of digests and files", path);
    return good && out->count > 0;
}

static const Font *find(const Fonts *fonts, const char *file)
{
    for (size_t i = 0; i < fonts->count; i++) {
        if (strcmp(fonts->all[i].file, file) == 0)
            return &fonts->all[i];
    }
    return NULL;
}

/* Every font of one list is in the other, whatever the digests. */
static bool same_files(const Fonts *here, const Fonts *kept, char *why, size_t why_bytes)
{
    for (size_t i = 0; i < here->count + kept->count; i++) {
        bool first = i < here->count;
        const char *file = first ? here->all[i].file : kept->all[i - here->count].file;
        if (find(first ? kept : here, file) == NULL) {
            snprintf(why, why_bytes, "%s is %s", file,
                     first ? "not in fonts.sha256: draw the pictures anew"
                           : "in fonts.sha256 and no font of this program");
            return false;
        }
    }
    return true;
}

KeptFonts kept_fonts(const char *doctor, const char *folder, char *why, size_t why_bytes)
{
    static Fonts here, kept;
    KeptFonts answer = KEPT_FONTS_SAME;
    if (!fonts_here(doctor, &here, why, why_bytes) || !fonts_kept(folder, &kept, why, why_bytes) ||
        !same_files(&here, &kept, why, why_bytes))
        return KEPT_FONTS_BROKEN;
    for (size_t i = 0; i < here.count && answer != KEPT_FONTS_ABSENT; i++) {
        const Font *font = &here.all[i], *wanted = find(&kept, font->file);
        if (font->path[0] == '\0') {
            answer = KEPT_FONTS_ABSENT;
            snprintf(why, why_bytes,
                     "the font %s is not found here, and they were drawn with the one of SHA-256 "
                     "%.*s...; %s",
                     font->file, DIGITS_SHOWN, wanted->digest, advice);
        } else if (answer == KEPT_FONTS_SAME && strcmp(font->digest, wanted->digest) != 0) {
            answer = KEPT_FONTS_OTHER;
            snprintf(why, why_bytes,
                     "the font %s here has the SHA-256 %.*s..., and they were drawn with %.*s...; "
                     "%s",
                     font->path, DIGITS_SHOWN, font->digest, DIGITS_SHOWN, wanted->digest, advice);
        }
    }
    return answer;
}

bool kept_fonts_write(const char *doctor, const char *folder, char *why, size_t why_bytes)
{
    static Fonts here;
    char path[PATH_BYTES];
    if (!fonts_here(doctor, &here, why, why_bytes))
        return false;
    for (size_t i = 0; i < here.count; i++) {
        if (here.all[i].path[0] == '\0') {
            snprintf(why, why_bytes, "%s is not found; pictures are kept with all fonts only",
                     here.all[i].file);
            return false;
        }
    }
    snprintf(path, sizeof path, "%s/fonts.sha256", folder);
    FILE *file = fopen(path, "w");
    bool good = file != NULL;
    for (size_t i = 0; good && i < here.count; i++)
        good = fprintf(file, "%s  %s\n", here.all[i].digest, here.all[i].file) > 0;
    if (file == NULL || fclose(file) != 0 || !good) {
        snprintf(why, why_bytes, "%s cannot be written", path);
        return false;
    }
    return true;
}
