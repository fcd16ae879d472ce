/* tests/support/kept_fonts_say.c: kept_fonts.h for the command line: a test of its own, which says
 * once in a whole run that kept pictures are not compared here, and for tests in other languages.
 * Usage: kept_fonts CALIPER FOLDER...
 *        kept_fonts --write CALIPER FOLDER
 * Status 0: the fonts are those of the pictures (or the list is written); 77: they are not, with
 * the reason; 1: a list of digests is missing or wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kept_fonts.h"

static bool ask_doctor(const char *program, char *said, size_t said_bytes)
{
    char text[1024];
    snprintf(text, sizeof text, "'%s' doctor 2>/dev/null </dev/null", program);
    FILE *pipe = popen(text, "r");
    if (pipe == NULL)
        return false;
    said[fread(said, 1, said_bytes - 1, pipe)] = '\0';
    return pclose(pipe) == 0;
}

int main(int argc, char **argv)
{
    static char said[65536], reason[1024];
    char why[1024] = "";
    int others = 0, broken = 0;
    bool writes = argc == 4 && strcmp(argv[1], "--write") == 0;
    if (argc < 3) {
        fprintf(stderr, "usage: %s [--write] CALIPER FOLDER...\n", argv[0]);
        return 2;
    }
    if (!ask_doctor(argv[writes ? 2 : 1], said, sizeof said)) {
        printf("%s doctor: failed\n", argv[writes ? 2 : 1]);
        return 1;
    }
    if (writes) {
        bool written = kept_fonts_write(said, argv[3], why, sizeof why);
        printf("%s: %s\n", argv[3], written ? "fonts.sha256 is written" : why);
        return written ? 0 : 1;
    }
    for (int i = 2; i < argc; i++) {
        KeptFonts answer = kept_fonts(said, argv[i], why, sizeof why);
        printf("%s: %s\n", argv[i], answer == KEPT_FONTS_SAME ? "the same fonts" : why);
        broken += answer == KEPT_FONTS_BROKEN;
        if ((answer == KEPT_FONTS_OTHER || answer == KEPT_FONTS_ABSENT) && others++ == 0)
            snprintf(reason, sizeof reason, "%s", why);
    }
    if (broken == 0 && others > 0)
        printf("skipped: pictures are not compared with those kept in %d of %d folders: %s\n",
               others, argc - 2, reason);
    return broken > 0 ? 1 : others > 0 ? 77 : 0;
}
