/* The branches of caliper/adapters/torch.hpp that the machine's libtorch may not have, over the
 * stand-ins of stand_in/: built as on macOS (__APPLE__) and as with CUDA. What is looked at:
 * what is drained and what is not, in which order, and on whose queue. */
#include <cstdio>

#include <caliper/adapters/torch.hpp>

namespace
{

using caliper::adapters::stream_to_tensor;
using caliper::adapters::synced_to_tensor;
using caliper::adapters::to_tensor;
using Calls = std::vector<std::string>;

int failures = 0;

#define EXPECT_THAT(condition)                                                  \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                         \
        }                                                                       \
    } while (false)

const uint32_t ordered = CALIPER_BRIDGE_CAP_STREAM_ORDERED;
float memory[8];

Calls taken()
{
    Calls calls = stand_in::calls;
    stand_in::calls.clear();
    return calls;
}

at::Tensor tensor_on(at::Kind kind, int8_t ordinal = 0, int64_t offset = 0)
{
    at::Tensor t;
    t.kind = kind;
    t.ordinal = ordinal;
    t.memory = memory;
    t.offset = offset;
    return t;
}

void everywhere()
{
    EXPECT_THAT(stream_to_tensor(tensor_on(at::cpu), ordered)->stream == nullptr);
    EXPECT_THAT(!stream_to_tensor(tensor_on(at::xla), ordered));
    at::Tensor odd = tensor_on(at::cpu);
    odd.throws = true;
    EXPECT_THAT(!to_tensor(odd) && !synced_to_tensor(odd) && !stream_to_tensor(odd, ordered));
    EXPECT_THAT(taken().empty());
    /* Asking a lazy clone for its address copies it: it is not asked. */
    for (at::Kind kind : {at::cpu, at::cuda, at::mps}) {
        at::Tensor lazy = tensor_on(kind);
        lazy.is_cow = true;
        EXPECT_THAT(!to_tensor(lazy) && !synced_to_tensor(lazy) &&
                    !stream_to_tensor(lazy, ordered));
        EXPECT_THAT(taken().empty());
    }
}

#if CALIPER_TORCH_MPS

void on_mps()
{
    int queue = 0;
    void *buffer = &queue;
    torch::mps::queue = &queue;
    torch::mps::buffer = &buffer;
    at::Tensor t = tensor_on(at::mps);
    auto plain = to_tensor(t);
    EXPECT_THAT(plain->data == memory && plain->device == CALIPER_DEV_METAL);
    EXPECT_THAT(taken().empty());
    EXPECT_THAT(!to_tensor(tensor_on(at::mps, 0, 1))); /* a view */
    EXPECT_THAT(synced_to_tensor(t)->stream == nullptr);
    EXPECT_THAT((taken() == Calls{"dispatch", "[mps.synchronize]"}));
    EXPECT_THAT(stream_to_tensor(t, 0)->stream == nullptr);
    EXPECT_THAT((taken() == Calls{"dispatch", "[mps.synchronize]"}));
    /* Ordered: the peek and the commit are one block, and nothing is drained. */
    EXPECT_THAT(stream_to_tensor(t, ordered)->stream == &queue);
    EXPECT_THAT((taken() ==
                 Calls{"dispatch", "[mps.get_command_buffer]", "[commandQueue]", "[mps.commit]"}));
    /* No buffer to ask: drained instead. */
    torch::mps::buffer = nullptr;
    EXPECT_THAT(stream_to_tensor(t, ordered)->stream == nullptr);
    EXPECT_THAT((taken() ==
                 Calls{"dispatch", "[mps.get_command_buffer]", "dispatch", "[mps.synchronize]"}));
    torch::mps::queue = nullptr; /* a torch without a queue of its own */
    EXPECT_THAT(synced_to_tensor(t).has_value());
    EXPECT_THAT((taken() == Calls{"mps.synchronize"}));
    EXPECT_THAT(!synced_to_tensor(tensor_on(at::mps, 0, 1)) && taken().empty());
}

#else

void on_cuda()
{
    int stream = 0;
    c10::cuda::current = &stream;
    at::Tensor t = tensor_on(at::cuda, 3, 2);
    auto plain = to_tensor(t);
    EXPECT_THAT(plain->data == memory + 2 && plain->device == CALIPER_DEV_CUDA);
    EXPECT_THAT(plain->device_index == 3 && plain->stream == nullptr && taken().empty());
    EXPECT_THAT(synced_to_tensor(t)->stream == nullptr);
    EXPECT_THAT((taken() == Calls{"cuda.synchronize"}));
    EXPECT_THAT(torch::cuda::synchronized_device == 3); /* the tensor's own, not the current one */
    EXPECT_THAT(stream_to_tensor(t, 0)->stream == nullptr);
    EXPECT_THAT((taken() == Calls{"cuda.synchronize"}));
    EXPECT_THAT(stream_to_tensor(t, ordered)->stream == &stream);
    EXPECT_THAT(c10::cuda::asked_device == 3 && taken().empty());
    c10::cuda::current = nullptr; /* torch's default stream: NULL, and ordered all the same */
    EXPECT_THAT(stream_to_tensor(t, ordered)->stream == nullptr && taken().empty());
    torch::cuda::fails = true;
    EXPECT_THAT(!synced_to_tensor(t) && !stream_to_tensor(t, 0));
    taken();
    EXPECT_THAT(!to_tensor(tensor_on(at::mps))); /* no torch::mps here */
}

#endif

} // namespace

int main()
{
    everywhere();
#if CALIPER_TORCH_MPS
    on_mps();
#else
    static_assert(CALIPER_TORCH_CUDA == 1, "the CUDA branch is what this is about");
    on_cuda();
#endif
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
