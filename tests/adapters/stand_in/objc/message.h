#ifndef CALIPER_STAND_IN_OBJC_H
#define CALIPER_STAND_IN_OBJC_H

#include <torch/torch.h>

typedef const char *SEL;

inline SEL sel_registerName(const char *name)
{
    return name;
}
/* [buffer commandQueue]: the stand-in's buffer points to its queue. */
inline void *objc_msgSend(void *buffer, SEL selector)
{
    stand_in::call(selector);
    return *static_cast<void **>(buffer);
}

#endif
