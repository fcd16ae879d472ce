/* Sequences of calls on the bridge over the renderer in plain memory, with hostile descriptors,
 * ids, failures and changes of renderer. Each refusal is one line, each success none; in the end
 * nothing is left. One thread. */
#include <stdalign.h>
#include <stdlib.h>

#include "../unit/fake_renderer.h"
#include "../unit/log_capture.h"
#include "bridge/bridge.h"
#include "core/caller.h"
#include "fuzz_input.h"

enum { IDS_MAX = 16, OPS_MAX = 200, SIDE_MAX_PX = 64, MEMORY_BYTES = 1 << 16 };

/* What host tensors and host pointers point at: more than any accepted extent. */
static alignas(4096) uint8_t memory[MEMORY_BYTES + SIDE_MAX_PX * SIDE_MAX_PX * 4];

/* An id that was given out, and a descriptor of its form; of an allocation, of nothing. */
typedef struct Kept {
    uint64_t id;
    CaliperTensor form;
} Kept;

typedef struct Run {
    FuzzInput input;
    Renderer *renderers[2];
    uint32_t current;
    Bridge *bridge;
    Kept kept[IDS_MAX];
    uint32_t kept_count;
} Run;

static Renderer *renderer_make(uint32_t caps, int32_t interop_index)
{
    Renderer *renderer = fake_renderer_create(caps, interop_index);
    renderer->info.max_texture_px = SIDE_MAX_PX;
    renderer->info.max_source_bytes = SIDE_MAX_PX * SIDE_MAX_PX * 4;
    return renderer;
}

/* Small and legal, or any bytes; but an address that the bridge may read is one that can be read.
 */
static CaliperTensor tensor_take(FuzzInput *input)
{
    CaliperTensor t;
    uint8_t how = fuzz_u8(input);
    if ((how & 3) == 0) {
        fuzz_take(input, &t, sizeof t);
    } else {
        memset(&t, 0, sizeof t);
        bool u8 = (how & 1) != 0;
        t.struct_size = sizeof t;
        t.dtype = u8 ? CALIPER_DT_U8 : CALIPER_DT_F32;
        t.ndim = u8 ? 3 : 2;
        t.shape[0] = how >> 4;
        t.shape[1] = fuzz_u8(input) % 66;
        t.shape[2] = fuzz_u8(input) % 6;
        t.strides[0] = u8 ? t.shape[1] * t.shape[2] : t.shape[1];
        t.strides[1] = u8 ? t.shape[2] : 1;
        t.strides[2] = 1;
        t.device = (how & 12) == 12 ? CALIPER_DEV_CUDA : CALIPER_DEV_CPU;
    }
    if (t.data != NULL || (how & 3) != 0)
        t.data = memory + (how >> 5);
    return t;
}

static const Kept *kept_take(Run *run)
{
    static Kept raw;
    uint8_t which = fuzz_u8(&run->input);
    if (which >= 16 && run->kept_count > 0)
        return &run->kept[which % run->kept_count];
    raw = (Kept){.id = fuzz_u64(&run->input)};
    return &raw;
}

static uint64_t id_take(Run *run)
{
    return kept_take(run)->id;
}

static void keep(Run *run, uint64_t id, const CaliperTensor *form)
{
    if (id == 0)
        return;
    FUZZ_REQUIRE(id >> 63 == 0);
    uint32_t at = run->kept_count < IDS_MAX ? run->kept_count++ : fuzz_u8(&run->input) % IDS_MAX;
    run->kept[at] = (Kept){.id = id};
    if (form != NULL)
        run->kept[at].form = *form;
}

/* The form that a texture has, in host memory (of a shared one: its own block, or not) or, as far
 * as the fake renderer cares, on the device; or what the fuzzer made up. */
static void take_form(Run *run, const Kept *kept, CaliperTensor *t)
{
    uint8_t how = fuzz_u8(&run->input);
    if (how % 8 == 0 || kept->form.struct_size == 0)
        return;
    *t = kept->form;
    if (how % 8 < 5)
        t->data = memory + how / 64;
    if (how % 8 == 1) {
        t->device = CALIPER_DEV_CUDA;
        t->device_index = 0;
        t->data = (void *)(uintptr_t)(0x10000 + how / 64 * 4);
    }
}

static void require_lines(bool done)
{
    FUZZ_REQUIRE(log_capture.lines == (done ? 0u : 1u));
}

static bool make_shared(Run *run)
{
    FuzzInput *input = &run->input;
    int64_t shape[8];
    uint8_t how = fuzz_u8(input);
    for (int i = 0; i < 8; i++)
        shape[i] = (how & 1) != 0 ? (int64_t)fuzz_u64(input) : fuzz_u8(input) % 66;
    CaliperTensor t;
    uint64_t id = 0;
    bool made = bridge_alloc_shared(run->bridge, (CaliperDType)(how >> 5), (how >> 1) % 11 - 1,
                                    shape, &t, &id);
    if (made) {
        uint64_t bytes = t.dtype == CALIPER_DT_F32 ? 4 : (uint64_t)t.shape[2];
        memset(t.data, 0x3c, bytes * (uint64_t)t.shape[0] * (uint64_t)t.shape[1]);
    }
    keep(run, id, &t);
    return made;
}

static bool import(Run *run)
{
    uint8_t how = fuzz_u8(&run->input);
    uint64_t bytes = fuzz_u32(&run->input) % (MEMORY_BYTES + 1);
    bool pointer = (how & 1) != 0;
    void *handle = pointer ? (void *)(memory + (how & 2)) : (void *)(uintptr_t)how;
    bytes = (how & 4) != 0 ? bytes / 4096 * 4096 : bytes;
    uint32_t type = pointer ? CALIPER_ALLOC_HANDLE_HOST_POINTER : (how >> 4);
    uint64_t id = bridge_import_allocation(run->bridge, handle, bytes, type);
    keep(run, id, NULL);
    return id != 0;
}

static bool read_back(Run *run)
{
    static uint8_t pixels[SIDE_MAX_PX * SIDE_MAX_PX * 4];
    uint64_t id = id_take(run);
    uint32_t bytes = fuzz_u8(&run->input) == 0 ? 3 : sizeof pixels;
    return bridge_texture_read_rgba8(run->bridge, id, pixels, bytes);
}

/* The other renderer takes over; the old one is made anew. */
static void change_renderer(Run *run)
{
    uint8_t how = fuzz_u8(&run->input);
    uint32_t old = run->current;
    fake_renderer(run->renderers[old])->base.lost = (how & 1) != 0;
    run->current = 1 - old;
    bridge_set_renderer(run->bridge, run->renderers[run->current]);
    const FakeRenderer *left = fake_renderer(run->renderers[old]);
    FUZZ_REQUIRE(left->textures == 0 && left->attached == 0 && left->allocs == 0);
    renderer_destroy(&run->renderers[old]);
    run->renderers[old] = renderer_make((how & 2) != 0 ? ~0u : 0, (how & 4) != 0 ? 0 : -1);
}

static void fail_soon(Run *run)
{
    FakeRenderer *fake = fake_renderer(run->renderers[run->current]);
    uint8_t how = fuzz_u8(&run->input);
    uint32_t *counters[] = {&fake->fail_create, &fake->fail_update, &fake->fail_write,
                            &fake->fail_read, &fake->fail_import};
    *counters[how % 5] = 1 + how / 5 % 4;
}

/* Calls with an answer: exactly one line when it is no. */
static bool answered(Run *run, uint8_t op, bool *out_done)
{
    FuzzInput *input = &run->input;
    CaliperTensor t = tensor_take(input);
    const CaliperTensor *given = fuzz_u8(input) == 7 ? NULL : &t;
    float range[2];
    int32_t side[2];
    uint64_t id = 0;
    uint64_t alloc;
    uint64_t offset;
    const Kept *kept;
    switch (op % 16) {
    case 0:
    case 1:
        id = bridge_texture_from_tensor(run->bridge, given, 0);
        keep(run, id, given);
        *out_done = id != 0;
        return true;
    case 2:
    case 3:
        fuzz_take(input, range, sizeof range);
        id = bridge_texture_from_tensor_mapped(run->bridge, given, op >> 6, range[0], range[1], 0);
        keep(run, id, given);
        *out_done = id != 0;
        return true;
    case 4:
    case 5:
        kept = kept_take(run);
        id = kept->id;
        take_form(run, kept, &t);
        *out_done = bridge_update_texture(run->bridge, id, given);
        return true;
    case 6:
        *out_done = make_shared(run);
        return true;
    case 7:
        *out_done = import(run);
        return true;
    case 8:
        kept = kept_take(run);
        id = kept->id;
        take_form(run, kept, &t);
        alloc = id_take(run);
        offset = fuzz_u8(input) < 200 ? fuzz_u8(input) * 4u : fuzz_u64(input);
        *out_done = bridge_update_texture_from_alloc(run->bridge, id, alloc, offset, given);
        return true;
    case 9:
        *out_done = read_back(run);
        return true;
    case 10:
        *out_done = bridge_texture_size(run->bridge, id_take(run), &side[0], &side[1]);
        return true;
    default:
        return false;
    }
}

static void unanswered(Run *run, uint8_t op)
{
    uint64_t id = id_take(run);
    switch (op % 16) {
    case 11:
        bridge_release_texture(run->bridge, id);
        break;
    case 12:
        bridge_free_shared(run->bridge, id);
        break;
    case 13:
        bridge_release_allocation(run->bridge, id);
        break;
    case 14:
        bridge_texture_for_draw(run->bridge, id);
        if (op >> 6 == 3)
            bridge_frame_end(run->bridge);
        break;
    default:
        if (op >> 6 == 0)
            bridge_reclaim(run->bridge, op >> 4 & 1, (op & 32) != 0);
        else if (op >> 6 == 1)
            change_renderer(run);
        else
            fail_soon(run);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool started;
    if (!started)
        log_capture_start();
    started = true;

    Run run = {.input = {data, size}};
    run.renderers[0] = renderer_make(~0u, 0);
    run.renderers[1] = renderer_make(0, -1);
    run.bridge = bridge_create(run.renderers[0]);
    CallerId before = caller_enter(0);
    for (int i = 0; i < OPS_MAX && run.input.left > 0; i++) {
        uint8_t op = fuzz_u8(&run.input);
        bool done;
        caller_enter(op >> 7);
        log_capture_reset();
        if (answered(&run, op, &done))
            require_lines(done);
        else
            unanswered(&run, op);
    }
    caller_leave(before);
    bridge_destroy(&run.bridge);
    for (int i = 0; i < 2; i++) {
        const FakeRenderer *fake = fake_renderer(run.renderers[i]);
        FUZZ_REQUIRE(fake->textures == 0 && fake->attached == 0 && fake->allocs == 0);
        renderer_destroy(&run.renderers[i]);
    }
    return 0;
}
