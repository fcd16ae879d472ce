/* Stands for gfx_window_gl.c in a build without the gl renderer. */
#include "gfx.h"

int gfx_run_window_gl(void)
{
    return 0;
}
