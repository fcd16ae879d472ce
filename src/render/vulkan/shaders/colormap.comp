#version 450
// f32 to RGBA8 through a table: the exact rule of docs/architecture.md. NaN is decided on its bits,
// since min and max differ on it; `precise` forbids contraction.
#extension GL_GOOGLE_include_directive : require
#include "pass.glsl"

uint table_index(uint bits)
{
    if (push.inv == 0.0 || (bits & 0x7fffffffu) > 0x7f800000u)
        return 0u;
    precise float difference = uintBitsToFloat(bits) - push.vmin;
    precise float t = difference * push.inv;
    t = min(max(t, 0.0), 1.0);
    precise float scaled = t * 255.0;
    precise float rounded = scaled + 0.5;
    return uint(int(rounded));
}

uint colour(uint bits)
{
    return tables[push.table_first + table_index(bits)];
}

void main()
{
    uint x = gl_GlobalInvocationID.x * 4u;
    uint y = gl_GlobalInvocationID.y;
    if (x >= push.width || y >= push.rows)
        return;
    uint at = push.base_bytes + (y * push.width + x) * 4u;
    if (x + 4u <= push.width) {
        uvec4 bits = push.is_aligned != 0u
                         ? quads[at >> 4]
                         : uvec4(load_word(at), load_word(at + 4u), load_word(at + 8u),
                                 load_word(at + 12u));
        store_pixel(x, y, colour(bits.x));
        store_pixel(x + 1u, y, colour(bits.y));
        store_pixel(x + 2u, y, colour(bits.z));
        store_pixel(x + 3u, y, colour(bits.w));
        return;
    }
    for (; x < push.width; x++, at += 4u)
        store_pixel(x, y, colour(load_word(at)));
}
