# The tests of formats/: one library of helpers, one program a subject.
find_library(CALIPER_CJSON_LIBRARY cjson REQUIRED)
add_library(formats_test_common STATIC ${CMAKE_CURRENT_LIST_DIR}/formats_common.c)
target_include_directories(formats_test_common PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_compile_definitions(formats_test_common PUBLIC
  FORMATS_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data/formats")
target_link_libraries(formats_test_common PUBLIC caliper_formats cmocka ${CALIPER_CJSON_LIBRARY}
  PRIVATE caliper_flags)
foreach(subject answers values refusals archives io write save cancel)
  caliper_test(formats_${subject} SOURCES formats_${subject}.c
    LIBS formats_test_common z m LABELS unit)
endforeach()

# Every allocation of the library can be made to fail.
caliper_test(formats_memory SOURCES formats_memory.c LIBS formats_test_common z m LABELS unit)
target_link_options(formats_memory PRIVATE
  -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=strdup)

# TensorBoard's event files: what TensorBoard reads, damage of every kind, every type of value.
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
add_library(tfevents_test_common STATIC ${CMAKE_CURRENT_LIST_DIR}/tfevents_common.c)
target_include_directories(tfevents_test_common PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_compile_definitions(tfevents_test_common PUBLIC
  TFEVENTS_DATA_DIR="${PROJECT_SOURCE_DIR}/tests/data/tfevents")
pkg_check_modules(CJSON REQUIRED libcjson)
target_include_directories(tfevents_test_common SYSTEM PUBLIC ${CJSON_INCLUDE_DIRS})
target_link_libraries(tfevents_test_common PUBLIC caliper_formats cmocka ${CALIPER_CJSON_LIBRARY}
  OpenSSL::Crypto m PRIVATE caliper_flags)
foreach(subject answers damage values)
  caliper_test(tfevents_${subject} SOURCES tfevents_${subject}.c LIBS tfevents_test_common
    LABELS unit)
endforeach()
