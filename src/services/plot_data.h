/* services/plot_data.h: a caller's CaliperPlotData, checked once, then read element by element.
 *
 * Used by services/plot*. The arrays stay the caller's and are read only during the call that gave
 * them. Pure, any thread. */
#ifndef CALIPER_SERVICES_PLOT_DATA_H
#define CALIPER_SERVICES_PLOT_DATA_H

#include <caliper/services/plot_v1.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PlotColumn { PLOT_COLUMN_X = 0, PLOT_COLUMN_Y, PLOT_COLUMN_Y2 } PlotColumn;

typedef struct PlotData {
    const uint8_t *columns[3]; /* NULL: x counts, y2 is not there */
    uint32_t types[3];         /* CALIPER_PLOT_TYPE_* */
    int64_t strides[3];        /* bytes */
    const uint32_t *rgba;
    int64_t count, first; /* first: in 0..count-1 */
    double x0, dx;
    uint32_t revision;
} PlotData;

typedef struct PlotDataWrong {
    const char *given, *wanted;
} PlotDataWrong;

/* False: *out_wrong says what is the matter. */
bool plot_data_check(const CaliperPlotData *given, bool needs_y2, PlotData *out,
                     PlotDataWrong *out_wrong);

/* Where element i lies in memory, counted in elements: (first + i) % count. */
int64_t plot_data_place(const PlotData *data, int64_t i);

/* The value at a place in memory. */
double plot_data_at(const PlotData *data, PlotColumn column, int64_t place);
/* The value of element i, 0 <= i < count. */
double plot_data_x(const PlotData *data, int64_t i);
double plot_data_y(const PlotData *data, int64_t i);
double plot_data_y2(const PlotData *data, int64_t i);

/* The stored value as text: the shortest that reads back as the same number of its type. */
void plot_data_print(const PlotData *data, PlotColumn column, int64_t i, char *text,
                     size_t text_bytes);
/* The same for a computed double. */
void plot_number_print(double value, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif
