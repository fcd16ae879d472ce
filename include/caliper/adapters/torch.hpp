/* caliper/adapters/torch.hpp: tensors of torch as CaliperTensors.
 *
 * Header-only C++17, compiled by the applet against its own libtorch, 1.13 or later; the host links
 * no torch and never includes this. Three ways to hand a tensor over:
 *
 *   to_tensor(t)               waits for nothing: for CPU tensors, or when you keep the order
 *   synced_to_tensor(t)        after the tensor's device has been drained: right on every host
 *   stream_to_tensor(t, caps)  names the producer's stream where the host orders on it (caps() of
 *                              tensor_bridge.v1_1), else drains
 *
 * Never a hidden copy: the result is the tensor's own memory, which the tensor has to outlive.
 * nullopt, without a throw, for what a CaliperTensor cannot say:
 *   - a dtype other than float32, float16, bfloat16, int64, int32, uint8;
 *   - more than 8 dimensions;
 *   - elements that are not row-major without gaps (t.contiguous() repairs that, where you see it);
 *   - an MPS view with a storage offset: the id that crosses is the buffer, whose first byte is the
 *     first element (t.clone() repairs that);
 *   - a tensor that is undefined, sparse, nested, meta, or whose conjugate or negative bit is set:
 *     its memory holds other numbers than it shows (t.resolve_neg(), t.resolve_conj());
 *   - a lazy clone (torch._lazy_clone), or what one was made of, that nobody wrote yet: its address
 *     cannot be had without a copy (t.clone() makes it where you see it);
 *   - a device other than CPU, CUDA and MPS; MPS with a libtorch that has no torch::mps;
 *   - a device whose drain failed.
 *
 * Threads: any, for CPU and CUDA tensors. Under MPS torch's stream is not serialized by itself;
 * what touches it here runs as one block on torch's own dispatch queue, and your own calls on that
 * stream have to do so too.
 *
 * CUDA is compiled in where libtorch was built with it and the toolkit's headers are found:
 * CALIPER_TORCH_CUDA then is 1. Where it is 0 a CUDA tensor is drained instead, which is right and
 * slower. NULL as the stream of a CUDA tensor is CUDA's legacy default stream, which is torch's
 * default stream too, and is ordered like any other. */
#ifndef CALIPER_ADAPTERS_TORCH_HPP
#define CALIPER_ADAPTERS_TORCH_HPP

#include <cstdint>
#include <optional>

#include <caliper/services/tensor_bridge_v1_1.h>
#include <caliper/tensor.h>
#include <torch/torch.h>

/* libtorch 2.2 and later can let tensors share memory until one of them is written. */
#if __has_include(<c10/core/impl/COW.h>)
#define CALIPER_TORCH_COW 1
#include <c10/core/impl/COW.h>
#else
#define CALIPER_TORCH_COW 0
#endif

#if defined(__APPLE__) && __has_include(<torch/mps.h>)
#define CALIPER_TORCH_MPS 1
#include <dispatch/dispatch.h>
#include <objc/message.h>
#include <torch/mps.h>
#else
#define CALIPER_TORCH_MPS 0
#endif

/* libtorch ships c10/cuda/CUDAStream.h without CUDA as well; cuda_cmake_macros.h is made only by a
 * build with it. */
#if !defined(__APPLE__) && __has_include(<c10/cuda/CUDAStream.h>) &&                             \
    __has_include(<c10/cuda/impl/cuda_cmake_macros.h>) && __has_include(<cuda_runtime_api.h>)
#define CALIPER_TORCH_CUDA 1
#include <c10/cuda/CUDAStream.h>
#else
#define CALIPER_TORCH_CUDA 0
#endif

namespace caliper::adapters
{

namespace detail
{

inline std::optional<CaliperDType> dtype_of(at::ScalarType type)
{
    switch (type) {
    case at::kFloat:
        return CALIPER_DT_F32;
    case at::kHalf:
        return CALIPER_DT_F16;
    case at::kBFloat16:
        return CALIPER_DT_BF16;
    case at::kLong:
        return CALIPER_DT_I64;
    case at::kInt:
        return CALIPER_DT_I32;
    case at::kByte:
        return CALIPER_DT_U8;
    default:
        return std::nullopt;
    }
}

/* Memory that is another tensor's too until either is written: asking for its address copies it. */
inline bool is_lazy_clone(const at::Tensor &t)
{
#if CALIPER_TORCH_COW
    const at::Storage storage = t.storage();
    return c10::impl::cow::is_cow_data_ptr(storage.data_ptr());
#else
    static_cast<void>(t);
    return false;
#endif
}

/* Plain strided memory that holds the numbers that the tensor shows. */
inline bool is_plain(const at::Tensor &t)
{
    return t.defined() && t.layout() == at::kStrided && t.has_storage() && !t.is_meta() &&
           !t.is_nested() && !t.is_conj() && !t.is_neg() && !t._is_zerotensor() &&
           t.dim() <= CALIPER_TENSOR_MAX_DIMS && t.is_contiguous() && !is_lazy_clone(t);
}

/* Where the elements are, by device. False: no device of ours. */
inline bool place(const at::Tensor &t, CaliperTensor &out)
{
    if (t.is_cpu()) {
        out.data = t.data_ptr();
        out.device = CALIPER_DEV_CPU;
        return true;
    }
    if (t.is_cuda()) { /* the offset is in the address already */
        out.data = t.data_ptr();
        out.device = CALIPER_DEV_CUDA;
        out.device_index = static_cast<int32_t>(t.device().index());
        return true;
    }
#if CALIPER_TORCH_MPS
    if (t.is_mps() && t.storage_offset() == 0) {
        out.data = t.storage().mutable_data(); /* the MTLBuffer */
        out.device = CALIPER_DEV_METAL;
        out.device_index = static_cast<int32_t>(t.device().index());
        return true;
    }
#endif
    return false;
}

#if CALIPER_TORCH_MPS
/* torch encodes its MPS kernels as blocks on a dispatch queue of its own; its public stream calls
 * do not. What runs as one block there is atomic with the encoding, and may call them. */
template <typename Work> inline void on_mps_queue(Work &work)
{
    void (*call)(void *) = [](void *context) { (*static_cast<Work *>(context))(); };
    void *queue = torch::mps::get_dispatch_queue();
    if (queue != nullptr) {
        dispatch_sync_f(static_cast<dispatch_queue_t>(queue), &work, call);
    } else {
        call(&work);
    }
}

/* The command queue behind torch's stream, with all that torch encoded so far committed to it;
 * nullptr when it cannot be told. It lives as long as the process. */
inline void *mps_committed_queue()
{
    void *queue = nullptr;
    auto work = [&queue]() {
        using Ask = void *(*)(void *, SEL);
        void *buffer = torch::mps::get_command_buffer();
        if (buffer != nullptr) {
            queue = reinterpret_cast<Ask>(objc_msgSend)(buffer, sel_registerName("commandQueue"));
        }
        if (queue != nullptr) {
            torch::mps::commit();
        }
    };
    on_mps_queue(work);
    return queue;
}
#endif

/* Waits for the tensor's own device; for nothing on the CPU. May throw, as torch does. */
inline void drain(const at::Tensor &t)
{
    if (t.is_cuda()) {
        torch::cuda::synchronize(static_cast<int64_t>(t.device().index()));
    }
#if CALIPER_TORCH_MPS
    if (t.is_mps()) {
        auto work = []() { torch::mps::synchronize(); };
        on_mps_queue(work);
    }
#endif
}

inline std::optional<CaliperTensor> describe(const at::Tensor &t)
{
    CaliperTensor out{};
    if (!is_plain(t)) {
        return std::nullopt;
    }
    const std::optional<CaliperDType> dtype = dtype_of(t.scalar_type());
    if (!dtype || !place(t, out) || (out.data == nullptr && t.numel() > 0)) {
        return std::nullopt;
    }
    out.struct_size = sizeof out;
    out.dtype = *dtype;
    out.ndim = static_cast<int32_t>(t.dim());
    for (int64_t i = 0; i < t.dim(); i++) {
        out.shape[i] = t.size(i);
        out.strides[i] = t.stride(i);
    }
    return out;
}

/* Asks whether it can be said at all before it waits. */
inline std::optional<CaliperTensor> drained(const at::Tensor &t)
{
    std::optional<CaliperTensor> out = describe(t);
    if (out) {
        drain(t);
    }
    return out;
}

/* With the stream that the producer is on now; without a way to name one, drained. */
inline std::optional<CaliperTensor> ordered(const at::Tensor &t)
{
#if CALIPER_TORCH_CUDA
    if (t.defined() && t.is_cuda()) {
        std::optional<CaliperTensor> out = describe(t);
        if (out) {
            out->stream =
                static_cast<void *>(c10::cuda::getCurrentCUDAStream(t.device().index()).stream());
        }
        return out;
    }
#endif
#if CALIPER_TORCH_MPS
    if (t.defined() && t.is_mps()) {
        std::optional<CaliperTensor> out = describe(t);
        if (out) {
            out->stream = mps_committed_queue();
            if (out->stream == nullptr) {
                drain(t);
            }
        }
        return out;
    }
#endif
    return drained(t);
}

/* Some kinds of tensors (of transforms, of tracing) throw when they are asked where they are. */
template <typename Make>
inline std::optional<CaliperTensor> or_nothing(const at::Tensor &t, Make make) noexcept
{
    try {
        return make(t);
    } catch (...) {
        return std::nullopt;
    }
}

} // namespace detail

/* `stream` is NULL in the result. */
inline std::optional<CaliperTensor> to_tensor(const at::Tensor &t) noexcept
{
    return detail::or_nothing(t, detail::describe);
}

/* A drain is a full barrier of one device, for this thread: pay it once, where you hand over, and
 * not on the frame thread. */
inline std::optional<CaliperTensor> synced_to_tensor(const at::Tensor &t) noexcept
{
    return detail::or_nothing(t, detail::drained);
}

/* `bridge_caps` is caps() of tensor_bridge.v1_1 or v1_2. Without CALIPER_BRIDGE_CAP_STREAM_ORDERED
 * this is synced_to_tensor. What the calling thread's current stream of the tensor's device holds
 * at the call is what the host's reading comes after. */
inline std::optional<CaliperTensor> stream_to_tensor(const at::Tensor &t,
                                                     uint32_t bridge_caps) noexcept
{
    if ((bridge_caps & CALIPER_BRIDGE_CAP_STREAM_ORDERED) == 0) {
        return synced_to_tensor(t);
    }
    return detail::or_nothing(t, detail::ordered);
}

} // namespace caliper::adapters

#endif
