/* The file behind a library: is it whole and for this machine; fresh copies of it. Frame thread. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/loader_impl.h"
#include "core/paths.h"

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
#error "loader_file: name this machine's ELF number"
#endif

enum { SEGMENTS_MAX = 128 };

static bool read_at(int fd, void *out, size_t size_bytes, off_t at)
{
    return pread(fd, out, size_bytes, at) == (ssize_t)size_bytes;
}

static const char *header_problem(int fd, uint64_t file_bytes, ElfW(Ehdr) * header)
{
    if (!read_at(fd, header, sizeof *header, 0) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return "it is not an ELF library";
    if (header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != OWN_MACHINE)
        return "it is built for another kind of machine";
    if (header->e_type != ET_DYN || header->e_phentsize != sizeof(ElfW(Phdr)) ||
        header->e_phnum == 0 || header->e_phnum > SEGMENTS_MAX)
        return "it is not a shared library";
    if (header->e_phoff > file_bytes ||
        header->e_phnum * sizeof(ElfW(Phdr)) > file_bytes - header->e_phoff)
        return "it is cut short";
    return NULL;
}

/* Whether its first entry is there: a linker that sizes the file first fills it in later. */
static bool dynamic_written(int fd, const ElfW(Phdr) * segment)
{
    ElfW(Dyn) first;
    return segment->p_filesz >= sizeof first &&
           read_at(fd, &first, sizeof first, (off_t)segment->p_offset) && first.d_tag != DT_NULL;
}

static const char *segments_problem(int fd, uint64_t file_bytes, const ElfW(Ehdr) * header)
{
    bool dynamic = false;
    for (uint32_t i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        if (!read_at(fd, &segment, sizeof segment, (off_t)(header->e_phoff + i * sizeof segment)))
            return "it cannot be read";
        dynamic = dynamic || segment.p_type == PT_DYNAMIC;
        if ((segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) &&
            (segment.p_offset > file_bytes || segment.p_filesz > file_bytes - segment.p_offset))
            return "it is cut short";
        if (segment.p_type == PT_DYNAMIC && !dynamic_written(fd, &segment))
            return "it is not all written";
    }
    return dynamic ? NULL : "it is not a shared library";
}

bool loader_check_file(const char *path, char *why, size_t why_bytes)
{
    ElfW(Ehdr) header;
    struct stat status;
    const char *problem = NULL;
    /* O_NONBLOCK: opening a pipe would wait for its writer. */
    int fd = fault_here("loader.open") ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0)
        problem = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        problem = "it is not a file";
    else if ((problem = header_problem(fd, (uint64_t)status.st_size, &header)) == NULL)
        problem = segments_problem(fd, (uint64_t)status.st_size, &header);
    if (problem != NULL)
        snprintf(why, why_bytes, "%s", problem);
    if (fd >= 0)
        close(fd);
    return problem == NULL;
}

bool loader_stamp(const char *path, LibraryStamp *out)
{
    struct stat status;
    *out = (LibraryStamp){0};
    if (stat(path, &status) != 0)
        return false;
    out->device = (uint64_t)status.st_dev;
    out->inode = (uint64_t)status.st_ino;
    out->size_bytes = (uint64_t)status.st_size;
    out->changed_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
    return true;
}

static bool copy_bytes(int from, int to)
{
    enum { CHUNK_BYTES = 1 << 16 };
    char *chunk = fault_here("loader.copy") ? NULL : malloc(CHUNK_BYTES);
    ssize_t got = chunk != NULL ? 1 : -1;
    while (got > 0) {
        got = read(from, chunk, CHUNK_BYTES);
        for (ssize_t done = 0; got > 0 && done < got;) {
            ssize_t wrote = write(to, chunk + done, (size_t)(got - done));
            if (wrote <= 0)
                got = -1;
            else
                done += wrote;
        }
    }
    free(chunk);
    return got == 0;
}

/* "<folder>/<stem>-<pid>-<number>.so", new. */
static char *copy_name(const char *path, const char *folder)
{
    static unsigned number; /* frame thread */
    const char *slash = strrchr(path, '/');
    const char *stem = slash != NULL ? slash + 1 : path;
    char name[512];
    snprintf(name, sizeof name, "%.200s-%ld-%u.so", stem, (long)getpid(), ++number);
    return paths_join(folder, name);
}

char *loader_copy_file(const char *path, const char *folder, char *why, size_t why_bytes)
{
    char *name = paths_make_folder(folder) ? copy_name(path, folder) : NULL;
    int from = open(path, O_RDONLY | O_CLOEXEC);
    int to = name != NULL ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700) : -1;
    bool copied = from >= 0 && to >= 0 && copy_bytes(from, to);
    if (!copied)
        snprintf(why, why_bytes, "it cannot be copied into %s: %s", folder, strerror(errno));
    if (from >= 0)
        close(from);
    if (to >= 0)
        copied = close(to) == 0 && copied;
    if (!copied && to >= 0)
        unlink(name);
    if (!copied) {
        free(name);
        name = NULL;
    }
    return name;
}

/* The process that made a copy; 0 if the name is not a copy's. */
static long copy_owner(const char *name)
{
    const char *number = strrchr(name, '-');
    const char *end = number;
    while (end != NULL && end > name && end[-1] >= '0' && end[-1] <= '9')
        end--;
    size_t length = strlen(name);
    if (number == NULL || end == number || end == name || end[-1] != '-' || length < 4 ||
        strcmp(name + length - 3, ".so") != 0)
        return 0;
    return strtol(end, NULL, 10);
}

void loader_clean_copies(const char *folder)
{
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        long owner = copy_owner(entry->d_name);
        if (owner > 0 && kill((pid_t)owner, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries != NULL)
        closedir(entries);
}
