/* core/guard_modules.h: which loaded library an address belongs to, answered inside a signal
 * handler. For the guard and the loader. */
#ifndef CALIPER_CORE_GUARD_MODULES_H
#define CALIPER_CORE_GUARD_MODULES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ModuleKind {
    MODULE_KIND_PLAIN = 0, /* an applet, a library, the C library */
    MODULE_KIND_HOST = 1,  /* the module that holds the guard itself */
    MODULE_KIND_LOADER = 2,
    MODULE_KIND_ALLOCATOR = 3,
    MODULE_KIND_DRIVER = 4 /* graphics and compute drivers and their loaders */
} ModuleKind;

typedef struct Module {
    uintptr_t first, end;
    ModuleKind kind;
    const char *path;
} Module;

/* Takes a new snapshot of what is loaded: after each dlopen and dlclose. Keeps the old one, and one
 * line, when there is no memory. Any thread, not in handlers. */
void guard_modules_refresh(void);

/* The module of an address in the newest snapshot; NULL if it is in none (code made at run time).
 * Async-signal-safe; the answer lives until many refreshes later. */
const Module *guard_modules_find(uintptr_t address);

/* The kind that a library's file name means: pure. */
ModuleKind guard_module_kind(const char *path);

/* The addresses that the library holding `inside` takes up. */
bool guard_modules_range(uintptr_t inside, uintptr_t *out_first, uintptr_t *out_end);

#endif
