/* test_helpers.c: the inline helpers of caliper.h against hosts that lack one thing after another.
 *
 * The fake host answers what the test put into its two pointers. Single-threaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <caliper/caliper.h>

static CaliperDeviceV1 device_table;
static CaliperLogV1 log_table;
static const void *offered_device;
static const void *offered_log;
static CaliperLogLevel last_level;
static char last_line[2048];
static int lines;

static CaliperDeviceKind kind_cuda(void)
{
    return CALIPER_DEV_CUDA;
}
static CaliperDeviceKind kind_metal(void)
{
    return CALIPER_DEV_METAL;
}
static CaliperDeviceKind kind_from_the_future(void)
{
    return (CaliperDeviceKind)3;
}
static int32_t index_two(void)
{
    return 2;
}
static const char *name_given(void)
{
    return "A Device";
}
static const char *name_null(void)
{
    return NULL;
}
static uint64_t free_given(void)
{
    return 1234567890123u;
}

static void keep_line(CaliperLogLevel level, const char *text)
{
    lines++;
    last_level = level;
    strncpy(last_line, text != NULL ? text : "(null)", sizeof(last_line) - 1);
}

static const void *find(const CaliperHost *host, const char *service_id)
{
    assert_non_null(host);
    if (strcmp(service_id, "caliper.device.v1") == 0) {
        return offered_device;
    }
    return strcmp(service_id, "caliper.log.v1") == 0 ? offered_log : NULL;
}

static const CaliperHost host = {sizeof(CaliperHost), CALIPER_ABI_EPOCH, 0, "", find};

static int set_up(void **state)
{
    (void)state;
    device_table =
        (CaliperDeviceV1){sizeof(CaliperDeviceV1), kind_cuda, index_two, name_given, free_given};
    log_table = (CaliperLogV1){sizeof(CaliperLogV1), keep_line};
    offered_device = &device_table;
    offered_log = &log_table;
    lines = 0;
    memset(last_line, 0, sizeof(last_line));
    return 0;
}

static void assert_device(const CaliperHost *asked, CaliperDeviceKind kind, int32_t index,
                          const char *name, uint64_t free_bytes)
{
    CaliperDeviceSnapshot found = caliper_device_snapshot(asked);
    assert_int_equal(found.kind, kind);
    assert_int_equal(found.index, index);
    assert_string_equal(found.name, name);
    assert_true(found.free_memory_bytes == free_bytes);
}

static void test_service_needs_host_id_and_size(void **state)
{
    CaliperHost short_host = host;
    CaliperHost empty_host = host;
    (void)state;
    assert_ptr_equal(CALIPER_SERVICE(&host, CaliperLogV1, CALIPER_LOG_V1), &log_table);
    assert_null(CALIPER_SERVICE(&host, CaliperJobsV1, CALIPER_JOBS_V1));
    assert_null(CALIPER_SERVICE(NULL, CaliperLogV1, CALIPER_LOG_V1));
    assert_null(caliper_service(&host, NULL, 4));
    log_table.struct_size = sizeof(CaliperLogV1) - 1;
    assert_null(CALIPER_SERVICE(&host, CaliperLogV1, CALIPER_LOG_V1));
    log_table.struct_size = sizeof(CaliperLogV1) + 8;
    assert_ptr_equal(CALIPER_SERVICE(&host, CaliperLogV1, CALIPER_LOG_V1), &log_table);
    short_host.struct_size = offsetof(CaliperHost, get_service);
    assert_null(CALIPER_SERVICE(&short_host, CaliperLogV1, CALIPER_LOG_V1));
    empty_host.get_service = NULL;
    assert_null(CALIPER_SERVICE(&empty_host, CaliperLogV1, CALIPER_LOG_V1));
}

static void test_device_in_full(void **state)
{
    (void)state;
    assert_device(&host, CALIPER_DEV_CUDA, 2, "A Device", 1234567890123u);
}

static void test_device_without_service_is_the_cpu(void **state)
{
    (void)state;
    assert_device(NULL, CALIPER_DEV_CPU, 0, "CPU", 0);
    offered_device = NULL;
    assert_device(&host, CALIPER_DEV_CPU, 0, "CPU", 0);
}

static void test_device_with_a_slot_missing(void **state)
{
    (void)state;
    device_table.kind = NULL;
    assert_device(&host, CALIPER_DEV_CPU, 0, "CPU", 0);
    set_up(NULL);
    device_table.kind = kind_from_the_future;
    assert_device(&host, CALIPER_DEV_CPU, 0, "CPU", 0);
    set_up(NULL);
    device_table.index = NULL;
    assert_device(&host, CALIPER_DEV_CUDA, 0, "A Device", 1234567890123u);
    set_up(NULL);
    device_table.name = NULL;
    assert_device(&host, CALIPER_DEV_CUDA, 2, "CUDA", 1234567890123u);
    device_table.name = name_null;
    device_table.kind = kind_metal;
    assert_device(&host, CALIPER_DEV_METAL, 2, "Metal", 1234567890123u);
    set_up(NULL);
    device_table.free_memory_hint = NULL;
    assert_device(&host, CALIPER_DEV_CUDA, 2, "A Device", 0);
}

static void test_device_reads_nothing_past_struct_size(void **state)
{
    (void)state;
    device_table.struct_size = 4;
    assert_device(&host, CALIPER_DEV_CPU, 0, "CPU", 0);
    device_table.struct_size = 16;
    assert_device(&host, CALIPER_DEV_CUDA, 0, "CUDA", 0);
    device_table.struct_size = 24;
    assert_device(&host, CALIPER_DEV_CUDA, 2, "CUDA", 0);
    device_table.struct_size = 39;
    assert_device(&host, CALIPER_DEV_CUDA, 2, "A Device", 0);
    device_table.struct_size = 3;
    assert_device(&host, CALIPER_DEV_CPU, 0, "CPU", 0);
}

static void test_tensor_f32(void **state)
{
    static const float data[15];
    CaliperTensor t = caliper_tensor_f32_2d(data, 3, 5);
    (void)state;
    assert_int_equal(t.struct_size, 168);
    assert_ptr_equal(t.data, data);
    assert_int_equal(t.dtype, 0);
    assert_int_equal(t.ndim, 2);
    assert_int_equal(t.shape[0], 3);
    assert_int_equal(t.shape[1], 5);
    assert_int_equal(t.shape[2], 0);
    assert_int_equal(t.strides[0], 5);
    assert_int_equal(t.strides[1], 1);
    assert_int_equal(t.strides[2], 0);
    assert_int_equal(t.device, 0);
    assert_int_equal(t.device_index, 0);
    assert_null(t.stream);
}

static void test_tensor_u8(void **state)
{
    static const uint8_t data[7 * 9 * 4];
    CaliperTensor t = caliper_tensor_u8_3d(data, 7, 9, 4);
    (void)state;
    assert_int_equal(t.dtype, 5);
    assert_int_equal(t.ndim, 3);
    assert_int_equal(t.shape[0], 7);
    assert_int_equal(t.shape[1], 9);
    assert_int_equal(t.shape[2], 4);
    assert_int_equal(t.strides[0], 36);
    assert_int_equal(t.strides[1], 4);
    assert_int_equal(t.strides[2], 1);
}

static void test_tensor_of_odd_ranks(void **state)
{
    int64_t ones[9] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    int64_t huge[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
    CaliperTensor t = caliper_tensor_contiguous(NULL, CALIPER_DT_I64, 9, ones);
    (void)state;
    assert_int_equal(t.ndim, 8);
    assert_int_equal(t.strides[0], 128);
    t = caliper_tensor_contiguous(NULL, CALIPER_DT_I64, 0, NULL);
    assert_int_equal(t.ndim, 0);
    t = caliper_tensor_contiguous(NULL, CALIPER_DT_I64, -1, NULL);
    assert_int_equal(t.ndim, -1); /* left for the host to refuse */
    t = caliper_tensor_contiguous(NULL, CALIPER_DT_I64, 3, huge);
    assert_int_equal(t.strides[1], INT64_MAX);
}

static void test_log_lines(void **state)
{
    char long_text[3000];
    (void)state;
    caliper_log(&host, CALIPER_LOG_WARN, "plain 100%s");
    assert_int_equal(lines, 1);
    assert_int_equal(last_level, 2);
    assert_string_equal(last_line, "plain 100%s");
    caliper_logf(&host, CALIPER_LOG_ERROR, "%d of %s", 3, "four");
    assert_int_equal(lines, 2);
    assert_int_equal(last_level, 3);
    assert_string_equal(last_line, "3 of four");
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    caliper_logf(&host, CALIPER_LOG_INFO, "%s", long_text);
    assert_int_equal(strlen(last_line), 1023);
}

static void test_log_that_is_not_there(void **state)
{
    (void)state;
    caliper_log(NULL, CALIPER_LOG_INFO, "nobody hears");
    log_table.log = NULL;
    caliper_log(&host, CALIPER_LOG_INFO, "nobody hears");
    offered_log = NULL;
    caliper_logf(&host, CALIPER_LOG_INFO, "nobody %s", "hears");
    assert_int_equal(lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_service_needs_host_id_and_size, set_up),
        cmocka_unit_test_setup(test_device_in_full, set_up),
        cmocka_unit_test_setup(test_device_without_service_is_the_cpu, set_up),
        cmocka_unit_test_setup(test_device_with_a_slot_missing, set_up),
        cmocka_unit_test_setup(test_device_reads_nothing_past_struct_size, set_up),
        cmocka_unit_test_setup(test_tensor_f32, set_up),
        cmocka_unit_test_setup(test_tensor_u8, set_up),
        cmocka_unit_test_setup(test_tensor_of_odd_ranks, set_up),
        cmocka_unit_test_setup(test_log_lines, set_up),
        cmocka_unit_test_setup(test_log_that_is_not_there, set_up),
    };
    return cmocka_run_group_tests_name("caliper.h helpers", tests, NULL, NULL);
}
