/* src/cuda over a driver made of host memory (tests/support/fake_cuda.c): what is refused, what is
 * left behind when any one call fails, and that file descriptors stay balanced. Whether pictures
 * are right is shown on a real GPU by scripts/gpu-test. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/fault.h"
#include "core/log.h"
#include "cuda/cuda_device.h"
#include "cuda/cuda_external.h"
#include "cuda/cuda_pass.h"
#include "services/device_cuda.h"

static long (*fake_live)(void);
static long (*fake_launches)(void);
static void (*fake_map)(unsigned long long, size_t, int, unsigned int);
static void *(*fake_stream)(int, int);
static void (*fake_allocation_bytes)(size_t);

static int warnings;
static LogItem last_warning;

static void count_warnings(void *user, const LogEntry *entry)
{
    (void)user;
    if (entry->level >= LOG_LEVEL_WARN) {
        warnings++;
        last_warning = entry->item;
    }
}

static int open_fds(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* dlsym answers an object pointer; a function pointer is copied out of it. */
static void symbol(void *library, const char *name, void *out)
{
    void *address = dlsym(library, name);
    assert_non_null(address);
    memcpy(out, &address, sizeof address);
}

static int group_setup(void **state)
{
    (void)state;
    void *library = dlopen(getenv("CALIPER_CUDA_LIBRARY"), RTLD_NOW);
    assert_non_null(library);
    symbol(library, "fake_cuda_live", &fake_live);
    symbol(library, "fake_cuda_launches", &fake_launches);
    symbol(library, "fake_cuda_map", &fake_map);
    symbol(library, "fake_cuda_stream", &fake_stream);
    symbol(library, "fake_cuda_allocation_bytes", &fake_allocation_bytes);
    log_sink_add(count_warnings, NULL);
    return 0;
}

static void test_describe(void **state)
{
    (void)state;
    CudaDeviceInfo info;
    assert_int_equal(cuda_device_count(NULL), 2);
    assert_true(cuda_device_describe(1, &info));
    assert_string_equal(info.name, "Fake GPU");
    assert_int_equal(info.uuid[15], 0x41);
    assert_false(cuda_device_describe(2, &info));
    assert_false(cuda_device_describe(-1, &info));
    assert_true(cuda_device_free_bytes(0) == (uint64_t)1 << 29);
    assert_true(cuda_device_free_bytes(1) == 0); /* not in use: not asked */
}

/* The machine's compute device is the CUDA one, by name or by itself, and what the renderer is
 * told. */
static void test_device_service(void **state)
{
    (void)state;
    RendererParams params = {.struct_size = sizeof params};
    device_service_reset();
    device_cuda_install();
    assert_true(device_service_detect("cuda:1"));
    const CaliperDeviceV1 *device = device_service_table();
    assert_int_equal(device->kind(), CALIPER_DEV_CUDA);
    assert_int_equal(device->index(), 1);
    assert_string_equal(device->name(), "Fake GPU");
    assert_true(device_cuda_interop(&params));
    assert_int_equal(params.interop_index, 1);
    assert_int_equal(params.interop_uuid[0], 0x41);
    device_service_reset();
    device_cuda_install();
    assert_true(device_service_detect(NULL));
    assert_int_equal(device_service_table()->kind(), CALIPER_DEV_CUDA);
    assert_int_equal(device_service_table()->index(), 0);
    assert_true(device_service_table()->free_memory_hint() == (uint64_t)1 << 29);
    device_service_reset();
    device_cuda_install();
    warnings = 0;
    assert_true(device_service_detect("cuda:7"));
    assert_int_equal(warnings, 1);
    assert_int_equal(device_service_table()->kind(), CALIPER_DEV_CPU);
    assert_false(device_cuda_interop(&params));
    device_service_reset();
}

/* Opening fails at each of its calls in turn: one line, nothing left alive. */
static void test_open_fails_cleanly(void **state)
{
    (void)state;
    long live = fake_live();
    int n = 1;
    for (;; n++) {
        char plan[32];
        snprintf(plan, sizeof plan, "cuda:%d", n);
        fault_set_plan(plan);
        warnings = 0;
        CudaDevice *device = cuda_device_open(0);
        uint32_t injected = fault_injected();
        fault_set_plan(NULL);
        if (injected == 0) {
            assert_non_null(device);
            cuda_device_close(&device);
            assert_null(device);
            break;
        }
        assert_null(device);
        assert_int_equal(warnings, 1);
        assert_int_equal(fake_live(), live);
    }
    assert_true(n > 8);
    assert_int_equal(fake_live(), live);
}

static void check(CudaDevice *device, uint64_t pointer, uint64_t bytes, void *stream, bool wanted)
{
    CudaSource source = {.pointer = pointer, .extent_bytes = bytes, .stream = stream};
    warnings = 0;
    bool got = cuda_source_check(device, &source, "update_texture");
    assert_int_equal(got, wanted);
    assert_int_equal(warnings, wanted ? 0 : 1);
    if (!wanted)
        assert_int_equal(last_warning, LOG_CUDA_SOURCE_REFUSED);
}

static void test_source_check(void **state)
{
    (void)state;
    CudaDevice *device = cuda_device_open(0);
    assert_non_null(device);
    fake_map(0x100000, 0x1000, 0, 2);
    fake_map(0x101000, 0x2000, 0, 2); /* follows the first, as virtual-memory allocators do */
    fake_map(0x200000, 0x1000, 1, 2); /* another device */
    fake_map(0x300000, 0x1000, 0, 1); /* host memory */
    fake_map(0x400000, 0x1000, 0, 2);
    fake_map(0x401000, 0x1000, 1, 2); /* starts here, goes on there */
    check(device, 0x100000, 0x1000, NULL, true);
    check(device, 0x100010, 0x2ff0, NULL, true);
    check(device, 0x100010, 0x2ff1, NULL, false);
    check(device, 0x0fffff, 0x10, NULL, false);
    check(device, 0x200000, 0x10, NULL, false);
    check(device, 0x300000, 0x10, NULL, false);
    check(device, 0x400ff0, 0x20, NULL, false);
    check(device, 0x400ff0, 0x10, NULL, true);
    check(device, UINT64_MAX - 8, 0x10, NULL, false);
    check(device, 0, 0x10, NULL, false);
    check(device, 0x100000, 0x10, (void *)1, true);  /* the legacy stream by name */
    check(device, 0x100000, 0x10, (void *)2, false); /* per thread */
    check(device, 0x100000, 0x10, fake_stream(0, 0), true);
    check(device, 0x100000, 0x10, fake_stream(1, 0), false); /* another context */
    check(device, 0x100000, 0x10, fake_stream(0, 1), false); /* capturing */
    cuda_device_close(&device);
}

/* All imports and passes, with call number n failing: what failed is refused with one line, and
 * after the tear-down nothing is alive and every fd is back. */
static bool imports_once(int n)
{
    char plan[32];
    long live = fake_live();
    int fds = open_fds();
    CudaDevice *device = cuda_device_open(0);
    snprintf(plan, sizeof plan, "cuda:%d", n);
    fault_set_plan(plan);
    warnings = 0;
    int refused = 0;
    int image_fd = open("/dev/null", O_RDONLY);
    int buffer_fd = open("/dev/null", O_RDONLY);
    int semaphore_fd = open("/dev/null", O_RDONLY);
    int exported_fd = open("/dev/null", O_RDONLY);
    CudaSurface *surface = cuda_surface_import(device, image_fd, 4096, 16, 16, true);
    CudaBuffer *buffer = cuda_buffer_import(device, buffer_fd, 4096, false);
    CudaSemaphore *semaphore = cuda_semaphore_import(device, semaphore_fd);
    CudaFence *fence = cuda_fence_create(device);
    refused += (surface == NULL) + (buffer == NULL) + (semaphore == NULL) + (fence == NULL);
    CudaMemory *memory = NULL;
    refused += cuda_memory_map(device, exported_fd, 1 << 20, &memory) != CUDA_SIZE_PROOF_GOOD;
    CudaSource source = {.pointer = 0x100000, .extent_bytes = 1024};
    CudaPass pass = {.colormap = true, .inv = 1.0f, .width_px = 16, .height_px = 16};
    if (surface != NULL && fence != NULL)
        refused += !cuda_pass_run(device, &pass, &source, surface, fence, fence);
    if (buffer != NULL && fence != NULL)
        refused += !cuda_copy_run(device, &source, buffer, 0, fence, fence);
    if (semaphore != NULL && fence != NULL) {
        refused += !cuda_fence_record(device, NULL, fence);
        refused += !cuda_hand_over(device, &fence, 1, semaphore, 7);
        refused += !cuda_fence_record_handed_over(device, fence);
        refused += cuda_hand_over_state(device) != CUDA_HAND_OVER_DONE;
        refused += !cuda_fence_wait(device, fence);
    }
    bool injected = fault_injected() > 0;
    fault_set_plan(NULL);
    assert_int_equal(refused, injected ? 1 : 0);
    assert_int_equal(warnings, injected ? 1 : 0);
    if (surface == NULL)
        assert_int_equal(close(image_fd), 0); /* still ours */
    if (buffer == NULL)
        assert_int_equal(close(buffer_fd), 0);
    if (semaphore == NULL)
        assert_int_equal(close(semaphore_fd), 0);
    assert_int_equal(close(exported_fd), 0);
    cuda_fence_destroy(device, &fence);
    cuda_memory_unmap(device, &memory);
    cuda_semaphore_destroy(device, &semaphore);
    cuda_buffer_destroy(device, &buffer);
    cuda_surface_destroy(device, &surface);
    cuda_device_close(&device);
    assert_int_equal(fake_live(), live);
    assert_int_equal(open_fds(), fds);
    return injected;
}

static void test_imports_fail_cleanly(void **state)
{
    (void)state;
    int n = 1;
    while (imports_once(n))
        n++;
    assert_true(n > 15);
    assert_true(fake_launches() > 0);
}

static CudaSizeProof map(CudaDevice *device, int fd, uint64_t size_bytes)
{
    CudaMemory *memory = NULL;
    long live = fake_live();
    CudaSizeProof proof = cuda_memory_map(device, fd, size_bytes, &memory);
    assert_int_equal(memory != NULL, proof == CUDA_SIZE_PROOF_GOOD);
    if (memory != NULL)
        assert_true(cuda_memory_address(memory) != 0);
    cuda_memory_unmap(device, &memory);
    assert_int_equal(fake_live(), live);
    return proof;
}

static void test_size_proof(void **state)
{
    (void)state;
    static const char *const steps[] = {"cuda.cuMemAddressReserve:1", "cuda.cuMemMap:1",
                                        "cuda.cuMemSetAccess:1"};
    CudaDevice *device = cuda_device_open(0);
    int fd = open("/dev/null", O_RDONLY);
    fake_allocation_bytes(2 << 20);
    assert_int_equal(map(device, fd, 2 << 20), CUDA_SIZE_PROOF_GOOD);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        warnings = 0;
        fault_set_plan(steps[i]);
        assert_int_equal(map(device, fd, 2 << 20), CUDA_SIZE_PROOF_BAD);
        fault_set_plan(NULL);
        assert_int_equal(warnings, 1);
    }
    warnings = 0;
    assert_int_equal(map(device, fd, 8 << 20), CUDA_SIZE_PROOF_BAD);
    assert_int_equal(warnings, 1);
    close(fd);
    assert_int_equal(map(device, fd, 1 << 20), CUDA_SIZE_PROOF_UNKNOWN);
    assert_int_equal(warnings, 1);
    cuda_device_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_device_service),
        cmocka_unit_test(test_open_fails_cleanly),
        cmocka_unit_test(test_source_check),
        cmocka_unit_test(test_imports_fail_cleanly),
        cmocka_unit_test(test_size_proof),
    };
    return cmocka_run_group_tests(tests, group_setup, NULL);
}
