/* Finds libduckdb, checks its version and resolves every entry point that is used, once. Any
 * thread. */
#include "store/database/duckdb_api.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fault.h"
#include "core/fpenv.h"
#include "core/loader.h"
#include "core/log.h"

#define LIBRARY_NAME     "libduckdb.so"
#define LIBRARY_VARIABLE "CALIPER_DUCKDB_LIBRARY"
#define VERSION_PREFIX   "v1.4."
#define ADVICE           "run scripts/setup and build again, or set " LIBRARY_VARIABLE

enum { PATH_BYTES = 4096 };

static pthread_once_t api_once = PTHREAD_ONCE_INIT;
static pthread_once_t present_once = PTHREAD_ONCE_INIT;
static DuckdbApi api;
static bool api_ready;
static bool present;
static char api_reason[PATH_BYTES + 512];
static char present_reason[PATH_BYTES + 512];

typedef struct ApiSymbol {
    const char *name;
    size_t member_offset;
} ApiSymbol;

static const ApiSymbol api_symbols[] = {
#define API_SYMBOL(result, name, parameters) {"duckdb_" #name, offsetof(DuckdbApi, name)},
    DUCKDB_FUNCTIONS(API_SYMBOL)
#undef API_SYMBOL
};

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Where the user says it is; "" when nothing is said. */
static const char *wished_path(void)
{
    const char *path = getenv(LIBRARY_VARIABLE);
    return path != NULL ? path : "";
}

/* caliper/ beside the library that this code is in, where it is in one: libcaliper_fixture in
 * somebody's test program. */
static bool beside_library(char *out, size_t out_bytes)
{
    static const char here = 0;
    Dl_info module;
    char *path = dladdr(&here, &module) != 0 ? realpath(module.dli_fname, NULL) : NULL;
    char *slash = path != NULL ? strrchr(path, '/') : NULL;
    static const char *const places[] = {"caliper", "../caliper"}; /* lib/, lib/x86_64-linux-gnu/ */
    bool found = false;
    for (size_t i = 0; slash != NULL && !found && i < sizeof places / sizeof places[0]; i++) {
        *slash = '\0';
        int written = snprintf(out, out_bytes, "%s/%s/%s", path, places[i], LIBRARY_NAME);
        found = written > 0 && (size_t)written < out_bytes && is_file(out);
    }
    free(path);
    return found;
}

/* lib/caliper/ beside or above the executable's folder: a build tree or an installed prefix. */
static bool own_path(char *out, size_t out_bytes)
{
    char exe[PATH_BYTES];
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (length <= 0)
        return false;
    exe[length] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    static const char *const places[] = {"../lib/caliper", "lib/caliper"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int written = snprintf(out, out_bytes, "%s/%s/%s", exe, places[i], LIBRARY_NAME);
        if (written > 0 && (size_t)written < out_bytes && is_file(out))
            return true;
    }
    return beside_library(out, out_bytes);
}

/* The usual folders of the system and those of LD_LIBRARY_PATH, by name alone. */
static bool system_has_file(void)
{
    static const char usual[] = "/usr/local/lib:/usr/lib:/lib:/usr/lib64:/lib64"
                                ":/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu";
    const char *lists[] = {getenv("LD_LIBRARY_PATH"), usual};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const char *at = lists[i];
        while (at != NULL && *at != '\0') {
            size_t length = strcspn(at, ":");
            char path[PATH_BYTES];
            int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, at, LIBRARY_NAME);
            if (length > 0 && written > 0 && (size_t)written < sizeof path && is_file(path))
                return true;
            at += length + (at[length] == ':');
        }
    }
    return false;
}

static void look_for_files(void)
{
    char path[PATH_BYTES];
    const char *wished = wished_path();
    if (wished[0] != '\0') {
        present = is_file(wished);
        if (!present)
            snprintf(present_reason, sizeof present_reason,
                     "DuckDB's library is missing: " LIBRARY_VARIABLE "=%s is no file", wished);
        return;
    }
    present = own_path(path, sizeof path) || system_has_file();
    if (!present)
        snprintf(present_reason, sizeof present_reason, "DuckDB's library (%s) is missing: %s",
                 LIBRARY_NAME, ADVICE);
}

bool duckdb_api_present(const char **reason)
{
    pthread_once(&present_once, look_for_files);
    if (reason != NULL)
        *reason = present_reason;
    return present;
}

/* Opens the file; a cut or foreign one is noticed before the loader runs into its end. */
static void *open_library(const char *path, bool by_name)
{
    char why[512] = "";
    if (!by_name && !loader_check_file(path, why, sizeof why)) {
        snprintf(api_reason, sizeof api_reason, "DuckDB's library %s: %s; %s", path, why, ADVICE);
        return NULL;
    }
    FpEnv controls = fpenv_get();
    void *library = fault_here("store.duckdb.load") ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *words = library == NULL ? dlerror() : NULL;
    fpenv_set(controls);
    if (library == NULL && by_name)
        snprintf(api_reason, sizeof api_reason, "DuckDB's library (%s) is missing: %s", path,
                 ADVICE);
    else if (library == NULL)
        snprintf(api_reason, sizeof api_reason, "DuckDB's library %s cannot be opened: %s", path,
                 words != NULL ? words : "the loader does not say why");
    return library;
}

static bool resolve(void *library)
{
    for (size_t i = 0; i < sizeof api_symbols / sizeof api_symbols[0]; i++) {
        void *address = dlsym(library, api_symbols[i].name);
        if (address == NULL) {
            snprintf(api_reason, sizeof api_reason,
                     "%s has no %s: DuckDB " VERSION_PREFIX "x is needed; %s", api.path,
                     api_symbols[i].name, ADVICE);
            return false;
        }
        memcpy((char *)&api + api_symbols[i].member_offset, &address, sizeof address);
    }
    void *streaming = dlsym(library, "duckdb_pending_prepared_streaming");
    memcpy(&api.pending_prepared_streaming, &streaming, sizeof streaming);
    void *scan = dlsym(library, "duckdb_arrow_scan");
    memcpy(&api.arrow_scan, &scan, sizeof scan);
    return true;
}

static void api_load(void)
{
    const char *wished = wished_path();
    bool by_name = false;
    if (wished[0] != '\0') {
        snprintf(api.path, sizeof api.path, "%s", wished);
    } else if (!own_path(api.path, sizeof api.path)) {
        by_name = true;
        snprintf(api.path, sizeof api.path, "%s", LIBRARY_NAME);
    }
    void *library = open_library(api.path, by_name);
    if (library == NULL)
        goto failed;
    struct link_map *map = NULL;
    if (by_name && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL)
        snprintf(api.path, sizeof api.path, "%s", map->l_name);
    /* The version first: an older library lacks functions, and the number says more than a name. */
    const char *(*version)(void) = NULL;
    void *address = dlsym(library, "duckdb_library_version");
    memcpy(&version, &address, sizeof address);
    api.version = version != NULL ? version() : NULL;
    if (api.version == NULL ||
        strncmp(api.version, VERSION_PREFIX, sizeof VERSION_PREFIX - 1) != 0) {
        snprintf(api_reason, sizeof api_reason,
                 "%s is DuckDB %s: " VERSION_PREFIX "x is needed; %s", api.path,
                 api.version != NULL ? api.version : "of no known version", ADVICE);
        goto close_library;
    }
    if (!resolve(library))
        goto close_library;
    api_ready = true;
    log_item(DUCKDB_LOADED, api.version, api.path);
    return;

close_library:
    dlclose(library);
failed:
    log_item(DUCKDB_MISSING, api_reason);
}

const DuckdbApi *duckdb_api(const char **reason)
{
    pthread_once(&api_once, api_load);
    if (reason != NULL)
        *reason = api_reason;
    return api_ready ? &api : NULL;
}
