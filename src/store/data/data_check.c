/* Statements that would outlive their call, judged by DuckDB's parser. Any thread. */
#include "store/data/data_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "store/database/select_guard.h"
#include "store/database/statement.h"

/* They change the logging of the whole instance; with a folder that cannot be made, every later
 * statement of everybody fails. */
static const char *const lasting_functions[] = {"enable_logging", "disable_logging",
                                                "truncate_duckdb_logs", NULL};

/* Past blanks, semicolons and comments, which nest in DuckDB as in SQL. */
static const char *skip_to_word(const char *at)
{
    for (;;) {
        if (*at == ' ' || (*at >= '\t' && *at <= '\r') || *at == ';') {
            at++;
        } else if (at[0] == '-' && at[1] == '-') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            int depth = 0;
            do {
                bool opens = at[0] == '/' && at[1] == '*';
                bool closes = at[0] == '*' && at[1] == '/';
                depth += opens ? 1 : closes ? -1 : 0;
                at += opens || closes ? 2 : 1;
            } while (depth > 0 && *at != '\0');
        } else {
            return at;
        }
    }
}

/* What follows the word CALL in a statement of that type: a table function's call. */
static const char *after_call(const char *sql)
{
    const char *word = skip_to_word(sql);
    return strncasecmp(word, "call", 4) == 0 ? word + 4 : sql;
}

/* A lasting function in a SELECT, or in a CALL, which is SELECT * FROM what it calls. */
static const char *find_lasting(DatabaseSession *session, const char *sql, DuckdbStatement kind)
{
    static const char select_from[] = "SELECT * FROM ";
    const char *call = kind == DUCKDB_STATEMENT_CALL ? after_call(sql) : NULL;
    char *text = NULL;
    if (call != NULL) {
        size_t size_bytes = sizeof select_from + strlen(call);
        text = malloc(size_bytes);
        if (text != NULL)
            snprintf(text, size_bytes, "%s%s", select_from, call);
    }
    char *tree = select_guard_tree(session, text != NULL ? text : sql, NULL);
    const char *found = tree != NULL ? select_tree_finds(tree, lasting_functions) : NULL;
    free(tree);
    free(text);
    return found;
}

static bool refuse_network(const char *what, DatabaseError *error)
{
    database_error_set(error, 0,
                       "given %s, which would fetch code from the network; wanted LOAD of an "
                       "extension that is there",
                       what);
    return false;
}

bool data_check_statement(DatabaseSession *session, const char *sql, DuckdbStatement kind,
                          DatabaseError *error)
{
    const char *found = NULL;
    switch (kind) {
    case DUCKDB_STATEMENT_TRANSACTION:
    case DUCKDB_STATEMENT_SET:
        database_error_set(error, 0,
                           "given %s, which would outlive the call; each call has a connection of "
                           "its own",
                           kind == DUCKDB_STATEMENT_SET ? "SET, RESET or USE"
                                                        : "BEGIN, COMMIT or ROLLBACK");
        return false;
    case DUCKDB_STATEMENT_SELECT:
    case DUCKDB_STATEMENT_CALL:
        found = find_lasting(session, sql, kind);
        if (found != NULL)
            database_error_set(error, 0, "given %s, which would outlive the call", found);
        return found == NULL;
    case DUCKDB_STATEMENT_LOAD:
        return strncasecmp(skip_to_word(sql), "load", 4) == 0 || refuse_network("INSTALL", error);
    case DUCKDB_STATEMENT_UPDATE:
        return true;
    default: /* 1.4 has no name for the kind of UPDATE EXTENSIONS */
        return strncasecmp(skip_to_word(sql), "update", 6) != 0 ||
               refuse_network("UPDATE EXTENSIONS", error);
    }
}
