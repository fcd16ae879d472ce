#version 450
// u8 with 1 to 4 channels to RGBA8: grey, grey and alpha, RGB, RGBA.
#extension GL_GOOGLE_include_directive : require
#include "pass.glsl"

layout(constant_id = 0) const uint channels = 4u;

uint grey(uint value)
{
    return value * 0x010101u;
}

void pixel_alone(uint x, uint y, uint at)
{
    uint rgba = load_byte(at);
    if (channels == 1u)
        rgba = grey(rgba) | 0xff000000u;
    else if (channels == 2u)
        rgba = grey(rgba) | load_byte(at + 1u) << 24;
    else
        rgba |= load_byte(at + 1u) << 8 | load_byte(at + 2u) << 16 |
                (channels == 4u ? load_byte(at + 3u) << 24 : 0xff000000u);
    store_pixel(x, y, rgba);
}

void pixels_four(uint x, uint y, uint at)
{
    if (channels == 1u) {
        uint v = load_word(at);
        for (uint i = 0u; i < 4u; i++)
            store_pixel(x + i, y, grey((v >> (8u * i)) & 0xffu) | 0xff000000u);
    } else if (channels == 2u) {
        for (uint i = 0u; i < 2u; i++) {
            uint v = load_word(at + 4u * i);
            store_pixel(x + 2u * i, y, grey(v & 0xffu) | (v & 0xff00u) << 16);
            store_pixel(x + 2u * i + 1u, y, grey((v >> 16) & 0xffu) | (v & 0xff000000u));
        }
    } else if (channels == 3u) {
        uint a = load_word(at), b = load_word(at + 4u), c = load_word(at + 8u);
        store_pixel(x, y, a | 0xff000000u);
        store_pixel(x + 1u, y, a >> 24 | b << 8 | 0xff000000u);
        store_pixel(x + 2u, y, b >> 16 | c << 16 | 0xff000000u);
        store_pixel(x + 3u, y, c >> 8 | 0xff000000u);
    } else {
        uvec4 v = push.is_aligned != 0u
                      ? quads[at >> 4]
                      : uvec4(load_word(at), load_word(at + 4u), load_word(at + 8u),
                              load_word(at + 12u));
        for (uint i = 0u; i < 4u; i++)
            store_pixel(x + i, y, v[i]);
    }
}

void main()
{
    uint x = gl_GlobalInvocationID.x * 4u;
    uint y = gl_GlobalInvocationID.y;
    if (x >= push.width || y >= push.rows)
        return;
    uint at = push.base_bytes + (y * push.width + x) * channels;
    if (x + 4u <= push.width) {
        pixels_four(x, y, at);
        return;
    }
    for (; x < push.width; x++, at += channels)
        pixel_alone(x, y, at);
}
