/* store/database/arrow_text_impl.h: what arrow_text*.c share. */
#ifndef CALIPER_STORE_ARROW_TEXT_IMPL_H
#define CALIPER_STORE_ARROW_TEXT_IMPL_H

#include "store/database/arrow_text.h"

/* arrow_text_time.c: days since 1970, and times in units of 10^-digits seconds. */
void arrow_text_date(int64_t days, TextBuffer *out);
void arrow_text_time(int64_t value, int digits, TextBuffer *out);
void arrow_text_timestamp(int64_t value, int digits, bool has_zone, TextBuffer *out);
void arrow_text_interval(int32_t months, int32_t days, int64_t nanoseconds, TextBuffer *out);

/* arrow_text_number.c. The shortest decimal that reads back as the same number. */
void arrow_text_real(double value, bool is_float, ArrowTextForm form, TextBuffer *out);
/* A two's complement of 16 bytes, little-endian, with `scale` digits after the point. */
void arrow_text_decimal(const void *bytes, int scale, TextBuffer *out);

#endif
