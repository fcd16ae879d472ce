# caliper_add_applet(NAME SOURCES source... MANIFEST file [BUNDLE])
#
# A library that the host can load: NAME.so (.dylib, .dll) exporting the one symbol of an applet, with
# its manifest beside it as NAME.caliper.toml. The sources are C or C++; they see the SDK, and link
# whatever target_link_libraries gives them. The manifest is checked when the project is configured.
#
# The target NAME_bundle writes NAME.caliperapp/, a folder that people copy into
# <data root>/applets: caliper.toml and bin/<platform>/. With BUNDLE it is part of the default build.
cmake_policy(PUSH)
cmake_policy(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/CaliperManifest.cmake)

# The platform's name in a bundle.
function(caliper_platform out)
  string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
  string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
  if(APPLE)
    set(system macos)
  endif()
  if(processor MATCHES "^(x86_64|amd64|x64)$")
    set(processor x86_64)
  elseif(processor MATCHES "^(aarch64|arm64)$" AND APPLE)
    set(processor arm64)
  elseif(processor MATCHES "^(aarch64|arm64)$")
    set(processor aarch64)
  endif()
  set(${out} ${system}-${processor} PARENT_SCOPE)
endfunction()

# Exactly one exported symbol, and that one there.
function(_caliper_export_descriptor name)
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/applet.map)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(APPLE)
    target_link_options(${name} PRIVATE -Wl,-exported_symbol,_caliper_applet_descriptor)
  elseif(UNIX)
    target_link_options(${name} PRIVATE -Wl,--version-script=${map})
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${map})
    # Not every linker can say at once that the symbol is missing.
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("C" IN_LIST languages)
      include(CheckLinkerFlag)
      check_linker_flag(C -Wl,--require-defined=main CALIPER_HAS_REQUIRE_DEFINED)
    endif()
    if(CALIPER_HAS_REQUIRE_DEFINED)
      target_link_options(${name} PRIVATE -Wl,--require-defined=caliper_applet_descriptor)
    endif()
  endif()
endfunction()

function(caliper_add_applet name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "BUNDLE" "MANIFEST" "SOURCES")
  if(NOT ARG_SOURCES OR NOT ARG_MANIFEST OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "caliper_add_applet(${name}): wanted NAME SOURCES source... MANIFEST file [BUNDLE]")
  endif()
  get_filename_component(manifest "${ARG_MANIFEST}" ABSOLUTE)
  caliper_check_manifest("${manifest}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${manifest}")

  add_library(${name} MODULE ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} DEBUG_POSTFIX "")
  if(APPLE)
    set_target_properties(${name} PROPERTIES SUFFIX .dylib)
  endif()
  target_link_libraries(${name} PRIVATE caliper::sdk)
  _caliper_export_descriptor(${name})

  # Before the library, so that who watches that sees both.
  add_custom_target(${name}_manifest
    COMMAND ${CMAKE_COMMAND} -E make_directory $<TARGET_FILE_DIR:${name}>
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${manifest}
      $<TARGET_FILE_DIR:${name}>/$<TARGET_FILE_BASE_NAME:${name}>.caliper.toml
    VERBATIM)
  add_dependencies(${name} ${name}_manifest)

  caliper_platform(platform)
  set(bundle ${CMAKE_CURRENT_BINARY_DIR}/${name}.caliperapp)
  if(ARG_BUNDLE)
    set(all ALL)
  endif()
  add_custom_target(${name}_bundle ${all}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${bundle}/bin/${platform}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${manifest} ${bundle}/caliper.toml
    COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:${name}>
      ${bundle}/bin/${platform}/$<TARGET_FILE_NAME:${name}>
    VERBATIM)
  add_dependencies(${name}_bundle ${name})
endfunction()

cmake_policy(POP)
