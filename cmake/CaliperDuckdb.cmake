# DuckDB's library: not needed to build or to start. Where scripts/setup has put it (or
# -DCALIPER_DUCKDB_DIR says) it is laid into <build>/lib/caliper and installed, where the command
# looks for it. duckdb.h is for one test.
if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(duckdb_cache "$ENV{XDG_CACHE_HOME}")
else()
  set(duckdb_cache "$ENV{HOME}/.cache")
endif()
set(CALIPER_DUCKDB_DIR "${duckdb_cache}/caliper/deps/duckdb-1.4.4" CACHE PATH
  "Folder with libduckdb.so and duckdb.h")

# Looked at in each configuration, so that a library fetched later is found.
set(CALIPER_DUCKDB_LIBRARY_FILE "${CALIPER_DUCKDB_DIR}/libduckdb.so")
set(CALIPER_DUCKDB_HEADER_FILE "${CALIPER_DUCKDB_DIR}/duckdb.h")
set(duckdb_link ${CMAKE_BINARY_DIR}/lib/caliper/libduckdb.so)
if(EXISTS ${CALIPER_DUCKDB_LIBRARY_FILE})
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib/caliper)
  file(CREATE_LINK ${CALIPER_DUCKDB_LIBRARY_FILE} ${duckdb_link} SYMBOLIC)
  install(FILES ${CALIPER_DUCKDB_LIBRARY_FILE} DESTINATION lib/caliper)
  if(EXISTS ${CALIPER_DUCKDB_DIR}/LICENSE)
    install(FILES ${CALIPER_DUCKDB_DIR}/LICENSE DESTINATION share/doc/caliper/duckdb)
  endif()
  message(STATUS "DuckDB: ${CALIPER_DUCKDB_LIBRARY_FILE}")
else()
  file(REMOVE ${duckdb_link})
  set(CALIPER_DUCKDB_LIBRARY_FILE "")
  message(STATUS "DuckDB: not in ${CALIPER_DUCKDB_DIR}; scripts/setup fetches it; going without")
endif()

# caliper_duckdb_test(NAME ...): caliper_test for what needs the library: the test is told where it
# is, and is skipped where it is not.
function(caliper_duckdb_test name)
  if(CALIPER_DUCKDB_LIBRARY_FILE)
    caliper_test(${name} ${ARGN})
    set_property(TEST ${name} APPEND PROPERTY
      ENVIRONMENT "CALIPER_DUCKDB_LIBRARY=${CALIPER_DUCKDB_LIBRARY_FILE}")
  else()
    add_test(NAME ${name} COMMAND sh -c
      "echo 'skipped: DuckDB is not here; scripts/setup fetches it'; exit 77")
    set_tests_properties(${name} PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
  endif()
endfunction()
