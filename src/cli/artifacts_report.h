/* cli/artifacts_report.h: what long work on artifacts and imports shows, and how it is interrupted.
 *
 * For cli/artifacts*.c and cli/import*.c. First thread of the process. */
#ifndef CALIPER_CLI_ARTIFACTS_REPORT_H
#define CALIPER_CLI_ARTIFACTS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the signals of core/interrupt.h: the first asks the work to end. */
void artifacts_report_begin(const char *what);
/* Clears the progress. When the work was interrupted the process ends here by that signal, after
 * what was printed is out. */
void artifacts_report_end(void);
bool artifacts_report_interrupted(void);

/* "what: 12 % of 3.4 GB" on stderr: often on a terminal, every ten seconds otherwise, and not at
 * all for work that is quickly done. */
void artifacts_report_progress(uint64_t done_bytes, uint64_t total_bytes);

/* "3.4 GB" */
enum { ARTIFACTS_SIZE_TEXT_BYTES = 24 };
const char *artifacts_size_text(uint64_t bytes, char out[ARTIFACTS_SIZE_TEXT_BYTES]);
/* A JSON string on stdout, quotes included; what is not UTF-8 becomes U+FFFD. */
void artifacts_print_json_string(const char *text);

#endif
