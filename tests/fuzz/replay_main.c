/* tests/fuzz/replay_main.c: runs a fuzz target over kept inputs in a build without libFuzzer.
 *
 *   <target> FOLDER|FILE...    every file goes through LLVMFuzzerTestOneInput once, by name
 *
 * Linked with one fuzz target; shared by all. Exit status 1 if there was no file to run. One
 * thread. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be opened\n", path);
        return -1;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *bytes = size >= 0 ? malloc(size > 0 ? (size_t)size : 1) : NULL;
    int status = -1;
    if (bytes != NULL && fread(bytes, 1, (size_t)size, file) == (size_t)size) {
        printf("%s\n", path); /* the last line names the input of a crash */
        fflush(stdout);
        LLVMFuzzerTestOneInput(bytes, (size_t)size);
        status = 0;
    }
    free(bytes);
    fclose(file);
    return status;
}

/* The number of files run, or -1. */
static int run_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), run = 0;
    for (int i = 0; i < count; i++) {
        char file[4096];
        struct stat status;
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        free(entries[i]);
        if (stat(file, &status) != 0 || !S_ISREG(status.st_mode) || run < 0)
            continue;
        run = run_file(file) == 0 ? run + 1 : -1;
    }
    if (count >= 0)
        free(entries);
    else
        fprintf(stderr, "%s cannot be listed\n", path);
    return count >= 0 ? run : -1;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        int run = stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode)
                      ? run_folder(argv[i])
                      : (run_file(argv[i]) == 0 ? 1 : -1);
        if (run < 0)
            return 1;
        total += run;
    }
    printf("%d inputs\n", total);
    return total > 0 ? 0 : 1;
}
