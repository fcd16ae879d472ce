/* For the stand-in's tensors: whether a storage is shared until it is written. */
#pragma once

#include <torch/torch.h>

namespace c10::impl::cow
{
inline bool is_cow_data_ptr(const at::DataPtr &data)
{
    return data.is_cow;
}
} // namespace c10::impl::cow
