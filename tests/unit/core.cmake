# core: what needs no applet (tests/fault has those that do)
foreach(name core_ids log_file core_device guard host)
  caliper_test(${name}_test SOURCES ${name}_test.c LIBS libcaliper LABELS unit threads)
endforeach()
