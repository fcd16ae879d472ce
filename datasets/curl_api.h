/* datasets/curl_api.h: the part of libcurl that is used, loaded when it is first needed.
 *
 * Nothing depends on libcurl to build or to start. The numbers are libcurl's own, which its binary
 * interface keeps (libcurl.so.4, since 2006); a test compares them with its header where that is
 * installed. For datasets/ alone. Any thread. */
#ifndef CALIPER_DATASETS_CURL_API_H
#define CALIPER_DATASETS_CURL_API_H

#include <stdint.h>

typedef void CurlHandle; /* CURL */

typedef enum CurlOption {
    CURL_OPTION_LOW_SPEED_LIMIT = 19, /* long, bytes a second */
    CURL_OPTION_LOW_SPEED_TIME = 20,  /* long, seconds */
    CURL_OPTION_NOPROGRESS = 43,      /* long */
    CURL_OPTION_FAILONERROR = 45,
    CURL_OPTION_FOLLOWLOCATION = 52,
    CURL_OPTION_MAXREDIRS = 68,
    CURL_OPTION_CONNECTTIMEOUT = 78,
    CURL_OPTION_NOSIGNAL = 99,
    CURL_OPTION_PROTOCOLS = 181, /* a long of CURL_PROTOCOL bits */
    CURL_OPTION_REDIR_PROTOCOLS = 182,
    CURL_OPTION_WRITEDATA = 10001, /* pointers */
    CURL_OPTION_URL = 10002,
    CURL_OPTION_ERRORBUFFER = 10010,
    CURL_OPTION_USERAGENT = 10018,
    CURL_OPTION_XFERINFODATA = 10057,
    CURL_OPTION_WRITEFUNCTION = 20011, /* functions */
    CURL_OPTION_XFERINFOFUNCTION = 20219,
    CURL_OPTION_RESUME_FROM_LARGE = 30116 /* int64_t */
} CurlOption;

enum {
    CURL_INFO_RESPONSE_CODE = 0x200002, /* long */
    CURL_PROTOCOL_HTTP = 1,
    CURL_PROTOCOL_HTTPS = 2,
    CURL_CODE_OK = 0,
    CURL_CODE_PARTIAL_FILE = 18,
    CURL_CODE_HTTP_RETURNED_ERROR = 22,
    CURL_CODE_WRITE_ERROR = 23,
    CURL_CODE_RANGE_ERROR = 33,
    CURL_CODE_ABORTED_BY_CALLBACK = 42,
    CURL_WORDS_BYTES = 256 /* of the error buffer */
};

typedef struct CurlApi {
    CurlHandle *(*easy_init)(void);
    void (*easy_cleanup)(CurlHandle *handle);
    int (*easy_setopt)(CurlHandle *handle, int option, ...);
    int (*easy_perform)(CurlHandle *handle);
    int (*easy_getinfo)(CurlHandle *handle, int info, ...);
    const char *(*easy_strerror)(int code);
} CurlApi;

/* NULL and why (a text that stays): the library is not here. Asked again each time until it is
 * there, so that it can be installed meanwhile. */
const CurlApi *curl_api(const char **why);

#endif
