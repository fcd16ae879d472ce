/* A job's label and message: words under a sequence number. The writer never waits, the reader only
 * while a write is under way. */
#include <string.h>

#include "core/utf8.h"
#include "jobs/jobs_impl.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* Reads `from` no further than what fits. */
static void clean(const char *from, char out[JOB_TEXT_BYTES])
{
    size_t used = 0;
    memset(out, 0, JOB_TEXT_BYTES);
    while (*from != '\0') {
        const unsigned char *at = (const unsigned char *)from;
        size_t length = utf8_sequence(at, 4); /* stops at the NUL at the latest */
        bool control = *at < 0x20 || *at == 0x7f;
        const char *piece = length == 0 ? replacement : control ? " " : from;
        size_t piece_length = length == 0 ? sizeof replacement - 1 : length;
        if (used + piece_length >= JOB_TEXT_BYTES)
            break;
        memcpy(out + used, piece, piece_length);
        used += piece_length;
        from += length == 0 ? 1 : length;
    }
}

void job_text_write(JobText *text, const char *from)
{
    char bytes[JOB_TEXT_BYTES];
    clean(from, bytes);
    unsigned before = atomic_load(&text->sequence);
    if ((before & 1) != 0 || !atomic_compare_exchange_strong(&text->sequence, &before, before + 1))
        return;
    for (size_t i = 0; i < JOB_TEXT_BYTES / 8; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, sizeof word);
        atomic_store_explicit(&text->words[i], word, memory_order_release);
    }
    atomic_store_explicit(&text->sequence, before + 2, memory_order_release);
}

void job_text_read(JobText *text, char out[JOB_TEXT_BYTES])
{
    for (int tries = 0; tries < 64; tries++) {
        unsigned before = atomic_load_explicit(&text->sequence, memory_order_acquire);
        for (size_t i = 0; i < JOB_TEXT_BYTES / 8; i++) {
            /* Acquire: who sees a word of the next text sees its odd sequence too. */
            uint64_t word = atomic_load_explicit(&text->words[i], memory_order_acquire);
            memcpy(out + 8 * i, &word, sizeof word);
        }
        if ((before & 1) == 0 &&
            atomic_load_explicit(&text->sequence, memory_order_acquire) == before)
            return;
    }
    out[0] = '\0'; /* a writer that was stopped half-way; the next frame asks again */
}
