/* core/log_file.h: caliper.log in the data root, a sink of the log that rotates.
 *
 * A line costs its writer a copy into memory; a thread of its own does the writing, so that no
 * frame waits for a disk. What does not fit into 128 KiB of unwritten lines is dropped and counted
 * in the file. Several processes may share a folder: lines are appended whole, and each notices
 * when another one rotated. The host opens and closes it; the rest is for tests and the crash
 * report. */
#ifndef CALIPER_CORE_LOG_FILE_H
#define CALIPER_CORE_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* caliper.log, caliper.log.1 (the newest old one) to caliper.log.3 of about 4 MiB each. */
enum { LOG_FILE_MAX_BYTES = 4 << 20, LOG_FILE_KEPT = 3 };

/* One file a process: false without a line when one is open already, false with one line when it
 * cannot be opened. `max_bytes` 0: LOG_FILE_MAX_BYTES. One thread at a time, as is close. */
bool log_file_open(const char *folder, uint64_t max_bytes);
/* Writes what is left. */
void log_file_close(void);
/* Waits until all lines so far are written or lost. [any] */
void log_file_flush(void);

/* Writes what is left without any lock, in whatever state it is. For a process that is ending in a
 * signal handler. */
void log_file_rescue(void);

#endif
