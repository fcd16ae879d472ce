/* An applet that does what TEST_BEHAVIOUR says, "<what>@<call>": e.g. "null_write@frame" faults in
 * its first frame(). Calls: descriptor, create, initialize, frame, cleanup, destroy. Built without
 * sanitizers, which would stop the process before the fault happens. */
#include <caliper/abi.h>
#include <caliper/services/log_v1.h>
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

static void null_memcpy(void)
{
    char *volatile to = NULL;
    char from[64] = "x";
    volatile size_t size_bytes = sizeof from;
    memcpy(to, from, size_bytes);
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

static void note(const char *what)
{
    const TestProbe *probe =
        kept_host != NULL ? kept_host->get_service(kept_host, TEST_PROBE) : NULL;
    if (probe != NULL)
        probe->note(what);
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
