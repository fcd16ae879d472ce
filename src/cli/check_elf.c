/* Reads the dynamic symbols of an ELF library; see check_elf.h. One thread. */
#include "cli/check_elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Image {
    const unsigned char *bytes;
    uint64_t size;
} Image;

/* Copied, since nothing in a file need be aligned. False when it is not all there. */
static bool take(const Image *image, uint64_t at, void *out, size_t bytes)
{
    if (at > image->size || bytes > image->size - at)
        return false;
    memcpy(out, image->bytes + at, bytes);
    return true;
}

/* What linkers add by themselves, and marks of symbol versions. */
static bool is_linkers_own(const char *name, const ElfW(Sym) * symbol)
{
    static const char *const own[] = {"_init", "_fini", "_edata", "_end", "__bss_start"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(name, own[i]) == 0)
            return true;
    }
    return symbol->st_shndx == SHN_ABS;
}

static bool is_exported(const ElfW(Sym) * symbol)
{
    unsigned bind = symbol->st_info >> 4, visibility = symbol->st_other & 3u;
    return symbol->st_shndx != SHN_UNDEF &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static bool read_symbols(const Image *image, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                         CheckExports *out)
{
    for (uint64_t at = 0; table->sh_size - at >= sizeof(ElfW(Sym)); at += sizeof(ElfW(Sym))) {
        ElfW(Sym) symbol;
        char name[CHECK_SYMBOL_BYTES];
        if (!take(image, table->sh_offset + at, &symbol, sizeof symbol))
            return false;
        if (!is_exported(&symbol))
            continue;
        if (symbol.st_name >= strings->sh_size || strings->sh_offset > image->size ||
            strings->sh_size > image->size - strings->sh_offset)
            return false;
        snprintf(name, sizeof name, "%.*s",
                 (int)(sizeof name - 1 < strings->sh_size - symbol.st_name
                           ? sizeof name - 1
                           : strings->sh_size - symbol.st_name),
                 (const char *)image->bytes + strings->sh_offset + symbol.st_name);
        if (name[0] == '\0' || is_linkers_own(name, &symbol))
            continue;
        if (out->count < CHECK_SYMBOLS_MAX)
            memcpy(out->names[out->count], name, sizeof name);
        out->count++;
    }
    return true;
}

static const char *find_symbols(const Image *image, CheckExports *out)
{
    static const char broken[] = "its table of symbols is broken";
    ElfW(Ehdr) header;
    if (!take(image, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return "it is not an ELF library of this machine";
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        ElfW(Shdr) table, strings;
        if (!take(image, header.e_shoff + (uint64_t)i * sizeof table, &table, sizeof table))
            return broken;
        if (table.sh_type != SHT_DYNSYM)
            continue;
        if (table.sh_link >= header.e_shnum ||
            !take(image, header.e_shoff + (uint64_t)table.sh_link * sizeof strings, &strings,
                  sizeof strings) ||
            !read_symbols(image, &table, &strings, out))
            return broken;
        return NULL;
    }
    return "it has no table of dynamic symbols";
}

bool check_exports(const char *path, CheckExports *out, char *why, size_t why_bytes)
{
    struct stat status;
    const char *problem = NULL;
    void *map = MAP_FAILED;
    *out = (CheckExports){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0)
        problem = strerror(errno);
    else if (!S_ISREG(status.st_mode) || status.st_size == 0)
        problem = "it is not a file with anything in it";
    else if ((map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) ==
             MAP_FAILED)
        problem = strerror(errno);
    else
        problem = find_symbols(&(Image){.bytes = map, .size = (uint64_t)status.st_size}, out);
    if (problem != NULL)
        snprintf(why, why_bytes, "%s", problem);
    if (map != MAP_FAILED)
        munmap(map, (size_t)status.st_size);
    if (fd >= 0)
        close(fd);
    return problem == NULL;
}
