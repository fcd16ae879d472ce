# The arithmetic of plots, without a toolkit.
set_source_files_properties(plot_reduce_test.c PROPERTIES COMPILE_OPTIONS -O2)
caliper_test(plot_axis_test SOURCES plot_axis_test.c LIBS libcaliper m LABELS unit)
caliper_test(plot_reduce_test SOURCES plot_reduce_test.c LIBS libcaliper m LABELS unit)
