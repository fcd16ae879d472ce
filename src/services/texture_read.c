/* The table of caliper.texture_read.v1. Any thread; the bridge refuses all but the frame thread's
 * calls. */
#include <caliper/services/texture_read_v1.h>

#include "services/bridge_services_impl.h"

static bool size(CaliperTextureId tex, int32_t *out_w, int32_t *out_h)
{
    return bridge_texture_size(bridge_services_current(), tex, out_w, out_h);
}

static bool read_rgba8(CaliperTextureId tex, uint8_t *dst, uint64_t dst_bytes)
{
    return bridge_texture_read_rgba8(bridge_services_current(), tex, dst, dst_bytes);
}

const CaliperTextureReadV1 texture_read_table = {
    .struct_size = sizeof texture_read_table, .size = size, .read_rgba8 = read_rgba8};
