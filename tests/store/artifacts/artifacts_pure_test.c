/* What needs no store: digests against published vectors and sha256sum, lines, the index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "artifact_room.h"
#include "core/log.h"
#include "store/artifacts/artifact_index.h"
#include "store/artifacts/artifact_pipe.h"

/* ---- Digests ---- */

static void hash_in_pieces(const void *bytes, size_t size, size_t piece, char out[65])
{
    ArtifactDigest digest;
    ArtifactHash *hash = artifact_hash_create();
    assert_non_null(hash);
    for (size_t at = 0; at < size; at += piece)
        assert_true(artifact_hash_add(hash, (const char *)bytes + at,
                                      size - at < piece ? size - at : piece));
    assert_true(artifact_hash_finish(hash, &digest));
    artifact_hash_destroy(&hash);
    assert_null(hash);
    artifact_digest_text(&digest, out);
}

/* FIPS 180-2 appendix B and NIST's "Examples with Intermediate Values" for SHA-256; the million
 * of 'a' is B.3. */
static void test_published_vectors(void **state)
{
    static const struct {
        const char *text, *digest;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
         "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char text[65];
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        hash_in_pieces(vectors[i].text, strlen(vectors[i].text), 1 + i, text);
        assert_string_equal(text, vectors[i].digest);
    }
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    hash_in_pieces(million, 1000000, 4097, text);
    assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

static void test_digest_text(void **state)
{
    ArtifactDigest digest, back;
    char text[65];
    (void)state;
    for (size_t i = 0; i < sizeof digest.bytes; i++)
        digest.bytes[i] = (uint8_t)(i * 8 + 7);
    artifact_digest_text(&digest, text);
    assert_string_equal(text, "070f171f272f373f474f575f676f777f878f979fa7afb7bfc7cfd7dfe7eff7ff");
    assert_true(artifact_digest_parse(text, 64, &back));
    assert_true(artifact_digest_equal(&digest, &back));
    assert_false(artifact_digest_parse(text, 63, &back));
    for (size_t i = 0; i < 64; i++) {
        static const char bad[] = "gG/:`@ F";
        for (size_t b = 0; bad[b] != '\0'; b++) {
            char changed[65];
            memcpy(changed, text, 65);
            changed[i] = bad[b];
            assert_false(artifact_digest_parse(changed, 64, &back));
        }
    }
}

/* The pipe, which hashes on another thread, against the sha256sum program. */
static void test_pipe_is_sha256sum(void **state)
{
    static const size_t sizes[] = {0,
                                   1,
                                   ARTIFACT_SLOT_BYTES - 1,
                                   ARTIFACT_SLOT_BYTES,
                                   ARTIFACT_SLOT_BYTES + 1,
                                   20 * ARTIFACT_SLOT_BYTES + 77};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char path[] = "/tmp/caliper-pipe-XXXXXX";
        char text[65], theirs[65];
        ArtifactDigest digest;
        uint8_t *bytes = room_bytes(i + 1, sizes[i]);
        close(mkstemp(path));
        assert_true(room_write(path, bytes, sizes[i]));
        ArtifactPipe *pipe = artifact_pipe_create();
        assert_non_null(pipe);
        for (size_t at = 0; at < sizes[i]; at += ARTIFACT_SLOT_BYTES) {
            size_t some = sizes[i] - at < ARTIFACT_SLOT_BYTES ? sizes[i] - at : ARTIFACT_SLOT_BYTES;
            memcpy(artifact_pipe_slot(pipe), bytes + at, some);
            artifact_pipe_pass(pipe, some);
        }
        assert_true(artifact_pipe_finish(pipe, &digest));
        artifact_pipe_destroy(&pipe);
        artifact_digest_text(&digest, text);
        if (!room_sha256sum(path, theirs))
            print_message("no sha256sum here: not compared\n");
        else
            assert_string_equal(text, theirs);
        unlink(path);
        free(bytes);
    }
    /* Ended in the middle. */
    ArtifactPipe *pipe = artifact_pipe_create();
    memset(artifact_pipe_slot(pipe), 1, 1000);
    artifact_pipe_pass(pipe, 1000);
    artifact_pipe_destroy(&pipe);
    assert_null(pipe);
    artifact_pipe_destroy(&pipe);
    artifact_pipe_destroy(NULL);
}

/* ---- Lines ---- */

static const char abc_digest[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static void line_fill(ArtifactLine *line, const char *name)
{
    memset(line, 0, sizeof *line);
    assert_true(artifact_digest_parse(abc_digest, 64, &line->digest));
    snprintf(line->name, sizeof line->name, "%s", name);
    line->run = 7;
    line->size_bytes = 3;
    line->created_us = INT64_C(951782399999999); /* date -u -d '2000-02-28T23:59:59' */
}

static void test_line_text(void **state)
{
    static const struct {
        const char *name, *escaped;
    } names[] = {
        {"model", "model"},
        {"", ""},
        {"a b/c.pt", "a b/c.pt"},
        {"tab\there", "tab\\there"},
        {"new\nline\r", "new\\nline\\r"},
        {"\"quoted\" \\", "\\\"quoted\\\" \\\\"},
        {"\x01\x7f", "\\x01\\x7f"},
        {"Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80",
         "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xc2\x9b"
         "31m \xc2\xa0",
         "\\xc2\\x9b"
         "31m \xc2\xa0"},
        {"\xc0\x80\xed\xa0\x80", "\\xc0\\x80\\xed\\xa0\\x80"},
    };
    ArtifactLine line, back;
    char text[ARTIFACT_LINE_MAX_BYTES];
    char wanted[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        line_fill(&line, names[i].name);
        size_t length = artifact_line_write(&line, text);
        snprintf(wanted, sizeof wanted, "%s\t%s\t7\t3\t2000-02-28T23:59:59.999999Z\n", abc_digest,
                 names[i].escaped);
        assert_int_equal(length, strlen(wanted));
        assert_memory_equal(text, wanted, length);
        assert_true(artifact_line_read(text, length - 1, &back));
        assert_string_equal(back.name, names[i].name);
        assert_true(artifact_digest_equal(&back.digest, &line.digest));
        assert_true(back.run == 7 && back.size_bytes == 3 && back.created_us == line.created_us);
    }
}

static void test_line_limits(void **state)
{
    static ArtifactLine line, back;
    static char text[ARTIFACT_LINE_MAX_BYTES];
    (void)state;
    line_fill(&line, "");
    memset(line.name, '\x80', ARTIFACT_NAME_MAX_BYTES);
    line.run = line.size_bytes = UINT64_MAX;
    size_t length = artifact_line_write(&line, text);
    assert_int_equal(length, ARTIFACT_LINE_MAX_BYTES);
    assert_true(artifact_line_read(text, length - 1, &back));
    assert_string_equal(back.name, line.name);
    assert_true(back.run == UINT64_MAX && back.size_bytes == UINT64_MAX);
    /* Any piece cut off its end is no line: what a crash leaves is never taken for one. */
    for (size_t cut = 0; cut < length - 1; cut += cut < length - 200 ? 97 : 1)
        assert_false(artifact_line_read(text, cut, &back));
}

/* Seconds since 1970 from `date -u -d TEXT +%s`. */
static void test_line_times(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } times[] = {{"1970-01-01T00:00:00.000000Z", 0},
                 {"1999-12-31T23:59:59.000001Z", INT64_C(946684799000001)},
                 {"2000-02-29T12:00:00.000000Z", INT64_C(951825600000000)},
                 {"2024-02-29T23:59:59.500000Z", INT64_C(1709251199500000)},
                 {"2026-12-02T10:23:34.123456Z", INT64_C(1796207014123456)},
                 {"2100-03-01T00:00:00.000000Z", INT64_C(4107542400000000)},
                 {"9999-12-31T23:59:59.999999Z", INT64_C(253402300799999999)}};
    static ArtifactLine line;
    char text[ARTIFACT_CREATED_TEXT_BYTES];
    char whole[256];
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        artifact_created_text(times[i].us, text);
        assert_string_equal(text, times[i].text);
        snprintf(whole, sizeof whole, "%s\tn\t0\t0\t%s", abc_digest, text);
        assert_true(artifact_line_read(whole, strlen(whole), &line));
        assert_true(line.created_us == times[i].us);
    }
    artifact_created_text(-5, text);
    assert_string_equal(text, times[0].text);
    artifact_created_text(INT64_MAX, text);
    assert_string_equal(text, "9999-12-31T23:59:59.000000Z");
}

static void test_lines_that_are_none(void **state)
{
    static const char *const rest[] = {
        "",
        "\t",
        "\tn\t0\t0",
        "\tn\t0\t0\t",
        "\tn\t\t0\t2000-02-28T23:59:59.999999Z",
        "\tn\t-1\t0\t2000-02-28T23:59:59.999999Z",
        "\tn\t18446744073709551616\t0\t2000-02-28T23:59:59.999999Z",
        "\tn\t0\t0x1\t2000-02-28T23:59:59.999999Z",
        "\tn\t0\t0\t2000-02-28T23:59:59.999999",
        "\tn\t0\t0\t2000-02-28T23:59:59.999999Z ",
        "\tn\t0\t0\t2000-13-28T23:59:59.999999Z",
        "\tn\t0\t0\t2000-00-28T23:59:59.999999Z",
        "\tn\t0\t0\t1969-01-28T23:59:59.999999Z",
        "\tn\t0\t0\t2000-02-28 23:59:59.999999Z",
        "\tn\t0\t0\t2000-02-28T24:59:59.999999Z",
        "\tn\tn\t0\t0\t2000-02-28T23:59:59.999999Z",
        "\tbad \\q\t0\t0\t2000-02-28T23:59:59.999999Z",
        "\tbad \\\t0\t0\t2000-02-28T23:59:59.999999Z",
        "\tbad \\x0\t0\t0\t2000-02-28T23:59:59.999999Z",
        "\tbad \\x00\t0\t0\t2000-02-28T23:59:59.999999Z",
        "\tbad \\xGG\t0\t0\t2000-02-28T23:59:59.999999Z",
        " n\t0\t0\t2000-02-28T23:59:59.999999Z",
    };
    static ArtifactLine line;
    char text[256];
    (void)state;
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) {
        snprintf(text, sizeof text, "%s%s", abc_digest, rest[i]);
        if (artifact_line_read(text, strlen(text), &line))
            fail_msg("taken for a line: %s", text);
    }
    snprintf(text, sizeof text, "%s\tzero\t0\t0\t2000-02-28T23:59:59.999999Z", abc_digest);
    assert_true(artifact_line_read(text, strlen(text), &line));
    text[66] = '\0'; /* a zero in the name */
    assert_false(artifact_line_read(text, 70 + 36, &line));
}

/* ---- The index ---- */

typedef struct Text {
    char *bytes;
    size_t used, capacity;
} Text;

static void text_add(Text *text, const void *bytes, size_t size)
{
    if (text->used + size > text->capacity) {
        text->capacity = (text->used + size) * 2;
        text->bytes = realloc(text->bytes, text->capacity);
    }
    memcpy(text->bytes + text->used, bytes, size);
    text->used += size;
}

/* Row i of the test log: name i%names, run i%runs, a digest whose first bytes are i%digests. */
static void text_add_row(Text *text, uint32_t i, uint32_t names, uint32_t runs, uint32_t digests)
{
    static ArtifactLine line;
    char bytes[ARTIFACT_LINE_MAX_BYTES];
    uint32_t which = i % digests;
    memset(&line, 0, sizeof line);
    memcpy(line.digest.bytes, &which, sizeof which);
    snprintf(line.name, sizeof line.name, "name\t%u", i % names);
    line.run = i % runs;
    line.size_bytes = i;
    text_add(text, bytes, artifact_line_write(&line, bytes));
}

static void test_index_finds_the_newest(void **state)
{
    enum { ROWS = 5000, NAMES = 37, RUNS = 11, DIGESTS = 1000 };
    Text text = {0};
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        text_add_row(&text, i, NAMES, RUNS, DIGESTS);
    static const size_t pieces[] = {1, 7, 4096, 1 << 30};
    for (size_t p = 0; p < 4; p++) {
        ArtifactIndex index = {0};
        for (size_t at = 0; at < text.used; at += pieces[p])
            assert_true(artifact_index_feed(
                &index, text.bytes + at, text.used - at < pieces[p] ? text.used - at : pieces[p]));
        assert_int_equal(index.count, ROWS);
        assert_int_equal(index.damaged, 0);
        assert_false(artifact_index_has_torn_line(&index));
        for (uint32_t n = 0; n < NAMES; n++) {
            char name[32];
            snprintf(name, sizeof name, "name\t%u", n);
            uint32_t row = artifact_index_find_name(&index, name), wanted = ROWS;
            while (row != ARTIFACT_ROW_NONE) { /* newest first, each once */
                do
                    wanted--;
                while (wanted % NAMES != n);
                assert_int_equal(row, wanted);
                row = index.rows[row].older[ARTIFACT_KEY_NAME];
            }
            assert_true(wanted < NAMES);
        }
        for (uint32_t d = 0; d < DIGESTS; d++) {
            ArtifactDigest digest = {{0}};
            memcpy(digest.bytes, &d, sizeof d);
            assert_int_equal(artifact_index_find_digest(&index, &digest), ROWS - DIGESTS + d);
        }
        for (uint64_t run = 0; run < RUNS; run++)
            assert_true(index.rows[artifact_index_find_run(&index, run)].run == run);
        assert_int_equal(artifact_index_find_run(&index, RUNS), ARTIFACT_ROW_NONE);
        assert_int_equal(artifact_index_find_name(&index, "name"), ARTIFACT_ROW_NONE);
        artifact_index_finish(&index);
    }
    free(text.bytes);
}

static void test_index_passes_over_damage(void **state)
{
    Text text = {0};
    ArtifactIndex index = {0};
    static char garbage[3 * ARTIFACT_LINE_MAX_BYTES];
    (void)state;
    memset(garbage, 'g', sizeof garbage);
    text_add_row(&text, 0, 9, 9, 9);
    text_add(&text, "not a line\n", 11);
    text_add_row(&text, 1, 9, 9, 9);
    text_add(&text, "\n", 1);
    text_add(&text, garbage, sizeof garbage);
    text_add(&text, "\n", 1);
    text_add(&text, "\0\0\0\n", 4);
    text_add_row(&text, 2, 9, 9, 9);
    text_add(&text, "torn", 4);
    for (size_t piece = 1; piece < 70000; piece = piece * 3 + 1) {
        for (size_t at = 0; at < text.used; at += piece)
            assert_true(artifact_index_feed(&index, text.bytes + at,
                                            text.used - at < piece ? text.used - at : piece));
        assert_int_equal(index.count, 3);
        assert_int_equal(index.damaged, 4);
        assert_int_equal(index.damaged_line, 2);
        assert_int_equal(index.lines, 7);
        assert_true(artifact_index_has_torn_line(&index));
        assert_int_equal(index.rows[2].size_bytes, 2);
        artifact_index_finish(&index);
    }
    free(text.bytes);
}

int main(void)
{
    log_stderr_enable(false);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published_vectors),
                                       cmocka_unit_test(test_digest_text),
                                       cmocka_unit_test(test_pipe_is_sha256sum),
                                       cmocka_unit_test(test_line_text),
                                       cmocka_unit_test(test_line_limits),
                                       cmocka_unit_test(test_line_times),
                                       cmocka_unit_test(test_lines_that_are_none),
                                       cmocka_unit_test(test_index_finds_the_newest),
                                       cmocka_unit_test(test_index_passes_over_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
