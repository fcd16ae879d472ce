// What the two passes share: the source as words, read at any byte address, and the image.
// One thread makes four pixels of a row; groups of 8 x 32 threads cover 32 x 32 pixels (the fastest
// of the shapes tried on an H200), or of 8 x 16 where the device has no larger groups.
layout(local_size_x = 8, local_size_y_id = 1) in;

layout(set = 0, binding = 0, rgba8) uniform writeonly image2D target;
layout(set = 1, binding = 0) readonly buffer Words { uint words[]; };
layout(set = 1, binding = 0) readonly buffer Quads { uvec4 quads[]; };
layout(set = 2, binding = 0) readonly buffer Tables { uint tables[]; };

layout(push_constant) uniform Push {
    uint base_bytes; // of the band's first element within the descriptor's range
    uint width;
    uint rows;
    uint first_row;
    float vmin;
    float inv;
    uint table_first;
    uint is_aligned; // base and rows are multiples of 16 bytes
} push;

// A little-endian word at any byte address. Touches only words that hold one of its four bytes.
uint load_word(uint at)
{
    uint index = at >> 2;
    uint shift = (at & 3u) * 8u;
    uint low = words[index];
    return shift == 0u ? low : (low >> shift) | (words[index + 1u] << (32u - shift));
}

uint load_byte(uint at)
{
    return (words[at >> 2] >> ((at & 3u) * 8u)) & 0xffu;
}

void store_pixel(uint x, uint y, uint rgba)
{
    imageStore(target, ivec2(int(x), int(push.first_row + y)), unpackUnorm4x8(rgba));
}
