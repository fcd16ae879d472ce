/* datasets/transfer.h: one request for the rest of one file. For datasets/ alone. One thread. */
#ifndef CALIPER_DATASETS_TRANSFER_H
#define CALIPER_DATASETS_TRANSFER_H

#include "datasets/curl_api.h"
#include "datasets/datasets.h"

typedef enum TransferResult {
    TRANSFER_RESULT_DONE = 0,
    TRANSFER_RESULT_STOPPED = 1,  /* `going` said so */
    TRANSFER_RESULT_NO_RANGE = 2, /* the server does not go on from there: begin anew */
    TRANSFER_RESULT_FAILED = 3,   /* of this server; words say what */
    TRANSFER_RESULT_DISK = 4      /* no other server would help; words say what */
} TransferResult;

typedef struct Transfer {
    int fd;             /* written at its end, from_bytes */
    int64_t from_bytes; /* what is there already */
    int64_t size_bytes; /* of the whole file: more is refused */
    const DatasetsFetch *fetch;
    DatasetsProgress progress; /* got_bytes without this file's */
    char words[CURL_WORDS_BYTES];
    /* Inner. */
    int64_t at_bytes;
    int write_error;
    bool is_stopped, is_too_long;
} Transfer;

/* Appends what the server sends. */
TransferResult transfer_run(Transfer *transfer, const CurlApi *curl, const char *url);

#endif
