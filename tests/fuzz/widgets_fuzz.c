/* tests/fuzz/widgets_fuzz.c: the bytes decide which slots of the widgets and plot tables are
 * called, in which order, with which arguments and under which input, against the real toolkit
 * without a window. Each input finds the toolkit as it was at first, so that what is found comes
 * again. */
#include <stdlib.h>

#include "widgets_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES_MAX = 16, CALLS_MAX = 48 };

static const uint8_t *bytes;
static size_t left;

uint32_t calls_random(uint32_t below)
{
    if (left == 0 || below < 2)
        return 0;
    uint32_t value = *bytes++;
    left--;
    if (below > 256 && left > 0) {
        value = value << 8 | *bytes++;
        left--;
    }
    return value % below;
}

bool calls_over(void)
{
    return left == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static UiBench bench;
    static bool started;
    /* The toolkit's own small font: a host is made in a millisecond. */
    setenv("CALIPER_FONT_DIR", "/nonexistent", 1);
    bytes = data;
    left = size;
    if (!started && !bench_start(&bench, 1.0f))
        abort();
    started = true;
    widgets_stop();
    ui_restart(bench.ui);
    widgets_start(bench.bridge);
    calls_start(&bench);
    bench.unseen = size % 8 != 0; /* drawing takes longer than all the rest */
    for (int frame = 0; frame < FRAMES_MAX && left > 0; frame++) {
        int calls = 1 + (int)calls_random(CALLS_MAX);
        for (uint32_t i = calls_random(4); i > 0; i--)
            calls_input(&bench);
        bench_frame(&bench, calls_draw, &calls);
    }
    calls_stop(&bench);
    return 0;
}
