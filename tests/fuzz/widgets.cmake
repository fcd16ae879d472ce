# The fuzz target of the widgets and plot tables, over the toolkit layer without a shell.
set(corpus ${CMAKE_CURRENT_LIST_DIR}/corpus/widgets)
set(sources widgets_fuzz.c ${PROJECT_SOURCE_DIR}/tests/e2e/widgets_calls.c
  ${PROJECT_SOURCE_DIR}/tests/e2e/widgets_calls_plot.c
  ${PROJECT_SOURCE_DIR}/tests/e2e/ui_bench.c)
if(TARGET caliper_ui)
  if(CALIPER_FUZZ)
    caliper_fuzzer(fuzz_widgets SOURCES ${sources} LIBS caliper_ui m CORPUS ${corpus})
    target_include_directories(fuzz_widgets PRIVATE ${PROJECT_SOURCE_DIR}/tests/e2e)
  else()
    add_executable(fuzz_widgets_replay ${sources} replay_main.c)
    target_link_libraries(fuzz_widgets_replay PRIVATE caliper_flags caliper_ui m)
    target_include_directories(fuzz_widgets_replay PRIVATE ${PROJECT_SOURCE_DIR}/tests/e2e)
    add_test(NAME fuzz_widgets_replay COMMAND fuzz_widgets_replay ${corpus})
    set_tests_properties(fuzz_widgets_replay PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endif()
