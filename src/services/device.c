/* caliper.device.v1: the processor, or what a provider offers. Detected once; see the header. */
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/log.h"
#include "services/device_service.h"

static pthread_mutex_t device_mutex = PTHREAD_MUTEX_INITIALIZER; /* provider and detection */
static DeviceProvider provider;
static bool has_provider;
static atomic_bool detected;
/* Written once, before `detected`. */
static CaliperDeviceKind found_kind;
static int32_t found_index;
static char found_name[DEVICE_NAME_BYTES];

void device_service_set_provider(const DeviceProvider *given)
{
    pthread_mutex_lock(&device_mutex);
    has_provider = given != NULL;
    if (given != NULL)
        provider = *given;
    pthread_mutex_unlock(&device_mutex);
}

bool device_wish_parse(const char *text, DeviceWish *out)
{
    *out = (DeviceWish){.any = true, .kind = CALIPER_DEV_CPU, .index = -1};
    if (text == NULL || text[0] == '\0')
        return true;
    out->any = false;
    if (strcmp(text, "cpu") == 0) {
        out->index = 0;
        return true;
    }
    if (strncmp(text, "cuda", 4) != 0)
        return false;
    out->kind = CALIPER_DEV_CUDA;
    if (text[4] == '\0')
        return true;
    const char *digits = text + 5;
    size_t length = strlen(digits);
    if (text[4] != ':' || length == 0 || length > 4 || strspn(digits, "0123456789") != length)
        return false;
    out->index = (int32_t)strtol(digits, NULL, 10);
    return true;
}

/* The whole of a small /proc file, NUL-terminated, cut at the buffer's size; "" if unreadable. */
static void proc_read(const char *path, char *out, size_t out_bytes)
{
    size_t used = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && used + 1 < out_bytes) {
        ssize_t got = read(fd, out + used, out_bytes - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    out[used] = '\0';
}

/* The text after `key`, blanks and a colon, of the first line that begins with it; NULL: none. */
static const char *line_value(const char *text, const char *key)
{
    size_t key_length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, key_length) == 0) {
            const char *value = line + key_length;
            value += strspn(value, " \t");
            if (*value == ':')
                return value + 1 + strspn(value + 1, " \t");
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return NULL;
}

void device_cpu_name(const char *cpuinfo, const char *fallback, char *out, size_t out_bytes)
{
    const char *value = line_value(cpuinfo, "model name");
    size_t length = value != NULL ? strcspn(value, "\n") : 0;
    while (length > 0 && isspace((unsigned char)value[length - 1]))
        length--;
    if (length == 0)
        snprintf(out, out_bytes, "%s", fallback);
    else
        snprintf(out, out_bytes, "%.*s", (int)length, value);
}

uint64_t device_available_bytes(const char *meminfo)
{
    const char *value = line_value(meminfo, "MemAvailable");
    if (value == NULL || !isdigit((unsigned char)*value))
        return 0;
    uint64_t kib = strtoull(value, NULL, 10);
    return kib > UINT64_MAX / 1024u ? 0 : kib * 1024u;
}

static void take_processor(void)
{
    char cpuinfo[8192];
    proc_read("/proc/cpuinfo", cpuinfo, sizeof cpuinfo);
    struct utsname machine;
    const char *fallback = uname(&machine) == 0 ? machine.machine : "CPU";
    found_kind = CALIPER_DEV_CPU;
    found_index = 0;
    device_cpu_name(cpuinfo, fallback, found_name, sizeof found_name);
}

static bool take_provided(const DeviceWish *wish, char *error, size_t error_bytes)
{
    if (!has_provider || (!wish->any && provider.kind != wish->kind)) {
        snprintf(error, error_bytes, "this build or machine has none");
        return false;
    }
    int32_t index = 0;
    if (!provider.take(provider.user, wish->index, &index, found_name, sizeof found_name, error,
                       error_bytes))
        return false;
    found_name[sizeof found_name - 1] = '\0';
    found_kind = provider.kind;
    found_index = provider.kind == CALIPER_DEV_CUDA ? index : 0;
    return true;
}

/* With device_mutex held. */
static bool detect_locked(const char *wanted)
{
    if (wanted == NULL || wanted[0] == '\0')
        wanted = getenv("CALIPER_DEVICE");
    DeviceWish wish;
    char error[256] = "";
    bool readable = device_wish_parse(wanted, &wish);
    if (!readable) {
        log_item(DEVICE_WISH_REFUSED, wanted);
        take_processor();
    } else if (!wish.any && wish.kind == CALIPER_DEV_CPU) {
        take_processor();
    } else if (!take_provided(&wish, error, sizeof error)) {
        take_processor();
        if (!wish.any)
            log_item(DEVICE_WISH_NOT_MET, wanted, error, found_name);
    }
    static const char *const kind_names[] = {"cpu", "cuda", "metal"};
    log_item(DEVICE_FOUND, kind_names[found_kind], (int)found_index, found_name);
    atomic_store_explicit(&detected, true, memory_order_release);
    return readable;
}

bool device_service_detect(const char *wanted)
{
    bool ok = true;
    pthread_mutex_lock(&device_mutex);
    if (!atomic_load_explicit(&detected, memory_order_acquire))
        ok = detect_locked(wanted);
    pthread_mutex_unlock(&device_mutex);
    return ok;
}

static CaliperDeviceKind service_kind(void)
{
    return found_kind;
}

static int32_t service_index(void)
{
    return found_index;
}

static const char *service_name(void)
{
    return found_name;
}

static uint64_t service_free_memory_hint(void)
{
    if (found_kind == CALIPER_DEV_CPU) {
        char meminfo[4096];
        proc_read("/proc/meminfo", meminfo, sizeof meminfo);
        return device_available_bytes(meminfo);
    }
    return provider.free_bytes != NULL ? provider.free_bytes(provider.user) : 0;
}

static const CaliperDeviceV1 table = {.struct_size = sizeof table,
                                      .kind = service_kind,
                                      .index = service_index,
                                      .name = service_name,
                                      .free_memory_hint = service_free_memory_hint};

const CaliperDeviceV1 *device_service_table(void)
{
    if (!atomic_load_explicit(&detected, memory_order_acquire))
        device_service_detect(NULL);
    return &table;
}

void device_service_reset(void)
{
    pthread_mutex_lock(&device_mutex);
    has_provider = false;
    atomic_store(&detected, false);
    pthread_mutex_unlock(&device_mutex);
}
