# The fuzz target of manifests. With CALIPER_FUZZ it is a libFuzzer program; in other builds a test
# runs the kept corpus once.
set(corpus ${CMAKE_CURRENT_LIST_DIR}/corpus/manifest)
caliper_fuzzer(fuzz_manifest SOURCES manifest_fuzz.c LIBS libcaliper CORPUS ${corpus})
if(NOT CALIPER_FUZZ)
  add_executable(fuzz_manifest_replay manifest_fuzz.c replay_main.c)
  target_link_libraries(fuzz_manifest_replay PRIVATE caliper_flags libcaliper)
  add_test(NAME fuzz_manifest_replay COMMAND fuzz_manifest_replay ${corpus})
  set_tests_properties(fuzz_manifest_replay PROPERTIES LABELS unit TIMEOUT 120)
endif()
