/* applets/hello/hello.c: the first applet to read. An 8x8 tensor becomes a live texture; the
 * pointer reads its values. It includes the SDK and nothing else, and links nothing. */
#include <caliper/caliper.h>
#include <math.h>
#include <stdlib.h>

enum { SIDE = 8 };

typedef struct Hello {
    const CaliperTensorBridgeV1 *bridge;
    const CaliperWidgetsV1 *ui;
    const CaliperPlotV1 *plot; /* NULL: a host without it shows no colour bar */
    CaliperTextureId texture;
    float values[SIDE][SIDE];
    double speed, time_sec, view[3];
} Hello;

static void *create(void)
{
    Hello *hello = calloc(1, sizeof *hello);
    if (hello != NULL)
        hello->speed = 1.0;
    return hello;
}

static void destroy(void *self)
{
    free(self);
}

static void compute(Hello *hello)
{
    for (int row = 0; row < SIDE; row++) {
        for (int column = 0; column < SIDE; column++)
            hello->values[row][column] =
                (float)(0.5 + 0.5 * sin(0.6 * column + 0.4 * row + hello->time_sec));
    }
}

/* Services are looked up once; what create made is filled here. */
static bool initialize(void *self, const CaliperHost *host)
{
    Hello *hello = self;
    hello->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1, CALIPER_TENSOR_BRIDGE_V1);
    hello->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    hello->plot = CALIPER_SERVICE(host, CaliperPlotV1, CALIPER_PLOT_V1);
    if (hello->bridge == NULL || hello->ui == NULL)
        return false;
    compute(hello);
    CaliperTensor tensor = caliper_tensor_f32_2d(&hello->values[0][0], SIDE, SIDE);
    hello->texture =
        hello->bridge->texture_from_tensor_mapped(&tensor, CALIPER_CMAP_VIRIDIS, 0.0f, 1.0f, 0);
    return hello->texture != 0;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    Hello *hello = self;
    const CaliperWidgetsV1 *ui = hello->ui;
    double low = 0.0, high = 1.0;
    int64_t column = 0, row = 0;
    char text[64];

    /* The tensor changes, and its texture with it. */
    hello->time_sec += info->delta_sec * hello->speed;
    compute(hello);
    CaliperTensor tensor = caliper_tensor_f32_2d(&hello->values[0][0], SIDE, SIDE);
    hello->bridge->update_texture(hello->texture, &tensor);

    ui->text_ex("Hello, tensor.", -1, 0, CALIPER_TEXT_HEADING);
    ui->text_ex("An 8 x 8 tensor, live. Point at a cell, turn the wheel, drag.", -1, 0,
                CALIPER_TEXT_DIM | CALIPER_TEXT_WRAP);
    ui->next_width(200);
    ui->slider("speed", &hello->speed, 0.0, 5.0, 2, NULL, 0);
    if (ui->image_view("tensor", hello->texture, SIDE, SIDE, 0, -48, hello->view,
                       CALIPER_IMAGE_GRID) &&
        ui->texel(&column, &row)) {
        snprintf(text, sizeof text, "[%d, %d] = %.6f", (int)row, (int)column,
                 (double)hello->values[row][column]);
        ui->tooltip(text);
    }
    ui->end(CALIPER_SCOPE_IMAGE);
    if (hello->plot != NULL)
        hello->plot->color_bar("scale", CALIPER_CMAP_VIRIDIS, &low, &high, 0, 0, 0);
}

static void cleanup(void *self)
{
    Hello *hello = self;
    hello->bridge->release_texture(hello->texture);
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const services[] = {CALIPER_TENSOR_BRIDGE_V1, CALIPER_WIDGETS_V1, NULL};
    static const CaliperAppletDescriptor descriptor = {
        .struct_size = sizeof descriptor,
        .abi_epoch = CALIPER_ABI_EPOCH,
        .id = "org.caliper.hello",
        .version = "1.0.0",
        .name = "Hello",
        .summary = "The first applet to read: an 8 x 8 tensor as a live texture.",
        .tag = "example",
        .required_services = services,
        .api = {.struct_size = sizeof descriptor.api,
                .create = create,
                .destroy = destroy,
                .initialize = initialize,
                .frame = frame,
                .cleanup = cleanup},
    };
    return &descriptor;
}
