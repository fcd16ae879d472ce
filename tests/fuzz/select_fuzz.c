/* tests/fuzz/select_fuzz.c: libFuzzer target: what judges a statement, without DuckDB. A tree that
 * is allowed names no scalar function with an effect, whatever the tree is; a PRAGMA that is
 * allowed is one of letters, digits and literals; a text is one statement or several, and one more
 * is several. One thread. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_input.h"
#include "store/database/select_guard.h"
#include "store/database/statement.h"

static void judge_tree(const char *json)
{
    static const char *const effects[] = {"nextval", "currval", "setseed", "write_log", NULL};
    char why[128] = "";
    if (!select_tree_allowed(json, why, sizeof why)) {
        FUZZ_REQUIRE(why[0] != '\0' && strlen(why) < sizeof why);
        return;
    }
    /* In constants names are data: a tree without any is held to the whole rule. */
    FUZZ_REQUIRE(strstr(json, "VALUE_CONSTANT") != NULL ||
                 select_tree_finds(json, effects) == NULL);
    FUZZ_REQUIRE(!select_tree_is_other(json) || strstr(json, "not implemented") != NULL);
}

static void judge_pragma(const char *sql)
{
    if (!select_pragma_allowed(sql))
        return;
    FUZZ_REQUIRE(strpbrk(sql, "\\-=") == NULL || strpbrk(sql, "'\"") != NULL);
    FUZZ_REQUIRE(strstr(sql, "--") == NULL || strpbrk(sql, "'\"") != NULL);
    FUZZ_REQUIRE(statement_is_single(sql));
}

static bool add_length(void *user, const char *word, const char *text)
{
    FUZZ_REQUIRE(strlen(word) < STATEMENT_WORD_BYTES);
    *(size_t *)user += strlen(text);
    return true;
}

/* Without quotes and comments a text is one statement when nothing follows its first semicolon. */
static void judge_ends(const char *sql)
{
    size_t texts_bytes = 0;
    FUZZ_REQUIRE(statement_each_text(sql, add_length, &texts_bytes));
    FUZZ_REQUIRE(texts_bytes <= strlen(sql));
    bool single = statement_is_single(sql);
    if (strpbrk(sql, "'\"$/-") != NULL)
        return;
    const char *end = strchr(sql, ';');
    /* An empty statement before one is not counted as one by itself, but ends the text. */
    bool wanted = end == NULL || end[strspn(end, "; \t\n\v\f\r")] == '\0';
    FUZZ_REQUIRE(single == wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *text = malloc(size);
    if (text == NULL)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 3 == 0)
        judge_tree(text);
    else if (data[0] % 3 == 1)
        judge_pragma(text);
    else
        judge_ends(text);
    free(text);
    return 0;
}
