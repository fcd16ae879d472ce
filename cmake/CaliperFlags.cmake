# Compiler flags that hold for every target of the project.
# -ffp-contract=off: the exactness rule (docs/architecture.md) needs separate multiply and add.
add_library(caliper_flags INTERFACE)
target_compile_definitions(caliper_flags INTERFACE _GNU_SOURCE)
target_compile_options(caliper_flags INTERFACE
  -ffp-contract=off
  -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wpointer-arith -Wcast-align
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
  $<$<BOOL:${CALIPER_WERROR}>:-Werror>)
if(CALIPER_SANITIZE)
  target_compile_options(caliper_flags INTERFACE
    -fsanitize=${CALIPER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(caliper_flags INTERFACE -fsanitize=${CALIPER_SANITIZE})
  set(is_executable $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  target_sources(caliper_flags INTERFACE
    $<${is_executable}:${CMAKE_CURRENT_LIST_DIR}/keep_drivers.c>)
  target_link_options(caliper_flags INTERFACE
    $<${is_executable}:-Wl,--export-dynamic-symbol=dlclose>)
endif()
if(CALIPER_FUZZ)
  target_compile_options(caliper_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
