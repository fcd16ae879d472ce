# White-box tests of the Vulkan renderer, with validation layers on a software device.
if(CALIPER_VULKAN AND CALIPER_HAS_VULKAN)
  foreach(test vulkan_exact vulkan_lost)
    caliper_test(${test}_test SOURCES ${test}_test.c vulkan_support.c LIBS libcaliper LABELS gfx
      TIMEOUT 300)
    target_include_directories(${test}_test PRIVATE ${CALIPER_VULKAN_INCLUDE}
      ${CALIPER_VOLK_INCLUDE})
    set_tests_properties(${test}_test PROPERTIES ENVIRONMENT "${gfx_environment}")
  endforeach()
endif()
