/* caliper/adapters/dlpack.h against DLPack's published constants: what crosses, what is refused and
 * by which words, and that what is held or given away is released exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <caliper/adapters/dlpack.h>

/* From the specification's DLDeviceType and DLDataTypeCode. */
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_METAL = 8, DL_CUDA_MANAGED = 13 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };

static int released;
static void *released_owner;

static void count_release(void *owner)
{
    released++;
    released_owner = owner;
}

static CaliperDLTensor tensor_of(void *data, int32_t ndim, int64_t *shape, int64_t *strides)
{
    return (CaliperDLTensor){.data = data,
                             .device = {DL_CPU, 0},
                             .ndim = ndim,
                             .dtype = {DL_FLOAT, 32, 1},
                             .shape = shape,
                             .strides = strides};
}

static void dtypes_cross_by_name(void **state)
{
    (void)state;
    static const struct {
        CaliperDLDataType dtype;
        int wanted; /* -1: refused */
    } cases[] = {{{DL_FLOAT, 32, 1}, CALIPER_DT_F32},
                 {{DL_FLOAT, 16, 1}, CALIPER_DT_F16},
                 {{DL_BFLOAT, 16, 1}, CALIPER_DT_BF16},
                 {{DL_INT, 64, 1}, CALIPER_DT_I64},
                 {{DL_INT, 32, 1}, CALIPER_DT_I32},
                 {{DL_UINT, 8, 1}, CALIPER_DT_U8},
                 {{DL_FLOAT, 64, 1}, -1},
                 {{DL_FLOAT, 8, 1}, -1},
                 {{DL_INT, 8, 1}, -1},
                 {{DL_INT, 16, 1}, -1},
                 {{DL_UINT, 16, 1}, -1},
                 {{DL_UINT, 64, 1}, -1},
                 {{3, 64, 1}, -1},
                 {{DL_COMPLEX, 64, 1}, -1},
                 {{DL_BOOL, 8, 1}, -1},
                 {{DL_UINT, 8, 4}, -1},
                 {{DL_FLOAT, 32, 0}, -1},
                 {{7, 8, 1}, -1},
                 {{255, 32, 1}, -1}};
    float data[6];
    int64_t shape[2] = {2, 3};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CaliperDLTensor from = tensor_of(data, 2, shape, NULL);
        CaliperTensor out, before;
        const char *why = "";
        from.dtype = cases[i].dtype;
        memset(&out, 0x5a, sizeof out);
        before = out;
        bool good = caliper_from_dltensor(&from, NULL, &out, &why);
        assert_int_equal(good, cases[i].wanted >= 0);
        if (good) {
            assert_int_equal(out.dtype, cases[i].wanted);
        } else {
            assert_true(strlen(why) > 3);
            assert_memory_equal(&out, &before, sizeof out);
        }
        assert_int_equal(caliper_from_dltensor(&from, NULL, &out, NULL), good);
    }
}

static void devices_cross_by_kind(void **state)
{
    (void)state;
    static const struct {
        int32_t type, id;
        int wanted, index;
    } cases[] = {{DL_CPU, 0, CALIPER_DEV_CPU, 0},
                 {DL_CUDA, 3, CALIPER_DEV_CUDA, 3},
                 {DL_CUDA_HOST, 1, CALIPER_DEV_CPU, 0},
                 {DL_METAL, 0, CALIPER_DEV_METAL, 0},
                 {DL_CUDA_MANAGED, 1, CALIPER_DEV_CUDA, 1}};
    float data[6];
    int stream;
    int64_t shape[2] = {2, 3};
    CaliperTensor out;
    CaliperDLTensor from = tensor_of(data, 2, shape, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        from.device = (CaliperDLDevice){cases[i].type, cases[i].id};
        assert_true(caliper_from_dltensor(&from, &stream, &out, NULL));
        assert_int_equal(out.device, cases[i].wanted);
        assert_int_equal(out.device_index, cases[i].index);
        assert_ptr_equal(out.stream, cases[i].wanted == CALIPER_DEV_CPU ? NULL : (void *)&stream);
    }
    static const int32_t refused[] = {-1, 0,  4,  5,  6,  7,  9,  10,        11,
                                      12, 14, 15, 16, 17, 18, 99, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const char *why = NULL;
        from.device.device_type = refused[i];
        assert_false(caliper_from_dltensor(&from, NULL, &out, &why));
        assert_non_null(why);
        assert_true(why[0] != '\0');
    }
    /* A Metal buffer has no address to add an offset to. */
    from.device = (CaliperDLDevice){DL_METAL, 0};
    from.byte_offset = 4;
    assert_false(caliper_from_dltensor(&from, NULL, &out, NULL));
}

static void shapes_and_strides(void **state)
{
    (void)state;
    static const struct {
        int32_t ndim;
        int64_t shape[9], strides[9];
        bool has_strides, good;
    } cases[] = {
        {0, {0}, {0}, false, true}, /* one element */
        {1, {5}, {1}, true, true},
        {2, {2, 3}, {0}, false, true}, /* NULL strides */
        {2, {2, 3}, {3, 1}, true, true},
        {2, {2, 3}, {1, 2}, true, false},       /* column-major */
        {2, {2, 3}, {4, 1}, true, false},       /* rows with a gap */
        {2, {2, 3}, {-3, 1}, true, false},      /* reversed */
        {2, {2, 3}, {0, 1}, true, false},       /* broadcast */
        {3, {2, 1, 3}, {3, 77, 1}, true, true}, /* extent 1: any stride */
        {2, {1, 1}, {5, 9}, true, true},
        {2, {0, 3}, {7, 7}, true, true}, /* nothing in it */
        {2, {-1, 3}, {3, 1}, true, false},
        {8, {1, 1, 1, 1, 1, 1, 1, 2}, {0}, false, true},
        {9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {0}, false, false},
        {-1, {0}, {0}, false, false},
        {3, {INT64_MAX, 2, 1}, {0}, false, false}, /* the product wraps */
        {4, {1 << 20, 1 << 20, 1 << 20, 1 << 20}, {0}, false, false},
        {1, {INT64_MAX / 2}, {1}, true, false}, /* elements can be counted, their bytes not */
        {2, {(int64_t)1 << 31, (int64_t)1 << 31}, {0}, false, false},
        {3, {INT64_MAX, 0, 1}, {0}, false, true}, /* nothing in it */
    };
    float data[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t shape[9], strides[9];
        memcpy(shape, cases[i].shape, sizeof shape);
        memcpy(strides, cases[i].strides, sizeof strides);
        CaliperDLTensor from =
            tensor_of(data, cases[i].ndim, shape, cases[i].has_strides ? strides : NULL);
        CaliperTensor out;
        const char *why = NULL;
        assert_int_equal(caliper_from_dltensor(&from, NULL, &out, &why), cases[i].good);
        if (!cases[i].good) {
            assert_non_null(why);
            assert_true(cases[i].ndim >= 0 || strstr(why, "negative") != NULL);
            continue;
        }
        assert_int_equal(out.struct_size, sizeof out);
        assert_int_equal(out.ndim, cases[i].ndim);
        assert_memory_equal(out.shape, shape, (size_t)cases[i].ndim * sizeof shape[0]);
        assert_ptr_equal(out.data, data);
    }
    int64_t shape[2] = {2, 3};
    CaliperTensor out;
    CaliperDLTensor from = tensor_of(data, 2, shape, NULL);
    assert_true(caliper_from_dltensor(&from, NULL, &out, NULL));
    assert_int_equal(out.strides[0], 3);
    assert_int_equal(out.strides[1], 1);
    from.byte_offset = 12;
    assert_true(caliper_from_dltensor(&from, NULL, &out, NULL));
    assert_ptr_equal(out.data, &data[3]);
    from.data = NULL;
    assert_false(caliper_from_dltensor(&from, NULL, &out, NULL));
    shape[0] = 0;
    assert_true(caliper_from_dltensor(&from, NULL, &out, NULL)); /* nothing to point at */
    assert_null(out.data);
    from.shape = NULL;
    assert_false(caliper_from_dltensor(&from, NULL, &out, NULL));
    assert_false(caliper_from_dltensor(NULL, NULL, &out, NULL));
}

/* Where data, offset and elements together leave the address space, there is no such tensor. */
static void offsets_stay_in_memory(void **state)
{
    (void)state;
    static const int32_t devices[] = {DL_CPU, DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED};
    static const struct {
        uintptr_t data;
        uint64_t offset;
        bool good; /* for 24 bytes */
    } cases[] = {{4096, 0, true},
                 {4096, UINT64_MAX, false},
                 {4096, UINT64_MAX - 4096 + 1, false},
                 {4096, UINT64_MAX - 4096, false},
                 {4096, UINT64_MAX - 4096 - 23, false},
                 {4096, UINT64_MAX - 4096 - 24, true},
                 {UINTPTR_MAX - 24, 0, true},
                 {UINTPTR_MAX - 23, 0, false},
                 {UINTPTR_MAX - 24, 1, false}};
    int64_t shape[2] = {2, 3};
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            CaliperDLTensor from = tensor_of((void *)cases[i].data, 2, shape, NULL);
            CaliperTensor out;
            const char *why = "";
            from.device.device_type = devices[d];
            from.byte_offset = cases[i].offset;
            bool good = caliper_from_dltensor(&from, NULL, &out, &why);
            assert_int_equal(good, cases[i].good);
            if (good)
                assert_int_equal((uintptr_t)out.data, cases[i].data + cases[i].offset);
            else
                assert_non_null(strstr(why, "end of memory"));
        }
    }
}

/* ---- Holding ---- */

static int deleted;

static void delete_managed(CaliperDLManagedTensor *self)
{
    (void)self;
    deleted++;
}

static void delete_versioned(CaliperDLManagedTensorVersioned *self)
{
    (void)self;
    deleted++;
}

static void what_is_held_is_deleted_once(void **state)
{
    (void)state;
    float data[6];
    int64_t shape[2] = {2, 3};
    CaliperDLManagedTensor managed = {.dl_tensor = tensor_of(data, 2, shape, NULL),
                                      .deleter = delete_managed};
    CaliperDLManagedTensorVersioned versioned = {.version = {1, 1},
                                                 .deleter = delete_versioned,
                                                 .flags = CALIPER_DL_FLAG_READ_ONLY,
                                                 .dl_tensor = tensor_of(data, 2, shape, NULL)};
    CaliperDLHold hold;
    deleted = 0;
    assert_true(caliper_dl_hold(&managed, NULL, &hold, NULL));
    assert_false(hold.read_only);
    caliper_dl_release(&hold);
    caliper_dl_release(&hold);
    assert_int_equal(deleted, 1);
    assert_true(caliper_dl_hold_versioned(&versioned, NULL, &hold, NULL));
    assert_true(hold.read_only);
    assert_int_equal(hold.tensor.shape[1], 3);
    caliper_dl_release(&hold);
    assert_int_equal(deleted, 2);
    /* Refused: it stays the caller's, and the hold is empty. */
    const char *why = NULL;
    versioned.version.major = 2;
    assert_false(caliper_dl_hold_versioned(&versioned, NULL, &hold, &why));
    assert_non_null(strstr(why, "version"));
    caliper_dl_release(&hold);
    managed.dl_tensor.dtype.lanes = 2;
    assert_false(caliper_dl_hold(&managed, NULL, &hold, &why));
    caliper_dl_release(&hold);
    assert_false(caliper_dl_hold(NULL, NULL, &hold, &why));
    assert_int_equal(deleted, 2);
    /* A producer that has nothing to free. */
    managed.dl_tensor.dtype.lanes = 1;
    managed.deleter = NULL;
    assert_true(caliper_dl_hold(&managed, NULL, &hold, NULL));
    caliper_dl_release(&hold);
}

/* ---- Giving away ---- */

static CaliperTensor tensor_2x3(void *data, CaliperDType dtype)
{
    return (CaliperTensor){.struct_size = sizeof(CaliperTensor),
                           .data = data,
                           .dtype = dtype,
                           .ndim = 2,
                           .shape = {2, 3},
                           .strides = {3, 1},
                           .device = CALIPER_DEV_CPU};
}

static void what_is_given_is_released_once(void **state)
{
    (void)state;
    static const CaliperDLDataType types[] = {{DL_FLOAT, 32, 1},  {DL_FLOAT, 16, 1},
                                              {DL_BFLOAT, 16, 1}, {DL_INT, 64, 1},
                                              {DL_INT, 32, 1},    {DL_UINT, 8, 1}};
    int64_t data[6];
    released = 0;
    for (int dtype = 0; dtype < 6; dtype++) {
        CaliperTensor from = tensor_2x3(data, (CaliperDType)dtype), back;
        CaliperDLManagedTensor *managed = caliper_to_dlpack(&from, data, count_release, NULL);
        assert_non_null(managed);
        assert_memory_equal(&managed->dl_tensor.dtype, &types[dtype], sizeof types[dtype]);
        assert_int_equal(managed->dl_tensor.device.device_type, DL_CPU);
        assert_ptr_equal(managed->dl_tensor.data, data);
        assert_true(caliper_from_dltensor(&managed->dl_tensor, NULL, &back, NULL));
        assert_memory_equal(&back, &from, sizeof back);
        managed->deleter(managed);
        assert_int_equal(released, dtype + 1);
        assert_ptr_equal(released_owner, data);
    }
    released = 0;
    CaliperTensor cuda = tensor_2x3(data, CALIPER_DT_F32);
    cuda.device = CALIPER_DEV_CUDA;
    cuda.device_index = 2;
    CaliperDLManagedTensorVersioned *versioned =
        caliper_to_dlpack_versioned(&cuda, true, &cuda, count_release, NULL);
    assert_non_null(versioned);
    assert_int_equal(versioned->version.major, 1);
    assert_int_equal(versioned->flags, CALIPER_DL_FLAG_READ_ONLY);
    assert_int_equal(versioned->dl_tensor.device.device_type, DL_CUDA);
    assert_int_equal(versioned->dl_tensor.device.device_id, 2);
    versioned->deleter(versioned);
    assert_int_equal(released, 1);
    versioned = caliper_to_dlpack_versioned(&cuda, false, NULL, NULL, NULL);
    assert_int_equal(versioned->flags, 0);
    versioned->deleter(versioned);
}

static void what_is_no_tensor_is_not_given(void **state)
{
    (void)state;
    float data[6];
    released = 0;
    for (int i = 0; i < 6; i++) {
        CaliperTensor from = tensor_2x3(data, CALIPER_DT_F32);
        const char *why = NULL;
        if (i == 0)
            from.struct_size = 8;
        else if (i == 1)
            from.ndim = 9;
        else if (i == 2)
            from.ndim = -1;
        else if (i == 3)
            from.dtype = (CaliperDType)6;
        else if (i == 4)
            from.device = (CaliperDeviceKind)3;
        assert_null(caliper_to_dlpack(i == 5 ? NULL : &from, data, count_release, &why));
        assert_non_null(why);
        assert_null(
            caliper_to_dlpack_versioned(i == 5 ? NULL : &from, false, data, count_release, NULL));
    }
    assert_int_equal(released, 0); /* nothing was taken */
}

/* The array API standard, `__dlpack__`: for CUDA 1 is the legacy default stream, 0 is not allowed.
 */
static void streams_have_their_numbers(void **state)
{
    (void)state;
    int stream;
    assert_int_equal(caliper_dl_stream_argument(NULL), 1);
    assert_int_equal(caliper_dl_stream_argument((void *)2), 2);
    assert_int_equal(caliper_dl_stream_argument(&stream), (int64_t)(intptr_t)&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dtypes_cross_by_name),
                                       cmocka_unit_test(devices_cross_by_kind),
                                       cmocka_unit_test(shapes_and_strides),
                                       cmocka_unit_test(offsets_stay_in_memory),
                                       cmocka_unit_test(what_is_held_is_deleted_once),
                                       cmocka_unit_test(what_is_given_is_released_once),
                                       cmocka_unit_test(what_is_no_tensor_is_not_given),
                                       cmocka_unit_test(streams_have_their_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
