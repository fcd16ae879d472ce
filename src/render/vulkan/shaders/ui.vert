#version 450
// UI vertices in logical units to the framebuffer; row 0 is on top, as in Vulkan's clip space.
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 colour;
layout(push_constant) uniform Push {
    vec2 scale;
    vec2 offset;
} push;
layout(location = 0) out vec2 out_uv;
layout(location = 1) out vec4 out_colour;

void main()
{
    out_uv = uv;
    out_colour = colour;
    gl_Position = vec4(position * push.scale + push.offset, 0.0, 1.0);
}
