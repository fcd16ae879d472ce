# What `cmake --install` lays down: the command, the built-in applets, and for authors of applets the
# SDK with find_package(caliper) and a pkg-config file. Included last, when all targets exist.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/caliper DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The command looks for its applets in ../lib/caliper/applets, whatever the system's library folder.
if(TARGET caliper)
  install(TARGETS caliper RUNTIME DESTINATION bin)
  install(DIRECTORY ${CALIPER_BUILTIN_APPLET_DIR}/ DESTINATION lib/caliper/applets
    USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.so" PATTERN "*.caliper.toml")
endif()

install(TARGETS caliper_sdk EXPORT caliper)
set_target_properties(caliper_sdk PROPERTIES EXPORT_NAME sdk)
target_include_directories(caliper_sdk INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/caliper)
install(EXPORT caliper NAMESPACE caliper:: FILE caliper-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/caliper-config.cmake.in
  ${CMAKE_BINARY_DIR}/caliper-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/caliper-config-version.cmake
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_BINARY_DIR}/caliper-config.cmake
  ${CMAKE_BINARY_DIR}/caliper-config-version.cmake cmake/applet.map DESTINATION ${package_dir})
configure_file(cmake/caliper.pc.in ${CMAKE_BINARY_DIR}/caliper.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/caliper.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
