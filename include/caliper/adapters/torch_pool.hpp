/* caliper/adapters/torch_pool.hpp: torch tensors in memory that a host reads in place, through
 * caliper.tensor_bridge.v1_2.
 *
 * Header-only C++17 beside torch.hpp and cuda_pool.h, for a libtorch with CUDA on Linux. Torch's
 * own allocator gives memory that cannot be exported; a tensor of this pool can be drawn without a
 * copy of its data even where the renderer cannot write from CUDA:
 *
 *   auto pool = caliper::adapters::TorchPool::create(0, &why);
 *   at::Tensor weight = pool->empty({512, 512}, at::kFloat);      any thread
 *   ... torch writes it, on the current stream ...
 *   auto t = caliper::adapters::stream_to_tensor(weight, bridge->caps());
 *   pool->update(bridge, texture, *t);                             frame thread
 *   pool->collect(bridge);                                         frame thread, once a frame
 *   pool->close(bridge);                                           frame thread, in cleanup
 *
 * Tensors hold the pool, so that it may be dropped before them. */
#ifndef CALIPER_ADAPTERS_TORCH_POOL_HPP
#define CALIPER_ADAPTERS_TORCH_POOL_HPP

#include <memory>

#include <caliper/adapters/torch.hpp>

#if !CALIPER_TORCH_CUDA
#error "torch_pool.hpp needs a libtorch with CUDA and the toolkit's headers"
#endif

#include <caliper/adapters/cuda_pool.h>

/* Where torch takes blocks from an allocator of ours and cuts them up itself. */
#if __has_include(<ATen/cuda/MemPool.h>) && __has_include(<torch/csrc/cuda/CUDAPluggableAllocator.h>) &&  \
    (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 9))
#define CALIPER_TORCH_POOL_SCOPES 1
#include <ATen/cuda/MemPool.h>
#include <thread>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>
#else
#define CALIPER_TORCH_POOL_SCOPES 0
#endif

namespace caliper::adapters
{

class TorchPool : public std::enable_shared_from_this<TorchPool>
{
  public:
    /* nullptr and *why, a literal. Any thread. */
    static std::shared_ptr<TorchPool> create(int32_t ordinal, const char **why)
    {
        CaliperCudaPool *pool = caliper_cuda_pool_create(ordinal, why);
        return pool != nullptr ? std::shared_ptr<TorchPool>(new TorchPool(pool, ordinal)) : nullptr;
    }

    ~TorchPool()
    {
        caliper_cuda_pool_destroy(&pool_, nullptr);
    }
    TorchPool(const TorchPool &) = delete;
    TorchPool &operator=(const TorchPool &) = delete;

    /* An uninitialized contiguous tensor in a block of its own; undefined when there is no memory.
     * When the last reference to its storage goes, the block is freed behind what the current
     * stream of the thread that drops it holds then; work on other streams is the caller's to wait
     * for. Any thread. */
    at::Tensor empty(at::IntArrayRef sizes, at::ScalarType dtype)
    {
        uint64_t elements = 1;
        for (int64_t size : sizes) {
            if (size <= 0 || elements > UINT64_MAX / 16 / static_cast<uint64_t>(size)) {
                return at::Tensor();
            }
            elements *= static_cast<uint64_t>(size);
        }
        void *memory = caliper_cuda_pool_alloc(pool_, elements * c10::elementSize(dtype));
        if (memory == nullptr) {
            return at::Tensor();
        }
        std::shared_ptr<TorchPool> self = shared_from_this();
        return at::from_blob(
            memory, sizes,
            [self](void *freed) {
                void *stream =
                    c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(self->ordinal_))
                        .stream();
                caliper_cuda_pool_free(self->pool_, freed, stream);
            },
            at::TensorOptions().dtype(dtype).device(at::kCUDA, self->ordinal_));
    }

    /* False: not a tensor of this pool, or the host refused: update_texture is then the way. Frame
     * thread, as are the two below. */
    bool update(const CaliperTensorBridgeV1_2 *bridge, CaliperTextureId texture,
                const CaliperTensor &tensor)
    {
        return caliper_cuda_pool_update(pool_, bridge, texture, &tensor);
    }
    void collect(const CaliperTensorBridgeV1_2 *bridge)
    {
        caliper_cuda_pool_collect(pool_, bridge);
    }
    /* Tensors stay good; no update goes this way any more. */
    void close(const CaliperTensorBridgeV1_2 *bridge)
    {
        caliper_cuda_pool_close(pool_, bridge);
    }

    /* For a pluggable allocator: what torch's caching allocator asks for. Any thread. */
    CaliperCudaPool *handle()
    {
        return pool_;
    }
    int32_t ordinal() const
    {
        return ordinal_;
    }

  private:
    TorchPool(CaliperCudaPool *pool, int32_t ordinal) : pool_(pool), ordinal_(ordinal) {}

    CaliperCudaPool *pool_;
    int32_t ordinal_;
};

#if CALIPER_TORCH_POOL_SCOPES

/* What torch allocates on the thread of a Scope comes from the pool, cut up and kept by torch's own
 * caching allocator (libtorch 2.9 or later): whole models and their intermediate results can so be
 * drawn in place.
 *
 *   TorchPoolAllocator allocator(pool);
 *   { TorchPoolAllocator::Scope scope(allocator); net->to(at::kCUDA); }
 *
 * Tensors may outlive the allocator and the pool. One scope at a time a thread. */
class TorchPoolAllocator
{
  public:
    explicit TorchPoolAllocator(std::shared_ptr<TorchPool> pool)
        : ordinal_(static_cast<c10::DeviceIndex>(pool->ordinal())),
          blocks_(torch::cuda::CUDAPluggableAllocator::createCustomAllocator(
              [pool](size_t size, int, cudaStream_t) {
                  return caliper_cuda_pool_alloc(pool->handle(), size);
              },
              [pool](void *memory, size_t, int, cudaStream_t stream) {
                  caliper_cuda_pool_free(pool->handle(), memory, stream);
              })),
          tensors_(blocks_)
    {
    }

    class Scope
    {
      public:
        explicit Scope(TorchPoolAllocator &allocator) : allocator_(allocator)
        {
            const std::thread::id mine = std::this_thread::get_id();
            c10::cuda::CUDACachingAllocator::beginAllocateToPool(
                allocator_.ordinal_, allocator_.tensors_.id(),
                [mine](cudaStream_t) { return std::this_thread::get_id() == mine; });
        }
        ~Scope()
        {
            c10::cuda::CUDACachingAllocator::endAllocateToPool(allocator_.ordinal_,
                                                               allocator_.tensors_.id());
        }
        Scope(const Scope &) = delete;
        Scope &operator=(const Scope &) = delete;

      private:
        TorchPoolAllocator &allocator_;
    };

  private:
    c10::DeviceIndex ordinal_;
    std::shared_ptr<c10::cuda::CUDACachingAllocator::CUDAAllocator> blocks_;
    at::cuda::MemPool tensors_;
};

#endif

} // namespace caliper::adapters

#endif
