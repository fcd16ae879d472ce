/* What caliper/adapters/torch.hpp asks of torch, made of plain values: for the branches that the
 * libtorch of the machine does not have (MPS, CUDA). Every call that has an effect is recorded. */
#ifndef CALIPER_STAND_IN_TORCH_H
#define CALIPER_STAND_IN_TORCH_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 6

namespace stand_in
{
inline std::vector<std::string> calls;
inline bool in_block = false; /* within dispatch_sync_f */
inline void call(const char *name)
{
    calls.push_back(in_block ? std::string("[") + name + "]" : name);
}
} // namespace stand_in

namespace at
{
enum ScalarType { kFloat, kHalf, kBFloat16, kLong, kInt, kByte, kDouble };
enum Layout { kStrided, kSparse };
enum Kind { cpu, cuda, mps, xla };

struct Device {
    int8_t ordinal;
    int8_t index() const
    {
        return ordinal;
    }
};

struct DataPtr {
    void *buffer;
    bool is_cow;
};

struct Storage {
    DataPtr data;
    const DataPtr &data_ptr() const
    {
        return data;
    }
    void *mutable_data() const
    {
        if (data.is_cow) {
            stand_in::call("copy");
        }
        return data.buffer;
    }
};

struct Tensor {
    Kind kind = cpu;
    int8_t ordinal = 0;
    void *memory = nullptr;
    int64_t offset = 0;
    bool throws = false;
    bool is_cow = false;

    bool defined() const
    {
        return true;
    }
    Layout layout() const
    {
        return kStrided;
    }
    bool has_storage() const
    {
        if (throws) {
            throw std::runtime_error("no storage to speak of");
        }
        return true;
    }
    bool is_meta() const
    {
        return false;
    }
    bool is_nested() const
    {
        return false;
    }
    bool is_conj() const
    {
        return false;
    }
    bool is_neg() const
    {
        return false;
    }
    bool _is_zerotensor() const
    {
        return false;
    }
    bool is_contiguous() const
    {
        return true;
    }
    int64_t dim() const
    {
        return 2;
    }
    int64_t size(int64_t i) const
    {
        return i == 0 ? 2 : 3;
    }
    int64_t stride(int64_t i) const
    {
        return i == 0 ? 3 : 1;
    }
    int64_t numel() const
    {
        return 6;
    }
    ScalarType scalar_type() const
    {
        return kFloat;
    }
    bool is_cpu() const
    {
        return kind == cpu;
    }
    bool is_cuda() const
    {
        return kind == cuda;
    }
    bool is_mps() const
    {
        return kind == mps;
    }
    Device device() const
    {
        return {ordinal};
    }
    void *data_ptr() const
    {
        return static_cast<float *>(storage().mutable_data()) + offset;
    }
    int64_t storage_offset() const
    {
        return offset;
    }
    Storage storage() const
    {
        return {{memory, is_cow}};
    }
};
} // namespace at

namespace torch::cuda
{
inline int64_t synchronized_device = -1;
inline bool fails = false;
inline void synchronize(int64_t device = -1)
{
    stand_in::call("cuda.synchronize");
    synchronized_device = device;
    if (fails) {
        throw std::runtime_error("device-side assert triggered");
    }
}
} // namespace torch::cuda

#endif
