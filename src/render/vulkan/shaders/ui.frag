#version 450
layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 colour;
layout(set = 0, binding = 0) uniform sampler2D pixels;
layout(location = 0) out vec4 out_colour;

void main()
{
    out_colour = colour * texture(pixels, uv);
}
