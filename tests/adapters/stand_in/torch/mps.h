#ifndef CALIPER_STAND_IN_MPS_H
#define CALIPER_STAND_IN_MPS_H

#include <torch/torch.h>

namespace torch::mps
{
inline void *queue = nullptr, *buffer = nullptr;
inline void *get_dispatch_queue()
{
    return queue;
}
inline void *get_command_buffer()
{
    stand_in::call("mps.get_command_buffer");
    return buffer;
}
inline void commit()
{
    stand_in::call("mps.commit");
}
inline void synchronize()
{
    stand_in::call("mps.synchronize");
}
} // namespace torch::mps

#endif
