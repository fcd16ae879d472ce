/* Loads libcurl; see the header. */
#include "datasets/curl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CURL_EVERYTHING = 3 }; /* what curl_global_init sets up */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CurlApi api;
static bool is_ready;

/* dlsym answers an object pointer; POSIX lets it be a function's. */
static bool find(void *library, const char *name, void *member, size_t member_bytes)
{
    void *symbol = dlsym(library, name);
    if (symbol != NULL)
        memcpy(member, &symbol, member_bytes);
    return symbol != NULL;
}

static const char *load(void)
{
    /* OpenSSL's, the usual one, then what else a distribution may call it. */
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};
    int (*global_init)(long) = NULL;
    void *library = NULL;
    const char *given = getenv("CALIPER_CURL_LIBRARY");
    if (given != NULL && given[0] != '\0')
        library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL &&
                       (given == NULL || given[0] == '\0');
         i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return "libcurl is not here (apt-get install libcurl4)";
    if (!find(library, "curl_global_init", &global_init, sizeof global_init) ||
        !find(library, "curl_easy_init", &api.easy_init, sizeof api.easy_init) ||
        !find(library, "curl_easy_cleanup", &api.easy_cleanup, sizeof api.easy_cleanup) ||
        !find(library, "curl_easy_setopt", &api.easy_setopt, sizeof api.easy_setopt) ||
        !find(library, "curl_easy_perform", &api.easy_perform, sizeof api.easy_perform) ||
        !find(library, "curl_easy_getinfo", &api.easy_getinfo, sizeof api.easy_getinfo) ||
        !find(library, "curl_easy_strerror", &api.easy_strerror, sizeof api.easy_strerror)) {
        dlclose(library);
        return "the library that was found is no libcurl";
    }
    if (global_init(CURL_EVERYTHING) != CURL_CODE_OK) {
        dlclose(library);
        return "libcurl does not start";
    }
    is_ready = true; /* it stays for the process: its threads and TLS cannot be taken back */
    return NULL;
}

const CurlApi *curl_api(const char **why)
{
    pthread_mutex_lock(&lock);
    *why = is_ready ? NULL : load();
    pthread_mutex_unlock(&lock);
    return *why == NULL ? &api : NULL;
}
