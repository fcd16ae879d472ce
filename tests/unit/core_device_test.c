/* caliper.device.v1: wishes, the processor's facts, a provider. /proc texts are written out here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "services/device_service.h"

static uint32_t refused, not_met;

static void count(void *user, const LogEntry *entry)
{
    (void)user;
    refused += entry->item == LOG_DEVICE_WISH_REFUSED ? 1u : 0u;
    not_met += entry->item == LOG_DEVICE_WISH_NOT_MET ? 1u : 0u;
}

static int begin(void **state)
{
    (void)state;
    device_service_reset();
    unsetenv("CALIPER_DEVICE");
    refused = 0;
    not_met = 0;
    return 0;
}

static void test_wishes(void **state)
{
    (void)state;
    DeviceWish wish;
    assert_true(device_wish_parse(NULL, &wish) && wish.any);
    assert_true(device_wish_parse("", &wish) && wish.any);
    assert_true(device_wish_parse("cpu", &wish) && !wish.any && wish.kind == CALIPER_DEV_CPU);
    assert_true(device_wish_parse("cuda", &wish) && !wish.any && wish.kind == CALIPER_DEV_CUDA &&
                wish.index == -1);
    assert_true(device_wish_parse("cuda:0", &wish) && wish.index == 0);
    assert_true(device_wish_parse("cuda:17", &wish) && wish.index == 17);
    static const char *const bad[] = {"CPU",        "gpu",     "cuda:",  "cuda:x", "cuda:1x",
                                      "cuda:-1",    "cuda 1",  "cuda1",  " cpu",   "cpu:0",
                                      "cuda:99999", "cuda: 1", "cuda:+1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(device_wish_parse(bad[i], &wish));
}

static void test_proc_texts(void **state)
{
    (void)state;
    char name[32];
    device_cpu_name("processor\t: 0\nvendor_id\t: X\nmodel name\t: A Chip @ 2 GHz  \nflags\t: a\n"
                    "model name\t: another\n",
                    "none", name, sizeof name);
    assert_string_equal(name, "A Chip @ 2 GHz");
    device_cpu_name("processor\t: 0\nBogoMIPS\t: 50\n", "aarch64", name, sizeof name);
    assert_string_equal(name, "aarch64");
    device_cpu_name("", "aarch64", name, sizeof name);
    assert_string_equal(name, "aarch64");
    device_cpu_name("model name\t:\n", "x", name, sizeof name);
    assert_string_equal(name, "x");
    device_cpu_name("model name : 0123456789012345678901234567890123456789", "x", name,
                    sizeof name);
    assert_string_equal(name, "0123456789012345678901234567890");
    assert_int_equal(device_available_bytes("MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:   "
                                            "8049396 kB\nBuffers: 2 kB\n"),
                     8049396ull * 1024ull);
    assert_int_equal(device_available_bytes("MemTotal: 100 kB\n"), 0);
    assert_int_equal(device_available_bytes("MemAvailable:\n"), 0);
    assert_int_equal(device_available_bytes("MemAvailable: 99999999999999999999 kB"), 0);
}

static void test_the_processor(void **state)
{
    (void)state;
    const CaliperDeviceV1 *device = device_service_table();
    assert_int_equal(device->struct_size, 40);
    assert_int_equal(device->kind(), CALIPER_DEV_CPU);
    assert_int_equal(device->index(), 0);
    assert_true(device->name()[0] != '\0');
    assert_ptr_equal(device->name(), device->name());
    assert_true(device->free_memory_hint() > 0);
}

static bool take_ok;
static int32_t take_wanted;

static bool take(void *user, int32_t wanted_index, int32_t *out_index, char *name,
                 size_t name_bytes, char *error, size_t error_bytes)
{
    assert_ptr_equal(user, &take_ok);
    take_wanted = wanted_index;
    if (!take_ok) {
        snprintf(error, error_bytes, "the driver is asleep");
        return false;
    }
    *out_index = wanted_index >= 0 ? wanted_index : 2;
    snprintf(name, name_bytes, "Test GPU");
    return true;
}

static uint64_t free_bytes(void *user)
{
    (void)user;
    return 12345;
}

static void test_a_provider(void **state)
{
    (void)state;
    static const struct {
        const char *wanted, *variable;
        bool works, ok;
        CaliperDeviceKind kind;
        int32_t asked, index;
        uint32_t refused, not_met;
    } cases[] = {
        {NULL, NULL, true, true, CALIPER_DEV_CUDA, -1, 2, 0, 0},
        {NULL, NULL, false, true, CALIPER_DEV_CPU, -1, 0, 0, 0}, /* nothing was asked for */
        {"cuda", NULL, true, true, CALIPER_DEV_CUDA, -1, 2, 0, 0},
        {"cuda:1", NULL, true, true, CALIPER_DEV_CUDA, 1, 1, 0, 0},
        {"cuda:1", NULL, false, true, CALIPER_DEV_CPU, 1, 0, 0, 1},
        {"cpu", NULL, true, true, CALIPER_DEV_CPU, -9, 0, 0, 0},
        {NULL, "cpu", true, true, CALIPER_DEV_CPU, -9, 0, 0, 0},
        {"cuda:3", "cpu", true, true, CALIPER_DEV_CUDA, 3, 3, 0, 0},
        {"toaster", NULL, true, false, CALIPER_DEV_CPU, -9, 0, 1, 0},
        {NULL, "toaster", true, false, CALIPER_DEV_CPU, -9, 0, 1, 0},
    };
    DeviceProvider provider = {
        .kind = CALIPER_DEV_CUDA, .user = &take_ok, .take = take, .free_bytes = free_bytes};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(NULL);
        take_ok = cases[i].works;
        take_wanted = -9;
        if (cases[i].variable != NULL)
            setenv("CALIPER_DEVICE", cases[i].variable, 1);
        device_service_set_provider(&provider);
        assert_int_equal(device_service_detect(cases[i].wanted), cases[i].ok);
        const CaliperDeviceV1 *device = device_service_table();
        assert_int_equal(device->kind(), cases[i].kind);
        assert_int_equal(device->index(), cases[i].index);
        assert_int_equal(take_wanted, cases[i].asked);
        assert_int_equal(refused, cases[i].refused);
        assert_int_equal(not_met, cases[i].not_met);
        bool cuda = cases[i].kind == CALIPER_DEV_CUDA;
        assert_int_equal(strcmp(device->name(), "Test GPU") == 0, cuda);
        assert_int_equal(device->free_memory_hint() == 12345, cuda);
        /* Detected once. */
        assert_true(device_service_detect("cpu"));
        assert_int_equal(device->kind(), cases[i].kind);
    }
}

int main(void)
{
    log_stderr_enable(false);
    log_sink_add(count, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_wishes, begin),
        cmocka_unit_test_setup(test_proc_texts, begin),
        cmocka_unit_test_setup(test_the_processor, begin),
        cmocka_unit_test_setup(test_a_provider, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
