/* tests/kit/kit_applet.h: an applet that does one of everything, for the fixture's own tests:
 * linked into the test program and, built again as a library, loaded by path. */
#ifndef CALIPER_TESTS_KIT_APPLET_H
#define CALIPER_TESTS_KIT_APPLET_H

#include <caliper/caliper.h>
#include <caliper/services/widgets_v1.h>

typedef struct KitApplet {
    const CaliperHost *host;
    const CaliperTensorBridgeV1 *bridge;
    const CaliperWidgetsV1 *ui;      /* may be NULL */
    const CaliperJobsV1 *jobs;       /* may be NULL */
    const CaliperMetricsV1 *metrics; /* may be NULL */
    CaliperTextureId texture, shared;
    CaliperTensor shared_tensor;
    float cells[2][3];
    uint64_t run, job;
    int frames, clicks;
    double time_sec, delta_sec;
    int32_t fb_width, fb_height;
    float dpi_scale;
    char typed[32];
    int faults_in;   /* frames until it reads from address 8; 0: never */
    bool wants_text; /* the text field gets the keys in the next frame */
    bool keeps;      /* cleanup gives nothing back */
} KitApplet;

extern const char *kit_applet_last_dir; /* applet_data_dir of the last initialize */

const CaliperAppletDescriptor *caliper_applet_descriptor(void);

#endif
