# The CPU kernels: optimised in every build type, for the sake of 10^8 floats.
set_source_files_properties(kernels_test.c PROPERTIES COMPILE_OPTIONS "-O2"
  COMPILE_DEFINITIONS "CALIPER_LUT_DIR=\"${PROJECT_SOURCE_DIR}/src/kernels/lut\"")
caliper_test(kernels_test SOURCES kernels_test.c LIBS libcaliper LABELS unit)
add_test(NAME kernels_cross COMMAND ${CMAKE_CURRENT_LIST_DIR}/kernels_cross.sh
  ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated/kernels/lut_table.c)
set_tests_properties(kernels_cross PROPERTIES
  LABELS "unit;source" SKIP_RETURN_CODE 77 TIMEOUT 120)
