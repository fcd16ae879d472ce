/* Finds the ends of statements in a text, past quotes and comments as DuckDB reads them. Used where
 * the parser answers more statements than were written, never to judge what a statement does. Pure;
 * any thread. */
#include <ctype.h>
#include <string.h>

#include "store/database/statement.h"

/* Past the text in quotes that starts at `at`: doubled quotes stay inside, and so does what follows
 * a backslash where `escapes`. */
static const char *skip_quoted(const char *at, bool escapes)
{
    char quote = *at++;
    while (*at != '\0') {
        if (escapes && *at == '\\' && at[1] != '\0')
            at += 2;
        else if (*at == quote && at[1] == quote)
            at += 2;
        else if (*at++ == quote)
            break;
    }
    return at;
}

/* Past a comment between slashes and stars; they nest. */
static const char *skip_comment(const char *at)
{
    int depth = 0;
    do {
        bool opens = at[0] == '/' && at[1] == '*';
        bool closes = at[0] == '*' && at[1] == '/';
        depth += opens ? 1 : closes ? -1 : 0;
        at += opens || closes ? 2 : 1;
    } while (depth > 0 && *at != '\0');
    return at;
}

/* Past $tag$ ... $tag$; one character when this is no such quote. */
static const char *skip_dollar(const char *at)
{
    size_t length = 1;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' ||
           ((unsigned char)at[length] & 0x80) != 0)
        length++;
    if (at[length] != '$' || isdigit((unsigned char)at[1]))
        return at + 1;
    length++;
    for (const char *end = at + length; *end != '\0'; end++) {
        if (strncmp(end, at, length) == 0)
            return end + length;
    }
    return at + strlen(at);
}

bool statement_is_single(const char *sql)
{
    bool ended = false;
    const char *at = sql;
    while (*at != '\0') {
        if (at[0] == '-' && at[1] == '-') {
            at += strcspn(at, "\n");
            continue;
        }
        if (at[0] == '/' && at[1] == '*') {
            at = skip_comment(at);
            continue;
        }
        if (isspace((unsigned char)*at)) {
            at++;
            continue;
        }
        if (*at == ';') {
            ended = true;
            at++;
            continue;
        }
        if (ended)
            return false;
        if ((at[0] == 'e' || at[0] == 'E') && at[1] == '\'' &&
            (at == sql || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')))
            at = skip_quoted(at + 1, true);
        else if (*at == '\'' || *at == '"')
            at = skip_quoted(at, false);
        else if (*at == '$')
            at = skip_dollar(at);
        else
            at++;
    }
    return true;
}
