# The bridge and its gate, over a renderer in plain memory.
caliper_test(gate_test SOURCES gate_test.c LIBS libcaliper LABELS unit)
caliper_test(bridge_test SOURCES bridge_test.c fake_renderer.c LIBS libcaliper
  LABELS unit threads)
