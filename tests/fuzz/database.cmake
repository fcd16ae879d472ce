# What judges SQL: the tree of a statement, PRAGMAs, the ends of statements. With CALIPER_FUZZ a
# libFuzzer program; in other builds a test that runs the kept corpus once.
set(corpus ${CMAKE_CURRENT_LIST_DIR}/corpus/select)
caliper_fuzzer(fuzz_select SOURCES select_fuzz.c LIBS libcaliper CORPUS ${corpus})
if(NOT CALIPER_FUZZ)
  add_executable(fuzz_select_replay select_fuzz.c replay_main.c)
  target_link_libraries(fuzz_select_replay PRIVATE caliper_flags libcaliper)
  add_test(NAME fuzz_select_replay COMMAND fuzz_select_replay ${corpus})
  set_tests_properties(fuzz_select_replay PROPERTIES LABELS unit TIMEOUT 120)
endif()
