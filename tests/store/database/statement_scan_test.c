/* Where statements end, past everything that may hold a semicolon. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/database/statement.h"

static void test_single(void **state)
{
    (void)state;
    static const char *const single[] = {
        "",
        "SELECT 1",
        " SELECT 1 ; ;; -- ; SELECT 2\n ; /* ; a */",
        "SELECT ';' , \";\", 'it''s;', \"a\"\";\"",
        "SELECT E'\\';', e'a\\\\'",
        "SELECT $$ ; $$, $tag$ $$ ; $tag$",
        "SELECT /* /* ; */ ; */ 1",
        "SELECT $1 + 2",
        "SELECT 'not ended ; ",
        "SELECT /* not ended ; ",
        "SELECT $$ not ended ;",
        "-- only ; a comment",
    };
    static const char *const several[] = {
        "SELECT 1; SELECT 2",
        "SELECT 1;;SELECT 2",
        "SELECT 1 /* ; */ ; /* x */ SELECT 2",
        "SELECT ';'; SELECT 2",
        "SELECT 'a\\'; SELECT 2", /* no escape without the E */
        "SELECT name'\\'; SELECT 2",
        "SELECT $1; SELECT $2",
        "SELECT $$a$$; SELECT 2",
        "SELECT 1 -- x\n; SELECT 2",
        "; SELECT 1",
        "/* /* */ */; SELECT 1",
    };
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        if (!statement_is_single(single[i]))
            fail_msg("several: %s", single[i]);
    }
    for (size_t i = 0; i < sizeof several / sizeof several[0]; i++) {
        if (statement_is_single(several[i]))
            fail_msg("single: %s", several[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_single)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
