/* Finds libcuda, resolves every entry point that is used, and initialises it once. Any thread. */
#include "cuda/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fault.h"

static pthread_once_t driver_once = PTHREAD_ONCE_INIT;
static CudaDriver driver_table;
static bool driver_ready;
static char driver_reason[256];

typedef struct DriverSymbol {
    const char *name;
    size_t member_offset;
} DriverSymbol;

static const DriverSymbol driver_symbols[] = {
#define CUDA_DRIVER_SYMBOL(name, symbol, parameters) {symbol, offsetof(CudaDriver, name)},
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_SYMBOL)
#undef CUDA_DRIVER_SYMBOL
};

void cuda_error_text(const CudaDriver *driver, const char *call, CudaResult error, char *out,
                     size_t out_bytes)
{
    const char *name = NULL;
    const char *text = NULL;
    if (driver == NULL || driver->cuGetErrorName(error, &name) != 0 || name == NULL)
        name = "unknown error";
    if (driver == NULL || driver->cuGetErrorString(error, &text) != 0 || text == NULL)
        text = "no text";
    snprintf(out, out_bytes, "%s: %s %d (%s)", call, name, error, text);
}

static void driver_load(void)
{
    const char *path = getenv("CALIPER_CUDA_LIBRARY");
    if (path == NULL || path[0] == '\0')
        path = "libcuda.so.1";
    void *library = fault_here("cuda.load") ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(driver_reason, sizeof driver_reason, "%s is not there: no NVIDIA driver", path);
        return;
    }
    for (size_t i = 0; i < sizeof driver_symbols / sizeof driver_symbols[0]; i++) {
        void *address = dlsym(library, driver_symbols[i].name);
        if (address == NULL) {
            snprintf(driver_reason, sizeof driver_reason,
                     "%s has no %s: a driver of version 460 or newer is needed", path,
                     driver_symbols[i].name);
            dlclose(library);
            return;
        }
        memcpy((char *)&driver_table + driver_symbols[i].member_offset, &address, sizeof address);
    }
    CudaResult result = CUDA_TRY(&driver_table, cuInit, 0);
    if (result != 0) {
        cuda_error_text(&driver_table, "cuInit", result, driver_reason, sizeof driver_reason);
        return;
    }
    driver_table.cuDriverGetVersion(&driver_table.version);
    driver_ready = true;
}

const CudaDriver *cuda_driver(const char **reason)
{
    pthread_once(&driver_once, driver_load);
    if (reason != NULL)
        *reason = driver_reason;
    return driver_ready ? &driver_table : NULL;
}
