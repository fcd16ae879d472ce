# The dashboard's arithmetic, without a toolkit or a store.
if(CALIPER_SHELL)
  set(runs ${PROJECT_SOURCE_DIR}/src/shell/runs)
  caliper_test(runs_test SOURCES runs_test.c ${runs}/curve.c ${runs}/parameters.c ${runs}/run_text.c
    LIBS libcaliper m LABELS unit)
  caliper_test(result_test SOURCES result_test.c ${runs}/result.c LIBS libcaliper m LABELS unit)
endif()
