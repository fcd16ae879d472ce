#ifndef CALIPER_STAND_IN_DISPATCH_H
#define CALIPER_STAND_IN_DISPATCH_H

#include <torch/torch.h>

typedef struct dispatch_queue_s *dispatch_queue_t;

inline void dispatch_sync_f(dispatch_queue_t queue, void *context, void (*work)(void *))
{
    (void)queue;
    stand_in::call("dispatch");
    stand_in::in_block = true;
    work(context);
    stand_in::in_block = false;
}

#endif
