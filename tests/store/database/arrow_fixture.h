/* What the tests of Arrow streams share: the next batch. */
#ifndef ARROW_FIXTURE_H
#define ARROW_FIXTURE_H

#include "database_fixture.h"

static inline struct ArrowArray next(struct ArrowArrayStream *stream)
{
    struct ArrowArray batch;
    memset(&batch, 0x5a, sizeof batch);
    if (stream->get_next(stream, &batch) != 0)
        fail_msg("get_next: %s", stream->get_last_error(stream));
    assert_null(stream->get_last_error(stream));
    return batch;
}

#endif
