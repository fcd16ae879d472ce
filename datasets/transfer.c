/* One request through libcurl; see the header. */
#include "datasets/transfer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    CONNECT_SEC = 20,
    STALL_SEC = 30, /* so long slower than this, and another server is asked */
    SLOWEST_BYTES_PER_SEC = 1000,
    REDIRECTS_MAX = 5,
    RANGE_NOT_SATISFIABLE = 416
};

static bool is_going(Transfer *transfer)
{
    DatasetsProgress progress = transfer->progress;
    progress.got_bytes += transfer->at_bytes;
    if (transfer->fetch->going != NULL && !transfer->fetch->going(transfer->fetch->user, &progress))
        transfer->is_stopped = true;
    return !transfer->is_stopped;
}

/* libcurl's: fewer bytes than were given end the transfer. */
static size_t take_bytes(char *bytes, size_t one, size_t count, void *user)
{
    Transfer *transfer = user;
    size_t left = one * count;
    if (transfer->at_bytes + (int64_t)left > transfer->size_bytes) {
        transfer->is_too_long = true;
        return 0;
    }
    while (left > 0) {
        ssize_t written = pwrite(transfer->fd, bytes, left, transfer->at_bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            transfer->write_error = written < 0 ? errno : EIO;
            return 0;
        }
        bytes += written;
        left -= (size_t)written;
        transfer->at_bytes += written;
    }
    return is_going(transfer) ? one * count : 0;
}

/* libcurl's: not 0 ends the transfer. */
static int look(void *user, int64_t all_down, int64_t down, int64_t all_up, int64_t up)
{
    (void)all_down;
    (void)down;
    (void)all_up;
    (void)up;
    return is_going(user) ? 0 : 1;
}

static void set_options(Transfer *transfer, const CurlApi *curl, CurlHandle *handle,
                        const char *url)
{
    /* Who was asked over TLS may not send us on to somebody without: TLS says who answers. */
    const bool is_secure = strncasecmp(url, "https:", strlen("https:")) == 0;
    const long web = CURL_PROTOCOL_HTTPS | (is_secure ? 0 : CURL_PROTOCOL_HTTP);
    const struct {
        CurlOption option;
        long value;
    } numbers[] = {
        {CURL_OPTION_NOSIGNAL, 1}, /* no alarm() in a host with threads */
        {CURL_OPTION_FAILONERROR, 1},
        {CURL_OPTION_NOPROGRESS, 0},
        {CURL_OPTION_FOLLOWLOCATION, 1},
        {CURL_OPTION_MAXREDIRS, REDIRECTS_MAX},
        {CURL_OPTION_PROTOCOLS, web},
        {CURL_OPTION_REDIR_PROTOCOLS, web},
        {CURL_OPTION_CONNECTTIMEOUT, CONNECT_SEC},
        {CURL_OPTION_LOW_SPEED_LIMIT, SLOWEST_BYTES_PER_SEC},
        {CURL_OPTION_LOW_SPEED_TIME, STALL_SEC},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        curl->easy_setopt(handle, numbers[i].option, numbers[i].value);
    curl->easy_setopt(handle, CURL_OPTION_URL, url);
    curl->easy_setopt(handle, CURL_OPTION_USERAGENT, "caliper");
    curl->easy_setopt(handle, CURL_OPTION_ERRORBUFFER, transfer->words);
    curl->easy_setopt(handle, CURL_OPTION_WRITEFUNCTION, take_bytes);
    curl->easy_setopt(handle, CURL_OPTION_WRITEDATA, transfer);
    curl->easy_setopt(handle, CURL_OPTION_XFERINFOFUNCTION, look);
    curl->easy_setopt(handle, CURL_OPTION_XFERINFODATA, transfer);
    if (transfer->from_bytes > 0)
        curl->easy_setopt(handle, CURL_OPTION_RESUME_FROM_LARGE, transfer->from_bytes);
}

static TransferResult judge(Transfer *transfer, const CurlApi *curl, int code, long status)
{
    if (transfer->is_stopped)
        return TRANSFER_RESULT_STOPPED;
    if (transfer->write_error != 0) {
        snprintf(transfer->words, sizeof transfer->words, "%s", strerror(transfer->write_error));
        return TRANSFER_RESULT_DISK;
    }
    if (transfer->is_too_long) {
        snprintf(transfer->words, sizeof transfer->words, "more than %lld bytes came",
                 (long long)transfer->size_bytes);
        return TRANSFER_RESULT_FAILED;
    }
    /* 416 first: libcurl takes it for "all is there already". */
    if (transfer->from_bytes > 0 &&
        (code == CURL_CODE_RANGE_ERROR || status == RANGE_NOT_SATISFIABLE))
        return TRANSFER_RESULT_NO_RANGE;
    if (code == CURL_CODE_OK)
        return TRANSFER_RESULT_DONE;
    if (transfer->words[0] == '\0')
        snprintf(transfer->words, sizeof transfer->words, "%s", curl->easy_strerror(code));
    return TRANSFER_RESULT_FAILED;
}

TransferResult transfer_run(Transfer *transfer, const CurlApi *curl, const char *url)
{
    long status = 0;
    transfer->words[0] = '\0';
    transfer->at_bytes = transfer->from_bytes;
    transfer->write_error = 0;
    transfer->is_stopped = transfer->is_too_long = false;
    CurlHandle *handle = curl->easy_init();
    if (handle == NULL) {
        snprintf(transfer->words, sizeof transfer->words, "libcurl makes no handle");
        return TRANSFER_RESULT_DISK;
    }
    set_options(transfer, curl, handle, url);
    int code = curl->easy_perform(handle);
    curl->easy_getinfo(handle, CURL_INFO_RESPONSE_CODE, &status);
    curl->easy_cleanup(handle);
    return judge(transfer, curl, code, status);
}
