/* services/widgets_table.cpp: the two tables themselves, in the order of their headers. */
#include "services/widgets_table.h"

extern "C" const CaliperWidgetsV1 *widgets_table(void)
{
    static const CaliperWidgetsV1 table = {
        sizeof(CaliperWidgetsV1),  widgets_slot_end,           widgets_slot_window,
        widgets_slot_child,        widgets_slot_split,         widgets_slot_split_next,
        widgets_slot_group,        widgets_slot_indent,        widgets_slot_push_id,
        widgets_slot_push_id_int,  widgets_slot_push_width,    widgets_slot_push_text,
        widgets_slot_disabled,     widgets_slot_next_id,       widgets_slot_next_width,
        widgets_slot_next_open,    widgets_slot_next_focus,    widgets_slot_same_line,
        widgets_slot_separator,    widgets_slot_space,         widgets_slot_remaining,
        widgets_slot_cursor,       widgets_slot_set_cursor,    widgets_slot_scroll,
        widgets_slot_set_scroll,   widgets_slot_scroll_here,   widgets_slot_metric,
        widgets_slot_color,        widgets_slot_text_size,     widgets_slot_text,
        widgets_slot_text_ex,      widgets_slot_field,         widgets_slot_icon,
        widgets_slot_button,       widgets_slot_checkbox,      widgets_slot_radio,
        widgets_slot_selectable,   widgets_slot_slider,        widgets_slot_slider_int,
        widgets_slot_drag,         widgets_slot_drag_int,      widgets_slot_drag_range,
        widgets_slot_input_number, widgets_slot_input_int,     widgets_slot_input_text,
        widgets_slot_combo,        widgets_slot_combo_list,    widgets_slot_color_edit,
        widgets_slot_progress,     widgets_slot_tree,          widgets_slot_tab_bar,
        widgets_slot_tab,          widgets_slot_menu_bar,      widgets_slot_menu,
        widgets_slot_menu_item,    widgets_slot_popup_open,    widgets_slot_popup,
        widgets_slot_popup_close,  widgets_slot_tooltip,       widgets_slot_tooltip_box,
        widgets_slot_table,        widgets_slot_table_column,  widgets_slot_table_sort,
        widgets_slot_table_row,    widgets_slot_table_cell,    widgets_slot_rows,
        widgets_slot_image,        widgets_slot_image_view,    widgets_slot_canvas,
        widgets_slot_texel,        widgets_slot_visible,       widgets_slot_pointer,
        widgets_slot_draw_line,    widgets_slot_draw_rect,     widgets_slot_draw_circle,
        widgets_slot_draw_path,    widgets_slot_draw_text,     widgets_slot_draw_image,
        widgets_slot_item,         widgets_slot_item_rect,     widgets_slot_panel,
        widgets_slot_shortcut,     widgets_slot_key_down,      widgets_slot_dropped,
        widgets_slot_clipboard,    widgets_slot_set_clipboard,
    };
    return &table;
}

extern "C" const CaliperPlotV1 *plot_table(void)
{
    static const CaliperPlotV1 table = {
        sizeof(CaliperPlotV1), plot_slot_plot,      plot_slot_end,        plot_slot_axis,
        plot_slot_axis_range,  plot_slot_axis_link, plot_slot_axis_ticks, plot_slot_axis_fit,
        plot_slot_view,        plot_slot_style,     plot_slot_line,       plot_slot_scatter,
        plot_slot_bars,        plot_slot_band,      plot_slot_histogram,  plot_slot_image,
        plot_slot_ref_line,    plot_slot_ref_span,  plot_slot_shown,      plot_slot_nearest,
        plot_slot_selection,   plot_slot_color_bar, plot_slot_colormap,
    };
    return &table;
}
