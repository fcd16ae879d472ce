/* services/widgets_table.h: the slots of the widgets and plot tables, each defined in the file that
 * its section names. C++; included by services/widgets*.cpp and services/plot*.cpp only. */
#ifndef CALIPER_SERVICES_WIDGETS_TABLE_H
#define CALIPER_SERVICES_WIDGETS_TABLE_H

#include "services/widgets_internal.h"

void widgets_slot_end(uint32_t scope);
bool widgets_slot_window(const char *title, float w, float h, bool *open, uint32_t flags);
bool widgets_slot_child(const char *id, float w, float h, uint32_t flags);
bool widgets_slot_split(const char *id, uint32_t axis, float *first, float min_first,
                        float min_second);
void widgets_slot_split_next(void);
void widgets_slot_group(void);
void widgets_slot_indent(float w);
void widgets_slot_push_id(const char *id);
void widgets_slot_push_id_int(uint64_t id);
void widgets_slot_push_width(float w);
void widgets_slot_push_text(uint32_t rgba, uint32_t flags);
void widgets_slot_disabled(bool on);
void widgets_slot_next_id(uint64_t id);
void widgets_slot_next_width(float w);
void widgets_slot_next_open(bool open, uint32_t when);
void widgets_slot_next_focus(void);
void widgets_slot_same_line(float x, float gap);
void widgets_slot_separator(const char *title);
void widgets_slot_space(float w, float h);
void widgets_slot_remaining(float *out_w, float *out_h);
void widgets_slot_cursor(float *out_x, float *out_y);
void widgets_slot_set_cursor(float x, float y);
void widgets_slot_scroll(float *out_y, float *out_max_y);
void widgets_slot_set_scroll(float y);
void widgets_slot_scroll_here(float ratio);
float widgets_slot_metric(uint32_t which);
uint32_t widgets_slot_color(uint32_t which);
void widgets_slot_text_size(const char *text, int64_t len, float wrap_w, uint32_t flags,
                            float *out_w, float *out_h);
void widgets_slot_text(const char *text);
void widgets_slot_text_ex(const char *text, int64_t len, uint32_t rgba, uint32_t flags);
void widgets_slot_field(const char *label, const char *value);
const char *widgets_slot_icon(uint32_t which);
bool widgets_slot_button(const char *label, float w, float h, uint32_t flags);
bool widgets_slot_checkbox(const char *label, bool *v);
bool widgets_slot_radio(const char *label, int32_t *v, int32_t value);
bool widgets_slot_selectable(const char *label, bool selected, float w, float h, uint32_t flags);
bool widgets_slot_slider(const char *label, double *v, double min, double max, int32_t digits,
                         const char *unit, uint32_t flags);
bool widgets_slot_slider_int(const char *label, int64_t *v, int64_t min, int64_t max,
                             const char *unit, uint32_t flags);
bool widgets_slot_drag(const char *label, double *v, int32_t n, double speed, double min,
                       double max, int32_t digits, const char *unit, uint32_t flags);
bool widgets_slot_drag_int(const char *label, int64_t *v, int32_t n, double speed, int64_t min,
                           int64_t max, const char *unit, uint32_t flags);
bool widgets_slot_drag_range(const char *label, double *lo, double *hi, double speed, double min,
                             double max, int32_t digits, const char *unit, uint32_t flags);
bool widgets_slot_input_number(const char *label, double *v, double step, int32_t digits,
                               const char *unit, uint32_t flags);
bool widgets_slot_input_int(const char *label, int64_t *v, int64_t step, uint32_t flags);
bool widgets_slot_input_text(const char *label, const char *hint, char *buf, uint64_t buf_bytes,
                             float h, uint32_t flags);
bool widgets_slot_combo(const char *label, int32_t *index, const char *const *items, int32_t count,
                        uint32_t flags);
bool widgets_slot_combo_list(const char *label, const char *preview, uint32_t flags);
bool widgets_slot_color_edit(const char *label, uint32_t *rgba, uint32_t flags);
void widgets_slot_progress(double fraction, const char *overlay, float w, float h);
bool widgets_slot_tree(const char *label, uint32_t flags);
bool widgets_slot_tab_bar(const char *id, uint32_t flags);
bool widgets_slot_tab(const char *label, bool *open, uint32_t flags);
bool widgets_slot_menu_bar(void);
bool widgets_slot_menu(const char *label);
bool widgets_slot_menu_item(const char *label, uint32_t chord, bool *selected);
void widgets_slot_popup_open(const char *id);
bool widgets_slot_popup(const char *id, uint32_t flags);
void widgets_slot_popup_close(void);
void widgets_slot_tooltip(const char *text);
bool widgets_slot_tooltip_box(void);
bool widgets_slot_table(const char *id, int32_t columns, float w, float h, uint32_t flags);
void widgets_slot_table_column(const char *label, float width, uint32_t flags);
bool widgets_slot_table_sort(int32_t *out_column, bool *out_descending);
void widgets_slot_table_row(float min_h, uint32_t rgba);
bool widgets_slot_table_cell(int32_t column, uint32_t rgba);
bool widgets_slot_rows(int64_t count, float row_h, int64_t *out_first, int64_t *out_end);
void widgets_slot_image(CaliperTextureId tex, float w, float h, uint32_t flags);
bool widgets_slot_image_view(const char *id, CaliperTextureId tex, int64_t img_w, int64_t img_h,
                             float w, float h, double *view3, uint32_t flags);
bool widgets_slot_canvas(const char *id, float w, float h, uint32_t flags);
bool widgets_slot_texel(int64_t *out_col, int64_t *out_row);
void widgets_slot_visible(double *out_x0, double *out_y0, double *out_x1, double *out_y1);
uint32_t widgets_slot_pointer(double *out_x, double *out_y, float *out_wheel);
void widgets_slot_draw_line(double x0, double y0, double x1, double y1, uint32_t rgba, float width);
void widgets_slot_draw_rect(double x0, double y0, double x1, double y1, uint32_t rgba, float width);
void widgets_slot_draw_circle(double x, double y, float radius, uint32_t rgba, float width);
void widgets_slot_draw_path(const double *xy, int64_t count, uint32_t rgba, float width,
                            uint32_t flags);
void widgets_slot_draw_text(double x, double y, const char *text, int64_t len, uint32_t rgba,
                            uint32_t flags);
void widgets_slot_draw_image(CaliperTextureId tex, double x0, double y0, double x1, double y1,
                             uint32_t flags);
uint32_t widgets_slot_item(void);
void widgets_slot_item_rect(float *out_x, float *out_y, float *out_w, float *out_h);
uint32_t widgets_slot_panel(float *out_w, float *out_h);
bool widgets_slot_shortcut(uint32_t chord, uint32_t flags);
bool widgets_slot_key_down(uint32_t key);
const char *widgets_slot_dropped(int32_t index);
const char *widgets_slot_clipboard(void);
void widgets_slot_set_clipboard(const char *text);

bool plot_slot_plot(const char *title, float w, float h, uint32_t flags);
void plot_slot_end(void);
void plot_slot_axis(uint32_t axis, const char *label, uint32_t scale, uint32_t flags);
void plot_slot_axis_range(uint32_t axis, double min, double max, uint32_t when);
void plot_slot_axis_link(uint32_t axis, double *min, double *max);
void plot_slot_axis_ticks(uint32_t axis, const double *at, const char *const *labels,
                          int32_t count);
void plot_slot_axis_fit(uint32_t axis_mask);
void plot_slot_view(uint32_t axis, double *out_min, double *out_max);
void plot_slot_style(uint32_t rgba, float width, uint32_t marker, float marker_size);
bool plot_slot_line(const char *label, const CaliperPlotData *data, uint32_t flags);
bool plot_slot_scatter(const char *label, const CaliperPlotData *data, uint32_t flags);
bool plot_slot_bars(const char *label, const CaliperPlotData *data, double bar_width,
                    uint32_t flags);
bool plot_slot_band(const char *label, const CaliperPlotData *data, uint32_t flags);
bool plot_slot_histogram(const char *label, const CaliperPlotData *data, int32_t bins, double lo,
                         double hi, uint32_t flags);
bool plot_slot_image(const char *label, CaliperTextureId tex, double x0, double y0, double x1,
                     double y1, uint32_t flags);
bool plot_slot_ref_line(const char *label, uint32_t axis, double *at, uint32_t flags);
void plot_slot_ref_span(const char *label, uint32_t axis, double lo, double hi);
bool plot_slot_shown(const char *label, int32_t set);
bool plot_slot_nearest(int32_t *out_series, int64_t *out_index);
bool plot_slot_selection(double *out_x0, double *out_y0, double *out_x1, double *out_y1);
bool plot_slot_color_bar(const char *label, int32_t colormap, double *vmin, double *vmax, float w,
                         float h, uint32_t flags);
uint32_t plot_slot_colormap(int32_t colormap, float v, float vmin, float vmax);

#endif
