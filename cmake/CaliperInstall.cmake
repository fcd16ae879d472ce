# What `cmake --install` lays down: the command, the built-in applets, and for authors of applets the
# SDK and the fixture host with find_package(caliper) and pkg-config files. Nothing in it names the
# place where it was put, so the whole may be moved. Included last, when all targets exist.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/caliper DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(TARGETS caliper_sdk EXPORT caliper)
set_target_properties(caliper_sdk PROPERTIES EXPORT_NAME sdk)
target_include_directories(caliper_sdk INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# The command looks for its applets in ../lib/caliper/applets, whatever the system's library folder.
if(TARGET caliper)
  install(TARGETS caliper EXPORT caliper RUNTIME DESTINATION bin)
  set_target_properties(caliper PROPERTIES EXPORT_NAME command)
  install(DIRECTORY ${CALIPER_BUILTIN_APPLET_DIR}/ DESTINATION lib/caliper/applets
    USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.so" PATTERN "*.caliper.toml")
  if(TARGET caliper_pages) # the man page and the shells' completions
    install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
  endif()
endif()
if(TARGET caliper_fixture)
  install(TARGETS caliper_fixture EXPORT caliper LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES src/fixture/caliper_fixture.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

# The package.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/caliper)
file(STRINGS include/caliper/abi.h epoch_line REGEX "^#define CALIPER_ABI_EPOCH ")
string(REGEX MATCH "[0-9]+" CALIPER_ABI_EPOCH "${epoch_line}")
install(EXPORT caliper NAMESPACE caliper:: FILE caliper-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/caliper-config.cmake.in
  ${CMAKE_BINARY_DIR}/caliper-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/caliper-config-version.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_BINARY_DIR}/caliper-config.cmake
  ${CMAKE_BINARY_DIR}/caliper-config-version.cmake cmake/CaliperApplet.cmake
  cmake/CaliperManifest.cmake cmake/applet.map DESTINATION ${package_dir})

# pkg-config: the way from lib/pkgconfig up to the prefix, however deep the library folder lies.
file(RELATIVE_PATH CALIPER_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" CALIPER_PC_TO_PREFIX "${CALIPER_PC_TO_PREFIX}")
foreach(pc caliper caliper-fixture)
  if(pc STREQUAL caliper OR TARGET caliper_fixture)
    configure_file(cmake/${pc}.pc.in ${CMAKE_BINARY_DIR}/${pc}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${pc}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
