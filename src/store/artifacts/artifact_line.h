/* store/artifacts/artifact_line.h: one line of index.log, which is one put.
 *
 *     digest TAB name TAB run TAB len TAB created NEWLINE
 *
 * digest: 64 lower-case hex digits; run and len: decimal; created: UTC, always 27 characters,
 * 2026-12-02T10:23:34.123456Z. In the name, backslash, double quote, tab, newline, carriage return,
 * other control characters (C1 ones too) and bytes that are not UTF-8 are escaped: \\ \" \t \n \r
 * \xNN. The line is then printable UTF-8. Pure functions, any thread; for src/store/artifacts/ and
 * tests. */
#ifndef CALIPER_STORE_ARTIFACTS_ARTIFACT_LINE_H
#define CALIPER_STORE_ARTIFACTS_ARTIFACT_LINE_H

#include "store/artifacts/artifact_digest.h"

enum {
    ARTIFACT_NAME_MAX_BYTES = 4096, /* without the terminating zero */
    ARTIFACT_CREATED_TEXT_BYTES = 28,
    /* The longest line: every byte of the name escaped to four, two numbers of 20 digits. */
    ARTIFACT_LINE_MAX_BYTES = 64 + 4 * ARTIFACT_NAME_MAX_BYTES + 2 * 20 + 27 + 5
};

typedef struct ArtifactLine {
    ArtifactDigest digest;
    uint64_t run; /* of caliper.metrics; 0: none */
    uint64_t size_bytes;
    int64_t created_us; /* microseconds since 1970, UTC */
    char name[ARTIFACT_NAME_MAX_BYTES + 1];
} ArtifactLine;

/* Writes a line, newline included, of `name`'s own length; returns its length. The name is at most
 * ARTIFACT_NAME_MAX_BYTES long and the time between the years 1970 and 9999. */
size_t artifact_line_write(const ArtifactLine *line, char out[ARTIFACT_LINE_MAX_BYTES]);
/* Reads a line without its newline. False when it is none, with `out` in any state. */
bool artifact_line_read(const char *text, size_t length, ArtifactLine *out);

/* The time as in a line, with a terminating zero; out of range is clamped. */
void artifact_created_text(int64_t created_us, char out[ARTIFACT_CREATED_TEXT_BYTES]);

#endif
