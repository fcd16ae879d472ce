/* See the header. */
#include "store_folder.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool store_folder_make(char *out, size_t out_bytes, const char *name, bool on_disk)
{
    bool in_memory = !on_disk && access("/dev/shm", W_OK) == 0;
    snprintf(out, out_bytes, "%s/caliper-%s-XXXXXX", in_memory ? "/dev/shm" : "/tmp", name);
    return mkdtemp(out) != NULL;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void store_folder_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int store_folder_count(const char *folder, const char *prefix)
{
    DIR *names = opendir(folder);
    int count = 0;
    for (struct dirent *name; names != NULL && (name = readdir(names)) != NULL;)
        count += name->d_name[0] != '.' && strncmp(name->d_name, prefix, strlen(prefix)) == 0;
    if (names != NULL)
        closedir(names);
    return count;
}
