/* store/metrics/json_check.h: whether a text is one JSON value (RFC 8259) in valid UTF-8.
 *
 * For src/store/metrics/ alone. Strict: no comments, no trailing commas, no NaN, nothing after the
 * value but blanks; nesting at most JSON_DEPTH_MAX. Pure; any thread. */
#ifndef CALIPER_STORE_METRICS_JSON_CHECK_H
#define CALIPER_STORE_METRICS_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_DEPTH_MAX = 512 };

/* False: *why (a literal) says what is wrong and *at where, in bytes from the start. */
bool json_check(const char *text, size_t length, const char **why, size_t *at);

/* Bytes of the valid UTF-8 sequence at the start of `text`, 1 to 4; 0 if there is none. */
size_t utf8_sequence_bytes(const char *text, size_t length);

#endif
