/* A contained fault's stack in words, with the names of exported functions. Not for handlers. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "core/guard.h"
#include "core/guard_modules.h"

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static int describe_one(const GuardFault *fault, uint32_t i, char *out, size_t out_bytes)
{
    uintptr_t address = fault->frames[i];
    const char *gap = i > 0 ? "\n" : "";
    /* A return address can lie behind its function's end. */
    uintptr_t inside = i > 0 && address > 0 ? address - 1 : address;
    Dl_info info;
    const Module *module = guard_modules_find(inside);
    if (module == NULL)
        return snprintf(out, out_bytes, "%s#%u 0x%llx in no library", gap, (unsigned)i,
                        (unsigned long long)address);
    guard_lock_enter(); /* dladdr takes the loader's lock */
    bool named = dladdr((const void *)inside, &info) != 0 && info.dli_sname != NULL;
    guard_lock_leave();
    if (named)
        return snprintf(out, out_bytes, "%s#%u %s(%s+0x%llx)", gap, (unsigned)i,
                        file_name(module->path), info.dli_sname,
                        (unsigned long long)(address - (uintptr_t)info.dli_saddr));
    return snprintf(out, out_bytes, "%s#%u %s+0x%llx", gap, (unsigned)i, file_name(module->path),
                    (unsigned long long)(address - module->first));
}

void guard_describe_stack(const GuardFault *fault, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < fault->frame_count && used < out_bytes; i++) {
        int length = describe_one(fault, i, out + used, out_bytes - used);
        if (length < 0)
            return;
        used += (size_t)length;
    }
}
