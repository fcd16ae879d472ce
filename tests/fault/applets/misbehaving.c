/* An applet that does what TEST_BEHAVIOUR says, "<what>@<call>": e.g. "null_write@frame" faults in
 * its first frame(). Calls: descriptor, create, initialize, frame, cleanup, destroy. Built without
 * sanitizers, which would stop the process before the fault happens. */
#include <caliper/abi.h>
#include <caliper/services/log_v1.h>
#include <caliper/services/tensor_bridge_v1_2.h>
#include <caliper/services/texture_read_v1.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe.h"

static const CaliperHost *kept_host; /* behaviours may use it after cleanup */

typedef void (*Behaviour)(void);

static void null_write(void)
{
    *(volatile int *)(uintptr_t)16 = 1;
}

static void wild_read(void)
{
    volatile const char *at = (const char *)(uintptr_t)0x70000u;
    (void)*at;
}

static void null_call(void)
{
    void (*volatile function)(void) = NULL;
    function();
}

/* Through a pointer: a compiler that sees the copy may leave it out. */
static void null_memcpy(void)
{
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    copy(NULL, "x", 2);
}

static volatile int overflow_depth;

static int stack_overflow_step(volatile char *above)
{
    volatile char here[4096];
    here[0] = above[0];
    here[4095] = (char)overflow_depth++;
    return stack_overflow_step(here) + here[17];
}

static void stack_overflow(void)
{
    volatile char start[1] = {1};
    (void)stack_overflow_step(start);
}

static void abort_call(void)
{
    abort();
}

static void integer_divide(void)
{
    volatile int zero = 0;
    volatile int many = 7;
    volatile int result = many / zero;
    (void)result;
}

static void illegal(void)
{
    __builtin_trap();
}

static void bus(void)
{
    char name[] = "/tmp/caliper-bus-XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return;
    volatile char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (ftruncate(fd, 0) == 0)
        map[0] = 1;
}

static void raise_segv(void)
{
    raise(SIGSEGV);
}

/* Faults with a stack pointer to nowhere: there is nothing to be walked. */
static void lost_stack(void)
{
#if defined(__x86_64__)
    __asm__ volatile("mov $0x70000, %%rsp\n\tud2" ::: "memory");
#endif
}

static void spin(void)
{
    for (volatile int turn = 0;; turn++)
        ;
}

static void sleep_for_ever(void)
{
    for (;;)
        sleep(1000);
}

static void deadlock(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

static void flush_denormals(void)
{
#if defined(__x86_64__)
    /* Flush to zero, denormals are zero, rounding up. */
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u | 0x4000u);
#endif
}

static void trap_divisions(void)
{
#if defined(__x86_64__)
    /* Unmasks division by zero, and leaves one pending for the next x87 instruction that waits. */
    unsigned short control = 0x037b;
    __asm__ volatile("fnclex\n\tfldcw %0\n\tfldz\n\tfld1\n\tfdivp" : : "m"(control));
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~0x0200u);
#endif
}

static void flush_and_fault(void)
{
    flush_denormals();
    null_write();
}

static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void steal_handlers(void)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_IGN);
}

static void log_bad_pointer(void)
{
    const CaliperLogV1 *log = kept_host->get_service(kept_host, CALIPER_LOG_V1);
    if (log != NULL)
        log->log(CALIPER_LOG_INFO, (const char *)(uintptr_t)16);
}

/* ---- With the bridge ---- */

static uint8_t some_pixels[64 * 64 * 4];

static CaliperTensor tensor_at(void *data, int64_t side_px)
{
    return (CaliperTensor){.struct_size = sizeof(CaliperTensor),
                           .data = data,
                           .dtype = CALIPER_DT_U8,
                           .ndim = 3,
                           .shape = {side_px, side_px, 4},
                           .strides = {side_px * 4, 4, 1},
                           .device = CALIPER_DEV_CPU};
}

static const CaliperTensorBridgeV1_2 *bridge(void)
{
    return kept_host->get_service(kept_host, CALIPER_TENSOR_BRIDGE_V1_2);
}

static void note(const char *what)
{
    const TestProbe *probe =
        kept_host != NULL ? kept_host->get_service(kept_host, TEST_PROBE) : NULL;
    if (probe != NULL)
        probe->note(what);
}

static void leak(void)
{
    CaliperTensor tensor = tensor_at(some_pixels, 64);
    CaliperTensor shared;
    CaliperTextureId id = 0;
    for (int i = 0; i < 10; i++)
        bridge()->texture_from_tensor(&tensor, 0);
    bridge()->alloc_shared(CALIPER_DT_U8, 3, tensor.shape, &shared, &id);
}

static void leak_and_fault(void)
{
    leak();
    null_write();
}

/* The tensor's memory is not there. */
static void tensor_nowhere(void)
{
    CaliperTensor tensor = tensor_at((void *)(uintptr_t)0x70000, 64);
    bridge()->texture_from_tensor(&tensor, 0);
}

/* Its first half is. */
static void tensor_half_there(void)
{
    size_t size_bytes = 512 * 512 * 4;
    char *map = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CaliperTensor tensor = tensor_at(map, 512);
    CaliperTextureId id = bridge()->texture_from_tensor(&tensor, 0);
    mprotect(map + size_bytes / 2, size_bytes / 2, PROT_NONE);
    bridge()->update_texture(id, &tensor);
}

static void *use_bridge(void *arg)
{
    CaliperTextureId *id = arg;
    const CaliperTextureReadV1 *read = kept_host->get_service(kept_host, CALIPER_TEXTURE_READ_V1);
    CaliperTensor tensor = tensor_at(some_pixels, 64);
    CaliperTensor shared;
    CaliperTextureId made = 0;
    int32_t width = 0;
    bool none = bridge()->texture_from_tensor(&tensor, 0) == 0;
    none = none && !bridge()->update_texture(*id, &tensor);
    none = none && !bridge()->alloc_shared(CALIPER_DT_U8, 3, tensor.shape, &shared, &made);
    none = none && bridge()->import_allocation(some_pixels, 4096, 2) == 0;
    none = none && !bridge()->update_texture_from_alloc(*id, 1, 0, &tensor);
    none = none && !read->size(*id, &width, &width);
    none = none && !read->read_rgba8(*id, some_pixels, sizeof some_pixels);
    bridge()->release_texture(*id);
    bridge()->free_shared(*id);
    bridge()->release_allocation(1);
    *id = none;
    return NULL;
}

static void bridge_from_a_thread(void)
{
    CaliperTensor tensor = tensor_at(some_pixels, 64);
    CaliperTextureId id = bridge()->texture_from_tensor(&tensor, 0);
    CaliperTextureId arg = id;
    pthread_t thread;
    pthread_create(&thread, NULL, use_bridge, &arg);
    pthread_join(thread, NULL);
    note(arg == 1 ? "refused on a thread" : "NOT refused on a thread");
    note(bridge()->update_texture(id, &tensor) ? "texture lives" : "texture is gone");
    bridge()->release_texture(id);
}

static void stale_ids(void)
{
    CaliperTensor tensor = tensor_at(some_pixels, 64);
    CaliperTextureId id = bridge()->texture_from_tensor(&tensor, 0);
    bridge()->release_texture(id);
    CaliperTextureId other = bridge()->texture_from_tensor(&tensor, 0);
    const CaliperTextureReadV1 *read = kept_host->get_service(kept_host, CALIPER_TEXTURE_READ_V1);
    const CaliperTextureId bad[] = {id, 0, 1, UINT64_MAX, other + 1, other ^ (1ull << 32), id << 1};
    bool refused = other != id;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int32_t width = 0;
        refused = refused && !bridge()->update_texture(bad[i], &tensor);
        refused = refused && !read->size(bad[i], &width, &width);
        refused = refused && !read->read_rgba8(bad[i], some_pixels, sizeof some_pixels);
        bridge()->release_texture(bad[i]);
        bridge()->free_shared(bad[i]);
    }
    note(refused ? "stale ids refused" : "stale ids NOT refused");
    note(bridge()->update_texture(other, &tensor) ? "texture lives" : "texture is gone");
    bridge()->release_texture(other);
}

static const struct {
    const char *name;
    Behaviour call;
} behaviours[] = {
    {"null_write", null_write},
    {"wild_read", wild_read},
    {"null_call", null_call},
    {"null_memcpy", null_memcpy},
    {"stack_overflow", stack_overflow},
    {"abort", abort_call},
    {"integer_divide", integer_divide},
    {"illegal", illegal},
    {"bus", bus},
    {"raise_segv", raise_segv},
    {"lost_stack", lost_stack},
    {"spin", spin},
    {"sleep", sleep_for_ever},
    {"deadlock", deadlock},
    {"flush_denormals", flush_denormals},
    {"flush_and_fault", flush_and_fault},
    {"trap_divisions", trap_divisions},
    {"block_signals", block_signals},
    {"steal_handlers", steal_handlers},
    {"log_bad_pointer", log_bad_pointer},
    {"leak", leak},
    {"leak_and_fault", leak_and_fault},
    {"tensor_nowhere", tensor_nowhere},
    {"tensor_half_there", tensor_half_there},
    {"bridge_from_a_thread", bridge_from_a_thread},
    {"stale_ids", stale_ids},
};

static void behave(const char *call)
{
    const char *wanted = getenv("TEST_BEHAVIOUR");
    const char *at = wanted != NULL ? strchr(wanted, '@') : NULL;
    if (at == NULL || strcmp(at + 1, call) != 0)
        return;
    for (size_t i = 0; i < sizeof behaviours / sizeof behaviours[0]; i++) {
        if (strlen(behaviours[i].name) == (size_t)(at - wanted) &&
            strncmp(behaviours[i].name, wanted, (size_t)(at - wanted)) == 0)
            behaviours[i].call();
    }
}

static int the_self;

static void *create(void)
{
    const char *wanted = getenv("TEST_BEHAVIOUR");
    behave("create");
    return wanted != NULL && strcmp(wanted, "null@create") == 0 ? NULL : &the_self;
}

static void destroy(void *self)
{
    (void)self;
    note("misbehaving destroy");
    behave("destroy");
}

static bool initialize(void *self, const CaliperHost *host)
{
    const char *wanted = getenv("TEST_BEHAVIOUR");
    (void)self;
    kept_host = host;
    behave("initialize");
    return wanted == NULL || strcmp(wanted, "false@initialize") != 0;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    (void)self;
    (void)info;
    behave("frame");
}

static void cleanup(void *self)
{
    (void)self;
    note("misbehaving cleanup");
    behave("cleanup");
}

static const CaliperAppletDescriptor descriptor = {.struct_size = sizeof descriptor,
                                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                                   .id = "org.caliper.test.misbehaving",
                                                   .version = "0.1.0",
                                                   .name = "Misbehaving",
                                                   .summary = "Does what it should not",
                                                   .tag = "test",
                                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                                           .create = create,
                                                           .destroy = destroy,
                                                           .initialize = initialize,
                                                           .frame = frame,
                                                           .cleanup = cleanup}};

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    behave("descriptor");
    return &descriptor;
}
