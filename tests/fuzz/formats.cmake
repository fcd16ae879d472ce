# The fuzz targets of formats/. With CALIPER_FUZZ they are libFuzzer programs; in other builds each
# becomes a test that runs the kept corpus once.
foreach(parser npy npz safetensors idx png gz raw tfevents)
  set(name fuzz_formats_${parser})
  set(corpus ${CMAKE_CURRENT_LIST_DIR}/corpus/formats_${parser})
  set(sources formats_${parser}.c formats_fuzz.c)
  caliper_fuzzer(${name} SOURCES ${sources} LIBS caliper_formats z CORPUS ${corpus})
  if(NOT CALIPER_FUZZ)
    add_executable(${name}_replay ${sources} replay_main.c)
    target_link_libraries(${name}_replay PRIVATE caliper_flags caliper_formats z)
    add_test(NAME ${name}_replay COMMAND ${name}_replay ${corpus})
    set_tests_properties(${name}_replay PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endforeach()
