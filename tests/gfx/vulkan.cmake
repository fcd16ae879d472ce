# White-box tests of the Vulkan renderer, with validation layers on a software device.
if(CALIPER_VULKAN AND CALIPER_HAS_VULKAN)
  function(vulkan_test name)
    caliper_test(${name}_test SOURCES ${name}_test.c vulkan_support.c vulkan_fake.c
      LIBS libcaliper ${ARGN}
      LABELS gfx TIMEOUT 300)
    target_include_directories(${name}_test SYSTEM PRIVATE ${CALIPER_VULKAN_INCLUDE}
      ${CALIPER_VOLK_INCLUDE})
    set_tests_properties(${name}_test PROPERTIES ENVIRONMENT "${gfx_environment}")
  endfunction()
  vulkan_test(vulkan_exact)
  vulkan_test(vulkan_counters)
  vulkan_test(vulkan_lost)
  vulkan_test(vulkan_interop)
  vulkan_test(vulkan_copy)
  find_package(PkgConfig)
  find_package(X11)
  if(PKG_CONFIG_FOUND AND X11_FOUND)
    pkg_check_modules(GLFW glfw3)
    if(GLFW_FOUND)
      vulkan_test(vulkan_window ${GLFW_LINK_LIBRARIES} ${X11_X11_LIB})
      target_include_directories(vulkan_window_test SYSTEM PRIVATE ${GLFW_INCLUDE_DIRS}
        ${X11_INCLUDE_DIR})
    endif()
  endif()
endif()
