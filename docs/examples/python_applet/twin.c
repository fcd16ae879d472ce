/* The applet of applet.py in C: what both draw is the same to the byte. */
#include <caliper/caliper.h>
#include <caliper/services/widgets_v1.h>
#include <math.h>
#include <stdlib.h>

enum { ROWS = 48, COLUMNS = 80 };

typedef struct Waves {
    const CaliperTensorBridgeV1 *bridge;
    const CaliperWidgetsV1 *ui;
    CaliperTextureId texture;
    float field[ROWS][COLUMNS];
    double phase, speed, waves, view[3];
    bool paused;
    char notes[64];
} Waves;

static void *create(void)
{
    Waves *waves = calloc(1, sizeof *waves);
    if (waves != NULL) {
        waves->speed = 3.0;
        waves->waves = 4.0;
        snprintf(waves->notes, sizeof waves->notes, "caf\xc3\xa9");
    }
    return waves;
}

static void compute(Waves *waves)
{
    const double pi = 3.141592653589793;
    const double step = waves->waves * 2.0 * pi / COLUMNS, middle = (ROWS - 1) / 2.0;
    for (int row = 0; row < ROWS; row++) {
        double height = row - middle;
        for (int column = 0; column < COLUMNS; column++) {
            double distance = sqrt(height * height + (double)column * column);
            waves->field[row][column] = (float)sin(step * distance - waves->phase);
        }
    }
}

static bool initialize(void *self, const CaliperHost *host)
{
    Waves *waves = self;
    waves->bridge = CALIPER_SERVICE(host, CaliperTensorBridgeV1, CALIPER_TENSOR_BRIDGE_V1);
    waves->ui = CALIPER_SERVICE(host, CaliperWidgetsV1, CALIPER_WIDGETS_V1);
    if (waves->bridge == NULL || waves->ui == NULL)
        return false;
    compute(waves);
    CaliperTensor tensor = caliper_tensor_f32_2d(&waves->field[0][0], ROWS, COLUMNS);
    waves->texture =
        waves->bridge->texture_from_tensor_mapped(&tensor, CALIPER_CMAP_RDBU, -1.0f, 1.0f, 0);
    return waves->texture != 0;
}

static void frame(void *self, const CaliperFrameInfo *info)
{
    Waves *waves = self;
    const CaliperWidgetsV1 *ui = waves->ui;
    int64_t row = 0, column = 0;
    char text[64];
    if (!waves->paused)
        waves->phase += info->delta_sec * waves->speed;
    compute(waves);
    CaliperTensor tensor = caliper_tensor_f32_2d(&waves->field[0][0], ROWS, COLUMNS);
    waves->bridge->update_texture(waves->texture, &tensor);

    ui->text_ex("Waves", -1, 0, CALIPER_TEXT_HEADING);
    ui->checkbox("pause", &waves->paused);
    ui->same_line(0, 16);
    ui->next_width(160);
    ui->slider("speed", &waves->speed, 0.0, 10.0, 1, "rad/s", 0);
    ui->same_line(0, 16);
    ui->next_width(160);
    ui->slider("waves", &waves->waves, 1.0, 20.0, 1, NULL, 0);
    ui->same_line(0, 16);
    ui->next_width(160);
    ui->input_text("notes", NULL, waves->notes, sizeof waves->notes, 0, 0);
    if (ui->image_view("field", waves->texture, COLUMNS, ROWS, 0, 0, waves->view,
                       CALIPER_IMAGE_GRID) &&
        ui->texel(&column, &row)) {
        snprintf(text, sizeof text, "[%d, %d] = %.4f", (int)row, (int)column,
                 (double)waves->field[row][column]);
        ui->tooltip(text);
    }
    ui->end(CALIPER_SCOPE_IMAGE);
}

static void cleanup(void *self)
{
    Waves *waves = self;
    waves->bridge->release_texture(waves->texture);
}

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void);

CALIPER_EXPORT const CaliperAppletDescriptor *caliper_applet_descriptor(void)
{
    static const char *const services[] = {CALIPER_TENSOR_BRIDGE_V1, CALIPER_WIDGETS_V1, NULL};
    static const CaliperAppletDescriptor descriptor = {
        .struct_size = sizeof descriptor,
        .abi_epoch = CALIPER_ABI_EPOCH,
        .id = "org.example.waves",
        .version = "1.0.0",
        .name = "Waves",
        .summary = "The same applet in Python and in C.",
        .tag = "example",
        .required_services = services,
        .api = {sizeof descriptor.api, create, free, initialize, frame, cleanup},
    };
    return &descriptor;
}
