/* shell/runs/run_text.h: runs in words: names, durations, colours, what a search finds.
 *
 * Pure; for shell/runs/ and its tests. Any thread, no shared state. */
#ifndef CALIPER_SHELL_RUNS_RUN_TEXT_H
#define CALIPER_SHELL_RUNS_RUN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On one line: what would break it becomes a blank, and what is too long ends with an ellipsis,
 * after a whole character. */
void run_text_line(const char *from, char *out, size_t out_bytes);
/* "experiment / name", "name", or "run 7" where both are empty. Runs of one experiment and name are
 * told apart by their number: `twin` adds " #7", and so does a name that is too long. On one line.
 */
void run_text_label(const char *experiment, const char *name, uint64_t id, bool twin, char *out,
                    size_t out_bytes);
/* "850 ms", "12.4 s", "3 min 07 s", "2 h 05 min", "3 d 04 h"; below 0: "0 ms". */
void run_text_duration(int64_t micros, char *out, size_t out_bytes);
/* "2026-12-02 11:58:03", UTC. */
void run_text_time(int64_t micros, char *out, size_t out_bytes);
/* 1023 B, 1.0 KiB, 3.2 MiB: binary steps, one digit after the point. */
void run_text_size(uint64_t bytes, char *out, size_t out_bytes);
/* 0AABBGGRR of a run, the same for life: the first ten from `theme` (10 colours), then hues a
 * golden section apart. */
uint32_t run_text_color(uint64_t id, const uint32_t *theme);
/* Every word of `search` is somewhere in `text`; upper and lower case of ASCII are one. */
bool run_text_matches(const char *text, const char *search);

#endif
