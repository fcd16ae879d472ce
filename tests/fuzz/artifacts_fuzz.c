/* tests/fuzz/artifacts_fuzz.c: libFuzzer target: index.log of the blob store, fed whole and in
 * pieces.
 *
 * Both ways must give the same rows; every row that is read must be found by name, digest and run,
 * newest first, and must read back as it is from the line that would be written for it. One thread.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_input.h"
#include "store/artifacts/artifact_index.h"
#include "store/artifacts/artifact_store.h"

static void feed_in_pieces(ArtifactIndex *index, const uint8_t *data, size_t size)
{
    uint64_t random = size + 1;
    while (size > 0) {
        random = random * UINT64_C(6364136223846793005) + data[0] + 1;
        size_t some = 1 + (size_t)(random >> 40) % 97;
        some = some < size ? some : size;
        FUZZ_REQUIRE(artifact_index_feed(index, (const char *)data, some));
        data += some;
        size -= some;
    }
}

static void compare_rows(const ArtifactIndex *a, const ArtifactIndex *b)
{
    FUZZ_REQUIRE(a->count == b->count && a->lines == b->lines && a->damaged == b->damaged);
    FUZZ_REQUIRE(a->damaged_line == b->damaged_line);
    FUZZ_REQUIRE(artifact_index_has_torn_line(a) == artifact_index_has_torn_line(b));
    FUZZ_REQUIRE(a->lines == a->count + a->damaged);
    for (uint32_t i = 0; i < a->count; i++) {
        FUZZ_REQUIRE(artifact_digest_equal(&a->rows[i].digest, &b->rows[i].digest));
        FUZZ_REQUIRE(strcmp(artifact_index_name(a, i), artifact_index_name(b, i)) == 0);
        FUZZ_REQUIRE(a->rows[i].run == b->rows[i].run);
        FUZZ_REQUIRE(a->rows[i].size_bytes == b->rows[i].size_bytes);
        FUZZ_REQUIRE(a->rows[i].created_us == b->rows[i].created_us);
    }
}

/* `row` is among those from `newest` on, which get older. */
static void require_in_chain(const ArtifactIndex *index, uint32_t newest, uint32_t row,
                             ArtifactKey key)
{
    while (newest != row) {
        FUZZ_REQUIRE(newest != ARTIFACT_ROW_NONE && newest > row);
        newest = index->rows[newest].older[key];
    }
}

static void check_row(const ArtifactIndex *index, uint32_t row)
{
    static ArtifactLine line, back;
    static char text[ARTIFACT_LINE_MAX_BYTES];
    const ArtifactEntry *entry = &index->rows[row];
    const char *name = artifact_index_name(index, row);
    require_in_chain(index, artifact_index_find_name(index, name), row, ARTIFACT_KEY_NAME);
    require_in_chain(index, artifact_index_find_digest(index, &entry->digest), row,
                     ARTIFACT_KEY_DIGEST);
    require_in_chain(index, artifact_index_find_run(index, entry->run), row, ARTIFACT_KEY_RUN);
    line.digest = entry->digest;
    line.run = entry->run;
    line.size_bytes = entry->size_bytes;
    line.created_us = entry->created_us;
    FUZZ_REQUIRE(strlen(name) <= ARTIFACT_NAME_MAX_BYTES);
    memcpy(line.name, name, strlen(name) + 1);
    size_t length = artifact_line_write(&line, text);
    FUZZ_REQUIRE(length <= sizeof text && text[length - 1] == '\n');
    FUZZ_REQUIRE(memchr(text, '\n', length - 1) == NULL);
    FUZZ_REQUIRE(artifact_line_read(text, length - 1, &back));
    FUZZ_REQUIRE(artifact_digest_equal(&line.digest, &back.digest));
    FUZZ_REQUIRE(strcmp(line.name, back.name) == 0 && line.run == back.run);
    FUZZ_REQUIRE(line.size_bytes == back.size_bytes && line.created_us == back.created_us);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ArtifactIndex whole = {0}, pieces = {0};
    FUZZ_REQUIRE(artifact_index_feed(&whole, (const char *)data, size));
    feed_in_pieces(&pieces, data, size);
    compare_rows(&whole, &pieces);
    for (uint32_t i = 0; i < whole.count && i < 1000; i++)
        check_row(&whole, i);
    artifact_index_finish(&whole);
    artifact_index_finish(&pieces);
    return 0;
}
