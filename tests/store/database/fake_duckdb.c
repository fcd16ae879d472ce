/* A library that says it is some version of DuckDB and has nothing else. */
const char *duckdb_library_version(void);

__attribute__((visibility("default"))) const char *duckdb_library_version(void)
{
    return FAKE_DUCKDB_VERSION;
}
