/* core/file_follow.h: a thread that notices when files change, and waits until they are whole.
 *
 * Nobody else waits: the frame thread asks an atomic. A file may be written slowly (nothing is said
 * before it is closed), replaced by a rename, gone for a while, or its folder with it. inotify says
 * what happens at once; a look at each file four times a second finds what it does not see (other
 * machines' writes, the end of a link). For src/core/. */
#ifndef CALIPER_CORE_FILE_FOLLOW_H
#define CALIPER_CORE_FILE_FOLLOW_H

#include <stdbool.h>

typedef struct FileFollow FileFollow;

enum { FILE_FOLLOW_MAX = 4 };

/* `paths`: absolute, NULL-terminated, at most FILE_FOLLOW_MAX; copied; none need be there. NULL
 * with one line when that fails. */
FileFollow *file_follow_create(const char *const *paths);
void file_follow_destroy(FileFollow **follow);

/* True once after a change that has settled. [any] */
bool file_follow_changed(FileFollow *follow);

#endif
