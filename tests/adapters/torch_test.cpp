/* caliper/adapters/torch.hpp against the libtorch that is installed: what crosses is the tensor's
 * own memory, what cannot be said is nullopt and never a throw, and handing over goes on while
 * another thread trains. The expected values are torch's own answers and literals. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <caliper/adapters/torch.hpp>

namespace
{

int failures = 0;

#define EXPECT_THAT(condition)                                                  \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                         \
        }                                                                       \
    } while (false)

using namespace caliper::adapters;

const uint32_t ordered = CALIPER_BRIDGE_CAP_STREAM_ORDERED;

/* Refused by all three. */
bool is_nothing(const at::Tensor &t)
{
    return !to_tensor(t) && !synced_to_tensor(t) && !stream_to_tensor(t, 0) &&
           !stream_to_tensor(t, ordered);
}

void dtypes()
{
    const struct {
        at::ScalarType type;
        int wanted; /* -1: none */
    } cases[] = {{at::kFloat, CALIPER_DT_F32},
                 {at::kHalf, CALIPER_DT_F16},
                 {at::kBFloat16, CALIPER_DT_BF16},
                 {at::kLong, CALIPER_DT_I64},
                 {at::kInt, CALIPER_DT_I32},
                 {at::kByte, CALIPER_DT_U8},
                 {at::kDouble, -1},
                 {at::kBool, -1},
                 {at::kChar, -1},
                 {at::kShort, -1},
                 {at::kComplexFloat, -1},
                 {at::kComplexDouble, -1}};
    for (const auto &one : cases) {
        at::Tensor t = torch::zeros({2, 3}, one.type);
        auto out = to_tensor(t);
        EXPECT_THAT(out.has_value() == (one.wanted >= 0));
        if (out) {
            EXPECT_THAT(static_cast<int>(out->dtype) == one.wanted);
        } else {
            EXPECT_THAT(is_nothing(t));
        }
    }
    EXPECT_THAT(is_nothing(at::quantize_per_tensor(torch::ones({2, 2}), 0.1, 0, at::kQUInt8)));
}

void memory_is_the_tensors_own()
{
    at::Tensor t = torch::arange(24, at::kFloat).reshape({2, 3, 4});
    for (const auto &out : {to_tensor(t), synced_to_tensor(t), stream_to_tensor(t, 0),
                            stream_to_tensor(t, ordered)}) {
        EXPECT_THAT(out.has_value());
        EXPECT_THAT(out->struct_size == sizeof(CaliperTensor));
        EXPECT_THAT(out->data == t.data_ptr());
        EXPECT_THAT(out->ndim == 3);
        EXPECT_THAT(out->shape[0] == 2 && out->shape[1] == 3 && out->shape[2] == 4);
        EXPECT_THAT(out->strides[0] == 12 && out->strides[1] == 4 && out->strides[2] == 1);
        EXPECT_THAT(out->device == CALIPER_DEV_CPU && out->device_index == 0 &&
                    out->stream == nullptr);
    }
    at::Tensor part = t[1]; /* an offset, and still without gaps */
    EXPECT_THAT(to_tensor(part)->data == static_cast<float *>(t.data_ptr()) + 12);
    static_cast<float *>(to_tensor(part)->data)[0] = -7.0f;
    EXPECT_THAT(t[1][0][0].item<float>() == -7.0f);
    at::Tensor weight = torch::ones({3, 3}, at::TensorOptions().requires_grad(true));
    EXPECT_THAT(to_tensor(weight)->data == weight.data_ptr());
    EXPECT_THAT(to_tensor(torch::tensor(5.0f))->ndim == 0);
    EXPECT_THAT(to_tensor(torch::zeros({0, 3}))->shape[0] == 0);
    EXPECT_THAT(to_tensor(torch::zeros({1, 1, 1, 1, 1, 1, 1, 2}))->ndim == 8);
    /* torch calls a tensor contiguous whatever the stride of an extent of 1 is. */
    EXPECT_THAT(to_tensor(torch::zeros({4, 6}).slice(0, 1, 2)).has_value());
    EXPECT_THAT(to_tensor(torch::zeros({12}).as_strided({1, 6}, {77, 1})).has_value());
    EXPECT_THAT(to_tensor(torch::zeros({4}).expand({1, 4})).has_value()); /* nothing repeats */
}

void what_is_refused()
{
    at::Tensor t = torch::arange(24, at::kFloat).reshape({4, 6});
    EXPECT_THAT(is_nothing(at::Tensor()));
    EXPECT_THAT(is_nothing(t.t()));
    EXPECT_THAT(is_nothing(t.slice(1, 1)));
    EXPECT_THAT(is_nothing(t.slice(0, 0, 4, 2)));
    EXPECT_THAT(is_nothing(torch::ones({1}).expand({4})));
    EXPECT_THAT(is_nothing(torch::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1})));
    EXPECT_THAT(is_nothing(t.to_sparse()));
    EXPECT_THAT(is_nothing(torch::zeros({2, 2}, at::TensorOptions().device(at::kMeta))));
    EXPECT_THAT(is_nothing(at::_efficientzerotensor({2, 2})));
    /* Contiguous, over memory that reads with the wrong sign: the imaginary part of a conjugate. */
    at::Tensor negated = torch::_neg_view(t);
    EXPECT_THAT(negated.is_contiguous() && negated.data_ptr() == t.data_ptr());
    EXPECT_THAT(is_nothing(negated));
    EXPECT_THAT(to_tensor(negated.resolve_neg()).has_value());
    EXPECT_THAT(is_nothing(torch::view_as_complex(torch::ones({4, 2})).conj()));
    EXPECT_THAT(is_nothing(torch::ones({1, 4}).expand({3, 4})));
#if CALIPER_TORCH_COW
    /* Its address is asked for without copying: const_data_ptr(). */
    at::Tensor base = torch::arange(12, at::kFloat), lazy = at::_lazy_clone(base);
    const void *where = lazy.const_data_ptr();
    EXPECT_THAT(is_nothing(lazy) && is_nothing(base));
    EXPECT_THAT(lazy.const_data_ptr() == where && base.const_data_ptr() == where);
    lazy.add_(1); /* written: memory of its own from here on */
    EXPECT_THAT(to_tensor(lazy).has_value() && lazy.const_data_ptr() != where);
#endif
#ifdef AT_MKLDNN_ENABLED
    if (at::hasMKLDNN()) {
        EXPECT_THAT(is_nothing(t.to_mkldnn()));
    }
#endif
}

/* Contiguous by its own answer, one dimension more than its parts, and without a shape. */
void nested()
{
    at::Tensor one = torch::ones({2, 3}), other = torch::zeros({4, 3});
    at::Tensor t = at::_nested_tensor_from_tensor_list({one, other});
    EXPECT_THAT(t.is_nested() && t.dim() == 3 && t.numel() == 18);
    EXPECT_THAT(is_nothing(t));
    EXPECT_THAT(is_nothing(at::_nested_tensor_from_tensor_list({one, one}))); /* alike, too */
    EXPECT_THAT(to_tensor(t.unbind()[1]).has_value()); /* its parts are tensors */
}

/* A worker trains with in-place steps; this thread hands over what it cloned. */
void while_another_thread_trains()
{
    std::atomic<bool> stop{false};
    std::thread trainer([&stop] {
        torch::nn::Linear net(32, 32);
        torch::optim::SGD sgd(net->parameters(), 0.01);
        while (!stop) {
            sgd.zero_grad();
            net(torch::ones({8, 32})).pow(2).mean().backward();
            sgd.step();
        }
    });
    for (int i = 0; i < 500; i++) {
        at::Tensor snapshot = torch::full({16, 16}, i, at::kFloat);
        auto out = stream_to_tensor(snapshot, i % 2 == 0 ? ordered : 0);
        EXPECT_THAT(out && out->data == snapshot.data_ptr());
        const float *values = static_cast<const float *>(out->data);
        EXPECT_THAT(values[0] == static_cast<float>(i) && values[255] == static_cast<float>(i));
    }
    stop = true;
    trainer.join();
}

} // namespace

int main()
{
    torch::set_num_threads(1);
    dtypes();
    memory_is_the_tensors_own();
    what_is_refused();
    nested();
    while_another_thread_trains();
    std::printf("libtorch %d.%d, CUDA streams %s: %d failures\n", TORCH_VERSION_MAJOR,
                TORCH_VERSION_MINOR, CALIPER_TORCH_CUDA ? "compiled in" : "not compiled in",
                failures);
    return failures == 0 ? 0 : 1;
}
