/* The one translation unit that holds volk, the meta loader: it opens libvulkan at run time. */
#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#define VOLK_IMPLEMENTATION
#include <volk.h>
