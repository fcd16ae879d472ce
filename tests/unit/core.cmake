# core: what needs no applet (tests/fault has those that do)
foreach(name core_ids core_manifest core_fault core_device log log_file guard host)
  caliper_test(${name}_test SOURCES ${name}_test.c LIBS libcaliper LABELS unit threads)
endforeach()

# the trace, parsed with a JSON reader that is not ours
find_package(PkgConfig REQUIRED)
pkg_check_modules(CJSON REQUIRED libcjson)
caliper_test(trace_test SOURCES trace_test.c LIBS libcaliper ${CJSON_LINK_LIBRARIES}
  LABELS unit threads)
target_include_directories(trace_test SYSTEM PRIVATE ${CJSON_INCLUDE_DIRS})
