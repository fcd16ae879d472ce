/* The snapshot of loaded libraries. Written under a mutex, published through one atomic pointer,
 * read without a lock; the last SNAPSHOTS_KEPT are kept for readers in handlers. */
#include "core/guard_modules.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/guard.h"
#include "core/log.h"

/* The allocator's internal functions that lie below its first public one: in the C library of
 * Debian 12 they take 17 KiB. Too much does no harm, faults in a neighbour's code are then not
 * contained. */
enum { ALLOCATOR_BELOW_BYTES = 20 << 10, ALLOCATOR_SPAN_MAX = 1 << 18 };
enum { SNAPSHOTS_KEPT = 16, PATH_BYTES = 4096 };

typedef struct Snapshot {
    uint32_t count;
    uint32_t capacity;
    char *paths;
    size_t paths_used, paths_capacity;
    Module modules[];
} Snapshot;

static pthread_mutex_t refresh_mutex = PTHREAD_MUTEX_INITIALIZER;
static Snapshot *kept[SNAPSHOTS_KEPT];
static uint32_t kept_next;
static _Atomic(Snapshot *) newest;

ModuleKind guard_module_kind(const char *path)
{
    static const struct {
        const char *prefix;
        ModuleKind kind;
    } prefixes[] = {
        {"ld-linux", MODULE_KIND_LOADER},       {"ld-musl", MODULE_KIND_LOADER},
        {"ld.so", MODULE_KIND_LOADER},          {"libjemalloc", MODULE_KIND_ALLOCATOR},
        {"libtcmalloc", MODULE_KIND_ALLOCATOR}, {"libmimalloc", MODULE_KIND_ALLOCATOR},
        {"libvulkan", MODULE_KIND_DRIVER},      {"libVkLayer", MODULE_KIND_DRIVER},
        {"libGL", MODULE_KIND_DRIVER},          {"libEGL", MODULE_KIND_DRIVER},
        {"libOpenGL", MODULE_KIND_DRIVER},      {"libgallium", MODULE_KIND_DRIVER},
        {"libglapi", MODULE_KIND_DRIVER},       {"libLLVM", MODULE_KIND_DRIVER},
        {"libnvidia", MODULE_KIND_DRIVER},      {"libcuda.so", MODULE_KIND_DRIVER},
        {"libdrm", MODULE_KIND_DRIVER},         {"libgbm", MODULE_KIND_DRIVER},
    };
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0)
            return prefixes[i].kind;
    }
    return strstr(name, "_dri.so") != NULL ? MODULE_KIND_DRIVER : MODULE_KIND_PLAIN;
}

static void range_of(const struct dl_phdr_info *info, uintptr_t *out_first, uintptr_t *out_end)
{
    uintptr_t first = UINTPTR_MAX;
    uintptr_t end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + segment->p_vaddr;
        first = at < first ? at : first;
        end = at + segment->p_memsz > end ? at + segment->p_memsz : end;
    }
    *out_first = first;
    *out_end = end;
}

typedef struct Count {
    uint32_t modules;
    size_t path_bytes;
} Count;

static int count_one(struct dl_phdr_info *info, size_t size_bytes, void *user)
{
    (void)size_bytes;
    Count *count = user;
    count->modules++;
    count->path_bytes += strlen(info->dlpi_name) + 1;
    return 0;
}

/* With room made before: a library that appeared in between is left to the next refresh. */
static void snapshot_add(Snapshot *snapshot, uintptr_t first, uintptr_t end, ModuleKind kind,
                         const char *path)
{
    size_t path_bytes = strlen(path) + 1;
    if (snapshot->count == snapshot->capacity ||
        path_bytes > snapshot->paths_capacity - snapshot->paths_used)
        return;
    char *copy = snapshot->paths + snapshot->paths_used;
    memcpy(copy, path, path_bytes);
    snapshot->paths_used += path_bytes;
    snapshot->modules[snapshot->count++] =
        (Module){.first = first, .end = end, .kind = kind, .path = copy};
}

static int add_one(struct dl_phdr_info *info, size_t size_bytes, void *user)
{
    (void)size_bytes;
    uintptr_t first = 0;
    uintptr_t end = 0;
    range_of(info, &first, &end);
    char exe[PATH_BYTES];
    const char *path = info->dlpi_name;
    if (path[0] == '\0') {
        ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
        exe[length > 0 ? length : 0] = '\0';
        path = exe;
    }
    uintptr_t own = (uintptr_t)guard_modules_find;
    ModuleKind kind = own >= first && own < end ? MODULE_KIND_HOST : guard_module_kind(path);
    if (first < end)
        snapshot_add(user, first, end, kind, path);
    return 0;
}

/* The C library's allocator is one object file, so its functions lie side by side. Added in front:
 * the first match counts. */
static void add_allocator(Snapshot *snapshot)
{
    static const char *const names[] = {"malloc",   "free",          "calloc",         "realloc",
                                        "memalign", "aligned_alloc", "posix_memalign", "valloc",
                                        "pvalloc",  "malloc_trim",   "mallinfo",       "mallopt"};
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    uintptr_t first = UINTPTR_MAX;
    uintptr_t end = 0;
    for (size_t i = 0; libc != NULL && i < sizeof names / sizeof names[0]; i++) {
        Dl_info info;
        ElfW(Sym) *symbol = NULL;
        void *at = dlsym(libc, names[i]);
        if (at == NULL || dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0)
            continue;
        uintptr_t size_bytes = symbol != NULL ? (uintptr_t)symbol->st_size : 1;
        first = (uintptr_t)at < first ? (uintptr_t)at : first;
        end = (uintptr_t)at + size_bytes > end ? (uintptr_t)at + size_bytes : end;
    }
    if (libc != NULL)
        dlclose(libc);
    if (first < end && end - first <= ALLOCATOR_SPAN_MAX)
        snapshot_add(snapshot, first - ALLOCATOR_BELOW_BYTES, end, MODULE_KIND_ALLOCATOR, "malloc");
}

void guard_modules_refresh(void)
{
    Count count = {0};
    guard_lock_enter();
    pthread_mutex_lock(&refresh_mutex);
    dl_iterate_phdr(count_one, &count);
    uint32_t capacity = count.modules + 2; /* the allocator, and one more */
    size_t paths_capacity = count.path_bytes + 2 * PATH_BYTES;
    size_t size_bytes = sizeof(Snapshot) + capacity * sizeof(Module) + paths_capacity;
    Snapshot *snapshot = calloc(1, size_bytes);
    if (snapshot != NULL) {
        snapshot->capacity = capacity;
        snapshot->paths = (char *)&snapshot->modules[capacity];
        snapshot->paths_capacity = paths_capacity;
        add_allocator(snapshot);
        dl_iterate_phdr(add_one, snapshot);
        free(kept[kept_next]);
        kept[kept_next] = snapshot;
        kept_next = (kept_next + 1) % SNAPSHOTS_KEPT;
        atomic_store_explicit(&newest, snapshot, memory_order_release);
    }
    pthread_mutex_unlock(&refresh_mutex);
    guard_lock_leave();
    if (snapshot == NULL)
        log_item(OUT_OF_MEMORY, "guard_modules_refresh", (unsigned long long)size_bytes);
}

const Module *guard_modules_find(uintptr_t address)
{
    const Snapshot *snapshot = atomic_load_explicit(&newest, memory_order_acquire);
    for (uint32_t i = 0; snapshot != NULL && i < snapshot->count; i++) {
        const Module *module = &snapshot->modules[i];
        if (address >= module->first && address < module->end)
            return module;
    }
    return NULL;
}

typedef struct RangeQuery {
    uintptr_t inside, first, end;
} RangeQuery;

static int match_range(struct dl_phdr_info *info, size_t size_bytes, void *user)
{
    (void)size_bytes;
    RangeQuery *query = user;
    uintptr_t first = 0;
    uintptr_t end = 0;
    range_of(info, &first, &end);
    if (query->inside < first || query->inside >= end)
        return 0;
    query->first = first;
    query->end = end;
    return 1;
}

bool guard_modules_range(uintptr_t inside, uintptr_t *out_first, uintptr_t *out_end)
{
    RangeQuery query = {.inside = inside};
    if (dl_iterate_phdr(match_range, &query) != 1)
        return false;
    *out_first = query.first;
    *out_end = query.end;
    return true;
}
