/* The draw list through one small program; all state it needs is set at each draw. Frame thread. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/fault.h"
#include "render/gl/gl.h"

/* Logical units to clip space; y grows downwards in both, since row 0 of the target is the top. */
static const char vertex_source[] =
    "#version 330 core\n"
    "uniform vec4 place;\n"
    "layout(location = 0) in vec2 position;\n"
    "layout(location = 1) in vec2 texture_position;\n"
    "layout(location = 2) in vec4 colour;\n"
    "out vec2 vertex_texture_position;\n"
    "out vec4 vertex_colour;\n"
    "void main() {\n"
    "    vertex_texture_position = texture_position;\n"
    "    vertex_colour = colour;\n"
    "    gl_Position = vec4(position * place.xy + place.zw, 0, 1);\n"
    "}\n";

static const char fragment_source[] =
    "#version 330 core\n"
    "uniform sampler2D image;\n"
    "in vec2 vertex_texture_position;\n"
    "in vec4 vertex_colour;\n"
    "layout(location = 0) out vec4 pixel;\n"
    "void main() {\n"
    "    pixel = vertex_colour * texture(image, vertex_texture_position);\n"
    "}\n";

static GLuint shader_compile(GLenum kind, const char *source, char *error, size_t error_bytes)
{
    GLint compiled = GL_FALSE;
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (compiled && !fault_here("gl.context"))
        return shader;
    char log[160] = "";
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    snprintf(error, error_bytes, "a shader does not compile: %s", log);
    glDeleteShader(shader);
    return 0;
}

static bool program_create(GlView *view, char *error, size_t error_bytes)
{
    GLint linked = GL_FALSE;
    GLuint vertex = shader_compile(GL_VERTEX_SHADER, vertex_source, error, error_bytes);
    if (vertex == 0)
        return false;
    GLuint fragment = shader_compile(GL_FRAGMENT_SHADER, fragment_source, error, error_bytes);
    if (fragment == 0) {
        glDeleteShader(vertex);
        return false;
    }
    view->program = glCreateProgram();
    glAttachShader(view->program, vertex);
    glAttachShader(view->program, fragment);
    glLinkProgram(view->program);
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    glGetProgramiv(view->program, GL_LINK_STATUS, &linked);
    if (!linked) {
        snprintf(error, error_bytes, "the program does not link");
        return false;
    }
    view->place = glGetUniformLocation(view->program, "place");
    glUseProgram(view->program);
    glUniform1i(glGetUniformLocation(view->program, "image"), 0);
    return true;
}

static void sampler_create(GLuint *sampler, GLint filter)
{
    glGenSamplers(1, sampler);
    glSamplerParameteri(*sampler, GL_TEXTURE_MIN_FILTER, filter);
    glSamplerParameteri(*sampler, GL_TEXTURE_MAG_FILTER, filter);
    glSamplerParameteri(*sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glSamplerParameteri(*sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

bool gl_view_create(GlRenderer *self, char *error, size_t error_bytes)
{
    GlView *view = &self->view;
    if (!program_create(view, error, error_bytes))
        return false;
    sampler_create(&view->samplers[UI_FILTER_LINEAR], GL_LINEAR);
    sampler_create(&view->samplers[UI_FILTER_NEAREST], GL_NEAREST);
    glGenBuffers(1, &view->vertex_buffer);
    glGenBuffers(1, &view->index_buffer);
    glGenVertexArrays(1, &view->vertex_array);
    glBindVertexArray(view->vertex_array);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, view->index_buffer);
    glBindBuffer(GL_ARRAY_BUFFER, view->vertex_buffer);
    for (GLuint i = 0; i < 3; i++)
        glEnableVertexAttribArray(i);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof(UiVertex),
                          (const void *)offsetof(UiVertex, x));
    glVertexAttribPointer(1, 2, GL_FLOAT, GL_FALSE, sizeof(UiVertex),
                          (const void *)offsetof(UiVertex, u));
    glVertexAttribPointer(2, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(UiVertex),
                          (const void *)offsetof(UiVertex, rgba));
    gl_label(self, GL_PROGRAM, view->program, "ui");
    gl_label(self, GL_BUFFER, view->vertex_buffer, "ui vertices");
    gl_label(self, GL_BUFFER, view->index_buffer, "ui indices");
    return true;
}

void gl_view_destroy(GlRenderer *self)
{
    GlView *view = &self->view;
    glDeleteVertexArrays(1, &view->vertex_array);
    glDeleteBuffers(1, &view->index_buffer);
    glDeleteBuffers(1, &view->vertex_buffer);
    glDeleteSamplers(2, view->samplers);
    glDeleteProgram(view->program);
    memset(view, 0, sizeof *view);
}

static void state_set(const GlRenderer *self, const UiDraw *draw)
{
    const GlTarget *target = &self->target;
    glBindFramebuffer(GL_FRAMEBUFFER, target->framebuffer);
    glViewport(0, 0, target->width_px, target->height_px);
    glEnable(GL_BLEND);
    glBlendEquation(GL_FUNC_ADD);
    glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glEnable(GL_SCISSOR_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_STENCIL_TEST);
    glDisable(GL_MULTISAMPLE);
    glDisable(GL_FRAMEBUFFER_SRGB);
    glDisable(GL_PRIMITIVE_RESTART);
    glDisable(GL_COLOR_LOGIC_OP);
    glDisable(GL_DITHER);
    glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glUseProgram(self->view.program);
    float per_x = 2.0f * draw->scale / (float)target->width_px;
    float per_y = 2.0f * draw->scale / (float)target->height_px;
    glUniform4f(self->view.place, per_x, per_y, -1.0f - draw->origin_x * per_x,
                -1.0f - draw->origin_y * per_y);
    glBindVertexArray(self->view.vertex_array);
    glActiveTexture(GL_TEXTURE0);
}

/* Puts all lists one after another into one fresh buffer. */
static bool lists_upload(GlRenderer *self, const UiDraw *draw, GLenum kind)
{
    size_t total = 0;
    bool vertices = kind == GL_ARRAY_BUFFER;
    for (uint32_t i = 0; i < draw->list_count; i++)
        total += vertices ? draw->lists[i].vertex_count * sizeof(UiVertex)
                          : draw->lists[i].index_count * sizeof(uint16_t);
    glBufferData(kind, (GLsizeiptr)total, NULL, GL_STREAM_DRAW);
    uint8_t *to = glMapBufferRange(kind, 0, (GLsizeiptr)total,
                                   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (to == NULL)
        return gl_is_well(self, "renderer_draw_ui") &&
               gl_lose(self, "renderer_draw_ui", "no memory for the draw list");
    for (uint32_t i = 0; i < draw->list_count; i++) {
        const UiList *list = &draw->lists[i];
        size_t bytes =
            vertices ? list->vertex_count * sizeof(UiVertex) : list->index_count * sizeof(uint16_t);
        if (bytes > 0)
            memcpy(to, vertices ? (const void *)list->vertices : (const void *)list->indices,
                   bytes);
        to += bytes;
    }
    if (glUnmapBuffer(kind))
        return true;
    return gl_lose(self, "renderer_draw_ui", "the draw list's memory was taken away");
}

static void command_draw(const GlRenderer *self, const UiCommand *command, size_t index_base,
                         GLint vertex_base)
{
    if (command->index_count == 0)
        return;
    glScissor(command->clip_x0, command->clip_y0, command->clip_x1 - command->clip_x0,
              command->clip_y1 - command->clip_y0);
    glBindTexture(GL_TEXTURE_2D, ((const GlTexture *)command->texture)->name);
    glBindSampler(0, self->view.samplers[command->filter]);
    size_t offset = (index_base + command->index_first) * sizeof(uint16_t);
    glDrawElementsBaseVertex(GL_TRIANGLES, (GLsizei)command->index_count, GL_UNSIGNED_SHORT,
                             (const void *)offset, vertex_base + (GLint)command->vertex_first);
}

bool gl_draw_ui(Renderer *renderer, const UiDraw *draw)
{
    GlRenderer *self = gl_renderer(renderer);
    if (!gl_enter(self) || gl_fails_here(self, "gl.draw"))
        return false;
    size_t indices = 0;
    for (uint32_t i = 0; i < draw->list_count; i++)
        indices += draw->lists[i].index_count;
    if (indices == 0)
        return true;
    state_set(self, draw);
    glBindBuffer(GL_ARRAY_BUFFER, self->view.vertex_buffer);
    if (!lists_upload(self, draw, GL_ARRAY_BUFFER) ||
        !lists_upload(self, draw, GL_ELEMENT_ARRAY_BUFFER))
        return false;
    size_t index_base = 0;
    GLint vertex_base = 0;
    for (uint32_t i = 0; i < draw->list_count; i++) {
        const UiList *list = &draw->lists[i];
        for (uint32_t k = 0; k < list->command_count; k++)
            command_draw(self, &list->commands[k], index_base, vertex_base);
        index_base += list->index_count;
        vertex_base += (GLint)list->vertex_count;
    }
    glBindSampler(0, 0);
    return gl_is_well(self, "renderer_draw_ui");
}
