/* cli/check_elf.h: which symbols a library exports, read from its file and not from the loader.
 *
 * For cli/check*.c. Any file will do: what is no library is refused. One thread. */
#ifndef CALIPER_CLI_CHECK_ELF_H
#define CALIPER_CLI_CHECK_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHECK_SYMBOLS_MAX = 8, CHECK_SYMBOL_BYTES = 128 };

typedef struct CheckExports {
    uint32_t count;                                    /* all of them */
    char names[CHECK_SYMBOLS_MAX][CHECK_SYMBOL_BYTES]; /* the first ones */
} CheckExports;

bool check_exports(const char *path, CheckExports *out, char *why, size_t why_bytes);

#endif
