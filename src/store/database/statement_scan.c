/* Finds the ends of statements in a text, past quotes and comments as DuckDB reads them, and the
 * texts in quotes. Used where the parser answers more statements than were written, and for the
 * files that a statement names; never to judge what a statement does. Pure; any thread. */
#include <ctype.h>
#include <stdlib.h>
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

/* What is between quotes, as the engine reads it, malloc'ed. A doubled quote is one; after E what
 * follows a backslash stands for itself, which is as much as a path needs. */
static char *text_between(const char *begin, const char *end, bool escapes)
{
    char quote = *begin;
    size_t opening = 1;
    if (quote == '$')
        opening = (size_t)(strchr(begin + 1, '$') - begin) + 1;
    bool is_ended = (size_t)(end - begin) >= 2 * opening;
    const char *last = is_ended ? end - opening : end;
    char *text = malloc((size_t)(end - begin) + 1);
    char *to = text;
    for (const char *at = begin + opening; to != NULL && at < last; at++) {
        if ((escapes && *at == '\\' && at + 1 < last) ||
            (quote != '$' && *at == quote && at + 1 < last))
            at++;
        *to++ = *at;
    }
    if (to != NULL)
        *to = '\0';
    return text;
}

/* Past blanks, in which a line ends, to the quote that continues a text; NULL: none does. */
static const char *continued(const char *at)
{
    bool line_ends = false;
    for (; isspace((unsigned char)*at); at++)
        line_ends = line_ends || *at == '\n' || *at == '\r';
    return line_ends && *at == '\'' ? at : NULL;
}

/* The text that begins at *at, with what continues it; NULL without memory. */
static char *read_text(const char **at, bool escapes)
{
    const char *end = **at == '$' ? skip_dollar(*at) : skip_quoted(*at, escapes);
    char *text = text_between(*at, end, escapes);
    const char *more;
    while (text != NULL && **at == '\'' && (more = continued(end)) != NULL) {
        end = skip_quoted(more, escapes);
        char *part = text_between(more, end, escapes);
        size_t length = strlen(text);
        char *longer = part != NULL ? realloc(text, length + strlen(part) + 1) : NULL;
        if (longer == NULL)
            free(text);
        else
            strcpy(longer + length, part);
        free(part);
        text = longer;
    }
    *at = end;
    return text;
}

bool statement_each_text(const char *sql, StatementTextVisit visit, void *user)
{
    char word[STATEMENT_WORD_BYTES] = "";
    const char *at = sql;
    while (*at != '\0') {
        if (at[0] == '-' && at[1] == '-') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            at = skip_comment(at);
        } else if (*at == '\'' || *at == '"' || (*at == '$' && skip_dollar(at) > at + 1) ||
                   ((*at == 'e' || *at == 'E') && at[1] == '\'')) {
            bool escapes = *at == 'e' || *at == 'E';
            at += escapes ? 1 : 0;
            char *text = read_text(&at, escapes);
            bool goes_on = text != NULL && visit(user, word, text);
            free(text);
            if (!goes_on)
                return false;
            word[0] = '\0';
        } else if (isalpha((unsigned char)*at) || *at == '_') {
            size_t length = 0;
            for (; isalnum((unsigned char)*at) || *at == '_'; at++)
                if (length + 1 < sizeof word)
                    word[length++] = (char)toupper((unsigned char)*at);
            word[length] = '\0';
        } else {
            if (!isspace((unsigned char)*at))
                word[0] = '\0';
            at++;
        }
    }
    return true;
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
