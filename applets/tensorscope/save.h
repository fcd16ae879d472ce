/* tensorscope/save.h: writes what is shown to a file: the stored values as .npy, exactly, or the
 * picture as PNG.
 *
 * All calls are the frame thread's and none waits for the disk: a task does the work. The file
 * appears whole or not at all; one that is there is replaced only when that was said. */
#ifndef TENSORSCOPE_SAVE_H
#define TENSORSCOPE_SAVE_H

#include "slice_data.h"
#include "stamp.h"
#include "task.h"

typedef struct Save Save;

typedef enum SaveState {
    SAVE_STATE_NONE = 0,
    SAVE_STATE_WRITING,
    SAVE_STATE_DONE,
    SAVE_STATE_FAILED /* `error`; EXISTS asks for replace */
} SaveState;

/* NULL when there is no memory. */
Save *save_create(void);
/* Cancels what is written and waits for at most one read or write of a MiB; NULLs, accepts NULL. */
void save_destroy(Save **save);

/* The elements of the slice, or of all slices of a grid, as .npy of the stored type: rows x
 * columns, x channels where they are colour, behind the tiles' axis; an axis that is none is left
 * out. What was read whole comes from memory; else every element is read from the content that
 * `stamp` is of. False: something is being written already. */
bool save_npy(Save *save, const char *path, bool replace, SliceData *data, const char *address,
              const Stamp *stamp);
/* width x height pixels of four bytes, taken over (free). The gaps of `tiles` become transparent.
 */
bool save_png(Save *save, const char *path, bool replace, uint8_t *rgba, uint32_t width,
              uint32_t height, const Tiles *tiles);
void save_cancel(Save *save);

/* Takes what is done; true once, in the call that finds it. */
bool save_update(Save *save);
void save_wait(Save *save, double seconds); /* for repeatable pictures alone */
void save_forget(Save *save);               /* DONE and FAILED become NONE */
SaveState save_state(const Save *save);
double save_progress(const Save *save);
const ArrayError *save_error(const Save *save);
const char *save_path(const Save *save); /* of the last one asked for */

/* A name for it: beside the file, or in the working folder where that one cannot be written to,
 * with the array's name and where the slice is cut. */
void save_default_path(const Source *source, const SourceArray *array, const AxisChoice *axes,
                       const char *ending, char *path, size_t size);

#endif
