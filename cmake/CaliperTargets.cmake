# Functions that make the project's kinds of targets.

include(CaliperManifest)

# All built-in applets: what scripts/run builds beside the command.
add_custom_target(caliper_applets)

# caliper_builtin_applet(NAME SOURCES... [LIBS libs...])
# A module with exactly one exported symbol, put where the host looks for built-in applets, with its
# manifest NAME.caliper.toml beside it.
function(caliper_builtin_applet name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  caliper_check_manifest(${name}.caliper.toml)
  add_library(applet_${name} MODULE ${ARG_SOURCES})
  set_target_properties(applet_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CALIPER_BUILTIN_APPLET_DIR})
  target_link_libraries(applet_${name} PRIVATE caliper_flags caliper_sdk ${ARG_LIBS})
  target_link_options(applet_${name} PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/applet.map)
  set_target_properties(applet_${name} PROPERTIES
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/applet.map)
  add_dependencies(caliper_applets applet_${name})
  if(CALIPER_TESTS AND TARGET caliper)
    add_test(NAME check_${name} COMMAND caliper check $<TARGET_FILE:applet_${name}>)
    # A manifest that does not name what the applet asks for is a warning elsewhere.
    set_tests_properties(check_${name} PROPERTIES LABELS e2e TIMEOUT 300
      FAIL_REGULAR_EXPRESSION "its manifest does not name")
  endif()
  configure_file(${name}.caliper.toml ${CALIPER_BUILTIN_APPLET_DIR}/${name}.caliper.toml COPYONLY)
endfunction()

# caliper_test(NAME SOURCES... [LIBS libs...] LABELS unit|abi|gfx [threads] [ARGS args...]
#   [TIMEOUT seconds])
# A test that starts threads or guards against them carries the label threads too: scripts/test runs
# those once more under TSan. A cmocka program registered with ctest. A program exits 77 to say
# "skipped" and prints why.
function(caliper_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS;LABELS;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE caliper_flags ${ARG_LIBS} cmocka)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS "${ARG_LABELS}" SKIP_RETURN_CODE 77 TIMEOUT ${ARG_TIMEOUT})
endfunction()

# caliper_fuzzer(NAME SOURCES... [LIBS libs...] CORPUS dir)
# A libFuzzer program under ASan+UBSan; built only with CALIPER_FUZZ (clang), by the target
# caliper_fuzzers.
if(CALIPER_FUZZ)
  add_custom_target(caliper_fuzzers)
endif()
function(caliper_fuzzer name)
  cmake_parse_arguments(ARG "" "CORPUS" "SOURCES;LIBS" ${ARGN})
  if(NOT CALIPER_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  add_dependencies(caliper_fuzzers ${name})
  target_link_libraries(${name} PRIVATE caliper_flags ${ARG_LIBS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  get_filename_component(corpus "${ARG_CORPUS}" ABSOLUTE)
  set_property(GLOBAL APPEND PROPERTY CALIPER_FUZZERS "$<TARGET_FILE:${name}> ${corpus}")
endfunction()

# caliper_write_fuzzers(): fuzzers.txt in the build folder, "program corpus-folder" a line, for
# scripts/lib/fuzz.sh. Called once, after the last caliper_fuzzer.
function(caliper_write_fuzzers)
  get_property(fuzzers GLOBAL PROPERTY CALIPER_FUZZERS)
  list(JOIN fuzzers "\n" lines)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/fuzzers.txt CONTENT "${lines}\n")
endfunction()
