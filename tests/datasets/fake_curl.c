/* Stands for libcurl in test_fetch.py: answers nothing, and writes what it was asked for to stderr,
 * "option N VALUE" a line, texts as they are. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

enum { FIRST_POINTER = 10000, FIRST_FUNCTION = 20000, FIRST_LARGE = 30000, URL = 10002 };
enum { COULDNT_CONNECT = 7 };

#define EXPORT __attribute__((visibility("default")))

EXPORT int curl_global_init(long flags);
EXPORT void *curl_easy_init(void);
EXPORT void curl_easy_cleanup(void *handle);
EXPORT int curl_easy_setopt(void *handle, int option, ...);
EXPORT int curl_easy_perform(void *handle);
EXPORT int curl_easy_getinfo(void *handle, int info, ...);
EXPORT const char *curl_easy_strerror(int code);

static int handle_of_all;

int curl_global_init(long flags)
{
    (void)flags;
    return 0;
}

void *curl_easy_init(void)
{
    return &handle_of_all;
}

void curl_easy_cleanup(void *handle)
{
    (void)handle;
}

int curl_easy_setopt(void *handle, int option, ...)
{
    va_list values;
    (void)handle;
    va_start(values, option);
    if (option == URL)
        fprintf(stderr, "option %d %s\n", option, va_arg(values, const char *));
    else if (option < FIRST_POINTER)
        fprintf(stderr, "option %d %ld\n", option, va_arg(values, long));
    else if (option >= FIRST_LARGE)
        fprintf(stderr, "option %d %lld\n", option, (long long)va_arg(values, int64_t));
    va_end(values);
    return 0;
}

int curl_easy_perform(void *handle)
{
    (void)handle;
    return COULDNT_CONNECT;
}

int curl_easy_getinfo(void *handle, int info, ...)
{
    (void)handle;
    (void)info;
    return 0;
}

const char *curl_easy_strerror(int code)
{
    (void)code;
    return "nobody is there";
}
