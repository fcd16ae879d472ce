/* tests/store/store_folder.h: a folder of their own for the tests of src/store/.
 *
 * Included by their fixtures. Any thread. */
#ifndef CALIPER_TESTS_STORE_FOLDER_H
#define CALIPER_TESTS_STORE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* A fresh one, in /dev/shm where that is (what a process wrote outlives its death there, too)
 * unless it has to be on a disk; `name` is part of its own. False: there is none. */
bool store_folder_make(char *out, size_t out_bytes, const char *name, bool on_disk);
/* Removes it and all in it. */
void store_folder_remove(const char *folder);
/* Names in the folder that begin with `prefix`, hidden ones aside. */
int store_folder_count(const char *folder, const char *prefix);

#endif
