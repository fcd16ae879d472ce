# White-box tests of the Vulkan renderer, with validation layers on a software device.
if(CALIPER_VULKAN AND CALIPER_HAS_VULKAN)
  add_library(vulkan_test_support STATIC vulkan_support.c vulkan_fake.c vulkan_copy_count.c)
  target_link_libraries(vulkan_test_support PUBLIC libcaliper cmocka PRIVATE caliper_flags)
  target_include_directories(vulkan_test_support SYSTEM PUBLIC ${CALIPER_VULKAN_INCLUDE}
    ${CALIPER_VOLK_INCLUDE})
  function(vulkan_test name)
    caliper_test(${name}_test SOURCES ${name}_test.c LIBS vulkan_test_support ${ARGN}
      LABELS gfx TIMEOUT 300)
    set_tests_properties(${name}_test PROPERTIES ENVIRONMENT "${gfx_environment}")
  endfunction()
  vulkan_test(vulkan_exact)
  vulkan_test(vulkan_counters)
  vulkan_test(vulkan_lost)
  vulkan_test(vulkan_interop)
  vulkan_test(vulkan_copy)
  vulkan_test(vulkan_rungs)
  vulkan_test(vulkan_import)
  # The renderer with src/cuda over a driver made of host memory.
  vulkan_test(vulkan_cuda)
  set_property(TEST vulkan_cuda_test APPEND PROPERTY
    ENVIRONMENT "CALIPER_CUDA_LIBRARY=$<TARGET_FILE:fake_cuda>")
  add_dependencies(vulkan_cuda_test fake_cuda)
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
