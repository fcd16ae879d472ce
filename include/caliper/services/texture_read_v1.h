/* caliper.texture_read.v1: reads a texture's pixels back, for tests, exports and inspection.
 *
 * Every slot is [frame] and takes any id the bridge vended that is still alive. A refusal is false
 * and one log line, with the outputs untouched. Thread tags: caliper/caliper.h. */
#ifndef CALIPER_SERVICES_TEXTURE_READ_V1_H
#define CALIPER_SERVICES_TEXTURE_READ_V1_H

#include <stdbool.h>
#include <stdint.h>

#include <caliper/layout.h>
#include <caliper/services/tensor_bridge_v1.h>

#define CALIPER_TEXTURE_READ_V1 "caliper.texture_read.v1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CaliperTextureReadV1 {
    uint32_t struct_size;

    /* Width and height in pixels. false on a bad id or a NULL output. [frame] */
    bool (*size)(CaliperTextureId tex, int32_t *out_w, int32_t *out_h);

    /* Copies the pixels into the caller's `dst`: R, G, B, A bytes, tightly packed, row 0 first, so
     * 4 * width * height bytes; `dst_bytes` may be more. Waits for pending updates of this texture
     * and is therefore slow: not for every frame. A shared texture is refreshed first. false on a
     * bad id, a NULL or short buffer. [frame] */
    bool (*read_rgba8)(CaliperTextureId tex, uint8_t *dst, uint64_t dst_bytes);
} CaliperTextureReadV1;

#ifdef __cplusplus
}
#endif

CALIPER_LAYOUT_SIZE(CaliperTextureReadV1, 24);
CALIPER_LAYOUT_AT(CaliperTextureReadV1, struct_size, 0);
CALIPER_LAYOUT_AT(CaliperTextureReadV1, size, 8);
CALIPER_LAYOUT_AT(CaliperTextureReadV1, read_rgba8, 16);

#endif
