/* An applet whose descriptor lies, one lie a time: TEST_LIE names it. Built without sanitizers. */
#include <caliper/abi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int the_self;

static void *create(void)
{
    return &the_self;
}

static void take_self(void *self)
{
    (void)self;
}

static bool initialize(void *self, const CaliperHost *host)
{
    (void)self;
    return host != NULL;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    (void)self;
    (void)info;
}

static CaliperAppletDescriptor descriptor;
static char long_text[5000];
static const char *many_services[10000];

/* Text that ends with the last byte of readable memory, without a NUL. */
static const char *unterminated(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(map + page, page, PROT_NONE);
    memset(map + page - 16, 'a', 16);
    return map + page - 16;
}

static bool is(const char *lie)
{
    const char *wanted = getenv("TEST_LIE");
    return wanted != NULL && strcmp(wanted, lie) == 0;
}

/* A descriptor whose first bytes are the last ones that can be read. */
static const CaliperAppletDescriptor *at_the_end(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(map + page, page, PROT_NONE);
    void *at = map + page - 8;
    memcpy(at, &descriptor, 8);
    return at;
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);
CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const missing[] = {"org.caliper.test.no_such_service", NULL};
    static const char *const wild[] = {"org.caliper.test.a", (const char *)16, NULL};
    memset(long_text, 'a', sizeof long_text - 1);
    for (size_t i = 0; i < sizeof many_services / sizeof many_services[0]; i++)
        many_services[i] = "caliper.log.v1";
    CaliperAppletDescriptor *d = &descriptor;
    *d = (CaliperAppletDescriptor){.struct_size = sizeof *d,
                                   .abi_epoch = CALIPER_ABI_EPOCH,
                                   .id = "org.caliper.test.lying",
                                   .version = "1.0.0",
                                   .name = "Lying",
                                   .summary = "Not what it says",
                                   .tag = "test",
                                   .api = {.struct_size = sizeof(CaliperAppletAPI),
                                           .create = create,
                                           .destroy = take_self,
                                           .initialize = initialize,
                                           .frame = frame,
                                           .cleanup = take_self}};
    if (is("null descriptor"))
        return NULL;
    if (is("wild descriptor"))
        return (const CaliperAppletDescriptor *)(uintptr_t)0x70000u;
    if (is("struct_size 0"))
        d->struct_size = 0;
    if (is("struct_size 8"))
        d->struct_size = 8;
    if (is("struct_size 8 at the end of memory")) {
        d->struct_size = 8;
        return at_the_end();
    }
    if (is("struct_size 103"))
        d->struct_size = 103;
    if (is("struct_size huge"))
        d->struct_size = 0xffffffffu;
    if (is("larger struct")) /* no lie: a later revision */
        d->struct_size = sizeof *d + 8;
    if (is("epoch 1"))
        d->abi_epoch = 1;
    if (is("epoch 3"))
        d->abi_epoch = 3;
    if (is("id NULL"))
        d->id = NULL;
    if (is("id empty"))
        d->id = "";
    if (is("id one word"))
        d->id = "viewer";
    if (is("id path"))
        d->id = "../../etc.passwd";
    if (is("id dots"))
        d->id = "org..viewer";
    if (is("id wild"))
        d->id = (const char *)16;
    if (is("id unterminated"))
        d->id = unterminated();
    if (is("id long"))
        d->id = long_text;
    if (is("version NULL"))
        d->version = NULL;
    if (is("version two numbers"))
        d->version = "1.0";
    if (is("name NULL"))
        d->name = NULL;
    if (is("name empty"))
        d->name = "";
    if (is("name not UTF-8"))
        d->name = "\xff\xfe";
    if (is("name two lines"))
        d->name = "a\nb";
    if (is("summary long"))
        d->summary = long_text;
    if (is("summary NULL")) /* nothing that a host needs */
        d->summary = NULL;
    if (is("tag NULL"))
        d->tag = NULL;
    if (is("service missing"))
        d->required_services = missing;
    if (is("service wild"))
        d->required_services = wild;
    if (is("services unterminated"))
        d->required_services = many_services;
    if (is("api.struct_size 0"))
        d->api.struct_size = 0;
    if (is("api.struct_size huge"))
        d->api.struct_size = 0xffffffffu;
    if (is("create NULL"))
        d->api.create = NULL;
    if (is("destroy NULL"))
        d->api.destroy = NULL;
    if (is("initialize NULL"))
        d->api.initialize = NULL;
    if (is("frame NULL"))
        d->api.frame = NULL;
    if (is("cleanup NULL"))
        d->api.cleanup = NULL;
    return d;
}
