/* Opening and closing an applet's library. Frame thread. */
#include "core/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/fpenv.h"
#include "core/guard.h"
#include "core/guard_modules.h"
#include "core/loader_impl.h"

/* Applets linked into this process, by the paths that stand for them. */
static struct {
    char path[64];
    CaliperDescriptorFn descriptor; /* NULL: free */
} linked[LOADER_LINKED_MAX];

bool loader_link(const char *path, CaliperDescriptorFn descriptor)
{
    int place = -1;
    for (int i = 0; i < LOADER_LINKED_MAX; i++) {
        if (linked[i].descriptor != NULL && strcmp(linked[i].path, path) == 0) {
            place = i;
            break;
        }
        if (linked[i].descriptor == NULL && place < 0)
            place = i;
    }
    if (place < 0 || strlen(path) >= sizeof linked[place].path)
        return false;
    snprintf(linked[place].path, sizeof linked[place].path, "%s", path);
    linked[place].descriptor = descriptor;
    return true;
}

/* False: the path is no linked applet's. It has no handle, so closing it unloads nothing. */
static bool open_linked(const char *path, Library *out)
{
    for (int i = 0; i < LOADER_LINKED_MAX; i++) {
        if (linked[i].descriptor == NULL || strcmp(linked[i].path, path) != 0)
            continue;
        guard_modules_refresh();
        out->descriptor = linked[i].descriptor;
        guard_modules_range((uintptr_t)out->descriptor, &out->first, &out->end);
        return true;
    }
    return false;
}

typedef struct Opening {
    const char *path;
    void *handle;
    char *why;
    size_t why_bytes;
} Opening;

static void open_locked(void *arg)
{
    Opening *opening = arg;
    guard_lock_enter();
    opening->handle = dlopen(opening->path, RTLD_NOW | RTLD_LOCAL);
    const char *error = opening->handle == NULL ? dlerror() : NULL;
    if (error != NULL) /* gone after the next call into the loader */
        snprintf(opening->why, opening->why_bytes, "%s", error);
    guard_lock_leave();
}

static void close_locked(void *arg)
{
    guard_lock_enter();
    dlclose(arg);
    guard_lock_leave();
}

/* Not contained, but under a guard all the same: the crash report then names the library, and
 * floating-point controls and signal mask are kept. */
static void call_loader(const char *doing, const char *path, void (*call)(void *), void *arg)
{
    char what[512];
    GuardFault fault;
    snprintf(what, sizeof what, "%s %s", doing, path);
    guard_call(&(GuardCall){.what = what, .call = call, .arg = arg}, &fault);
    guard_modules_refresh();
}

LoaderResult loader_open(const char *path, const char *copy_folder, Library *out, char *why,
                         size_t why_bytes)
{
    *out = (Library){0};
    if (open_linked(path, out))
        return LOADER_RESULT_OPENED;
    if (!loader_check_file(path, why, why_bytes))
        return LOADER_RESULT_NO_LIBRARY;
    if (copy_folder != NULL) {
        out->copy_path = loader_copy_file(path, copy_folder, why, why_bytes);
        /* Again: it may have been written while it was copied. */
        if (out->copy_path == NULL || !loader_check_file(out->copy_path, why, why_bytes)) {
            loader_close(out);
            return LOADER_RESULT_NO_LIBRARY;
        }
    }
    Opening opening = {
        .path = out->copy_path != NULL ? out->copy_path : path, .why = why, .why_bytes = why_bytes};
    snprintf(why, why_bytes, "the loader refused it");
    if (!fault_here("loader.dlopen"))
        call_loader("opening the library", path, open_locked, &opening);
    out->handle = opening.handle;
    if (out->handle == NULL) {
        loader_close(out);
        return LOADER_RESULT_NO_LIBRARY;
    }
    void *symbol = dlsym(out->handle, CALIPER_DESCRIPTOR_SYMBOL);
    if (symbol == NULL || !guard_modules_range((uintptr_t)symbol, &out->first, &out->end)) {
        snprintf(why, why_bytes, "it does not export " CALIPER_DESCRIPTOR_SYMBOL);
        loader_close(out);
        return LOADER_RESULT_NO_SYMBOL;
    }
    memcpy(&out->descriptor, &symbol, sizeof symbol);
    return LOADER_RESULT_OPENED;
}

bool loader_is_open(const char *path)
{
    guard_lock_enter();
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle != NULL)
        dlclose(handle);
    guard_lock_leave();
    return handle != NULL;
}

void loader_close(Library *library)
{
    if (library->handle != NULL)
        call_loader("closing the library", library->copy_path != NULL ? library->copy_path : "",
                    close_locked, library->handle);
    if (library->copy_path != NULL)
        unlink(library->copy_path);
    free(library->copy_path);
    *library = (Library){0};
}
