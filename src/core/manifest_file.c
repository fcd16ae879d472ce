/* Reading a manifest's file: whole, and no more of it than a manifest may have. Any thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/manifest.h"

/* Bytes read up to the end of the file or `room`; -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t room)
{
    size_t size = 0;
    while (size < room) {
        ssize_t got = fault_here("manifest.read") ? -1 : read(fd, bytes + size, room - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        size += (size_t)got;
    }
    return (ssize_t)size;
}

bool manifest_read(const char *path, Manifest *out, char *why, size_t why_bytes)
{
    struct stat status;
    bool good = false;
    size_t room = MANIFEST_FILE_MAX_BYTES + 1;
    char *bytes = fault_here("manifest.alloc") ? NULL : malloc(room);
    /* O_NONBLOCK: opening a pipe would wait for its writer. */
    int fd = bytes != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (bytes == NULL) {
        snprintf(why, why_bytes, "no memory");
    } else if (fd < 0 || fstat(fd, &status) != 0) {
        snprintf(why, why_bytes, "the manifest cannot be opened: %s", strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        snprintf(why, why_bytes, "the manifest is not a file");
    } else {
        ssize_t size = read_all(fd, bytes, room);
        if (size < 0)
            snprintf(why, why_bytes, "the manifest cannot be read: %s", strerror(errno));
        else if (size > MANIFEST_FILE_MAX_BYTES)
            snprintf(why, why_bytes, "the manifest is larger than %d bytes",
                     (int)MANIFEST_FILE_MAX_BYTES);
        else
            good = manifest_parse(bytes, (size_t)size, out, why, why_bytes);
    }
    if (fd >= 0)
        close(fd);
    free(bytes);
    return good;
}
