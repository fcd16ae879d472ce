# caliper_ui: the toolkit layer and its services, all that knows Dear ImGui. For the shell, and for
# the fuzzer of its tables.
include(CaliperImgui)
add_library(caliper_ui STATIC
  ui.cpp ui_context.cpp ui_draw.cpp ui_focus.cpp ui_fonts.cpp ui_icons.cpp ui_input.cpp
  ui_items.cpp ui_paint.cpp ui_theme.cpp
  widgets.cpp widgets_ask.cpp widgets_control.cpp widgets_draw.cpp widgets_held.cpp widgets_image.cpp
  widgets_layout.cpp widgets_number.cpp widgets_rows.cpp widgets_scope.cpp widgets_table.cpp
  widgets_text.cpp widgets_tree.cpp
  plot_color_bar.cpp plot_draw.cpp plot_input.cpp plot_layout.cpp plot_legend.cpp plot_lines.cpp
  plot_marks.cpp plot_points.cpp plot_scope.cpp plot_series.cpp)
# The C++ here is a shim over a C++ library: no exceptions, no run-time types.
target_compile_options(caliper_ui PRIVATE -fno-exceptions -fno-rtti)
target_link_libraries(caliper_ui PUBLIC libcaliper
  PRIVATE caliper_flags caliper_imgui)
