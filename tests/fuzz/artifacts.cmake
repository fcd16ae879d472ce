# The index of the blob store. With CALIPER_FUZZ a libFuzzer program; in other builds a test that runs
# the kept corpus once.
set(corpus ${CMAKE_CURRENT_LIST_DIR}/corpus/artifacts)
caliper_fuzzer(fuzz_artifacts SOURCES artifacts_fuzz.c LIBS libcaliper CORPUS ${corpus})
if(NOT CALIPER_FUZZ)
  add_executable(fuzz_artifacts_replay artifacts_fuzz.c replay_main.c)
  target_link_libraries(fuzz_artifacts_replay PRIVATE caliper_flags libcaliper)
  add_test(NAME fuzz_artifacts_replay COMMAND fuzz_artifacts_replay ${corpus})
  set_tests_properties(fuzz_artifacts_replay PROPERTIES LABELS unit TIMEOUT 120)
endif()
