# The bridge and its gate, over a renderer in plain memory.
caliper_test(gate_test SOURCES gate_test.c LIBS libcaliper LABELS unit)
caliper_test(bridge_slots_test SOURCES bridge_slots_test.c LIBS libcaliper LABELS unit)
foreach(test bridge_test bridge_exact_test bridge_model_test bridge_services_test)
  caliper_test(${test} SOURCES ${test}.c fake_renderer.c LIBS libcaliper LABELS unit)
endforeach()
caliper_test(bridge_life_test SOURCES bridge_life_test.c fake_renderer.c LIBS libcaliper
  LABELS unit threads)
