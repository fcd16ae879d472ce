# caliper_imgui: Dear ImGui 1.86, the one version whose internals the shim in src/services was written
# for and whose pixels the pictures of the tests show. The distribution's package where it has that
# version (Debian 12, Ubuntu 22.04); elsewhere the same sources, which scripts/setup fetches by digest
# into the user's cache (or wherever -DCALIPER_IMGUI_DIR says), built here.
include_guard(GLOBAL)

set(imgui_version 1.86)
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(imgui_cache $ENV{XDG_CACHE_HOME})
else()
  set(imgui_cache $ENV{HOME}/.cache)
endif()
set(CALIPER_IMGUI_DIR "${imgui_cache}/caliper/deps/imgui-${imgui_version}" CACHE PATH
  "Where Dear ImGui's sources are, used when the system has another version of it")

find_package(PkgConfig REQUIRED)
pkg_check_modules(FREETYPE REQUIRED IMPORTED_TARGET freetype2)
pkg_check_modules(IMGUI QUIET IMPORTED_TARGET imgui=${imgui_version})
if(IMGUI_FOUND)
  add_library(caliper_imgui INTERFACE)
  target_link_libraries(caliper_imgui INTERFACE PkgConfig::IMGUI PkgConfig::FREETYPE)
elseif(EXISTS ${CALIPER_IMGUI_DIR}/imgui.cpp)
  message(STATUS "Dear ImGui ${imgui_version}: built from ${CALIPER_IMGUI_DIR}")
  add_library(caliper_imgui STATIC EXCLUDE_FROM_ALL)
  foreach(source imgui imgui_draw imgui_tables imgui_widgets misc/freetype/imgui_freetype)
    target_sources(caliper_imgui PRIVATE ${CALIPER_IMGUI_DIR}/${source}.cpp)
  endforeach()
  # SYSTEM: its headers are not ours to warn about, and neither are its sources (-w).
  target_include_directories(caliper_imgui SYSTEM PUBLIC ${CALIPER_IMGUI_DIR}
    ${CALIPER_IMGUI_DIR}/misc/freetype)
  target_compile_options(caliper_imgui PRIVATE -w -ffp-contract=off)
  set_target_properties(caliper_imgui PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(caliper_imgui PUBLIC PkgConfig::FREETYPE)
else()
  message(FATAL_ERROR "Dear ImGui ${imgui_version} is neither the system's version nor in "
    "${CALIPER_IMGUI_DIR}: run scripts/setup, or give -DCALIPER_IMGUI_DIR=FOLDER, or build without "
    "the shell by -DCALIPER_SHELL=OFF")
endif()
