/* tests/fuzz/formats_raw.c: libFuzzer target: layouts of raw files as text. What is read is written
 * back as a text that reads as the same layout; what is refused leaves the layout untouched. One
 * thread. */
#include "formats_fuzz.h"

#include "formats/raw_layout.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ArrayRawLayout layout, again, untouched;
    char text[ARRAY_RAW_TEXT_BYTES];
    memset(&layout, 0xa5, sizeof layout);
    memcpy(&untouched, &layout, sizeof layout);
    char *given = malloc(size + 1); /* of its own, so that a read past its end is seen */
    if (given == NULL)
        return 0;
    memcpy(given, data, size);
    if (!array_raw_layout_read(given, size, &layout)) {
        if (memcmp(&layout, &untouched, sizeof layout) != 0)
            abort();
    } else {
        array_raw_layout_text(&layout, text);
        if (!array_raw_layout_read(text, strlen(text), &again) || again.dtype != layout.dtype ||
            again.rank != layout.rank || again.offset_bytes != layout.offset_bytes ||
            again.big_endian != layout.big_endian ||
            again.rows_from_size != layout.rows_from_size ||
            memcmp(again.shape, layout.shape, sizeof again.shape) != 0)
            abort();
    }
    given[size] = '\0';
    const char *path = array_raw_path(given);
    if (path < given || path > given + size)
        abort();
    free(given);
    return 0;
}
