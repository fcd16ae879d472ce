/* tensorscope/panel_demo.c: the live source, and the first lesson: how to open a file. Frame
 * thread. */
#include <inttypes.h>
#include <stdio.h>

#include "app.h"
#include "text.h"

static void teach(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    ui->separator("Open a file");
    ui->text_ex("Drop a .npy, .npz, .safetensors, IDX (also .gz) or PNG file on this panel, or "
                "start with one. A file that a script writes again is followed.",
                -1, 0, CALIPER_TEXT_WRAP);
    ui->text_ex("caliper view weights.npy\ncaliper view frame.bin --raw u16:480x640", -1,
                ui->color(CALIPER_THEME_ACCENT), CALIPER_TEXT_MONO | CALIPER_TEXT_SMALL);
    ui->text_ex("Wheel, + and - zoom; drag and Shift with arrows pan; a double click or F fits. "
                "Left and right step the first slider, G shows cells, M changes the map, C or a "
                "right click copies the value, Ctrl S saves.",
                -1, 0, CALIPER_TEXT_WRAP | CALIPER_TEXT_DIM | CALIPER_TEXT_SMALL);
}

void panel_demo(App *app)
{
    const CaliperWidgetsV1 *ui = app->ui;
    Session *session = &app->session;
    char text[TEXT_BYTES];
    teach(app);
    if (session->demo == NULL && !session->demo_failed) {
        return;
    }
    ui->separator("Live demo");
    if (session->demo == NULL) {
        ui->text_ex("This host shares no memory with applets, so there is no live field. Files "
                    "work as ever.",
                    -1, 0, CALIPER_TEXT_WRAP | CALIPER_TEXT_DIM);
        return;
    }
    ui->text_ex("A thread of this applet writes a new field for every frame into memory that the "
                "host shows as it is: no copy is asked for, nothing is uploaded by the applet.",
                -1, 0, CALIPER_TEXT_WRAP | CALIPER_TEXT_DIM);
    snprintf(text, sizeof(text), "%d \u00d7 %d", (int)demo_side(session->demo),
             (int)demo_side(session->demo));
    ui->field("field", text);
    ui->field("type", "f32 in [0, 1], viridis");
    ui->field("shown", text_count(demo_fields(session->demo), text, sizeof(text)));
    ui->field("device", app->device.name);
    ui->checkbox("pause (space)", &session->demo_paused);
}
