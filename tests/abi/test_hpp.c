/* test_hpp.c: runs applets made with caliper.hpp against a fake host.
 *
 * The host leaves out services and slots one by one, and the applet throws in each of its calls:
 * nothing may be called that is not there, every texture must be released while services live, and
 * no exception may come out. argv: the test applet, the bare applet. Single-threaded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "hpp_probe.h"

static const char *applet_path;
static const char *bare_path;

static Probe probe;
static bool services_live; /* from initialize until cleanup has returned */
static char last_error_line[256];
static int error_lines;
static int textures_made, textures_released, shared_made, shared_freed, imports, imports_released;
static char left_out[64]; /* id of the service the host does not offer */

static void keep_line(CaliperLogLevel level, const char *text)
{
    assert_true(services_live);
    if (level == CALIPER_LOG_ERROR) {
        error_lines++;
        snprintf(last_error_line, sizeof(last_error_line), "%s", text);
    }
}

static CaliperDeviceKind device_kind(void)
{
    return CALIPER_DEV_CUDA;
}
static int32_t device_index(void)
{
    return 1;
}
static const char *device_name(void)
{
    return "Fake Device";
}
static uint64_t device_free(void)
{
    return 42;
}

static CaliperTextureId make_direct(const CaliperTensor *t, uint32_t flags)
{
    assert_true(services_live);
    assert_int_equal(t->ndim, 3);
    assert_int_equal(flags, 0);
    textures_made++;
    return 101;
}
static bool update(CaliperTextureId id, const CaliperTensor *t)
{
    assert_true(services_live && t != NULL);
    return id == 101 || id == 103;
}
static void release(CaliperTextureId id)
{
    assert_true(services_live);
    assert_true(id == 101 || id == 102);
    textures_released++;
}
static CaliperTextureId make_mapped(const CaliperTensor *t, int32_t colormap, float vmin,
                                    float vmax, uint32_t flags)
{
    assert_true(services_live);
    assert_int_equal(t->ndim, 2);
    assert_int_equal(colormap, 1);
    assert_true(vmin == 0.0f && vmax == 1.0f && flags == 0);
    textures_made++;
    return 102;
}
static bool make_shared(CaliperDType dtype, int32_t ndim, const int64_t *shape,
                        CaliperTensor *out_tensor, CaliperTextureId *out_texture)
{
    static float memory[6];
    assert_true(services_live);
    assert_true(dtype == CALIPER_DT_F32 && ndim == 2 && shape[0] == 2 && shape[1] == 3);
    *out_tensor = caliper_tensor_f32_2d(memory, 2, 3);
    *out_texture = 103;
    shared_made++;
    return true;
}
static void free_shared(CaliperTextureId id)
{
    assert_true(services_live);
    assert_int_equal(id, 103);
    shared_freed++;
}
static uint32_t caps_of_v1_1(void)
{
    return CALIPER_BRIDGE_CAP_STREAM_ORDERED;
}
static uint32_t caps_of_v1_2(void)
{
    return CALIPER_BRIDGE_CAP_STREAM_ORDERED | CALIPER_BRIDGE_CAP_IMPORT_ALLOC;
}
static CaliperAllocId import(void *handle, uint64_t size_bytes, uint32_t type)
{
    assert_true(services_live && handle == NULL && size_bytes == 4096 && type == 2);
    imports++;
    return 201;
}
static void release_import(CaliperAllocId id)
{
    assert_true(services_live);
    imports_released += id == 201;
}
static bool update_from(CaliperTextureId id, CaliperAllocId alloc, uint64_t offset_bytes,
                        const CaliperTensor *desc)
{
    return services_live && id == 101 && alloc == 201 && offset_bytes == 16 && desc->ndim == 3;
}
static bool read_size(CaliperTextureId id, int32_t *out_w, int32_t *out_h)
{
    assert_true(services_live);
    *out_w = 3;
    *out_h = 2;
    return id == 101;
}
static bool read_pixels(CaliperTextureId id, uint8_t *dst, uint64_t dst_bytes)
{
    assert_true(services_live && id == 101);
    assert_int_equal(dst_bytes, 24);
    memset(dst, 77, 24);
    return true;
}

static CaliperLogV1 log_table;
static CaliperDeviceV1 device_table;
static CaliperTensorBridgeV1 bridge_v1;
static CaliperTensorBridgeV1_1 bridge_v1_1;
static CaliperTensorBridgeV1_2 bridge_v1_2;
static CaliperTextureReadV1 read_table;

static const struct {
    const char *id;
    void *table;
    size_t size;
} services[] = {
    {CALIPER_LOG_V1, &log_table, sizeof(log_table)},
    {CALIPER_DEVICE_V1, &device_table, sizeof(device_table)},
    {CALIPER_TENSOR_BRIDGE_V1, &bridge_v1, sizeof(bridge_v1)},
    {CALIPER_TENSOR_BRIDGE_V1_1, &bridge_v1_1, sizeof(bridge_v1_1)},
    {CALIPER_TENSOR_BRIDGE_V1_2, &bridge_v1_2, sizeof(bridge_v1_2)},
    {CALIPER_TEXTURE_READ_V1, &read_table, sizeof(read_table)},
};
enum { SERVICE_COUNT = sizeof(services) / sizeof(services[0]) };

static const void *find(const CaliperHost *host, const char *id)
{
    assert_true(host != NULL && services_live);
    for (int i = 0; i < SERVICE_COUNT; i++) {
        if (strcmp(id, services[i].id) == 0 && strcmp(id, left_out) != 0) {
            return services[i].table;
        }
    }
    return NULL;
}

static const CaliperHost host = {sizeof(CaliperHost), CALIPER_ABI_EPOCH, 0x00010203, "/data/here",
                                 find};

static int set_up(void **state)
{
    char address[32];
    (void)state;
    log_table = (CaliperLogV1){sizeof(log_table), keep_line};
    device_table = (CaliperDeviceV1){sizeof(device_table), device_kind, device_index, device_name,
                                     device_free};
    bridge_v1 = (CaliperTensorBridgeV1){sizeof(bridge_v1), make_direct, update,     release,
                                        make_mapped,       make_shared, free_shared};
    bridge_v1_1 =
        (CaliperTensorBridgeV1_1){sizeof(bridge_v1_1), make_direct, update,      release,
                                  make_mapped,         make_shared, free_shared, caps_of_v1_1};
    bridge_v1_2 = (CaliperTensorBridgeV1_2){
        sizeof(bridge_v1_2), make_direct,  update, release,        make_mapped, make_shared,
        free_shared,         caps_of_v1_2, import, release_import, update_from};
    read_table = (CaliperTextureReadV1){sizeof(read_table), read_size, read_pixels};
    memset(&probe, 0, sizeof(probe));
    probe.struct_size = sizeof(probe);
    left_out[0] = '\0';
    last_error_line[0] = '\0';
    error_lines = textures_made = textures_released = shared_made = shared_freed = 0;
    imports = imports_released = 0;
    services_live = false;
    snprintf(address, sizeof(address), "%p", (void *)&probe);
    return setenv(PROBE_VARIABLE, address, 1);
}

static const CaliperAppletDescriptor *load(const char *path, void **out_library)
{
    union {
        void *object;
        CaliperDescriptorFn function;
    } symbol;
    *out_library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*out_library == NULL) {
        fail_msg("%s", dlerror());
    }
    symbol.object = dlsym(*out_library, CALIPER_DESCRIPTOR_SYMBOL);
    assert_non_null(symbol.object);
    return symbol.function();
}

/* One whole life with two frames. Answers what initialize answered. */
static bool live(void)
{
    const CaliperFrameInfo info = {sizeof(info), 1, 1, 1.0f, 0.0, 0.01};
    void *library = NULL;
    const CaliperAppletDescriptor *applet = load(applet_path, &library);
    void *self = applet->api.create();
    bool ready;
    assert_non_null(self);
    services_live = true;
    ready = applet->api.initialize(self, &host);
    if (ready) {
        applet->api.frame(self, &info);
        applet->api.frame(self, &info);
        applet->api.cleanup(self);
    }
    services_live = false;
    applet->api.destroy(self);
    assert_int_equal(dlclose(library), 0);
    assert_int_equal(probe.objects, 0);
    assert_int_equal(textures_released, textures_made);
    assert_int_equal(shared_freed, shared_made);
    assert_int_equal(imports_released, imports);
    return ready;
}

static void test_descriptor(void **state)
{
    void *library = NULL;
    const CaliperAppletDescriptor *applet = load(applet_path, &library);
    (void)state;
    assert_int_equal(applet->struct_size, 104);
    assert_int_equal(applet->abi_epoch, 2);
    assert_string_equal(applet->id, "org.caliper.tests.hpp");
    assert_string_equal(applet->version, "1.2.3");
    assert_string_equal(applet->name, "Hpp");
    assert_string_equal(applet->summary, "Tries caliper.hpp");
    assert_string_equal(applet->tag, "test");
    assert_string_equal(applet->required_services[0], "caliper.log.v1");
    assert_string_equal(applet->required_services[1], "caliper.tensor_bridge.v1");
    assert_null(applet->required_services[2]);
    assert_int_equal(applet->api.struct_size, 48);
    assert_non_null(applet->api.create);
    assert_non_null(applet->api.destroy);
    assert_non_null(applet->api.initialize);
    assert_non_null(applet->api.frame);
    assert_non_null(applet->api.cleanup);
    dlclose(library);
}

static void test_bare_applet(void **state)
{
    const CaliperFrameInfo info = {sizeof(info), 1, 1, 1.0f, 0.0, 0.01};
    void *library = NULL;
    const CaliperAppletDescriptor *applet = load(bare_path, &library);
    void *self = applet->api.create();
    (void)state;
    assert_null(applet->required_services[0]);
    services_live = true;
    assert_true(applet->api.initialize(self, &host));
    applet->api.frame(self, &info);
    applet->api.cleanup(self);
    applet->api.frame(self, &info); /* too late: nothing happens */
    services_live = false;
    applet->api.destroy(self);
    dlclose(library);
}

static void test_everything_there(void **state)
{
    (void)state;
    assert_true(live());
    assert_int_equal(probe.host_version, 0x00010203);
    assert_string_equal(probe.data_dir, "/data/here");
    assert_int_equal(probe.device_kind, 1);
    assert_int_equal(probe.device_index, 1);
    assert_string_equal(probe.device_name, "Fake Device");
    assert_true(probe.device_free_bytes == 42);
    assert_true(probe.has_log && probe.has_bridge && probe.has_read);
    assert_int_equal(probe.bridge_revision, 2);
    assert_int_equal(probe.caps, 3);
    assert_int_equal(probe.direct, 101);
    assert_int_equal(probe.mapped, 102);
    assert_int_equal(probe.shared, 103);
    assert_true(probe.direct_updated && probe.shared_updated && probe.moved_is_empty);
    assert_int_equal(probe.alloc, 201);
    assert_true(probe.updated_from_alloc);
    assert_int_equal(probe.read_width, 3);
    assert_int_equal(probe.read_height, 2);
    assert_int_equal(probe.read_bytes, 24);
    assert_int_equal(probe.read_first, 77);
    assert_int_equal(probe.frames, 2);
    assert_int_equal(probe.cleanups, 1);
    assert_int_equal(textures_made, 2);
    assert_int_equal(shared_made, 1);
    assert_int_equal(imports, 1);
    assert_int_equal(error_lines, 0);
}

static void test_each_service_left_out(void **state)
{
    for (int i = 0; i < SERVICE_COUNT; i++) {
        set_up(state);
        snprintf(left_out, sizeof(left_out), "%s", services[i].id);
        assert_true(live());
        assert_int_equal(probe.frames, 2);
        assert_int_equal(probe.has_log, strcmp(left_out, CALIPER_LOG_V1) != 0);
        assert_int_equal(probe.has_read, strcmp(left_out, CALIPER_TEXTURE_READ_V1) != 0);
        if (strcmp(left_out, CALIPER_DEVICE_V1) == 0) {
            assert_string_equal(probe.device_name, "CPU");
            assert_int_equal(probe.device_kind, 0);
        }
    }
}

static void test_bridge_takes_the_newest_revision(void **state)
{
    bridge_v1_2.struct_size = sizeof(bridge_v1_2) - 8; /* too short to be one */
    assert_true(live());
    assert_int_equal(probe.bridge_revision, 1);
    assert_int_equal(probe.caps, 1);
    assert_int_equal(probe.direct, 101);
    assert_int_equal(probe.alloc, 0);
    assert_false(probe.updated_from_alloc);
    set_up(state);
    bridge_v1_2.struct_size = bridge_v1_1.struct_size = 4;
    assert_true(live());
    assert_int_equal(probe.bridge_revision, 0);
    assert_int_equal(probe.caps, 0);
    assert_int_equal(probe.shared, 103);
    set_up(state);
    bridge_v1_2.struct_size = bridge_v1_1.struct_size = bridge_v1.struct_size = 4;
    assert_true(live());
    assert_int_equal(probe.bridge_revision, -1);
    assert_false(probe.has_bridge);
    assert_int_equal(probe.caps, 0);
    assert_int_equal(probe.direct, 0);
    assert_int_equal(probe.shared, 0);
    assert_int_equal(probe.read_width, 0);
    assert_int_equal(probe.read_bytes, 0);
}

/* Every slot of every table NULL in turn; all tables are a struct_size and then pointers. */
static void test_each_slot_null(void **state)
{
    for (int i = 0; i < SERVICE_COUNT; i++) {
        for (size_t at = 8; at < services[i].size; at += sizeof(void *)) {
            set_up(state);
            if (services[i].table == &bridge_v1_1 || services[i].table == &bridge_v1) {
                bridge_v1_2.struct_size = 4;
            }
            if (services[i].table == &bridge_v1) {
                bridge_v1_1.struct_size = 4;
            }
            memset((char *)services[i].table + at, 0, sizeof(void *));
            /* What cannot be released through a missing slot is the host's to reclaim. */
            if (at == offsetof(CaliperTensorBridgeV1, release_texture)) {
                bridge_v1.texture_from_tensor = bridge_v1_1.texture_from_tensor =
                    bridge_v1_2.texture_from_tensor = NULL;
                bridge_v1.texture_from_tensor_mapped = bridge_v1_1.texture_from_tensor_mapped =
                    bridge_v1_2.texture_from_tensor_mapped = NULL;
            }
            if (at == offsetof(CaliperTensorBridgeV1, free_shared)) {
                bridge_v1.alloc_shared = bridge_v1_1.alloc_shared = bridge_v1_2.alloc_shared = NULL;
            }
            if (at == offsetof(CaliperTensorBridgeV1_2, release_allocation)) {
                bridge_v1_2.import_allocation = NULL;
            }
            assert_true(live());
            assert_int_equal(probe.frames, 2);
        }
    }
}

static void test_initialize_refuses(void **state)
{
    (void)state;
    probe.refuse = true;
    assert_false(live());
    assert_int_equal(probe.cleanups, 0);
    assert_int_equal(textures_made, 2); /* and live() has seen both released */
}

static void test_exceptions_stop_at_the_boundary(void **state)
{
    static const struct {
        ThrowWhere where;
        bool ready;
        int frames;
        const char *line;
    } cases[] = {
        {THROW_CONSTRUCTOR, false, 0, "initialize"},
        {THROW_INITIALIZE, false, 0, "initialize"},
        {THROW_FRAME, true, 0, "frame"},
        {THROW_CLEANUP, true, 2, "cleanup"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int number = 0; number < 2; number++) {
            char wanted[128];
            set_up(state);
            probe.throw_where = cases[i].where;
            probe.throw_number = number == 1;
            snprintf(wanted, sizeof(wanted), "exception in %s: %s", cases[i].line,
                     number == 1 ? "not a std::exception" : "thrown on purpose");
            assert_int_equal(live(), cases[i].ready);
            assert_int_equal(probe.frames, cases[i].frames);
            assert_int_equal(error_lines, 1); /* two bad frames in a row are one line */
            assert_string_equal(last_error_line, wanted);
        }
    }
}

static void test_exceptions_without_a_log(void **state)
{
    (void)state;
    probe.throw_where = THROW_FRAME;
    snprintf(left_out, sizeof(left_out), "%s", CALIPER_LOG_V1);
    assert_true(live());
    assert_int_equal(error_lines, 0);
}

static void test_a_good_frame_makes_the_next_bad_one_a_line_again(void **state)
{
    const CaliperFrameInfo info = {sizeof(info), 1, 1, 1.0f, 0.0, 0.01};
    void *library = NULL;
    const CaliperAppletDescriptor *applet = load(applet_path, &library);
    void *self = applet->api.create();
    static const bool bad[] = {true, true, false, true, true, false};
    (void)state;
    services_live = true;
    assert_true(applet->api.initialize(self, &host));
    for (size_t i = 0; i < sizeof(bad); i++) {
        probe.throw_where = bad[i] ? THROW_FRAME : THROW_NOWHERE;
        applet->api.frame(self, &info);
    }
    assert_int_equal(error_lines, 2);
    assert_int_equal(probe.frames, 2);
    applet->api.cleanup(self);
    services_live = false;
    applet->api.destroy(self);
    dlclose(library);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_descriptor, set_up),
        cmocka_unit_test_setup(test_bare_applet, set_up),
        cmocka_unit_test_setup(test_everything_there, set_up),
        cmocka_unit_test_setup(test_each_service_left_out, set_up),
        cmocka_unit_test_setup(test_bridge_takes_the_newest_revision, set_up),
        cmocka_unit_test_setup(test_each_slot_null, set_up),
        cmocka_unit_test_setup(test_initialize_refuses, set_up),
        cmocka_unit_test_setup(test_exceptions_stop_at_the_boundary, set_up),
        cmocka_unit_test_setup(test_exceptions_without_a_log, set_up),
        cmocka_unit_test_setup(test_a_good_frame_makes_the_next_bad_one_a_line_again, set_up),
    };
    if (argc != 3) {
        fprintf(stderr, "usage: %s TEST_APPLET BARE_APPLET\n", argv[0]);
        return 2;
    }
    applet_path = argv[1];
    bare_path = argv[2];
    return cmocka_run_group_tests_name("caliper.hpp", tests, NULL, NULL);
}
