# TensorScope's parts without a host: the pure ones, the loader's thread, the session and the whole
# applet over a host of the test's own.
foreach(subject pure session demo)
  caliper_test(tensorscope_${subject} SOURCES tensorscope_${subject}.c
    LIBS tensorscope_parts LABELS unit)
  target_compile_definitions(tensorscope_${subject} PRIVATE
    FORMATS_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data/formats")
endforeach()
foreach(subject applet doing names words)
  caliper_test(tensorscope_${subject}
    SOURCES tensorscope_${subject}.c ${PROJECT_SOURCE_DIR}/applets/tensorscope/app.c
    LIBS tensorscope_panel LABELS unit threads)
  target_compile_definitions(tensorscope_${subject} PRIVATE
    FORMATS_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data/formats")
endforeach()
# No call of these is the frame thread's.
target_link_options(tensorscope_names PRIVATE -Wl,--wrap=open -Wl,--wrap=pread -Wl,--wrap=stat
  -Wl,--wrap=fstat -Wl,--wrap=access)
caliper_test(tensorscope_loader SOURCES tensorscope_loader.c
  LIBS tensorscope_parts LABELS unit threads)
target_compile_definitions(tensorscope_loader PRIVATE
  FORMATS_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data/formats")
set_tests_properties(tensorscope_session tensorscope_demo PROPERTIES LABELS "unit;threads")
caliper_test(tensorscope_watch SOURCES tensorscope_watch.c
  LIBS tensorscope_parts z LABELS unit threads)
caliper_test(tensorscope_stop SOURCES tensorscope_stop.c
  LIBS tensorscope_parts LABELS unit threads)
target_link_options(tensorscope_stop PRIVATE -Wl,--wrap=array_file_close -Wl,--wrap=source_destroy
  -Wl,--wrap=slice_data_destroy -Wl,--wrap=lseek)
