/* See the header. */
#include "artifact_room.h"
#include "store_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool room_make(ArtifactRoom *room, bool on_disk)
{
    return store_folder_make(room->root, sizeof room->root, "artifacts", on_disk);
}

void room_remove(ArtifactRoom *room)
{
    store_folder_remove(room->root);
}

const char *room_path(const ArtifactRoom *room, const char *inner)
{
    static _Thread_local char paths[4][512];
    static _Thread_local unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", room->root, inner);
    return path;
}

const char *room_blob(const ArtifactRoom *room, const char *digest)
{
    char inner[128];
    snprintf(inner, sizeof inner, "artifacts/%.2s/%s", digest, digest);
    return room_path(room, inner);
}

char *room_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)length + 1);
    size_t got = bytes != NULL ? fread(bytes, 1, (size_t)length, file) : 0;
    fclose(file);
    if (bytes != NULL)
        bytes[got] = '\0';
    if (size != NULL)
        *size = got;
    return bytes;
}

bool room_write(const char *path, const void *bytes, size_t size)
{
    unlink(path); /* blobs are read-only */
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool done = fwrite(bytes, 1, size, file) == size;
    return fclose(file) == 0 && done;
}

/* Calls `visit` for each entry of artifacts/`folder`; how many it answered true for. */
static size_t count(const ArtifactRoom *room, const char *folder,
                    bool (*visit)(const char *path, const char *name))
{
    char path[600];
    size_t counted = 0;
    DIR *stream = opendir(room_path(room, folder));
    if (stream == NULL)
        return 0;
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", room_path(room, folder), entry->d_name);
        counted += visit(path, entry->d_name) ? 1 : 0;
    }
    closedir(stream);
    return counted;
}

static bool is_blob(const char *path, const char *name)
{
    (void)path;
    return strlen(name) == 64 && strspn(name, "0123456789abcdef") == 64;
}

static bool is_file(const char *path, const char *name)
{
    struct stat status;
    (void)name;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static size_t count_in_all(const ArtifactRoom *room, bool (*visit)(const char *, const char *))
{
    size_t counted = 0;
    DIR *stream = opendir(room_path(room, "artifacts"));
    struct dirent *entry;
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        char folder[32];
        snprintf(folder, sizeof folder, "artifacts/%.2s", entry->d_name);
        if (strlen(entry->d_name) == 2 && entry->d_name[0] != '.')
            counted += count(room, folder, visit);
    }
    if (stream != NULL)
        closedir(stream);
    return counted;
}

size_t room_count_blobs(const ArtifactRoom *room)
{
    return count_in_all(room, is_blob);
}

size_t room_count_temporaries(const ArtifactRoom *room)
{
    return count(room, "artifacts/tmp", is_file);
}

bool room_sha256sum(const char *path, char out[65])
{
    char command[700];
    snprintf(command, sizeof command, "sha256sum %s", path);
    FILE *pipe = popen(command, "r");
    bool read = pipe != NULL && fscanf(pipe, "%64s", out) == 1;
    return (pipe == NULL || pclose(pipe) == 0) && read;
}

bool room_blobs_are_whole(const ArtifactRoom *room)
{
    char command[512];
    snprintf(command, sizeof command,
             "find %s/artifacts -regextype posix-extended -regex '.*/[0-9a-f]{64}' -print0 |"
             " xargs -0 -r sha256sum | awk '{ n = split($2, p, \"/\");"
             " if ($1 != p[n]) { print; bad = 1 } } END { exit bad }'",
             room->root);
    return system(command) == 0;
}

uint8_t *room_bytes(uint64_t seed, size_t size)
{
    uint8_t *bytes = malloc(size + 8);
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t i = 0; bytes != NULL && i < size; i += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(bytes + i, &state, 8);
    }
    return bytes;
}
