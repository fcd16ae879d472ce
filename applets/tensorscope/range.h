/* tensorscope/range.h: the numbers between which a colormap runs, kept inside what the bridge
 * accepts, and the entry a value gets. Pure; any thread. */
#ifndef TENSORSCOPE_RANGE_H
#define TENSORSCOPE_RANGE_H

#include "formats/array_values.h"
#include "summary.h"

typedef enum RangeMode {
    RANGE_MODE_MIN_MAX = 0, /* of the finite values shown */
    RANGE_MODE_SYMMETRIC,   /* as far below 0 as above */
    RANGE_MODE_NATURAL,     /* of the element type: 0..255, 0..1, ... */
    RANGE_MODE_PERCENTILE,  /* 1st to 99th */
    RANGE_MODE_BY_HAND,
    RANGE_MODE_COUNT
} RangeMode;

/* Short words for a list, RANGE_MODE_COUNT of them. */
extern const char *const range_mode_names[RANGE_MODE_COUNT];

typedef struct Range {
    float low, high;
    const char *note; /* NULL, or what had to be changed to make it a range; static text */
} Range;

/* Always a range that the bridge accepts. low > high is kept: it turns the colours round. */
Range range_resolve(RangeMode mode, ArrayDtype dtype, const Summary *summary, double hand_low,
                    double hand_high);

/* Makes the note true to what is stored, where binary32 alone cannot know: differences that the
 * conversion loses, values beyond it. `stats` is of the same elements. */
void range_note_stored(Range *range, const ArrayStats *stats);

/* The bridge's rule: equal ends, or finite with 2^-90 <= |high - low| <= 2^126. */
bool range_is_accepted(float low, float high);
/* The entry 0..255 that the bridge gives a value, by the published rule in binary32. */
int range_entry(float value, float low, float high);

#endif
