/* test_layout.c: holds every size, offset, type, value and id of the SDK against layout_table.h.
 *
 * Plain C without a test library, so that the mutation test can compile it against altered headers.
 * Prints one line per row that differs; exit status 1 if there is any, 77 on targets that are not
 * 64-bit. Single-threaded. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <caliper/caliper.h>

static int rows;
static int differing;

static void check_number(const char *what, unsigned long long found, unsigned long long wanted)
{
    rows++;
    if (found != wanted) {
        differing++;
        printf("%s: %llu, the specification says %llu\n", what, found, wanted);
    }
}

static void check_text(const char *what, const char *found, const char *wanted)
{
    rows++;
    if (strcmp(found, wanted) != 0) {
        differing++;
        printf("%s: \"%s\", the specification says \"%s\"\n", what, found, wanted);
    }
}

static void check_type(const char *what, bool same, const char *wanted)
{
    rows++;
    if (!same) {
        differing++;
        printf("%s: not the type of the specification, %s\n", what, wanted);
    }
}

#define MEMBER(type, member) (((type *)0)->member)
/* 1 if the expression (not evaluated) has exactly the type. */
#define HAS_TYPE(expression, ...) _Generic((expression), __VA_ARGS__ : 1, default : 0)

#define STRUCT(type, size) check_number("sizeof " #type, sizeof(type), size);
#define FIELD(type, member, offset, kind)                            \
    check_number(#type "." #member, offsetof(type, member), offset); \
    check_type(#type "." #member, HAS_TYPE(MEMBER(type, member), kind), #kind);
#define SLOT(type, member, offset, result, arguments)                                  \
    check_number(#type "." #member, offsetof(type, member), offset);                   \
    check_type(#type "." #member, HAS_TYPE(MEMBER(type, member), result(*) arguments), \
               #result #arguments);
#define VALUE(name, number) check_number(#name, (unsigned long long)(name), number);
#define TEXT(name, text)    check_text(#name, name, text);
#define PREFIX(newer, older, member)                                                    \
    check_number(#newer "." #member, offsetof(newer, member), offsetof(older, member)); \
    check_type(#newer "." #member,                                                      \
               HAS_TYPE(MEMBER(newer, member), __typeof__(MEMBER(older, member))),      \
               "the one of " #older);

int main(void)
{
    if (sizeof(void *) != 8) {
        printf("skipped: the figures are those of 64-bit targets\n");
        return 77;
    }
#include "layout_table.h"
    printf("%d rows, %d differ\n", rows, differing);
    return differing == 0 ? 0 : 1;
}
