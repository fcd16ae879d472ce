/* caliper/adapters/cuda_pool.h over the driver made of host memory (tests/support/fake_cuda.c,
 * found as libcuda.so.1) and a bridge that counts: one import a block, released on the frame thread
 * alone, and everything given back, whatever thread frees and in whatever order. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <caliper/adapters/cuda_pool.h>

enum { GRANULE = 2 << 20, IMPORTS_MAX = 4096 };

static long (*driver_live)(void);
static void (*driver_busy)(int);

/* ---- A bridge that counts ---- */

static pthread_t frame_thread;
static bool is_live[IMPORTS_MAX];
static uint32_t imports, releases, updates, live_imports;
static bool refuses;
static uint64_t last_offset, last_size;
static CaliperAllocId last_alloc;

static CaliperAllocId import_allocation(void *os_handle, uint64_t size_bytes, uint32_t handle_type)
{
    assert_true(pthread_equal(pthread_self(), frame_thread));
    assert_true((int)(intptr_t)os_handle > 2);
    assert_int_equal(handle_type, CALIPER_ALLOC_HANDLE_OPAQUE_FD);
    assert_int_equal(size_bytes % GRANULE, 0);
    last_size = size_bytes;
    imports++;
    if (refuses)
        return 0;
    assert_true(imports < IMPORTS_MAX);
    is_live[imports] = true;
    live_imports++;
    return imports;
}

static void release_allocation(CaliperAllocId alloc)
{
    assert_true(pthread_equal(pthread_self(), frame_thread));
    assert_true(alloc > 0 && alloc < IMPORTS_MAX && is_live[alloc]);
    is_live[alloc] = false;
    live_imports--;
    releases++;
}

static bool update_texture_from_alloc(CaliperTextureId texture, CaliperAllocId alloc,
                                      uint64_t offset_bytes, const CaliperTensor *desc)
{
    (void)texture;
    (void)desc;
    assert_true(is_live[alloc]);
    last_alloc = alloc;
    last_offset = offset_bytes;
    updates++;
    return true;
}

static const CaliperTensorBridgeV1_2 bridge = {.struct_size = sizeof bridge,
                                               .import_allocation = import_allocation,
                                               .release_allocation = release_allocation,
                                               .update_texture_from_alloc =
                                                   update_texture_from_alloc};

static bool update(CaliperCudaPool *pool, void *memory, uint64_t offset_bytes)
{
    CaliperTensor tensor = {.struct_size = sizeof tensor, .data = (char *)memory + offset_bytes};
    return caliper_cuda_pool_update(pool, &bridge, 1, &tensor);
}

static void find_symbol(void *library, const char *name, void *out)
{
    void *address = dlsym(library, name);
    assert_non_null(address);
    memcpy(out, &address, sizeof address);
}

static int begin(void **state)
{
    (void)state;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    assert_non_null(library);
    void (*allocation)(size_t);
    find_symbol(library, "fake_cuda_live", &driver_live);
    find_symbol(library, "fake_cuda_busy", &driver_busy);
    find_symbol(library, "fake_cuda_allocation_bytes", &allocation);
    allocation((size_t)64 << 20);
    frame_thread = pthread_self();
    return 0;
}

static CaliperCudaPool *pool_begin(void)
{
    const char *why = NULL;
    imports = releases = updates = live_imports = 0;
    memset(is_live, 0, sizeof is_live);
    refuses = false;
    CaliperCudaPool *pool = caliper_cuda_pool_create(0, &why);
    if (pool == NULL)
        fail_msg("no pool: %s", why);
    return pool;
}

static void a_block_is_imported_once(void **state)
{
    (void)state;
    long live = driver_live();
    CaliperCudaPool *pool = pool_begin();
    char *memory = caliper_cuda_pool_alloc(pool, GRANULE + 1);
    uint64_t offset = 0, size = 0;
    assert_non_null(memory);
    assert_true(caliper_cuda_pool_find(pool, memory + GRANULE, &offset, &size));
    assert_int_equal(offset, GRANULE);
    assert_int_equal(size, 2 * GRANULE);
    assert_false(caliper_cuda_pool_find(pool, memory + 2 * GRANULE, &offset, &size));
    for (int i = 0; i < 10; i++)
        assert_true(update(pool, memory, (uint64_t)i * 4));
    assert_int_equal(imports, 1);
    assert_int_equal(updates, 10);
    assert_int_equal(last_offset, 36);
    assert_int_equal(last_size, 2 * GRANULE);
    assert_false(update(pool, &pool, 0)); /* not the pool's */
    caliper_cuda_pool_destroy(&pool, &bridge);
    assert_null(pool);
    assert_int_equal(live_imports, 0);
    assert_int_equal(driver_live(), live);
}

static void a_refused_block_is_not_asked_again(void **state)
{
    (void)state;
    CaliperCudaPool *pool = pool_begin();
    void *memory = caliper_cuda_pool_alloc(pool, 16);
    refuses = true;
    for (int i = 0; i < 5; i++)
        assert_false(update(pool, memory, 0));
    assert_int_equal(imports, 1);
    refuses = false;
    void *other = caliper_cuda_pool_alloc(pool, 16);
    assert_true(update(pool, other, 0));
    caliper_cuda_pool_destroy(&pool, &bridge);
    assert_int_equal(live_imports, 0);
}

static void *free_it(void *context)
{
    void **both = context;
    assert_true(caliper_cuda_pool_free(both[0], both[1], NULL));
    return NULL;
}

/* The import goes with the next collect; the memory when its stream's work is done. */
static void freeing_is_for_any_thread(void **state)
{
    (void)state;
    long live = driver_live();
    CaliperCudaPool *pool = pool_begin();
    long idle = driver_live();
    void *memory = caliper_cuda_pool_alloc(pool, 16);
    assert_true(update(pool, memory, 0));
    driver_busy(1);
    pthread_t thread;
    void *both[2] = {pool, memory};
    assert_int_equal(pthread_create(&thread, NULL, free_it, both), 0);
    pthread_join(thread, NULL);
    assert_int_equal(releases, 0);
    assert_false(update(pool, memory, 0)); /* it is gone for its owner */
    assert_false(caliper_cuda_pool_free(pool, memory, NULL));
    caliper_cuda_pool_collect(pool, &bridge);
    assert_int_equal(releases, 1);
    assert_true(driver_live() > idle);
    driver_busy(0);
    caliper_cuda_pool_collect(pool, &bridge);
    assert_int_equal(driver_live(), idle);
    assert_true(caliper_cuda_pool_free(pool, NULL, NULL));
    assert_false(caliper_cuda_pool_free(pool, &live, NULL));
    caliper_cuda_pool_destroy(&pool, &bridge);
    assert_int_equal(driver_live(), live);
}

/* Tensors may live on: nothing is imported any more, and nothing is left imported. */
static void a_closed_pool_imports_nothing(void **state)
{
    (void)state;
    CaliperCudaPool *pool = pool_begin();
    void *memory = caliper_cuda_pool_alloc(pool, 16);
    assert_true(update(pool, memory, 0));
    caliper_cuda_pool_close(pool, &bridge);
    assert_int_equal(live_imports, 0);
    assert_false(update(pool, memory, 0));
    assert_int_equal(imports, 1);
    assert_true(caliper_cuda_pool_free(pool, memory, NULL));
    caliper_cuda_pool_destroy(&pool, NULL);
}

static void what_cannot_be_had_is_null(void **state)
{
    (void)state;
    const char *why = NULL;
    CaliperCudaPool *pool = pool_begin();
    long idle = driver_live();
    assert_null(caliper_cuda_pool_alloc(pool, 0));
    assert_null(caliper_cuda_pool_alloc(pool, UINT64_MAX));
    assert_null(caliper_cuda_pool_alloc(pool, (uint64_t)1 << 40)); /* more than the device has */
    assert_int_equal(driver_live(), idle);
    caliper_cuda_pool_destroy(&pool, NULL);
    caliper_cuda_pool_destroy(&pool, NULL);
    assert_null(caliper_cuda_pool_create(99, &why));
    assert_non_null(strstr(why, "index"));
    assert_null(caliper_cuda_pool_create(99, NULL));
}

/* ---- Threads ---- */

enum { THREADS = 4, ROUNDS = 200 };
static void *passed[THREADS]; /* from a worker to the frame thread */
static pthread_mutex_t passed_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct Worker {
    CaliperCudaPool *pool;
    int number;
} Worker;

static void *allocate_and_free(void *context)
{
    Worker *worker = context;
    for (int i = 0; i < ROUNDS; i++) {
        void *memory = caliper_cuda_pool_alloc(worker->pool, (uint64_t)(1 + i % 3) * GRANULE);
        assert_non_null(memory);
        pthread_mutex_lock(&passed_lock);
        passed[worker->number] = memory;
        pthread_mutex_unlock(&passed_lock);
        sched_yield();
        assert_true(caliper_cuda_pool_free(worker->pool, memory, NULL));
    }
    return NULL;
}

static void many_threads_allocate_while_the_frame_imports(void **state)
{
    (void)state;
    long live = driver_live();
    CaliperCudaPool *pool = pool_begin();
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){pool, i};
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_free, &workers[i]), 0);
    }
    for (int frame = 0; frame < 500; frame++) {
        for (int i = 0; i < THREADS; i++) {
            pthread_mutex_lock(&passed_lock);
            void *memory = passed[i];
            pthread_mutex_unlock(&passed_lock);
            if (memory != NULL)
                update(pool, memory, 0);
        }
        caliper_cuda_pool_collect(pool, &bridge);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    caliper_cuda_pool_collect(pool, &bridge);
    assert_int_equal(live_imports, 0);
    caliper_cuda_pool_destroy(&pool, &bridge);
    assert_int_equal(driver_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_imported_once),
        cmocka_unit_test(a_refused_block_is_not_asked_again),
        cmocka_unit_test(freeing_is_for_any_thread),
        cmocka_unit_test(a_closed_pool_imports_nothing),
        cmocka_unit_test(what_cannot_be_had_is_null),
        cmocka_unit_test(many_threads_allocate_while_the_frame_imports)};
    return cmocka_run_group_tests(tests, begin, NULL);
}
