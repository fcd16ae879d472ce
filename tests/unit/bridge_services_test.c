/* The four tables as an applet gets them from a host: whole, with the right sizes, and in front of
 * the bridge that is bound. One thread. */
#include <caliper/services/tensor_bridge_v1.h>
#include <caliper/services/tensor_bridge_v1_1.h>
#include <caliper/services/tensor_bridge_v1_2.h>
#include <caliper/services/texture_read_v1.h>

#include "bridge_fixture.h"
#include "core/host.h"
#include "services/bridge_services.h"

#include <stdlib.h>
#include <unistd.h>

static void assert_whole(const void *table, size_t size)
{
    assert_non_null(table);
    uint32_t struct_size;
    memcpy(&struct_size, table, sizeof struct_size);
    assert_int_equal(struct_size, size);
    for (size_t at = sizeof(void *); at < size; at += sizeof(void *)) {
        void *member;
        memcpy(&member, (const char *)table + at, sizeof member);
        assert_non_null(member);
    }
}

/* The members of v1 come first in the later tables, as the same functions. */
static void tables_are_whole_and_nested(void **state)
{
    Fixture *f = *state;
    char folder[] = "/tmp/caliper-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    Host *host = host_create(&(HostParams){.struct_size = sizeof(HostParams), .data_dir = folder});
    assert_non_null(host);
    assert_true(bridge_services_register(host, f->bridge));
    const CaliperTensorBridgeV1 *v1 = host_service(host, CALIPER_TENSOR_BRIDGE_V1);
    const CaliperTensorBridgeV1_1 *v1_1 = host_service(host, CALIPER_TENSOR_BRIDGE_V1_1);
    const CaliperTensorBridgeV1_2 *v1_2 = host_service(host, CALIPER_TENSOR_BRIDGE_V1_2);
    const CaliperTextureReadV1 *read = host_service(host, CALIPER_TEXTURE_READ_V1);
    assert_whole(v1, 56);
    assert_whole(v1_1, 64);
    assert_whole(v1_2, 88);
    assert_whole(read, 24);
    assert_memory_equal((const char *)v1 + 8, (const char *)v1_1 + 8, 48);
    assert_memory_equal((const char *)v1_1 + 8, (const char *)v1_2 + 8, 56);
    log_capture_reset();
    assert_false(bridge_services_register(host, f->bridge)); /* twice */
    assert_int_equal(log_capture.lines, 1);
    log_capture_reset();

    /* Every slot reaches its own function. */
    CaliperTensor t = tensor_of((void *)(uintptr_t)ramp, CALIPER_DT_F32, 2, 3, 0);
    uint8_t grey[6] = {1, 2, 3, 4, 5, 6};
    CaliperTensor u8 = tensor_of(grey, CALIPER_DT_U8, 2, 3, 1);
    CaliperTextureId mapped = v1->texture_from_tensor_mapped(&t, 2, 0.0f, 1.0f, 0);
    CaliperTextureId direct = v1->texture_from_tensor(&u8, 0);
    assert_shows_ramp(f->bridge, mapped, 2, false);
    grey[0] = 9;
    assert_true(v1->update_texture(direct, &u8));
    uint8_t pixels[24];
    assert_true(read->read_rgba8(direct, pixels, sizeof pixels));
    assert_int_equal(pixels[0], 9);
    int32_t w = 0;
    int32_t h = 0;
    assert_true(read->size(direct, &w, &h));
    assert_true(w == 3 && h == 2);
    CaliperTensor block;
    CaliperTextureId shared;
    const int64_t shape[2] = {2, 3};
    assert_true(v1->alloc_shared(CALIPER_DT_F32, 2, shape, &block, &shared));
    assert_int_equal(v1_1->caps(), 3);
    CaliperAllocId alloc =
        v1_2->import_allocation(block.data, 4096, CALIPER_ALLOC_HANDLE_HOST_POINTER);
    assert_int_not_equal(alloc, 0);
    assert_true(v1_2->update_texture_from_alloc(mapped, alloc, 0, &t));
    v1_2->release_allocation(alloc);
    v1->free_shared(shared);
    v1->release_texture(mapped);
    v1->release_texture(direct);
    assert_silent();
    BridgeStats stats = stats_of(f->bridge);
    assert_int_equal(stats.textures + stats.allocations, 0);

    bridge_services_bind(NULL);
    assert_int_equal(v1->texture_from_tensor(&u8, 0), 0);
    assert_refused("NO_BRIDGE");
    assert_false(read->size(direct, &w, &h));
    assert_refused("NO_BRIDGE");
    host_destroy(&host);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    log_capture_start();
    const struct CMUnitTest tests[] = {CASE(tables_are_whole_and_nested)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
