# core: what needs no applet (tests/fault has those that do)
foreach(name core_ids core_fault core_device log log_file guard host)
  caliper_test(${name}_test SOURCES ${name}_test.c LIBS libcaliper LABELS unit threads)
endforeach()
