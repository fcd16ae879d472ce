/* services/plot_data.c: see plot_data.h. Loads go through memcpy: strides may be odd. */
#include "services/plot_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than any memory holds; keeps places and byte offsets inside 63 bits. */
#define COUNT_MAX  (INT64_C(1) << 40)
#define STRIDE_MAX (INT64_C(1) << 20)

static int64_t type_size(uint32_t type)
{
    switch (type) {
    case CALIPER_PLOT_TYPE_F64:
    case CALIPER_PLOT_TYPE_I64:
        return 8;
    case CALIPER_PLOT_TYPE_F32:
    case CALIPER_PLOT_TYPE_I32:
        return 4;
    case CALIPER_PLOT_TYPE_U8:
        return 1;
    default:
        return 0;
    }
}

static bool wrong(PlotDataWrong *out, const char *given, const char *wanted)
{
    *out = (PlotDataWrong){given, wanted};
    return false;
}

bool plot_data_check(const CaliperPlotData *given, bool needs_y2, PlotData *out,
                     PlotDataWrong *out_wrong)
{
    if (given == NULL)
        return wrong(out_wrong, "no data", "a CaliperPlotData");
    if (given->struct_size < sizeof *given)
        return wrong(out_wrong, "a struct_size that is too small",
                     "struct_size = sizeof(CaliperPlotData)");
    int64_t x_size = type_size(given->x_type), y_size = type_size(given->y_type);
    if (x_size == 0 || y_size == 0)
        return wrong(out_wrong, "an unknown type", "CALIPER_PLOT_TYPE_*");
    int64_t count = given->count < 0 ? 0 : given->count;
    if (count > COUNT_MAX || llabs(given->x_stride) > STRIDE_MAX ||
        llabs(given->y_stride) > STRIDE_MAX)
        return wrong(out_wrong, "more than 2^40 elements, or more than 2^20 bytes between two",
                     "less");
    if (count > 0 && (given->y == NULL || (needs_y2 && given->y2 == NULL)))
        return wrong(out_wrong, "a NULL array", "one value for each element");
    *out = (PlotData){
        .columns = {given->x, given->y, given->y2},
        .types = {given->x_type, given->y_type, given->y_type},
        .rgba = given->rgba,
        .count = count,
        .x0 = isfinite(given->x0) ? given->x0 : 0.0,
        .dx = isfinite(given->dx) && given->dx != 0.0 ? given->dx : 1.0,
        .revision = given->revision,
    };
    out->strides[PLOT_COLUMN_X] = given->x_stride != 0 ? given->x_stride : x_size;
    out->strides[PLOT_COLUMN_Y] = given->y_stride != 0 ? given->y_stride : y_size;
    out->strides[PLOT_COLUMN_Y2] = out->strides[PLOT_COLUMN_Y];
    if (count > 0) {
        int64_t first = given->first % count;
        out->first = first < 0 ? first + count : first;
    }
    return true;
}

int64_t plot_data_place(const PlotData *data, int64_t i)
{
    int64_t left = data->count - data->first;
    return i < left ? data->first + i : i - left;
}

double plot_data_at(const PlotData *data, PlotColumn column, int64_t place)
{
    const uint8_t *at = data->columns[column] + place * data->strides[column];
    switch (data->types[column]) {
    case CALIPER_PLOT_TYPE_F32: {
        float value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    case CALIPER_PLOT_TYPE_I64: {
        int64_t value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    case CALIPER_PLOT_TYPE_I32: {
        int32_t value;
        memcpy(&value, at, sizeof value);
        return (double)value;
    }
    case CALIPER_PLOT_TYPE_U8:
        return (double)*at;
    default: {
        double value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    }
}

double plot_data_x(const PlotData *data, int64_t i)
{
    if (data->columns[PLOT_COLUMN_X] == NULL)
        return data->x0 + (double)i * data->dx;
    return plot_data_at(data, PLOT_COLUMN_X, plot_data_place(data, i));
}

double plot_data_y(const PlotData *data, int64_t i)
{
    return plot_data_at(data, PLOT_COLUMN_Y, plot_data_place(data, i));
}

double plot_data_y2(const PlotData *data, int64_t i)
{
    return plot_data_at(data, PLOT_COLUMN_Y2, plot_data_place(data, i));
}

void plot_number_print(double value, char *text, size_t text_bytes)
{
    if (isnan(value)) {
        snprintf(text, text_bytes, "nan");
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, text_bytes, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

static void print_float(float value, char *text, size_t text_bytes)
{
    if (isnan(value)) {
        snprintf(text, text_bytes, "nan");
        return;
    }
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, text_bytes, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            return;
    }
}

void plot_data_print(const PlotData *data, PlotColumn column, int64_t i, char *text,
                     size_t text_bytes)
{
    if (data->columns[column] == NULL) {
        plot_number_print(plot_data_x(data, i), text, text_bytes);
        return;
    }
    int64_t place = plot_data_place(data, i);
    const uint8_t *at = data->columns[column] + place * data->strides[column];
    if (data->types[column] == CALIPER_PLOT_TYPE_I64) { /* exact beyond 2^53 */
        int64_t value;
        memcpy(&value, at, sizeof value);
        snprintf(text, text_bytes, "%" PRId64, value);
    } else if (data->types[column] == CALIPER_PLOT_TYPE_F32) {
        float value;
        memcpy(&value, at, sizeof value);
        print_float(value, text, text_bytes);
    } else {
        plot_number_print(plot_data_at(data, column, place), text, text_bytes);
    }
}
